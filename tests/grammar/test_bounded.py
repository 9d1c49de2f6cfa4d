"""What a bound keeps, and how often categories are used, against every tree one by one."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounded import (
    bounded_pcfg,
    bounded_table,
    containment_table,
    expected_depths,
    expected_use,
    kept_mass,
    mass_table,
)
from dbpcfg.grammar.bounding import (
    bounded_binary,
    bounded_lexical,
    bounded_root,
    containment,
    fitting_mass,
    termination,
)
from dbpcfg.grammar.exchange import from_text, to_text
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.tables import render
from dbpcfg.model.model import Model
from dbpcfg.parsing.chart.parser import ChartParser
from tests.oracle import all_trees
from tests.parsing.finite import embedding_grammar, finite_grammar
from tests.strategies import encode, grammars, grammars_and_sentences, random_grammar

DEPTHS = [1, 2, 3]
LONGEST = 6


def of_one_category(lex: float) -> Grammar:
    """X0 → X0 X0 | a: it ends with probability min(1, lex / (1 − lex))."""
    return Grammar(np.ones(1), np.full((1, 1, 1), 1 - lex), np.array([[lex]]), Vocabulary(("a",)))


def mass_by_hand(grammar: Grammar, depth: int | None) -> float:
    """The probability of all trees of up to LONGEST words, one by one; words forgotten."""
    mass = grammar.lexical_mass[:, np.newaxis]
    forgotten = Grammar(grammar.root, grammar.binary, mass, Vocabulary(("·",)))
    return sum(
        trees.weights.sum()
        for n in range(1, LONGEST + 1)
        for trees in all_trees(forgotten, [0] * n, depth)
    )


@settings(max_examples=30)
@given(grammars(most_categories=2))
def test_the_mass_of_all_trees(grammar):
    """Trees of more words add something to each sum, but no more than to that without a bound."""
    rows = kept_mass(grammar, DEPTHS)
    longer = rows[-1].derivations - mass_by_hand(grammar, None)
    assert longer > -1e-9
    for row in rows[:-1]:
        counted = mass_by_hand(grammar, row.depth)
        assert counted - 1e-9 <= row.derivations <= counted + longer + 1e-9


def test_the_mass_of_all_trees_where_hardly_any_is_long():
    """Here the trees by hand are all there is, to six digits."""
    grammar = random_grammar(2, 2, 1.0, 3)
    lexical = grammar.lexical / grammar.lexical_mass[:, np.newaxis] * 0.97
    binary = grammar.binary / grammar.binary.sum(axis=(1, 2))[:, np.newaxis, np.newaxis] * 0.03
    short = Grammar(grammar.root, binary, lexical, grammar.vocabulary)
    rows = kept_mass(short, DEPTHS)
    assert rows[-1].derivations == pytest.approx(1.0, abs=1e-12)
    sums = [0.0, *(mass_by_hand(short, depth) for depth in DEPTHS)]
    assert sums[1] < 1 - 1e-5  # or there would be nothing to tell
    for row, (less, counted) in zip(rows, itertools.pairwise(sums)):
        assert row.derivations == pytest.approx(counted, abs=1e-6)
        assert row.trees == pytest.approx(counted, abs=1e-6)
        assert row.exactly == pytest.approx(counted - less, abs=1e-6)


@settings(max_examples=50)
@given(grammars())
def test_deeper_bounds_keep_more_up_to_all_that_ends(grammar):
    depths = [1, 2, 3, 5, 10, 200]
    *rows, without = kept_mass(grammar, depths)
    for row in rows:
        assert row.derivations == fitting_mass(grammar, containment(grammar, row.depth))
        if without.derivations:
            assert row.trees == pytest.approx(row.derivations / without.derivations)
    for shallow, deep in itertools.pairwise([*rows, without]):
        assert shallow.derivations <= deep.derivations + 1e-12
    assert without.derivations == pytest.approx(grammar.root @ termination(grammar), abs=1e-9)
    if grammar.lexical_mass.min() > 0.05:  # where words are rarer, trees may well be 200 deep
        # Slow where derivations end with probability one, but only just.
        assert rows[-1].derivations == pytest.approx(without.derivations, abs=0.02)
    if without.derivations:
        every = kept_mass(grammar, range(1, 31))
        assert sum(row.exactly for row in every[:-1]) == pytest.approx(every[-2].trees)


@pytest.mark.parametrize("lex", [0.2, 0.4, 0.6, 0.9])
def test_the_limit_is_the_probability_of_ending(lex):
    *_, deep, without = kept_mass(of_one_category(lex), [1, 500])
    assert without.derivations == pytest.approx(min(1, lex / (1 - lex)), abs=1e-12)
    assert deep.derivations == pytest.approx(without.derivations, abs=1e-12)
    assert deep.trees == pytest.approx(1.0)


def test_the_table_tells_of_derivations_that_never_end():
    """Of X0 → X0 X0 (0.6) | a (0.4), a third of all derivations never ends."""
    table = mass_table(of_one_category(0.4), [1, 2])
    text = table.text()
    assert "33.3333% of this grammar's derivations never end; no bound keeps those." in text
    first, second, none = table.json()["rows"]
    assert [first["depth"], second["depth"], none["depth"]] == [1, 2, "none"]
    R1 = 0.4 / (1 - 0.6 * 0.4)
    L1 = 0.4 / (1 - 0.6 * R1)
    assert first["derivations"] == pytest.approx(L1)
    assert first["trees"] == pytest.approx(L1 / (2 / 3))
    assert second["exactly"] == pytest.approx(second["trees"] - first["trees"])
    assert none["trees"] == 1.0
    assert "never end" not in mass_table(of_one_category(0.6), [1]).text()
    assert "never end" not in mass_table(of_one_category(0.5), [1]).text()  # just about ends


def test_a_grammar_without_trees():
    grammar = of_one_category(0.0)
    rows = kept_mass(grammar, [1, 2])
    assert [row.derivations for row in rows] == [0, 0, 0]
    assert [row.trees for row in rows] == [None] * 3
    assert "No derivation of this grammar ends" in mass_table(grammar, [1]).text()
    for table in (bounded_table, bounded_pcfg):
        with pytest.raises(GrammarError, match="no tree of this grammar fits a depth bound of 1"):
            table(grammar, 1)


def test_tables_of_h_and_of_the_bounded_grammar():
    grammar = random_grammar(2, 3, 0.5, 1).named(["S", "N"])
    h = containment(grammar, 2)
    rows = containment_table(grammar, 2).json()["rows"]
    assert [row["category"] for row in rows] == ["S", "N"]
    for c, row in enumerate(rows):
        assert [row[key] for key in ("l1", "r1", "l2", "r2", "l3")] == h[:, c].tolist()
    rules = {row["rule"]: row for row in bounded_table(grammar, 2, None).json()["rows"]}
    assert len(rules) == 2 + 2 * (4 + 3)
    assert rules["T → N"]["l1"] == bounded_root(grammar, h)[1]
    assert rules["T → N"]["r1"] is None
    assert rules["S → N S"]["r2"] == bounded_binary(grammar, h, 3)[0, 1, 0]
    assert rules["N → w2"]["l3"] == bounded_lexical(grammar, h, 4)[1, 2]
    assert rules["N → w2"]["g"] == grammar.lexical[1, 2]
    few = bounded_table(grammar, 2, 1)
    assert len(few.rows) == 3
    assert "The 1 most probable rules" in few.text()
    assert json.loads(render([few], "json"))[0]["rows"]
    assert r"\toprule" in render([few], "latex")


# --- the bounded grammar as a PCFG ----------------------------------------------------------------


@settings(max_examples=60)
@given(grammars_and_sentences(), st.integers(1, 3))
def test_the_bounded_grammar_written_out_gives_sentences_the_same_probability(drawn, depth):
    grammar, sentence = drawn
    if fitting_mass(grammar, containment(grammar, depth)) == 0:
        return
    written = bounded_pcfg(grammar, depth)
    bounded = ChartParser(grammar, depth).log_probabilities(encode(grammar, sentence))[0]
    plain = ChartParser(written, None).log_probabilities(encode(written, sentence))[0]
    assert plain == pytest.approx(bounded, rel=1e-9, abs=1e-9)
    assert kept_mass(written, [1])[-1].derivations == pytest.approx(1.0, abs=1e-6)
    copy = from_text(to_text(written, "nltk"), "nltk")
    assert set(copy.names) == set(written.names)


def test_categories_that_cannot_fit_are_left_out():
    """X1 is never a word, so it is not on the last level."""
    binary, lexical = np.zeros((2, 2, 2)), np.array([[1.0], [0.0]])
    binary[1, 0, 0] = 1.0
    grammar = Grammar(np.array([0.5, 0.5]), binary, lexical, Vocabulary(("a",)))
    names = bounded_pcfg(grammar, 1).names
    assert names == ("X0/L1", "X1/L1", "X0/R1", "X1/R1", "X0/L2")


def test_grammars_too_large_to_write_out():
    with pytest.raises(GrammarError, match="the 30 categories become 3,030, too many"):
        bounded_pcfg(random_grammar(30, 2, 1.0, 0), 50)


def listed(grammar: Grammar, c: int, side: str, depth: int):
    """Every tree below c: its probability, its nodes (side, depth, category, is a word)."""
    here = (side, depth, c)
    for w in np.flatnonzero(grammar.lexical[c]):
        yield grammar.lexical[c, w], [(*here, True)]
    for a, b in np.argwhere(grammar.binary[c]):
        left_depth = depth if side == "L" else depth + 1
        for p, left in listed(grammar, a, "L", left_depth):
            for q, right in listed(grammar, b, "R", depth):
                yield grammar.binary[c, a, b] * p * q, [(*here, False), *left, *right]


def counted(grammar: Grammar, bound: int | None, levels: int):
    """Mean numbers of nodes and of words over all trees that fit, and shares of depths needed."""
    use, words = np.zeros((2, levels, grammar.categories))
    needed, total = np.zeros(10), 0.0
    for root in np.flatnonzero(grammar.root):
        for p, nodes in listed(grammar, root, "L", 1):
            deepest = max((d for side, d, _, _ in nodes if side == "R"), default=1)
            if bound is not None and deepest > bound:
                continue
            weight = grammar.root[root] * p
            total += weight
            needed[deepest - 1] += weight
            for side, d, c, is_word in nodes:
                level = 2 * d - 2 + (side == "R")
                use[level, c] += weight
                words[level, c] += weight * is_word
    return use / total, words / total, needed / total


CASES = [finite_grammar(4, 2, 0), finite_grammar(4, 1, 3), embedding_grammar()]


@pytest.mark.parametrize("bound", [None, 1, 2, 3])
@pytest.mark.parametrize("grammar", CASES)
def test_as_in_a_list_of_all_trees(grammar, bound):
    use, words = expected_use(grammar, bound)
    if bound is not None:
        assert len(use) == 2 * bound + 1
    true_use, true_words, needed = counted(grammar, bound, max(len(use), 9))
    np.testing.assert_allclose(use, true_use[: len(use)], atol=1e-12)
    np.testing.assert_allclose(words, true_words[: len(use)], atol=1e-12)
    assert true_use[len(use) :].sum() < 1e-9
    depths = expected_depths(grammar, bound)
    np.testing.assert_allclose(depths, needed[: len(depths)], atol=1e-12)
    found = Model(grammar, bound).profile()
    np.testing.assert_allclose(found.expected.share, true_use.sum(axis=0) / true_use.sum())
    assert found.expected.length == pytest.approx(true_words.sum())


@given(grammars(), st.sampled_from([1, 2, 4]))
def test_a_binary_tree_has_one_node_less_than_twice_its_words(grammar, bound):
    assume(grammar.root @ containment(grammar, bound)[0] > 0)
    use, words = expected_use(grammar, bound)
    assert (use >= 0).all()
    assert (words <= use + 1e-12).all()
    assert use.sum() == pytest.approx(2 * words.sum() - 1, rel=1e-9)
    assert expected_depths(grammar, bound).sum() == pytest.approx(1)


def test_trees_that_are_endless_on_average():
    """S → S S or a, one as likely as the other: every tree ends, and none is long enough."""
    grammar = Grammar([1.0], [[[0.5]]], [[0.5]], Vocabulary(("a",)))
    assert termination(grammar)[0] == pytest.approx(1, abs=1e-6)
    use, _ = expected_use(grammar, None)
    assert len(use) == 100
    np.testing.assert_allclose(use, 2, rtol=1e-4)
