"""Wrong commands: one line that helps, the exit code, no traceback, nothing written."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from dbpcfg.induction.induce import induce
from dbpcfg.io.archive import read_archive, write_archive
from dbpcfg.model import files
from tests.command import dbpcfg
from tests.induction.small import SENTENCES, TREES
from tests.inprocess import InProcess
from tests.rig.crashes import state_of

MISTAKE = 2

INDUCE = "induce text.txt -q --out new"

TABLE: list[tuple[str, str]] = [
    # options and arguments
    ("", "Usage: "),
    ("learn text.txt", "No such command 'learn'"),
    ("induce", "Missing argument 'TEXT'"),
    ("induce text.txt", "Missing option '--out'"),
    (f"{INDUCE} --catagories 3", "No such option: --catagories"),
    (f"{INDUCE} -K three", "Input should be a valid integer"),
    (f"{INDUCE} -K 0", "Input should be greater than or equal to 1"),
    (f"{INDUCE} -K -5", "Input should be greater than or equal to 1"),
    (f"{INDUCE} -K 1.5", "Input should be a valid integer"),
    (f"{INDUCE} -K", "Option '-K' requires an argument"),
    (f"{INDUCE} -D -1", "--depth must be a number from 1 up, or 'none' for no bound, got '-1'"),
    (f"{INDUCE} -D 0", "--depth must be a number from 1 up"),
    (f"{INDUCE} -D deep", "--depth must be a number from 1 up"),
    (f"{INDUCE} -D ²", "--depth must be a number from 1 up"),
    (f"{INDUCE} --beta 0", "beta must be a positive number"),
    (f"{INDUCE} --beta -0.1", "beta must be a positive number"),
    (f"{INDUCE} --beta nan", "beta must be a positive number"),
    (f"{INDUCE} --beta inf", "beta must be a positive number"),
    (f"{INDUCE} --beta small", "Input should be a valid number"),
    (f"{INDUCE} --iterations 0", "Input should be greater than or equal to 1"),
    (f"{INDUCE} --iterations 1e3", "Input should be a valid integer"),
    (f"{INDUCE} --iterations {10**16}", "at most 1,000,000,000,000,000 iterations"),
    (f"{INDUCE} --iterations {10**400}", "at most 1,000,000,000,000,000 iterations"),
    (f"resume run --iterations {10**400}", "at most 1,000,000,000,000,000 iterations"),
    (f"{INDUCE} --chains 0", "Input should be greater than or equal to 1"),
    (f"{INDUCE} --threads 0", "Input should be greater than or equal to 1"),
    (f"{INDUCE} --seed -1", "Input should be greater than or equal to 0"),
    (f"{INDUCE} --seed {10**30}", "seed must be"),
    (f"{INDUCE} --temperature nan", "temperature"),
    (f"{INDUCE} --temperature 0.5", "Input should be greater than or equal to 1"),
    (f"{INDUCE} --trees worst", "'worst' is not one of 'mbr', 'best', 'last'"),
    (f"{INDUCE} --parser earley", "'earley' is not one of 'chart', 'leftcorner'"),
    (f"{INDUCE} --parser leftcorner -D none", "needs a depth bound"),
    (f"{INDUCE} --parser leftcorner --precision single", "only the chart has single"),
    (f"{INDUCE} --restarts 9 --iterations 20", "run longer"),
    (f"{INDUCE} --max-length 1 --rare -1", "Input should be greater than or equal to 0"),
    (f"{INDUCE} --checkpoint -1", "Input should be greater than or equal to 0"),
    (f"{INDUCE} --checkpoint nan", "Input should be greater than or equal to 0"),
    (f"{INDUCE} --encoding klingon", "klingon"),
    (f"{INDUCE} --input-format pdf", "'pdf' is not one of 'text', 'penn'"),
    (f"{INDUCE} --format xml", "'xml' is not one of 'text', 'json', 'latex'"),
    # sizes
    (f"{INDUCE} -K 5000", "GiB of memory, and there are"),
    (f"{INDUCE} -K 1000000", "this run would need"),
    (f"{INDUCE} -K {10**30}", "this run would need"),
    (f"{INDUCE} -D 1000000000000", "at most 10,000, got"),
    (f"{INDUCE} --depth 999999999999999", "at most 10,000, got"),
    (f"{INDUCE} -D {'9' * 5000}", "--depth"),
    (f"{INDUCE} --chains 100000000", "not enough for 100,000,000 chains"),
    (f"{INDUCE} --chains 100000000 --inference paper", "this run would need"),
    (f"{INDUCE} --chains {10**25} --iterations 9", "this run would need"),
    (f"{INDUCE} -K 100 -D 12 --parser leftcorner", "use the chart parser, or fewer"),
    ("parse deep.npz text.txt", "deep.npz: the depth bound must be at most 10,000"),
    (
        "parse run text.txt -D 99999999999999",
        "at most 10,000, got 99,999,999,999,999",
    ),
    ("surprisal deep.npz text.txt", "deep.npz: the depth bound must be at most 10,000"),
    ("show deep.npz", "deep.npz: the depth bound must be at most 10,000"),
    ("generate deep.npz", "deep.npz: the depth bound must be at most 10,000"),
    ("probability deep.npz text.txt", "deep.npz: the depth bound must be at most 10,000"),
    ("bound run --depths 999999999", "the depth bound must be at most 1,000, got 999,999,999"),
    ("export run - -D 999999999", "the depth bound must be at most 1,000, got 999,999,999"),
    ("generate run -n 0", "Input should be greater than or equal to 1"),
    ("synth left -n 0", "Input should be greater than or equal to 1"),
    # files that are not there, or not what they should be
    ("induce none.txt --out new", "none.txt"),
    ("induce empty.txt --out new", "empty.txt"),
    ("induce blank.txt --out new", "blank.txt: the file is empty"),
    ("induce binary.txt --out new", "binary.txt"),
    ("induce latin1.txt --out new", "--encoding"),
    ("induce page.txt --out new", "page.txt"),
    ("induce half.mrg --out new", "--skip-broken"),
    ("induce nothing --out new", "nothing"),
    ("induce *.nothing --out new", "*.nothing"),
    ("induce text.txt --out text.txt", "text.txt is a file; --out needs a directory"),
    ("induce text.txt -q --out text.txt/run", "text.txt/run cannot be written: Not a directory"),
    ("induce text.txt --out run", "run exists and is not empty; resume it"),
    ("induce text.txt --out full", "full exists and is not empty"),
    ("induce text.txt --out full --overwrite", "full is no run, so --overwrite does not touch it"),
    (f"{INDUCE} --gold none.mrg", "none.mrg"),
    (f"{INDUCE} --gold other.mrg", "is not in the treebank; the treebank has 1 sentences"),
    ("induce talk.cha --out new --speaker NOBODY", "NOBODY"),
    # runs
    ("resume", "Missing argument 'RUN'"),
    ("resume .", "is no run: there is no config.toml in it; perhaps begun"),
    ("resume nothing", "nothing is no run: there is no config.toml in it"),
    ("resume none", "none does not exist"),
    ("resume text.txt", "text.txt is a file"),
    ("resume full", "full is no run: there is no config.toml in it"),
    ("resume newer", "a run of dbpcfg 99.0"),
    ("resume future", "a run of version 9; this program reads version 1"),
    ("resume run --iterations 2", "a run can be made longer, not shorter"),
    ("resume run --iterations -2", "Input should be greater than or equal to 1"),
    ("show text.txt", "text.txt is text, not a model"),
    ("show gold.trees", "gold.trees is a treebank, not a model"),
    ("show none.npz", "none.npz"),
    ("show none", "none"),
    ("show full", "full is no run of dbpcfg"),
    ("show empty.npz", "empty.npz"),
    ("show binary.npz", "binary.npz: not a dbpcfg model file"),
    ("show begun", "begun is a run that is not finished: resume it"),
    ("show run --gold other.mrg", "other.mrg"),
    ("show rules.tsv --trees 3", "--trees and --gold need the directory of a run"),
    ("report begun", "begun is not finished"),
    ("report none", "none does not exist"),
    ("report text.txt", "text.txt is a file"),
    ("report run --comparison full", "full"),
    ("report run --out none/page.html", "none"),
    ("compare-runs", "Missing argument 'RUN'"),
    ("compare-runs begun", "begun is not finished"),
    ("compare-runs begun begun", "begun is not finished"),
    ("compare-runs run --figure plot.doc", "plot.doc"),
    # parsing
    ("parse run text.txt --method guess", "'guess' is not one of 'mbr', 'mbr-chain', 'viterbi'"),
    ("parse run none.txt", "none.txt"),
    ("parse run text.txt -n 5", "needs --method viterbi"),
    ("parse run text.txt --draw --scores", "--draw cannot be combined"),
    ("parse run text.txt --unknown 1", "--unknown must be a probability below 1"),
    ("parse run text.txt --unknown nan", "--unknown must be a probability below 1"),
    ("parse rules.tsv text.txt --method mbr-chain", "rules.tsv is one grammar"),
    ("surprisal run text.txt --beam -1", "beam"),
    ("surprisal run text.txt --text s", "the name ends in neither .csv nor .tsv"),
    ("surprisal run text.txt --text s --table csv", "has no column 's', which --text names"),
    ("surprisal run text.txt --by item", "name the column of sentences with --text"),
    ("surprisal run text.txt --average best", "'best' is not one of 'chain', 'survivors'"),
    ("surprisal run text.txt --columns nothing", "there is no column 'nothing'"),
    ("surprisal run text.txt --hale --beam 2", "not from a beam of 2"),
    ("bound run --depths 1,x", "--depths must be whole numbers separated by commas"),
    ("bound run --depths 0", "depth"),
    ("export run rules.doc", "rules.doc does not end in .tsv"),
    ("export run text.txt", "text.txt exists; --overwrite replaces it"),
    ("export run - --threshold 2", "threshold"),
    ("export run - --threshold nan", "threshold"),
    # scoring and drawing
    ("evaluate gold.trees", "nothing to score"),
    ("evaluate - -", "only one of GOLD, PRED and --against can be standard input"),
    ("evaluate text.txt run/trees.txt", "text.txt"),
    ("evaluate gold.trees other.mrg", "other.mrg has 1 trees, but gold.trees has 12 sentences"),
    ("evaluate gold.trees swapped.mrg", "are not the same sentence"),
    ("evaluate gold.trees none.mrg", "none.mrg"),
    (
        "evaluate gold.trees run/trees.txt --max-length 0",
        "Input should be greater than or equal to 1",
    ),
    ("draw gold.trees --as gif", "'gif' is not one of 'terminal', 'svg'"),
    ("draw gold.trees --from 99", "gold.trees has only 12 trees"),
    ("draw gold.trees --as svg", "SVG files need a directory"),
    ("draw gold.trees --document", "--document is for LaTeX"),
    ("convert text.txt", "Missing argument 'OUT'"),
    ("convert text.txt gold.trees", "gold.trees exists"),
    ("convert text.txt new.mrg", "text.txt"),
    ("convert text.txt none/new.txt", "none"),
    ("convert text.txt nothing", "nothing"),
    ("compare gold.trees --systems right,chance", "chance"),
    ("compare text.txt --systems right", "text.txt"),
    ("compare gold.trees -q --out full --systems right", "full exists and is not a comparison"),
    ("baseline up text.txt", "up"),
    # sweeps
    ("sweep", "Missing argument 'GRID'"),
    ("sweep none.toml", "none.toml cannot be read: No such file"),
    ("sweep nothing", "nothing cannot be read: Is a directory"),
    ("sweep text.txt", "text.txt is not TOML"),
    ("sweep binary.txt", "binary.txt is not TOML"),
    ("sweep empty.txt", "empty.txt: there is no corpus"),
    ("sweep wrong.toml", "wrong.toml:2: unknown key 'depth'; a grid has corpus, K, D, beta"),
    ("sweep grid.toml --cell 0", "Input should be greater than or equal to 1"),
    ("sweep grid.toml --cell 3", "grid.toml has 2 cells, so there is no cell 3"),
    ("sweep grid.toml --jobs 0", "Input should be greater than or equal to 1"),
    ("sweep grid.toml --format xml", "'xml' is not one of 'text', 'tsv', 'json', 'latex'"),
    ("sweep grid.toml --cell 1 --slurm-array", "give one of --cell, --dry-run and --slurm-array"),
    ("sweep full.toml", "owned/text-right exists, and no sweep has made it"),
    # reproductions
    ("reproduce", "Missing argument 'RECIPE'"),
    ("reproduce eden", "there is no recipe 'eden'; choose adam, depth"),
    ("reproduce none.toml", "none.toml cannot be read: No such file"),
    ("reproduce wrong.toml", "wrong.toml:1: corpus must be a table, got 'text.txt'"),
    ("reproduce adam", "adam needs Penn-style trees of the Adam section"),
    ("reproduce adam none.mrg", "none.mrg"),
    ("reproduce adam text.txt", "the sentence has no tree"),
    ("reproduce synthetic gold.trees", "is made by the recipe; leave the treebank out"),
    ("reproduce synthetic --out text.txt", "text.txt is a file; --out needs a directory"),
    ("reproduce synthetic --seeds x", "seeds as a text is a range like '0-9', got 'x'"),
    ("reproduce synthetic --jobs 0", "Input should be greater than or equal to 1"),
    ("reproduce depth text.txt", "the sentence has no tree"),
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
    done = dbpcfg("export", place / "run", place / "rules.tsv", "-q")
    assert done.returncode == 0, done.stderr
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
def test_mistakes(command, expected, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    before = state_of(place)
    code, out, said = InProcess(monkeypatch, capsys).run(*command.split())
    if not command:
        assert out.startswith(expected)
        assert code == MISTAKE
        return
    check(code, said, expected)
    assert state_of(place) == before


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"{INDUCE} -K 1000000", "this run would need"),
        ("resume .", "is no run: there is no config.toml in it; perhaps begun"),
        ("parse deep.npz text.txt", "deep.npz: the depth bound must be at most 10,000"),
        ("show binary.npz", "binary.npz: not a dbpcfg model file"),
        (f"{INDUCE} --catagories 3", "No such option: --catagories"),
    ],
)
def test_mistakes_in_a_process_of_their_own(command, expected, place):
    before = state_of(place)
    done = dbpcfg(*command.split(), cwd=place)
    check(done.returncode, done.stderr, expected)
    assert state_of(place) == before
