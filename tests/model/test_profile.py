"""What is counted in trees, what gold labels categories meet, and how all of it is shown."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.labels import NO_PHRASE, gold_labels
from dbpcfg.grammar.bounding import bounded_root, containment
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.tables import render
from dbpcfg.model.model import Model
from dbpcfg.model.profile import as_json, as_tables, as_text
from dbpcfg.trees.brackets import read_tree
from tests.strategies import random_grammar

TREES = [read_tree("(X0 (X1 a) (X0 (X0 (X1 b) (X2 c)) (X2 d)))"), read_tree("(X2 e)")]


def a_model(K: int = 3, W: int = 5, depth: int | None = 2) -> Model:
    return Model(random_grammar(K, W, 0.5, 1), depth)


def test_use_is_counted_by_side_and_depth():
    found = a_model().profile(TREES)
    assert found.trees == 2
    # By hand: L1 X0 X1 X2, R1 X0 X2, L2 X0 X1, R2 X2; two trees.
    expected = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]]) / 2
    np.testing.assert_array_equal(found.counted.nodes, expected)
    words = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 1]]) / 2
    np.testing.assert_array_equal(found.counted.words, words)
    assert found.use is found.counted
    assert found.order == [0, 2, 1]
    assert found.counted.length == 2.5
    np.testing.assert_allclose(found.counted.share, [3 / 8, 2 / 8, 3 / 8])
    np.testing.assert_allclose(found.counted.word_share, [0, 1, 1])


def test_without_trees_it_is_what_is_expected():
    model = a_model()
    found = model.profile()
    assert found.counted is None
    assert found.use is found.expected
    h = containment(model.grammar, 2)
    np.testing.assert_allclose(found.root, bounded_root(model.grammar, h))
    assert found.fitting == pytest.approx(float(model.grammar.root @ h[0]))
    assert found.order == np.argsort(-found.expected.nodes.sum(axis=0)).tolist()


def test_words_and_rules_most_probable_first():
    grammar = Grammar(
        [0.5, 0.5],
        [[[0.1, 0.0], [0.3, 0.2]], np.zeros((2, 2))],
        [[0.15, 0.25], [0.0, 1.0]],
        Vocabulary(("a", "b")),
    ).named(["NP", "VP"])
    found = Model(grammar, 1).profile()
    assert found.words(0, 5) == [("b", 0.25), ("a", 0.15)]
    assert found.words(1, 5) == [("b", 1.0)]
    assert found.rules(0, 2) == [(("VP", "NP"), 0.3), (("VP", "VP"), 0.2)]
    assert found.rules(1, 2) == []


def test_trees_of_another_grammar():
    with pytest.raises(DbpcfgError, match="'X7', which is not one of the grammar's categories"):
        a_model().profile([read_tree("(X7 a)")])
    with pytest.raises(DbpcfgError, match="expected a binary tree"):
        a_model().profile([read_tree("(X0 (X1 a) (X1 b) (X1 c))")])


# --- gold labels ----------------------------------------------------------------------------------


def sentence(text: str, line: int = 1) -> Sentence:
    tree = read_tree(text)
    return Sentence(tuple(tree.words()), tree=tree, source="trees", line=line)


def gold_meanings():
    gold = sentence("(ROOT (S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))) (. .)))")
    ours = sentence("(X0 (X1 (X2 the) (X2 dog)) (X0 (X0 (X2 saw) (X2 a)) (X1 (X2 cat) (X1 .))))")
    return gold_labels([gold], [ours], [(False,) * 5 + (True,)])


def test_gold_labels_of_categories():
    found = gold_meanings()
    phrases = dict(zip(found.phrases.induced, found.phrases.counts.tolist()))
    # X1 over "the dog" is an NP; X0 over "saw a" is nothing, over "saw a cat ." VP, over all S.
    assert found.phrases.gold == ("NP", "S", "VP", NO_PHRASE)
    assert phrases == {"X0": [0, 1, 1, 1], "X1": [1, 0, 0, 0]}
    assert found.words.gold == ("D", "N", "V")
    assert found.words.counts.tolist() == [[2, 2, 1]]


def test_other_sentences_are_refused():
    with pytest.raises(DbpcfgError, match="dog"):
        gold_labels(
            [sentence("(S (D the) (N dog))")], [sentence("(X0 (X0 the) (X0 cat))")], [[False] * 2]
        )


# --- as text, tables and JSON ---------------------------------------------------------------------


def shown(**options) -> str:
    found = replace(a_model().profile(TREES), meanings=gold_meanings())
    return as_text(found, **options)


def test_text_has_everything():
    text = shown()
    assert "A grammar of 3 categories and 5 words, within memory depth 2." in text
    assert "2 trees of the run, of 2.5 words on average" in text
    lines = text.splitlines()
    assert lines[5].startswith("X0  ██████████ 38% of nodes, 0.0% of them words")
    assert any(line.startswith("    gold   3: S 33%  VP 33%  no phrase 33%") for line in lines)
    assert any(line.startswith("    tags   5: D 40%  N 40%  V 20%") for line in lines)
    assert text.index("X0  █") < text.index("X2  █") < text.index("X1  █")
    assert [line.split()[0] for line in lines[6:8]] == ["rules", "gold"]  # of phrases
    second = lines.index(next(line for line in lines if line.startswith("X2 ")))
    assert [line.split()[0] for line in lines[second + 1 : second + 3]] == ["words", "tags"]
    table = text[text.index("Nodes in 100 of the run's trees") :].splitlines()
    assert table[1].split() == ["L1", "R1", "L2", "R2"]
    assert table[3].split() == ["X0", "50", "50", "50", "0"]
    assert table[-1].split() == ["all", "150", "100", "100", "50"]


@given(st.integers(1, 120), st.integers(1, 30))
def test_text_keeps_to_the_width(width, top):
    found = Model(random_grammar(12, 40, 0.3, 0), 2).profile()
    lines = as_text(found, width, top).splitlines()
    assert max(map(len, lines)) <= max(width, 40)


def test_bold_and_ascii():
    plain = shown()
    assert "\x1b" not in plain
    bold = shown(bold=True)
    assert "\x1b[1mX0\x1b[0m  ███" in bold
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain
    assert shown(ascii=True).isascii()
    assert "X0  ########## 38%" in shown(ascii=True)


def test_words_that_do_harm_are_made_harmless():
    grammar = random_grammar(1, 3, 1.0, 0)
    words = Vocabulary(("w" * 500, "\x1b[2J", "日本"))
    text = as_text(
        Model(Grammar(grammar.root, grammar.binary, grammar.lexical, words), 1).profile()
    )
    assert "\x1b" not in text
    assert "?[2J" in text
    assert "w" * 23 + "…" in text
    assert "w" * 24 not in text


def test_rare_categories_are_only_named():
    root, binary, lexical = np.array([1.0, 0.0]), np.zeros((2, 2, 2)), np.ones((2, 1))
    found = Model(Grammar(root, binary, lexical, Vocabulary(("a",))), 1).profile()
    text = as_text(found)
    assert "Hardly used, if at all: X1" in text
    assert not any(line.startswith("X1") for line in text.splitlines())
    assert as_json(found)["categories"][1]["expected"]["word_share"] is None
    assert "X1 & 0.0 & -- & 0.0" in as_tables(found)[0].latex()


def test_without_a_bound(capsys):
    a_model(depth=None).show(70)
    text = capsys.readouterr().out
    assert "without a memory bound" in text
    assert "Nodes in 100 of the grammar's own sentences" in text
    assert "and so on, to" in text


def test_trees_beyond_the_bound_are_told_of():
    model = a_model(depth=1)
    text = as_text(model.profile(TREES))
    assert "MBR trees may go beyond the bound" in text
    assert "go beyond" not in as_text(model.profile(TREES[1:]))


def test_json_has_all_numbers():
    found = replace(a_model().profile(TREES), meanings=gold_meanings())
    read_back = json.loads(json.dumps(as_json(found, top=2)))
    assert read_back["depth"] == 2
    assert read_back["trees"] == 2
    assert read_back["mean_length"] == 2.5
    first = read_back["categories"][0]
    assert first["name"] == "X0"
    assert first["counted"]["levels"] == {"L1": 0.5, "R1": 0.5, "L2": 0.5, "R2": 0.0}
    expected = dict(zip(["L1", "R1", "L2", "R2", "L3"], found.expected.nodes[:, 0].tolist()))
    assert first["expected"]["levels"] == expected
    assert first["gold"]["phrases"] == {"S": 1, "VP": 1, NO_PHRASE: 1}
    assert first["rules"] == [
        {"rule": list(pair), "probability": p} for pair, p in found.rules(0, 2)
    ]
    assert len(first["words"]) == 2


def test_latex_tables():
    found = replace(a_model().profile(TREES), meanings=gold_meanings())
    text = render(as_tables(found), "latex")
    assert text.count(r"\begin{table}") == 3
    assert r"X0 & 37.5 & 0.0" in text
    assert r"NP 100\%" in text
