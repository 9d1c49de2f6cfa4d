"""Comparisons of real and of misbehaving systems, each run in a process of its own."""

from __future__ import annotations

import json
import math

import pytest

import dbpcfg
from dbpcfg.comparison.compare import compare
from dbpcfg.comparison.data import as_data, comparison_data
from dbpcfg.comparison.task import Task
from dbpcfg.corpus.reading import Corpus, read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.flattening import flatten
from dbpcfg.io.tables import render
from dbpcfg.systems.branching import BranchingSystem
from dbpcfg.systems.ccl import CCL
from dbpcfg.trees.brackets import read_trees
from tests.comparison.fakes import Labelled, spec

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


@pytest.fixture(scope="module")
def task() -> Task:
    return Task.of(corpus_of(synthetic_trees("center", 40, 5)))


def f1s(compared) -> dict[str, float]:
    return {it.name: it.spread("f1").mean for it in compared.summaries}


def test_scores_are_those_of_the_same_systems_here(task):
    compared = compare(task, ["right", "ccl"])
    words = [sentence.words for sentence in task.prepared.sentences]
    expected = {
        "right": task.score(BranchingSystem("right").fit(words).trees()).score.f1,
        "ccl": task.score(CCL().fit(words).trees()).score.f1,
    }
    assert f1s(compared) == expected
    assert len(set(expected.values())) == 2
    run = compared.summaries[1].runs[0]
    assert run.seconds > 0
    assert run.cpu_seconds > 0


def test_best_spread_and_median(task):
    """Seeds 0, 1, 2 are right, left and balanced: 40.0, 66.7 and 53.3 on this corpus."""
    compared = compare(task, [spec("Chosen", stochastic=True), "left"], runs=3, permutations=100)
    chosen, left = compared.summaries
    values = [0.4, 2 / 3, 8 / 15]
    assert [run.value("f1") for run in chosen.runs] == pytest.approx(values)
    spread = chosen.spread("f1")
    mean = sum(values) / 3
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
    assert spread == pytest.approx((mean, sd, 0.4, 2 / 3))
    assert chosen.median_run.seed == 2
    assert list(compared.tests) == [("left", "chosen (seed 2)")]
    test = compared.tests["left", "chosen (seed 2)"]
    assert (test.first, test.second) == pytest.approx((2 / 3, 8 / 15))
    assert math.isnan(left.spread("f1").sd)
    two = compare(task, [spec("Chosen", stochastic=True)], runs=2, seed=1)
    assert two.summaries[0].median_run.seed == 2  # the lower of two


def test_random_systems_differ_by_seed_and_repeat(task):
    both, second = (compare(task, ["random"], runs=6 - seed, seed=seed) for seed in (4, 5))
    values = {run.seed: run.value("f1") for run in both.summaries[0].runs}
    assert list(values) == [4, 5]
    assert values[4] != values[5]
    assert values[5] == second.summaries[0].runs[0].value("f1")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Raises", "RuntimeError: its lexicon is on fire"),
        ("Killed", "ended by SIGKILL; memory may have run out"),
        ("Exits", "ended with exit code 3"),
        ("ForgetsOne", "39 trees for 40 sentences"),
        ("OtherWords", "not the same sentence"),
    ],
)
def test_one_that_fails_is_a_row(task, name, why, tmp_path):
    compared = compare(task, [spec(name), "left"], out=tmp_path / "out")
    failed, left = compared.summaries
    assert why in failed.failures[None]
    assert not failed.runs
    assert left.spread("f1").mean == pytest.approx(2 / 3)
    table = compared.tables()[0].text()
    assert f"failed: {failed.failures[None]}" in table
    assert not (tmp_path / "out" / f"{name.lower()}.json").exists()
    assert comparison_data(tmp_path / "out")["systems"][0]["failures"][0]["seed"] is None


def test_some_seeds_fail(task):
    (system,) = compare(task, [spec("FailsSometimes", stochastic=True)], runs=4).summaries
    assert [run.seed for run in system.runs] == [0, 2]
    assert list(system.failures) == [1, 3]
    assert system.remark.startswith("seed 1 failed: RuntimeError: an odd seed; seed 3")


def test_memory_is_that_of_the_system_alone(task):
    ballast = b"x" * 600_000_000  # of this process, which the children must not seem to hold
    small, large = compare(task, [spec("Fake"), spec("Large")]).summaries
    assert large.peak_bytes - small.peak_bytes > 250_000_000
    assert small.peak_bytes < 400_000_000 < len(ballast)


def test_trees_come_back_in_words_as_written(tmp_path):
    (tmp_path / "news.mrg").write_text(NEWS)
    news = Task.of(read(tmp_path / "news.mrg"))
    out = tmp_path / "out"
    compare(news, ["right", "ccl", "upparse", spec("Fake", learns=True)], out=out, permutations=10)
    words = {
        path.stem: [tree.words() for tree in read_trees(path.read_text())]
        for path in out.glob("*.trees")
    }
    assert words["right"][1] == ["It", "barked", "Well"]
    assert words["ccl"][1] == ["It", "barked", "Well"]
    assert words["upparse-prlg"][0] == ["The", "Cat", "saw", "a", "big", "Dog"]
    assert words["upparse-prlg"][1] == ["It", "barked", "-LRB-", "Well", "-RRB-"]
    assert words["fake"][1] == ["It", "barked", "-LRB-", "Well", "-RRB-", "!"]
    assert words["fake"][2] == ["Well", "..."]


