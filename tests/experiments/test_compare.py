"""Comparisons of real and of misbehaving systems: each run has its process, and is kept."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.corpus.reading import Corpus, read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.flattening import flatten
from dbpcfg.experiments.compare import compare
from dbpcfg.experiments.comparison import comparison_data
from dbpcfg.experiments.corpora import Task
from dbpcfg.io.tables import render
from dbpcfg.systems.branching import Right
from dbpcfg.systems.ccl import CCL
from dbpcfg.trees.brackets import read_trees
from tests.experiments.fakes import Labelled, spec

NEWS = """\
( (S (NP-SBJ (DT The) (NN Cat)) (VP (VBD saw) (NP (DT a) (JJ big) (NN Dog))) (. .)))
( (S (NP (PRP It)) (VP (VBD barked) (-LRB- -LRB-) (ADVP (RB Well)) (-RRB- -RRB-)) (. !)))
( (INTJ (UH Well) (. ...)))
"""


def corpus_of(trees) -> Corpus:
    sentences = [
        Sentence(tuple(t.words()), tuple(t.tags()), t, line=n) for n, t in enumerate(trees)
    ]
    return Corpus(sentences, {}, ("synthetic",), ("penn",))


TASK = Task.of(corpus_of(synthetic_trees("center", 40, 5)))


@pytest.fixture
def news(tmp_path) -> Corpus:
    (tmp_path / "news.mrg").write_text(NEWS)
    return read(tmp_path / "news.mrg")


def f1s(compared) -> dict[str, float]:
    return {it.name: it.spread("f1").mean for it in compared.summaries}


def test_scores_are_those_of_the_same_systems_here():
    compared = compare(TASK, ["right", "ccl"])
    words = [sentence.words for sentence in TASK.preprocessed.sentences]
    expected = {
        "right": TASK.score(Right().fit(words).trees()).score.f1,
        "ccl": TASK.score(CCL().fit(words).trees()).score.f1,
    }
    assert f1s(compared) == expected
    assert len(set(expected.values())) == 2
    assert compared.summaries[1].runs[0].measures["seconds"] > 0


def test_tables_for_latex():
    compared = compare(TASK, ["left", "right"], permutations=100)
    latex = compared.to_latex()
    assert latex.count(r"\begin{table}") == len(compared.tables()) == 2
    for name, score in f1s(compared).items():
        assert any(name in row and f"{100 * score:.1f}" in row for row in latex.splitlines())


def test_best_spread_and_median():
    """Seeds 0, 1, 2 are right, left and balanced: 40.0, 66.7 and 53.3 on this corpus."""
    compared = compare(TASK, [spec("Chosen"), "left"], runs=3, permutations=100)
    chosen, left = compared.summaries
    values = [0.4, 2 / 3, 8 / 15]
    assert [run.value("f1") for run in chosen.runs] == pytest.approx(values)
    mean = sum(values) / 3
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
    assert chosen.spread("f1") == pytest.approx((mean, sd, 0.4, 2 / 3, 8 / 15))
    assert list(compared.tests) == [("left", "chosen (seed 2)")]
    test = compared.tests["left", "chosen (seed 2)"]
    assert (test.first, test.second) == pytest.approx((2 / 3, 8 / 15))
    assert math.isnan(left.spread("f1").sd)
    (two,) = compare(TASK, [spec("Chosen")], runs=2, seed=1).summaries
    assert two.median_run.seed == 2  # the lower of two
    assert two.spread("f1").median == pytest.approx((2 / 3 + 8 / 15) / 2)


FAILURES = {
    "Raises": "RuntimeError: its lexicon is on fire",
    "Killed": "ended by SIGKILL; memory may have run out",
    "Exits": "ended with exit code 3",
    "ForgetsOne": "39 trees for 40 sentences",
    "OtherWords": "not the same sentence",
}


def test_each_that_fails_is_a_row(processes, tmp_path):
    compared = compare(TASK, [*map(spec, FAILURES), "left"], out=tmp_path / "out")
    *failed, left = compared.summaries
    text, kept = compared.tables()[0].text(), comparison_data(tmp_path / "out")["systems"]
    for system, (name, why), row in zip(failed, FAILURES.items(), kept[:-1], strict=True):
        assert why in system.failures[None]
        assert not system.runs
        assert f"failed: {system.failures[None]}" in text
        assert not (tmp_path / "out" / name.lower()).exists()
        assert row["failures"][0]["seed"] is None
    assert left.spread("f1").mean == pytest.approx(2 / 3)


def test_some_seeds_fail():
    (system,) = compare(TASK, [spec("FailsSometimes")], runs=4).summaries
    assert [run.seed for run in system.runs] == [0, 2]
    assert list(system.failures) == [1, 3]
    assert system.note == "seeds 1, 3 failed: RuntimeError: an odd seed"


def test_memory_and_time_are_those_of_the_system_alone(processes):
    ballast = b"x" * 600_000_000  # of this process, which the children must not seem to hold
    systems = [spec("Fake"), spec("Large"), spec("SlowAtFirst")]
    small, large, compiles = compare(TASK, systems).summaries
    assert large.peak_bytes - small.peak_bytes > 250_000_000
    assert small.peak_bytes < 400_000_000 < len(ballast)
    assert compiles.spread("seconds").mean < 1800  # of the hour that its first call takes


def test_trees_come_back_in_words_as_written(news, tmp_path):
    out = tmp_path / "out"
    compare(news, ["right", "ccl", "upparse", spec("Learner")], out=out, permutations=10)
    words = {
        path.parent.name: [tree.words() for tree in read_trees(path.read_text())]
        for path in out.glob("*/trees.txt")
    }
    assert words["right"][1] == words["ccl"][1] == ["It", "barked", "Well"]
    assert words["upparse-prlg"][0] == ["The", "Cat", "saw", "a", "big", "Dog"]
    assert words["upparse-prlg"][1] == ["It", "barked", "-LRB-", "Well", "-RRB-"]
    assert words["learner"][1:] == [
        ["It", "barked", "-LRB-", "Well", "-RRB-", "!"],
        ["Well", "..."],
    ]


def test_data_and_tables():
    compared = compare(TASK, ["right", "random", spec("Raises")], runs=2, permutations=50)
    data = json.loads(json.dumps(compared.data(), allow_nan=False))
    right, random, raises = data["systems"]
    assert right["spread"]["f1"] == pytest.approx({"mean": 0.4, "sd": None, "min": 0.4, "max": 0.4})
    assert [run["seed"] for run in random["runs"]] == [0, 1]
    assert raises["runs"] == []
    assert raises["spread"]["f1"]["mean"] is None
    assert data["corpus"]["sentences"] == 40
    titles = ["Systems", "Spread over runs", "Difference of F1"]
    assert [table["title"] for table in data["tables"]] == titles
    latex = render(compared.tables(), "latex")
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 3
    assert compared.signature in render(compared.tables()[:1])


def test_nothing_to_score():
    """One-word sentences have no brackets: scores are undefined, and nothing is best."""
    ones = corpus_of(list(read_trees("(X (A a))\n(X (A b))")))
    compared = compare(ones, ["right", "left"])
    assert compared.tests == {}
    assert "–" in compared.tables()[0].text()


def test_compare_is_public():
    """What `read` returns is prepared by the options; the result prints as its tables."""
    treebank = corpus_of(synthetic_trees("center", 40, 5))
    compared = dbpcfg.compare(treebank, systems=["right", "left"], permutations=50)
    assert f1s(compared) == pytest.approx({"right": 0.4, "left": 2 / 3})
    assert str(compared) == render(compared.tables())
    assert repr(compared) == "<Comparison of right, left on 40 sentences>"


def test_options_of_preparation(news, tmp_path):
    options = {"max_length": 3, "lowercase": False, "punctuation": "characters"}
    compared = compare(news, ["right"], out=tmp_path / "out", **options)
    assert compared.corpus == Task.of(news, **options).describe()
    assert compared.corpus["sentences"] == 2
    assert compared.summaries[0].runs[0].evaluation.score.sentences == 1
    assert "length:<=3" in compared.signature
    again = compare(news, ["right", "ccl"], out=tmp_path / "out", runs=1, **options)
    assert [system.name for system in again.summaries] == ["right", "ccl"]
    options["max_length"] = None
    with pytest.raises(DbpcfgError, match="max-length = 3, not max-length = none"):
        compare(news, ["right"], out=tmp_path / "out", **options)


def test_refusals(tmp_path):
    with pytest.raises(DbpcfgError, match=r"compare needs a path .* there is no file 'wsj/'"):
        compare("wsj/", ["right"])
    for option in ({"lowercase": False}, {"max_length": 3}, {"punctuation": "tags"}):
        with pytest.raises(DbpcfgError, match="a Task is prepared already"):
            compare(TASK, ["right"], **option)
    (tmp_path / "bare.txt").write_text("a dog\n")
    with pytest.raises(DbpcfgError, match="the sentence has no tree"):
        compare(read(tmp_path / "bare.txt"), ["right"])
    with pytest.raises(DbpcfgError, match="at least 1 run"):
        compare(TASK, runs=0)
    with pytest.raises(DbpcfgError, match="no system to compare"):
        compare(TASK, [])
    with pytest.raises(DbpcfgError, match="no system 'bmmm'; choose from right, left"):
        compare(TASK, ["bmmm"])
    with pytest.raises(DbpcfgError, match="ccl has no setting 'K'"):
        compare(TASK, ["ccl"], settings={"ccl": {"K": 3}})


def test_flattened_rows_stand_beside_the_original(tmp_path):
    given = {"systems": ["right", spec("Labelled")], "permutations": 100, "out": tmp_path / "out"}
    plain, compared = compare(TASK, **given), compare(TASK, **given, flatten=True)
    assert [it.name for it in compared.summaries] == ["right", "labelled", "labelled-F"]
    assert f1s(plain) == {name: f1 for name, f1 in f1s(compared).items() if name != "labelled-F"}
    assert list(compared.tests) == list(plain.tests)
    words = [sentence.words for sentence in TASK.preprocessed.sentences]
    expected = TASK.score(flatten(Labelled().fit(words).trees())).score
    binary, flat = (it.runs[0].evaluation.score for it in compared.summaries[1:])
    assert flat == expected
    assert flat.predicted < binary.predicted
    assert "labelled-F: trees of labelled flattened by estimated heads" in str(compared)


# --- what is kept ------------------------------------------------------------------------------


def record_of(out: Path, name: str) -> Path:
    return out / ".cells" / name / "cell.json"


def times(out: Path) -> dict[str, int]:
    return {path.parent.name: path.stat().st_mtime_ns for path in out.glob("*/trees.txt")}


def test_finished_runs_are_not_run_again(tmp_path):
    out, said = tmp_path / "out", []
    how = {"settings": {"counts": {"file": str(tmp_path / "runs")}}, "out": out}
    first = compare(TASK, ["left", spec("Counts")], runs=2, **how)
    before = times(out)
    again = compare(TASK, ["left", spec("Counts")], runs=4, **how, on_note=said.append)
    assert (tmp_path / "runs").read_text().split() == ["0", "1", "2", "3"]
    assert {name for name, when in times(out).items() if when != before.get(name)} == {
        *("counts-s2", "counts-s3")
    }
    assert sum("kept from before" in line for line in said) == 3
    runs = [compared.summaries[0].runs[0].measures["seconds"] for compared in (first, again)]
    assert runs[0] == runs[1]
    assert f1s(first) == f1s(again)
    assert [system["name"] for system in comparison_data(out)["systems"]] == ["left", "counts"]
    record_of(out, "counts-s0").unlink()  # what nothing is known about is not touched
    with pytest.raises(DbpcfgError, match="counts-s0 exists, and is not a cell"):
        compare(TASK, [spec("Counts")], runs=1, **how)


def test_what_is_kept_of_a_run(tmp_path):
    compare(TASK, ["ccl"], out=tmp_path)
    record = json.loads(record_of(tmp_path, "ccl").read_text())
    assert record["settings"].items() >= {
        *(("system", "ccl"), ("seed", None), ("faithful", True)),
        *(("currency-is-punctuation", False), ("max-length", "none")),
    }
    assert record["result"]["seconds"] > 0
    assert record["result"]["cpu_seconds"] > 0
    assert record["result"]["peak_bytes"] > 10_000_000
    assert record["corpus"] == TASK.digest
    assert len((tmp_path / "ccl" / "trees.txt").read_text().splitlines()) == 40
    record["result"]["version"] = "0.0.7"
    record_of(tmp_path, "ccl").write_text(json.dumps(record))
    (table,) = compare(TASK, ["ccl"], out=tmp_path).tables()
    assert f"ccl ran under dbpcfg 0.0.7, not {dbpcfg.__version__}" in table.notes


def test_another_corpus_is_refused(tmp_path):
    compare(TASK, ["left"], out=tmp_path)
    other = Task.of(corpus_of(synthetic_trees("center", 40, 5, seed=1)))
    with pytest.raises(DbpcfgError, match=r"another text.* choose another out"):
        compare(other, ["left"], out=tmp_path)
    capitals = Task.of(corpus_of(synthetic_trees("center", 40, 5)), lowercase=False)
    with pytest.raises(DbpcfgError, match="lowercase = True, not lowercase = False; give the same"):
        compare(capitals, ["left"], out=tmp_path)


def test_gold_trees_and_punctuation_are_part_of_the_corpus():
    trees = synthetic_trees("center", 40, 5)
    relabelled = [tree.relabel(lambda label: "Y" + label) for tree in trees]
    assert Task.of(corpus_of(relabelled)).digest != TASK.digest
    commas = [tree.relabel(lambda label: "," if label == "X2" else label) for tree in trees]
    by_tags, by_characters = (
        Task.of(corpus_of(commas), punctuation=rule) for rule in ("tags", "characters")
    )
    assert by_tags.digest != by_characters.digest


def test_other_settings_are_refused_before_anything_runs(tmp_path):
    small = {"dbpcfg": {"K": 2, "D": None, "chains": 1, "iterations": 4}}
    compare(TASK, ["dbpcfg"], runs=1, out=tmp_path / "out", settings=small, threads=1)
    larger = {"dbpcfg": {**small["dbpcfg"], "K": 3}, "counts": {"file": str(tmp_path / "runs")}}
    with pytest.raises(DbpcfgError, match=r"s0 was run with K = 2, not K = 3; give the same"):
        compare(TASK, [spec("Counts"), "dbpcfg"], runs=1, out=tmp_path / "out", settings=larger)
    assert not (tmp_path / "runs").exists()
    compare(TASK, ["dbpcfg"], runs=1, out=tmp_path / "out", settings=small, threads=2)


def test_damaged_files_are_refused(tmp_path):
    compare(TASK, ["left"], out=tmp_path)
    trees, record = tmp_path / "left" / "trees.txt", record_of(tmp_path, "left")
    whole = trees.read_text()
    trees.write_text(whole[: len(whole) // 2])
    with pytest.raises(DbpcfgError, match=r"not what its record says; delete .*left"):
        compare(TASK, ["left"], out=tmp_path)
    for content, said in [
        ("[1", "not JSON"),
        ("[1]", "not a dbpcfg cell"),
        ('{"format": "dbpcfg cell", "version": 9}', "of version 9"),
        ('{"format": "dbpcfg cell", "version": 1}', "damaged"),
    ]:
        record.write_text(content)
        with pytest.raises(DbpcfgError, match=said):
            compare(TASK, ["left"], out=tmp_path)


def test_other_directories_are_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    for out in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(DbpcfgError, match="is not a comparison; choose another --out"):
            compare(TASK, ["left"], out=out)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(DbpcfgError, match="has no finished comparison; make one with `dbpcfg"):
        comparison_data(tmp_path)


SCRIPT = """\
import sys
from tests.experiments.fakes import spec
from tests.experiments.test_compare import TASK, compare

