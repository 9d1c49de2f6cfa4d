"""The N best trees are those at the top of a list of all trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.parsing.chart.layout import logarithms
from dbpcfg.parsing.chart.nbest import NONE, best_trees, melded, without_best
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import log_probability
from tests.oracle import truth
from tests.strategies import encode, grammars_and_sentences, random_grammar


def ranking(grammar: Grammar, words: list[int], depth: int | None) -> dict[bytes, float]:
    """The weight of every possible tree, by the bytes of its nodes."""
    return {
        b.nodes(row).tobytes(): float(b.weights[row])
        for b in truth(grammar, words, depth).bracketings
        for row in np.flatnonzero(b.weights > 0)
    }


def best(grammar: Grammar, words: list[int], depth: int | None, n: int):
    return best_trees(np.array(words, dtype=np.int32), logarithms(grammar, depth), n)


@settings(max_examples=40)
@given(
    grammars_and_sentences(longest=5),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([1, 2, 7, 50, 3000]),
)
def test_as_in_a_list_of_all_trees(grammar_and_words, depth, n):
    grammar, words = grammar_and_words
    every = ranking(grammar, words, depth)
    nodes, logs = best(grammar, words, depth, n)
    assert len(nodes) == len(logs) == min(n, len(every))
    found = [tree.tobytes() for tree in nodes]
    assert len(set(found)) == len(found)
    weights = sorted(every.values(), reverse=True)[:n]
    np.testing.assert_allclose(np.exp(logs), weights, rtol=1e-10)
    np.testing.assert_allclose([every[tree] for tree in found], weights, rtol=1e-10)


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_equally_probable_trees_are_all_found_once(depth):
    K, n = 2, 5
    grammar = Grammar(
        np.full(K, 1 / K), np.full((K, K, K), 0.5 / K**2), np.full((K, 1), 0.5), Vocabulary(("a",))
    )
    every = ranking(grammar, [0] * n, depth)
    for number in (3, len(every) // 2, len(every), len(every) + 1):
        nodes, logs = best(grammar, [0] * n, depth, number)
        assert len({tree.tobytes() for tree in nodes} & set(every)) == min(number, len(every))
        assert np.ptp(logs) < 1e-12


@pytest.mark.parametrize("depth", [None, 2])
@pytest.mark.parametrize("n", [1, 30])
def test_the_first_one_is_viterbi(n, depth):
    grammar = random_grammar(6, 8, 0.4, 1)
    words = np.random.default_rng(2).integers(0, 8, 25).tolist()
    nodes, logs = best(grammar, words, depth, n)
    chart = ChartParser(grammar, depth)
    found, log = chart.viterbi(encode(grammar, words))
    assert nodes[0].tolist() == found[0].tolist()
    assert logs[0] - chart.log_fitting_mass == pytest.approx(log[0], rel=1e-12)
    assert (np.diff(logs) <= 0).all()


def test_scores_are_those_of_the_trees_and_fewer_are_the_first_of_more():
    grammar = random_grammar(4, 5, 0.5, 3)
    words = np.random.default_rng(0).integers(0, 5, 18).astype(np.int32)
    G = logarithms(grammar, 2)
    nodes, logs = best_trees(words, G, 300)
    np.testing.assert_allclose([log_probability(tree, words, G) for tree in nodes], logs)
    few, few_logs = best_trees(words, G, 40)
    assert few.tobytes() == nodes[:40].tobytes()
    assert few_logs.tobytes() == logs[:40].tobytes()


@given(grammars_and_sentences(longest=4), st.sampled_from([None, 1, 2]))
def test_log_probability_of_any_tree(grammar_and_words, depth):
    """Of those beyond the bound, too."""
    grammar, words = grammar_and_words
    within = ranking(grammar, words, depth)
    G, tokens = logarithms(grammar, depth), np.array(words, dtype=np.int32)
    for b in truth(grammar, words, None).bracketings:
        for row in range(0, len(b.weights), 1 + len(b.weights) // 20):
            nodes = b.nodes(row)
            expected = within.get(nodes.tobytes(), 0.0)
            assert np.exp(log_probability(nodes, tokens, G)) == pytest.approx(expected, rel=1e-10)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5) | st.none())))
def test_heaps_give_the_best_first(moves):
    """Four heaps in the same arrays: push a score, or pop if it is None."""
    links, scores = np.full((len(moves) + 1, 2), NONE), np.zeros(len(moves) + 1)
    heaps, lists = [NONE] * 4, [[] for _ in range(4)]
    for entry, (heap, score) in enumerate(moves):
        if score is not None:
            scores[entry] = score
            heaps[heap] = melded(links, scores, heaps[heap], entry)
            lists[heap].append((-score, entry))
        elif lists[heap]:
            expected = min(lists[heap])
            assert heaps[heap] == expected[1]
            heaps[heap] = without_best(links, scores, heaps[heap])
            lists[heap].remove(expected)
        else:
            assert heaps[heap] == NONE
