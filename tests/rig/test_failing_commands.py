"""Wrong commands: one line that helps, the exit code, no traceback, nothing written."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from dbpcfg import load
from dbpcfg.grammar.exchange import write_grammar
from dbpcfg.induction.induce import induce
from dbpcfg.io.archive import read_archive, write_archive
from dbpcfg.model import files
from tests.command import dbpcfg
from tests.induction.small import SENTENCES, TREES
from tests.inprocess import run
from tests.rig.crashes import state_of

MISTAKE = 2
INDUCE = "induce text.txt -q --out new"

WRONG_VALUES = {
    "--categories": "three 0 -5 1.5",
    "--depth": f"-1 0 deep ² 1000000000000 {'9' * 5000}",
    "--beta": "0 -0.1 nan inf small",
    "--iterations": f"0 1e3 {10**16} {10**400}",
    "--chains": "0 100000000",
    "--threads": "0",
    "--seed": f"-1 {10**30}",
    "--trees": "worst",
    "--parser": "earley",
    "--rare": "-1",
    "--checkpoint": "-1 nan",
    "--encoding": "klingon",
    "--input-format": "pdf",
    "--format": "xml",
}
"""Options of ``induce`` with values that are wrong; the message names the option."""

MISTAKES = """\
learn text.txt | No such command 'learn'
induce | Missing argument 'TEXT'
induce text.txt | Missing option '--out'
+ --catagories 3 | No such option: --catagories
+ -K | requires an argument
+ --parser leftcorner -D none | needs a depth bound
+ --parser leftcorner --precision single | only the chart
+ --gold none.mrg | none.mrg cannot be read
+ --gold other.mrg | is not in the treebank

+ -K 5000 | GiB of memory
+ -K 1000000000000000000000000000000 | bytes of memory
+ --chains 100000000 --inference paper | GiB of memory
+ -K 100 -D 12 --parser leftcorner | use the chart parser
parse deep.npz text.txt | deep.npz: the depth bound
surprisal deep.npz text.txt | deep.npz: the depth bound
show deep.npz | deep.npz: the depth bound
generate deep.npz | deep.npz: the depth bound
probability deep.npz text.txt | deep.npz: the depth bound
parse run text.txt -D 99999999999999 | 99,999,999,999,999
bound run --depths 999999999 | 999,999,999
export run - -D 999999999 | 999,999,999
synth middle | 'left', 'right'
synth left --seed 1180591620717411303424 | seed
demo --sead 1 | --seed
generate run -n 0 | -n
synth left -n 0 | -n

induce none.txt --out new | none.txt cannot be read
induce empty.txt --out new | empty.txt: the file is empty
induce blank.txt --out new | blank.txt: the file is empty
induce binary.txt --out new | binary.txt:1: found a NUL byte
induce latin1.txt --out new | --encoding
induce page.txt --out new | page.txt: found XML
induce half.mrg --out new | --skip-broken
induce nothing --out new | nothing: there are no files
induce *.nothing --out new | *.nothing
induce text.txt --out text.txt | text.txt is a file
induce text.txt -q --out text.txt/run | Not a directory
induce text.txt --out run | dbpcfg resume run
induce text.txt --out full | full exists and is not empty
induce text.txt --out full --overwrite | full is no run
induce talk.cha --out new --speaker NOBODY | NOBODY

resume | Missing argument 'RUN'
resume . | perhaps begun
resume nothing | nothing is no run
resume none | none does not exist
resume text.txt | text.txt is a file
resume full | full is no run
resume newer | dbpcfg 99.0
resume future | version 9
resume run --iterations 2 | not shorter
show text.txt | text.txt is text
show gold.trees | gold.trees is a treebank
show none.npz | none.npz cannot be read
show none | none cannot be read
show full | full is no run
show empty.npz | empty.npz: not a dbpcfg model file
show binary.npz | binary.npz: not a dbpcfg model file
show begun | dbpcfg resume begun
show run --gold other.mrg | is not in other.mrg
show rules.tsv --trees 3 | need the directory of a run
report begun | begun is not finished
report none | none does not exist
report text.txt | text.txt is a file
report run --comparison full | full is not a comparison
report run --out none/page.html | no directory none
compare-runs begun begun | begun is not finished
compare-runs run --figure plot.doc | plot.doc

