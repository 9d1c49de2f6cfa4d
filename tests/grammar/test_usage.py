"""Expected use by side and depth, against lists of all trees of finite languages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.bounded import expected_depths, expected_use
from dbpcfg.grammar.bounding import containment, termination
from dbpcfg.grammar.derivation import generate
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.model import Model
from dbpcfg.numerics.philox import Purpose, stream
from tests.parsing.finite import embedding_grammar, finite_grammar
from tests.statistics import LEAST_P, same_mean
from tests.strategies import grammars, random_grammar


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


def test_as_often_as_in_generated_trees():
    grammar = random_grammar(3, 3, 1.0, 5)
    draws = generate(grammar, 2, 4000, stream(1, purpose=Purpose.GENERATE))
    counts = np.zeros((len(draws), 5 * 3))
    for tree, row in zip(draws, counts):
        todo = [(tree, 0)]
        while todo:
            node, level = todo.pop()
            row[3 * level + int(node.label[1:])] += 1
            if not node.preterminal:
                todo += zip(node.children, (level + level % 2, level + (level + 1) % 2))
    use, _ = expected_use(grammar, 2)
    assert same_mean(counts, use.ravel()) > LEAST_P
    unbounded, _ = expected_use(grammar, None)  # the control
    assert same_mean(counts, unbounded[:5].ravel()) < 1e-8


def test_trees_that_are_endless_on_average():
    """S → S S or a, one as likely as the other: every tree ends, and none is long enough."""
    grammar = Grammar([1.0], [[[0.5]]], [[0.5]], Vocabulary(("a",)))
    assert termination(grammar)[0] == pytest.approx(1, abs=1e-6)
    use, _ = expected_use(grammar, None)
    assert len(use) == 100
    np.testing.assert_allclose(use, 2, rtol=1e-4)
