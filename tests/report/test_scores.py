"""Scores must be those of `dbpcfg.evaluation`, which goes another way: it aligns words."""

import numpy as np
import pytest

from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.report.scores import BASELINES, CEILING, NOT_SCORED
from dbpcfg.systems.branching import branching_tree
from tests.evaluation.binarise import binarise
from tests.report.small import TREES, unpack


def expected(trees, gold):
    return evaluate(gold.sentences, trees, gold.punctuation, gold.convention)


def test_of_every_chain(run, gold, data):
    systems = {one["name"]: one for one in data["scores"]["systems"]}
    for chain in run.chains:
        found = systems[f"chain {chain.settings.chain}"]
        it = expected(run.trees(chain), gold).score
        assert (found["matched"], found["predicted"], found["gold"]) == (
            it.matched,
            it.predicted,
            it.gold,
        )
        assert found["f1"] == pytest.approx(it.f1)
        assert found["selected"] == (chain is run.best)
    assert data["scores"]["signature"] == it.signature
    reached = [one["f1"] for one in systems.values() if one["kind"] == "chain"]
    assert data["scores"]["spread"] == [min(reached), np.median(reached), max(reached)]


def test_of_a_race_the_survivors_are_scored(race, gold, race_data):
    systems = [one for one in race_data["scores"]["systems"] if one["kind"] == "chain"]
    assert [one["chain"] for one in systems] == [c.settings.chain for c in race.survivors]
    for one, chain in zip(systems, race.survivors, strict=True):
        assert one["f1"] == pytest.approx(expected(race.trees(chain), gold).score.f1)
    reached = [one["f1"] for one in systems]
    assert race_data["scores"]["spread"] == [min(reached), np.median(reached), max(reached)]


def test_of_baselines(run, gold, data):
    systems = {one["name"]: one for one in data["scores"]["systems"]}
    numbers = stream(run.configuration.model.seed, purpose=Purpose.BASELINE)
    for shape, name in BASELINES.items():
        trees = []
        for s, sentence in enumerate(gold.sentences):
            marks = gold.punctuation[s]
            words = [w for w, mark in zip(sentence.words, marks, strict=True) if not mark]
            trees.append(branching_tree(shape, words, numbers, s))
        it = expected(trees, gold).score
        assert systems[name]["f1"] == pytest.approx(it.f1), name


def test_no_binary_trees_score_more_than_binary_gold_trees(gold, data):
    ceiling = next(one for one in data["scores"]["systems"] if one["name"] == CEILING)
    binary = [
        binarise(tree, "right", marks) for tree, marks in zip(TREES, gold.punctuation, strict=True)
    ]
    it = expected(binary, gold).score
    assert ceiling["recall"] == it.recall == 1
    assert ceiling["f1"] == pytest.approx(it.f1)


def test_by_length_and_by_sentence(run, gold, data):
    it = expected(run.trees(), gold)
    words = [marks.count(False) for marks in gold.punctuation]
    scored = [s for s, number in enumerate(words) if number > 1]
    lengths = np.array(words)[scored]
    chosen = data["scores"]["compared"][0]
    assert (
        sum(row["sentences"] for row in data["scores"]["lengths"])
        == len(scored)
        == len(it.statistics)
    )
    for row in data["scores"]["lengths"]:
        here = (row["from"] <= lengths) & (lengths <= row["to"])
        matched, predicted, total = it.statistics[here].sum(axis=0)
        assert row["sentences"] == here.sum()
        assert row["f1"][chosen] == pytest.approx(2 * matched / (predicted + total))
    each = unpack(data["sentences"]["f1"])
    for row, s in enumerate(scored):
        matched, predicted, total = it.statistics[row]
        assert each[s] == round(200 * matched / (predicted + total))
    assert (np.delete(each, scored) == NOT_SCORED).all()