parse run text.txt --method guess | 'guess'
parse run none.txt | none.txt cannot be read
parse run text.txt -n 5 | needs --method viterbi
parse run text.txt --draw --scores | --draw cannot be combined
parse run text.txt --unknown 1 | --unknown
parse run text.txt --unknown nan | --unknown
parse rules.tsv text.txt --method mbr-chain | rules.tsv is one grammar
surprisal run text.txt --beam -1 | beam
surprisal run text.txt --text s | neither .csv nor .tsv
surprisal run text.txt --text s --table csv | no column 's'
surprisal run text.txt --by item | --text
surprisal run text.txt --average best | 'best'
surprisal run text.txt --columns nothing | 'nothing'
surprisal run text.txt --hale --beam 2 | a beam of 2
bound run --depths 1,x | --depths
bound run --depths 0 | depth
export run rules.doc | rules.doc does not end in .tsv
export run text.txt | text.txt exists
export run - --threshold 2 | threshold
export run - --threshold nan | threshold

evaluate gold.trees | nothing to score
evaluate - - | standard input
evaluate text.txt run/trees.txt | text.txt:1: the sentence has no tree
evaluate gold.trees other.mrg | other.mrg has 1 trees
evaluate gold.trees swapped.mrg | are not the same sentence
evaluate gold.trees none.mrg | none.mrg cannot be read
evaluate gold.trees run/trees.txt --max-length 0 | --max-length
draw gold.trees --as gif | 'gif'
draw gold.trees --from 99 | only 12 trees
draw gold.trees --as svg | need a directory
draw gold.trees --document | is for LaTeX
convert text.txt gold.trees | gold.trees exists
convert text.txt new.mrg | text.txt:1: the sentence has no tree
convert text.txt none/new.txt | cannot be written
compare gold.trees --systems right,chance | 'chance'
compare text.txt --systems right | text.txt:1: the sentence has no tree
compare gold.trees -q --out full --systems right | full exists
baseline up text.txt | 'up'

