"""Grammars without their least probable rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.rules import pruned
from tests.grammar.tables import rules
from tests.strategies import grammars


def by_hand() -> Grammar:
    """S → S S (0.1) | a (0.5) | b (0.4), and T → S (0.96) | N (0.04), N → a (0.05) | b (0.95)."""
    binary = np.zeros((2, 2, 2))
    binary[0, 0, 0] = 0.1
    lexical = np.array([[0.5, 0.4], [0.05, 0.95]])
    root = np.array([0.96, 0.04])
    return Grammar(root, binary, lexical, Vocabulary(("a", "b"))).named(["S", "N"])


def test_by_hand():
    result = pruned(by_hand(), 0.1)
    assert rules(result.grammar) == {
        ("T", "S"): 1.0,
        ("S", "S", "S"): pytest.approx(0.1),
        ("S", "word", "a", ""): pytest.approx(0.5),
        ("S", "word", "b", ""): pytest.approx(0.4),
        ("N", "word", "b", ""): 1.0,
    }
    assert (result.rules, result.left_out, result.loser) == (7, 2, "N")
    assert str(result) == (
        "Left out 2 of 7 rules, those less probable than 0.1; the others of each symbol were "
        "scaled to sum to 1 (N had lost most, 5%)."
    )


def test_words_without_rules_go():
    assert pruned(by_hand(), 0.5).grammar.vocabulary.words == ("a", "b")
    assert pruned(by_hand(), 0.45).grammar.lexical.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(
        GrammarError, match=r"no rule of S has .* leaves every symbol a rule is 0\.5"
    ):
        pruned(by_hand(), 0.6)


@given(grammars(), st.floats(0, 0.5, exclude_min=True))
def test_what_is_left_is_a_grammar_of_the_probable_rules(grammar, threshold):
    before = rules(grammar)
    try:
        result = pruned(grammar, threshold)
    except GrammarError:
        row_best = np.append(grammar.rows.max(axis=1), grammar.root.max())
        assert row_best.min() < threshold or grammar.lexical.max() < threshold
        return
    after = rules(result.grammar)
    assert set(after) == {rule for rule, chance in before.items() if chance >= threshold}
    assert all(after[rule] >= before[rule] * (1 - 1e-12) for rule in after)
    assert result.left_out == len(before) - len(after)
    assert 0 <= result.lost < 1


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan")])
def test_thresholds_that_make_no_sense(threshold):
    with pytest.raises(GrammarError, match="the threshold must be above 0 and at most 1, got"):
        pruned(by_hand(), threshold)


def test_a_grammar_needs_words():
    binary = np.full((1, 1, 1), 0.9)
    grammar = Grammar(np.ones(1), binary, np.array([[0.1]]), Vocabulary(("a",)))
    with pytest.raises(GrammarError, match=r"no word has a probability of 0\.5 or more"):
        pruned(grammar, 0.5)
