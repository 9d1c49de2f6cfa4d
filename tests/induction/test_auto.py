"""What is chosen for a text, if nobody says."""

import pytest

import dbpcfg
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.systems.branching import branching_tree
from dbpcfg.induction.auto import choose, possible
from dbpcfg.induction.settings import load_configuration
from dbpcfg.numerics.philox import stream
from dbpcfg.options import Searching
from tests.induction.small import SENTENCES

BOTH = ["gibbs", "neural"]


def text(sentences: int, words: int, forms: int) -> list[Sentence]:
    """Sentences of so many words, with a full stop each."""
    numbered = (f"w{n % forms}" for n in range(sentences * words))
    others = [[next(numbered) for _ in range(words - 1)] for _ in range(sentences)]
    return [Sentence(("the", *some, ".")) for some in others]


@pytest.mark.parametrize(
    ("size", "learner", "rare", "without"),
    [
        ((500, 6, 200), "neural", 0, True),
        ((2000, 12, 9000), "neural", 1, True),
        ((499, 6, 200), "gibbs", 0, False),
        ((2000, 13, 500), "gibbs", 0, False),
        ((200, 20, 400), "gibbs", 1, False),
        ((199, 20, 400), "gibbs", 0, False),
    ],
)
def test_the_rule(size, learner, rare, without):
    found = choose(text(*size), Preparation(), [], BOTH)
    assert found.learner == learner
    assert (found.preparation.rare, found.preparation.no_punctuation) == (rare, without)
    said = f"{size[0]:,} sentences of {size[1]}.0 words"
    assert found.why.startswith(said)
    assert f"learner {learner}" in found.why
    assert ("without punctuation" in found.why) == without


def test_what_is_asked_for_is_kept():
    own = Preparation(no_punctuation=False, rare=0, max_length=3)
    found = choose(text(2000, 3, 4000), own, ["rare", "no_punctuation"], BOTH)
    assert (found.learner, found.preparation) == ("neural", own)
    assert choose(text(2000, 3, 50), Preparation(), [], ["gibbs"]).learner == "gibbs"


@pytest.mark.parametrize(
    ("options", "learners"),
    [
        ({}, BOTH),
        ({"exact": True}, BOTH),
        ({"beta": 0.1}, ["gibbs"]),
        ({"rate": 0.1, "beta": None}, ["neural"]),
    ],
)
def test_an_option_of_one_learner_chooses_it(options, learners):
    assert possible(options, Searching(), scheduled=False) == learners


def test_options_of_different_learners():
    with pytest.raises(DbpcfgError, match="rate, beta: name the learner"):
        dbpcfg.induce(SENTENCES, rate=0.1, beta=0.1)
    assert possible({}, Searching(inference="paper"), scheduled=False) == ["gibbs"]


def test_a_run_says_why(tmp_path):
    run = dbpcfg.induce(SENTENCES, K=1, iterations=2, chains=1, out=tmp_path / "run")
    assert "learner gibbs" in run.configuration.why
    assert load_configuration(tmp_path / "run" / "config.toml") == run.configuration
    assert dbpcfg.induce(SENTENCES, learner="gibbs", iterations=2, chains=1).configuration.why == ""


def test_words_are_counted_as_they_are_split():
    found = choose([Sentence(("dog,", "dog."))] * 5, Preparation(tokens="punctuation"), [], BOTH)
    assert found.why.startswith("5 sentences of 2.0 words, 10.0 tokens per form")


@pytest.mark.parametrize("least", [10, 500])
def test_gold_trees_choose_nothing(tmp_path, monkeypatch, least):
    monkeypatch.setattr("dbpcfg.induction.auto.LEAST_SENTENCES", least)
    text = [one.words() for one in synthetic_trees("center", sentences=20)]
    right, shuffled = (
        [branching_tree(shape, words, stream(7), n) for n, words in enumerate(text)]
        for shape in ("right", "random")
    )
    given = {"none": None, "right": right, "shuffled": shuffled}
    runs = {
        name: dbpcfg.induce(
            text, gold=trees, gold_sources=["gold"], budget=200, K=3, out=tmp_path / name
        )
        for name, trees in given.items()
    }
    assert runs["none"].configuration.model.learner.name == ("neural" if least == 10 else "gibbs")
    for file in ("trees.txt", "model.npz", "samples.npz", "agreement.tsv", "corpus.npz"):
        assert len({(tmp_path / name / file).read_bytes() for name in given}) == 1, file
    scores = [runs[name].best.scores for name in ("right", "shuffled")]
    assert scores[0] != scores[1]  # they are looked at, for this only