def test_long_sentences_are_left_out_before_learning(tmp_path):
    (tmp_path / "news.mrg").write_text(NEWS)
    news = Task.of(read(tmp_path / "news.mrg"), max_length=3)
    assert len(news) == 2
    assert "length:<=3" in news.convention.signature()
    assert compare(news, ["right"]).summaries[0].runs[0].evaluation.score.sentences == 1


def test_data_and_tables(task):
    compared = compare(task, ["right", "random", spec("Raises")], runs=2, permutations=50)
    data = json.loads(json.dumps(as_data(compared), allow_nan=False))
    right, random, raises = data["systems"]
    assert right["spread"]["f1"] == pytest.approx({"mean": 0.4, "sd": None, "min": 0.4, "max": 0.4})
    assert [run["seed"] for run in random["runs"]] == [0, 1]
    assert raises["runs"] == []
    assert raises["spread"]["f1"]["mean"] is None
    assert data["corpus"]["sentences"] == 40
    assert [table["title"] for table in data["tables"]] == [
        *("Systems", "Spread over runs", "Difference of F1")
    ]
    latex = render(compared.tables(), "latex")
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 3
    assert compared.signature in render(compared.tables()[:1])


def test_nothing_to_score():
    """One-word sentences have no brackets: scores are undefined, and nothing is best."""
    ones = Task.of(corpus_of(list(read_trees("(X (A a))\n(X (A b))"))))
    compared = compare(ones, ["right", "left"])
    assert compared.tests == {}
    assert "–" in compared.tables()[0].text()


def test_compare_is_public():
    """What `read` returns is prepared by the options; the result prints as its tables."""
    treebank = corpus_of(synthetic_trees("center", 40, 5))
    compared = dbpcfg.compare(treebank, systems=["right", "left"], permutations=50)
    assert f1s(compared) == f1s(compare(Task.of(treebank), ["right", "left"], permutations=50))
    assert [table.title for table in compared.tables()] == ["Systems", "Difference of F1"]
    assert str(compared) == render(compared.tables())
    assert repr(compared) == "<Comparison of right, left on 40 sentences>"


def test_options_of_preparation(tmp_path):
    (tmp_path / "news.mrg").write_text(NEWS)
    options = {"max_length": 3, "lowercase": False, "punctuation": "characters"}
    compared = compare(read(tmp_path / "news.mrg"), ["right"], out=tmp_path / "out", **options)
    assert compared.corpus == Task.of(read(tmp_path / "news.mrg"), **options).describe()
    assert compared.corpus["sentences"] == 2
    assert "length:<=3" in compared.signature
    again = compare(
        read(tmp_path / "news.mrg"), ["right", "ccl"], out=tmp_path / "out", runs=1, **options
    )
    assert [system.name for system in again.summaries] == ["right", "ccl"]
    with pytest.raises(DbpcfgError, match="with --max-length 3, not none"):
        compare(
            read(tmp_path / "news.mrg"),
            ["right"],
            out=tmp_path / "out",
            lowercase=False,
            punctuation="characters",
        )


def test_what_cannot_be_compared(task, tmp_path):
    with pytest.raises(DbpcfgError, match=r"compare needs a path .* there is no file 'wsj/'"):
        compare("wsj/", ["right"])
    for option in ({"lowercase": False}, {"max_length": 3}, {"punctuation": "tags"}):
        with pytest.raises(DbpcfgError, match="a Task is prepared already"):
            compare(task, ["right"], **option)
    (tmp_path / "bare.txt").write_text("a dog\n")
    with pytest.raises(DbpcfgError, match="the sentence has no tree"):
        compare(read(tmp_path / "bare.txt"), ["right"])


def test_refusals(task):
    with pytest.raises(DbpcfgError, match="at least 1 run"):
        compare(task, runs=0)
    with pytest.raises(DbpcfgError, match="no system to compare"):
        compare(task, [])
    with pytest.raises(DbpcfgError, match="no system 'bmmm'; choose from right, left"):
        compare(task, ["bmmm"])
    with pytest.raises(DbpcfgError, match="ccl has no setting 'K'"):
        compare(task, ["ccl"], settings={"ccl": {"K": 3}})


def test_flattened_rows_stand_beside_the_original(task):
    plain = compare(task, ["right", spec("Labelled")], permutations=100)
    compared = compare(task, ["right", spec("Labelled")], permutations=100, flatten=True)
    assert [it.name for it in compared.summaries] == ["right", "labelled", "labelled-F"]
    assert f1s(plain) == {name: f1 for name, f1 in f1s(compared).items() if name != "labelled-F"}
    assert list(compared.tests) == list(plain.tests)
    words = [sentence.words for sentence in task.prepared.sentences]
    expected = task.score(flatten(Labelled().fit(words).trees())).score
    binary, flat = (it.runs[0].evaluation.score for it in compared.summaries[1:])
    assert flat == expected
    assert flat.predicted < binary.predicted
    assert "labelled-F: trees of labelled flattened by estimated heads" in str(compared)
    assert as_data(compared)["systems"][2]["name"] == "labelled-F"
