"""The analysis of depths against trees that are made binary and parsed left-corner."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.reproduce.depth import analyse_depths, depth_tables
from dbpcfg.reproduce.output import write_depths
from dbpcfg.reproduce.recipefile import read_recipe
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.binarise import binarise
from tests.evaluation.helpers import gold_and_predicted, punctuated
from tests.stores import memory_depth

DEPTH = read_recipe("depth")


def prepared(trees):
    sentences = [Sentence.from_tree(tree) for tree in trees]
    return prepare(sentences, Preparation(punctuation="characters"))


@settings(max_examples=60)
@given(st.lists(gold_and_predicted(), min_size=1, max_size=4), st.data())
def test_brute_force(pairs, data):
    trees = [data.draw(punctuated(tree)) for tree, _ in pairs]
    corpus = prepared(trees)
    found = analyse_depths(DEPTH, corpus)
    for direction in ("right", "left"):
        for name, marks in (
            ("without punctuation", corpus.punctuation),
            ("with punctuation", [None] * len(trees)),
        ):
            binary = [binarise(t, direction, m) for t, m in zip(trees, marks)]
            depths = Counter(1 if len(tree) == 1 else memory_depth(tree) for tree in binary)
            counts = found.tables[f"binary to the {direction}, {name}"].counts
            assert {d: n for d, n in enumerate(counts, 1) if n} == dict(depths)


def test_published_shares_stand_beside_ours(tmp_path):
    trees = [read_tree(t) for t in ("(S (A a) (B b))", "(S (A a) (S (B (B b) (C c)) (D d)))")]
    analysis = analyse_depths(DEPTH, prepared(trees))
    (table,) = depth_tables(analysis)
    assert table.rows[0][:5] == ("full WSJ", "quoted", "2", None, pytest.approx(0.4738))
    assert table.rows[3][:5] == ("Eve", "quoted", "2 or more", 5000, None)
    ours = [row[2:5] for row in table.rows if row[0] == "binary to the right, without punctuation"]
    assert ours == [("1", 1, 0.5), ("2", 1, 0.5), ("2 or more", 1, 0.5)]
    write_depths(analysis, tmp_path)
    data = json.loads((tmp_path / "reproduction.json").read_text())
    assert data["depths"]["binary to the right, without punctuation"] == [1, 1]
    assert "47.38" in (tmp_path / "reproduction.tex").read_text()
    assert "<circle" in (tmp_path / "reproduction.html").read_text()
    quick = depth_tables(replace(analysis, recipe=replace(DEPTH, is_quick=True)))
    assert quick[0].notes[0].startswith("QUICK RUN")