settings = {"endless": {"file": sys.argv[1]}}
compare(TASK, ["left", spec("Endless")], out=sys.argv[2], settings=settings)
"""


def test_killed_in_between(tmp_path):
    """What was finished stays, and the system that ran ends with the process that started it."""
    (tmp_path / "script.py").write_text(SCRIPT)
    pid, out = tmp_path / "pid", tmp_path / "out"
    command = [sys.executable, tmp_path / "script.py", pid, out]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    wait_for(lambda: pid.exists() and pid.read_text())
    process.kill()
    process.wait()
    wait_for(lambda: not alive(int(pid.read_text())))
    written = times(out)
    compare(TASK, ["left", "right"], out=out)
    assert times(out).items() >= written.items()
    assert times(out).keys() == {"left", "right"}


def test_interrupted_while_a_process_starts(processes, monkeypatch, tmp_path):
    """Python would wait at its end for a process that nobody has ended."""

    def start(self) -> None:
        begin(self)
        os.kill(os.getpid(), signal.SIGINT)

    begin = SpawnProcess.start
    monkeypatch.setattr(SpawnProcess, "start", start)
    settings = {"endless": {"file": str(tmp_path / "pid")}}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            compare(TASK, [spec("Endless")], settings=settings)
    finally:
        signal.signal(signal.SIGINT, before)
    left = active_children()
    for process in left:
        process.kill()
        process.join()
    assert left == []


def wait_for(condition, seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but is not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