sweep none.toml | none.toml cannot be read
sweep nothing | Is a directory
sweep text.txt | text.txt is not TOML
sweep binary.txt | binary.txt is not TOML
sweep empty.txt | there is no corpus
sweep wrong.toml | wrong.toml:2: unknown key 'depth'
sweep grid.toml --cell 3 | no cell 3
sweep grid.toml --jobs 0 | --jobs
sweep grid.toml --format xml | 'xml'
sweep grid.toml --cell 1 --slurm-array | --slurm-array
sweep full.toml | owned/text-right exists
reproduce eden | 'eden'
reproduce none.toml | none.toml cannot be read
reproduce wrong.toml | wrong.toml:1: corpus
reproduce adam | dbpcfg reproduce adam TREEBANK
reproduce adam none.mrg | none.mrg cannot be read
reproduce adam text.txt | the sentence has no tree
reproduce synthetic gold.trees | leave the treebank out
reproduce synthetic --out text.txt | text.txt is a file
reproduce synthetic --seeds x | 'x'
"""
"""Commands and the part of the message that matters; ``+`` stands for `INDUCE`."""

TABLE = [
    (f"{INDUCE} {option} {value}", option.strip("-"))
    for option, values in WRONG_VALUES.items()
    for value in values.split()
]
TABLE += [
    tuple(line.replace("+", INDUCE, 1).split(" | ")) for line in MISTAKES.splitlines() if line
]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with files of all kinds."""
    place = tmp_path_factory.mktemp("place")
    (place / "text.txt").write_text("".join(f"{' '.join(words)}\n" for words in SENTENCES[:12]))
    trees = [f"{tree}\n" for tree in TREES[:12]]
    (place / "gold.trees").write_text("".join(trees))
    (place / "swapped.mrg").write_text("".join(trees[::-1]))
    (place / "other.mrg").write_text("(S (N dogs) (V bark))\n")
    (place / "half.mrg").write_text("(S (N dogs) (V bark)\n(S (N cats)")
    (place / "page.txt").write_text('<?xml version="1.0"?>\n<a>text</a>\n')
    (place / "empty.txt").touch()
    (place / "empty.npz").touch()
    (place / "blank.txt").write_text("\n \n\n")
    (place / "binary.txt").write_bytes(bytes(range(256)) * 8)
    (place / "binary.npz").write_bytes(bytes(range(256)) * 8)
    (place / "latin1.txt").write_bytes("Häuser und Bäume\n".encode("latin-1"))
    (place / "talk.cha").write_text(
        "@UTF8\n@Begin\n@Participants:\tMOT Mother\n*MOT:\thi there .\n@End\n"
    )
    (place / "grid.toml").write_text('corpus = "text.txt"\nK = [2, 3]\n')
    (place / "wrong.toml").write_text('corpus = "text.txt"\ndepth = 2\n')
    (place / "full.toml").write_text('corpus = "text.txt"\nsystems = "right"\nout = "owned"\n')
    (place / "owned" / "text-right").mkdir(parents=True)
    (place / "owned" / "text-right" / "thesis.tex").write_text("years of work")
    (place / "nothing").mkdir()
    (place / "full").mkdir()
    (place / "full" / "thesis.tex").write_text("years of work")
    options = {"K": 2, "D": 2, "chains": 2, "iterations": 4, "threads": 1}
    induce(SENTENCES[:12], out=place / "run", **options)
    induce(SENTENCES[:12], out=place / "begun", stopping=lambda: True, checkpoint=0, **options)
    for name, old, new in (
        ("newer", 'dbpcfg = "', 'dbpcfg = "99.'),
        ("future", "version = 1", "version = 9"),
    ):
        shutil.copytree(place / "begun", place / name)
        path = place / name / "config.toml"
        path.write_text(path.read_text().replace(old, new))
    dtypes = dict.fromkeys(("root", "binary", "lexical", "unknown"), np.float64)
    model = place / "run" / "model.npz"
    header, arrays = read_archive(model, files.FORMAT, files.VERSION, dtypes)
    write_archive(
        place / "deep.npz", files.FORMAT, files.VERSION, {**header, "depth": 10**9}, arrays
    )
    write_grammar(load(place / "run").grammar, place / "rules.tsv")
    return place


def check(code: int, said: str, expected: str) -> None:
    assert code == MISTAKE, said
    lines = said.splitlines()
    if lines[0].startswith("Usage: "):  # of the program: how it is called, then what is wrong
        assert lines[1].endswith(" -h' for help."), said
        assert [line for line in lines[2:] if line.startswith("Error: ")] == lines[3:], said
    else:
        assert len(lines) == 1, said
        assert lines[0].startswith(("dbpcfg: ", "Error: Option ")), said
    assert expected in said
    assert len(said) < 1200


@pytest.mark.parametrize(("command", "expected"), TABLE, ids=[command[:60] for command, _ in TABLE])
def test_mistakes(command, expected, place, monkeypatch):
    monkeypatch.chdir(place)
    before = state_of(place)
    code, _, said = run(*command.split())
    check(code, said, expected)
    assert state_of(place) == before


def test_without_a_command_the_help_is_shown():
    code, out, _ = run()
    assert code == MISTAKE
    assert out.startswith("Usage: ")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("parse deep.npz text.txt", "deep.npz: the depth bound"),
        (f"{INDUCE} --catagories 3", "No such option: --catagories"),
    ],
)
def test_mistakes_in_a_process_of_their_own(command, expected, place):
    before = state_of(place)
    done = dbpcfg(*command.split(), cwd=place)
    check(done.returncode, done.stderr, expected)
    assert state_of(place) == before
