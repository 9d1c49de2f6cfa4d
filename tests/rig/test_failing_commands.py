"""Wrong commands: one line that helps, the exit code, no traceback, nothing written."""

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
    "--format": "xml",
}
"""Options of ``induce`` with values that are wrong; the message names the option."""

MISTAKES = """\
No such command 'learn': learn text.txt
Missing argument: induce; resume; compare-runs; explore; convert text.txt; sweep; reproduce
Missing option '--out': induce text.txt
No such option: + --catagories 3; demo --sead 1
requires an argument: + -K
no format 'pdf': + --input-format pdf
needs a depth bound: + --parser leftcorner -D none
only the chart: + --parser leftcorner --precision single
is not one of: synth middle; parse run text.txt --method guess; draw gold.trees --as gif; \
sweep grid.toml --format xml; surprisal run text.txt --average best
seed: synth left --seed 1180591620717411303424
-n: generate run -n 0; synth left -n 0
--jobs: sweep grid.toml --jobs 0
--max-length: evaluate gold.trees run/trees.txt --max-length 0
--unknown: parse run text.txt --unknown 1; parse run text.txt --unknown nan
threshold: export run - --threshold 2; export run - --threshold nan
--depths: bound run --depths 1,x
GiB of memory: + -K 5000; + --chains 100000000 --inference paper
bytes of memory: + -K 1000000000000000000000000000000
use the chart parser: + -K 100 -D 12 --parser leftcorner
deep.npz: the depth bound: parse deep.npz text.txt; surprisal deep.npz text.txt; show deep.npz; \
generate deep.npz; probability deep.npz text.txt; explore deep.npz
the depth bound must be: parse run text.txt -D 99999999999999; bound run --depths 999999999; \
bound run --depths 0; export run - -D 999999999

cannot be read: induce none.txt --out new; + --gold none.mrg; show none.npz; show none; \
explore run none; \
parse run none.txt; evaluate gold.trees none.mrg; sweep none.toml; sweep nothing; \
reproduce none.toml; reproduce adam none.mrg
the file is empty: induce empty.txt --out new; induce blank.txt --out new
found a NUL byte: induce binary.txt --out new
--encoding: induce russian.txt --out new
found XML: induce page.txt --out new
--skip-broken: induce half.mrg --out new
there are no files: induce nothing --out new
*.nothing: induce *.nothing --out new
NOBODY: induce talk.cha --out new --speaker NOBODY
is a file: induce text.txt --out text.txt; resume text.txt; report text.txt; \
reproduce synthetic --out text.txt
Not a directory: induce text.txt -q --out text.txt/run
dbpcfg resume run: induce text.txt --out run
full exists: induce text.txt --out full; compare gold.trees -q --out full --systems right
full is not a run: induce text.txt --out full --overwrite; resume full; show full
text.txt exists: export run text.txt
gold.trees exists: convert text.txt gold.trees
cannot be written: convert text.txt none/new.txt
the sentence has no tree: + --gold text.txt; report run --gold text.txt; \
evaluate text.txt run/trees.txt; convert text.txt new.mrg; \
compare text.txt --systems right; reproduce adam text.txt
is not in: + --gold other.mrg; show run --gold other.mrg

perhaps begun: resume .
nothing is not a run: resume nothing
does not exist: resume none; report none
dbpcfg 99.0: resume newer
version 9: resume future
not shortened: resume run --iterations 2
text.txt is text: show text.txt; surprisal text.txt text.txt; explore text.txt
gold.trees is a treebank: show gold.trees
not a dbpcfg model file: show empty.npz; show binary.npz
dbpcfg resume begun: show begun; report begun; compare-runs begun begun; explore begun
at most two runs: explore run run run
--port: explore run --port 70000; explore run --port x
need the directory of a run: show rules.tsv --trees 3
full is not a comparison: report run --comparison full
no directory none: report run --out none/page.html
plot.doc: compare-runs run --figure plot.doc

needs --method viterbi: parse run text.txt -n 5
--draw cannot be combined: parse run text.txt --draw --scores
of a consensus have no probability: parse run text.txt --scores --method consensus
rules.tsv is one grammar: parse rules.tsv text.txt --method mbr-chain
neither .csv nor .tsv: surprisal run text.txt --text s
no column 's': surprisal run text.txt --text s --table csv
--text: surprisal run text.txt --by item
no columns to choose from: + --text s; parse run text.txt --text s
no ages to choose from: + --age 24-36
ages must be a range: + --age old
give files of minimal pairs: pairs run
1 line, expected pairs: pairs run other.mrg
give both --good and --bad: pairs run text.txt --good s
'nothing': surprisal run text.txt --columns nothing
a smaller depth: surprisal run text.txt --hale --depth 100
rules.doc does not end in .tsv: export run rules.doc
nothing to score: evaluate gold.trees
standard input: evaluate - -
other.mrg has 1 tree, but: evaluate gold.trees other.mrg
are not the same sentence: evaluate gold.trees swapped.mrg
only 12 trees: draw gold.trees --from 99
need a directory: draw gold.trees --as svg
is for LaTeX: draw gold.trees --document
'chance': compare gold.trees --systems right,chance
'up': baseline up text.txt

is written SYSTEM.NAME=VALUE: compare gold.trees --set classes=3
rare of dbpcfg is a whole number: compare gold.trees --set dbpcfg.rare=few
no system 'cll': compare gold.trees --set cll.faithful=true
--depth must be a number: compare gold.trees -D deep; parse run text.txt --depth two
no sentence of at most 2 words: compare gold.trees --max-length 2
--jobs is for this machine: reproduce synthetic --cluster local:2 --jobs 2
gold.trees exists: report run --out gold.trees
is not sentence 1: report run --gold swapped.mrg
1 to 10,000 trees: parse run text.txt -n 20000 --method viterbi
run it with `dbpcfg induce`: baseline dbpcfg text.txt
--mended is for ccl: baseline upparse text.txt --mended
--keep-punctuation is for branching trees: baseline ccl text.txt --keep-punctuation
is written NAME=VALUE: baseline bmmm text.txt --set classes
classes of bmmm is a whole number: baseline bmmm text.txt --set classes=many
bmmm has no setting 'K': baseline bmmm text.txt --set K=3
outside any bracket: draw text.txt
not finished: parse begun text.txt; generate begun; probability begun text.txt
whole numbers separated by commas: bound run --depths one
'mass', 'h', 'grammar': bound run --show everything
'tsv', 'nltk': export run - --as xml

is not TOML: sweep text.txt; sweep binary.txt
the file has no corpus: sweep empty.txt
wrong.toml: the file has 'depth', which is not: sweep wrong.toml
no cell 3: sweep grid.toml --cell 3
--slurm-array: sweep grid.toml --cell 1 --slurm-array
owned/text-right exists: sweep full.toml
'eden': reproduce eden
wrong.toml: corpus must be a table: reproduce wrong.toml
dbpcfg reproduce adam TREEBANK: reproduce adam
leave the treebank out: reproduce synthetic gold.trees
'x': reproduce synthetic --seeds x
"""
"""The part of the message that matters, and commands that give it; ``+`` stands for `INDUCE`."""

TABLE = [
    (f"{INDUCE} {option} {value}", option.strip("-"))
    for option, values in WRONG_VALUES.items()
    for value in values.split()
]
for line in filter(None, MISTAKES.splitlines()):
    expected, _, commands = line.rpartition(": ")
    TABLE += [(c.replace("+", INDUCE, 1).strip(), expected) for c in commands.split(";")]


TREE_LINES = [f"{tree}\n" for tree in TREES[:12]]
FILES = {
    "text.txt": "".join(f"{' '.join(words)}\n" for words in SENTENCES[:12]),
    "gold.trees": "".join(TREE_LINES),
    "swapped.mrg": "".join(TREE_LINES[::-1]),
    "other.mrg": "(S (N dogs) (V bark))\n",
    "half.mrg": "(S (N dogs) (V bark)\n(S (N cats)",
    "page.txt": '<?xml version="1.0"?>\n<a>text</a>\n',
    "empty.txt": "",
    "empty.npz": "",
    "blank.txt": "\n \n\n",
    "binary.txt": bytes(range(256)) * 8,
    "binary.npz": bytes(range(256)) * 8,
    "russian.txt": "дома и деревья\n".encode("koi8-r"),
    "talk.cha": "@UTF8\n@Begin\n@Participants:\tMOT Mother\n*MOT:\thi there .\n@End\n",
    "grid.toml": 'corpus = "text.txt"\nK = [2, 3]\n',
    "wrong.toml": 'corpus = "text.txt"\ndepth = 2\n',
    "full.toml": 'corpus = "text.txt"\nsystems = "right"\nout = "owned"\n',
    "owned/text-right/thesis.tex": "years of work",
    "full/thesis.tex": "years of work",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with files of all kinds."""
    place = tmp_path_factory.mktemp("place")
    for name, content in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (place / "nothing").mkdir()
    options = {"K": 2, "D": 2, "chains": 2, "iterations": 4, "threads": 1}
    induce(SENTENCES[:12], out=place / "run", **options)
    induce(SENTENCES[:12], out=place / "begun", should_stop=lambda: True, checkpoint=0, **options)
    for name, old, new in (
        ("newer", 'dbpcfg = "', 'dbpcfg = "99.'),
        ("future", "version = 2", "version = 9"),
    ):
        shutil.copytree(place / "begun", place / name)
        path = place / name / "config.toml"
        path.write_text(path.read_text().replace(old, new))
    dtypes = dict.fromkeys(("root", "binary", "lexical", "unknown"), np.float64)
    model = place / "run" / "model.npz"
    header, arrays = read_archive(model, files.FORMAT, {files.VERSION: dtypes})
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
