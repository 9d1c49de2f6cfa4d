"""The N best trees are those at the top of a list of all trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import UnparsableError
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.numerics.heap import push, remove_best
from dbpcfg.parsing import nbest
from dbpcfg.parsing.chart import layout
from dbpcfg.parsing.chart.layout import logarithms
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import level_cell, log_probability
from dbpcfg.parsing.parser import FIRST
from dbpcfg.parsing.parsers import parser_of
from tests.oracle import truth
from tests.strategies import encode, grammars_and_sentences, random_grammar


def dense(grammar: Grammar) -> Grammar:
    return grammar.multiplied_out() if isinstance(grammar, LowRankGrammar) else grammar


def ranking(grammar: Grammar, words: list[int], depth: int | None) -> dict[bytes, float]:
    """The weight of every possible tree, by the bytes of its nodes."""
    return {
        b.nodes(row).tobytes(): float(b.weights[row])
        for b in truth(dense(grammar), words, depth).bracketings
        for row in np.flatnonzero(b.weights > 0)
    }


def best(grammar: Grammar, words: list[int], depth: int | None, n: int):
    """The trees, and their log-probabilities before Z; none if there is none."""
    parser = parser_of(grammar, depth)
    try:
        (nodes,) = parser.n_best(encode(grammar, words), n)
    except UnparsableError:
        return [], np.zeros(0)
    G, tokens = logarithms(grammar, depth), np.array(words, dtype=np.int32)
    return nodes, np.array([log_probability(tree, tokens, G) for tree in nodes])


@st.composite
def of_low_rank(draw: st.DrawFn) -> tuple[Grammar, list[int]]:
    phrases, rank, seed = (draw(st.integers(1, 2)), draw(st.integers(1, 4)), draw(st.integers(0)))
    rng, K = np.random.default_rng(seed), 3

    def rows(size: int, number: int) -> np.ndarray:
        found = rng.dirichlet(np.full(size, draw(st.sampled_from([0.2, 1.0]))), number)
        found[found < draw(st.sampled_from([0.0, 0.2])) * found.max(axis=1, keepdims=True)] = 0.0
        return found / found.sum(axis=1, keepdims=True)

    left, right = rows(K, rank).T, rows(K, rank).T
    factors = Factors(rows(K, 1)[0], rows(rank, phrases), left, right, rows(2, K - phrases))
    words = draw(st.lists(st.integers(0, 1), min_size=1, max_size=5))
    return LowRankGrammar(factors, Vocabulary(("a", "b"))), words


@settings(max_examples=40)
@given(
    grammars_and_sentences(longest=5) | of_low_rank(),
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


@given(grammars_and_sentences(longest=5) | of_low_rank(), st.sampled_from([None, 1, 2, 3]))
def test_posteriors_by_level_are_those_of_all_trees(grammar_and_words, depth):
    grammar, words = grammar_and_words
    parser, n = parser_of(grammar, depth), len(words)
    expected = np.zeros((parser.levels * n * (n + 1) // 2, grammar.categories))
    every = ranking(grammar, words, depth)
    for tree, weight in every.items():
        nodes = np.frombuffer(tree, np.int32).reshape(-1, 3).tolist()
        levels = {0: 0}
        for t, (start, end, c) in enumerate(nodes):
            level = levels[t] if depth else 0
            expected[level_cell(n, level, start, end), c] += weight / sum(every.values())
            if end - start > 1:
                levels[t + 1] = layout.left_below(level, depth or 0)
                levels[t + 2 * (nodes[t + 1][1] - start)] = layout.right_below(level, depth or 0)
    weights, _ = parser.level_posteriors(encode(grammar, words), 0.0)
    np.testing.assert_allclose(weights, expected, rtol=1e-10, atol=1e-13)


def test_posteriors_by_level_of_charts_with_exponents():
    """Rules of tiny weights need them; posteriors are the same."""
    grammar = random_grammar(3, 4, 0.5, 1)
    corpus = encode(grammar, [0, 1, 2, 3, 1, 0, 2])
    tiny = RuleWeights(grammar.root, grammar.binary * 2.0**-150, grammar.lexical)
    expected, _ = ChartParser(grammar, 2).level_posteriors(corpus, 0.0)
    weights, _ = ChartParser(grammar, 2, weights=tiny).level_posteriors(corpus, 0.0)
    np.testing.assert_allclose(weights, expected, rtol=1e-10, atol=1e-13)


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


def in_order(nodes: list[list[int]], at: int = 0) -> tuple:
    """Split, categories of the children, then what is below them; of words nothing."""
    start, end, _ = nodes[at]
    if end - start == 1:
        return ()
    (_, k, a), left = nodes[at + 1], at + 1
    right = left + 2 * (k - start) - 1
    return k, a, nodes[right][2], in_order(nodes, left), in_order(nodes, right)


@pytest.mark.parametrize("depth", [None, 1, 2])
@pytest.mark.parametrize("number", [1, 9, 1000])
def test_the_order_of_equally_probable_trees(depth, number):
    """All rules have the weight 1, so that scores are equal to the last bit."""
    grammar, even = random_grammar(2, 1, 1.0, 0), np.ones((2, 2, 2))
    weights = RuleWeights(np.ones(2), even, np.ones((2, 1)))
    parser = ChartParser(grammar, depth, weights=weights)
    (found,) = parser.n_best(encode(grammar, [0] * 4), number)
    every = (np.frombuffer(tree, np.int32) for tree in ranking(grammar, [0] * 4, depth))
    listed = [tree.reshape(-1, 3).tolist() for tree in every]
    listed.sort(key=lambda nodes: (nodes[0][2], in_order(nodes)))
    assert found.tolist() == listed[:number]


def test_more_categories_than_there_is_room_for_at_first():
    grammar = random_grammar(70, 2, 1.0, 0)
    nodes, logs = best(grammar, [1], 1, 70)
    expected = np.sort(grammar.root * grammar.lexical[:, 1])[::-1]
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-10)
    assert sorted(nodes[:, 0, 2].tolist()) == list(range(70))


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
    assert (np.diff(logs) <= 1e-10).all()


def test_best_trees_that_are_less_probable_than_the_first_threshold():
    """Some of them have labels that the first search does not see."""
    grammar = random_grammar(2, 3, 0.5, 0)
    sentences = [np.random.default_rng(s).integers(0, 3, 6).tolist() for s in range(20)]
    parser, every = ChartParser(grammar, 1), [truth(grammar, words, 1) for words in sentences]
    _, logs = parser.viterbi(encode(grammar, *sentences))
    found = np.exp(logs + parser.log_fitting_mass)
    np.testing.assert_allclose(found, [one.best for one in every], rtol=1e-10)
    assert (found < FIRST * np.array([one.total for one in every])).any()


def test_scores_are_those_of_the_trees_and_fewer_are_the_first_of_more():
    grammar = random_grammar(4, 5, 0.5, 3)
    words = np.random.default_rng(0).integers(0, 5, 18).tolist()
    nodes, logs = best(grammar, words, 2, 300)
    assert (np.diff(logs) <= 1e-10).all()
    few, _ = best(grammar, words, 2, 40)
    assert few.tobytes() == nodes[:40].tobytes()


@pytest.mark.parametrize("low_rank", [False, True])
def test_neither_threads_nor_other_sentences_matter(low_rank):
    rng = np.random.default_rng(0)
    factors = Factors(
        rng.dirichlet(np.ones(9)),
        rng.dirichlet(np.ones(5), 4),
        rng.dirichlet(np.ones(9), 5).T,
        rng.dirichlet(np.ones(9), 5).T,
        rng.dirichlet(np.ones(6), 5),
    )
    grammar = random_grammar(6, 6, 0.3, 2)
    if low_rank:
        grammar = LowRankGrammar(factors, grammar.vocabulary)
    sentences = [rng.integers(0, 6, 1 + x % 14).tolist() for x in range(60)]
    corpus = encode(grammar, *sentences)
    one, other = (parser_of(grammar, 2, threads).n_best(corpus, 5) for threads in (1, 3))
    alone = [parser_of(grammar, 2).n_best(encode(grammar, words), 5)[0] for words in sentences]
    single = parser_of(grammar, 2, 1, "single").n_best(corpus, 5)
    for trees in (other, alone, single):
        assert [x.tobytes() for x in one] == [x.tobytes() for x in trees]


def flat_grammar(phrases: int, words: int, rank: int, seed: int) -> LowRankGrammar:
    """All of whose rules are nearly equally probable: posteriors prune nothing."""
    rng, K = np.random.default_rng(seed), phrases + words

    def rows(number: int, size: int) -> np.ndarray:
        found = np.exp(0.1 * rng.standard_normal((number, size)))
        return found / found.sum(axis=1, keepdims=True)

    left, right = rows(rank, K).T, rows(rank, K).T
    factors = Factors(rows(1, K)[0], rows(phrases, rank), left, right, rows(words, 4))
    return LowRankGrammar(factors, Vocabulary(("a", "b", "c", "d")))


@pytest.mark.parametrize("kept", [0, 2**23])
@pytest.mark.parametrize("n", [1, 20])
def test_a_flat_grammar(n, kept, monkeypatch):
    """Rules that are computed when they are needed, or all at once."""
    monkeypatch.setattr(layout, "MAX_KEPT", kept)
    grammar, words = flat_grammar(2, 3, 4, 1), [0, 1, 2, 3, 1]
    every = ranking(grammar, words, 2)
    nodes, logs = best(grammar, words, 2, n)
    weights = sorted(every.values(), reverse=True)[:n]
    np.testing.assert_allclose(np.exp(logs), weights, rtol=1e-10)
    np.testing.assert_allclose([every[tree.tobytes()] for tree in nodes], weights, rtol=1e-10)


def test_few_rules_of_a_flat_grammar_are_tried(monkeypatch):
    """And not K³ for every split point: its cost is bounded where nothing is pruned."""
    grammar, words, tried = flat_grammar(12, 24, 36, 0), np.array([0, 1, 2, 3, 1]), []

    def counted(G, c: int, a: int, b: int) -> float:
        tried.append(c)
        return layout.log_rule(G, c, a, b)

    monkeypatch.setattr(nbest, "log_rule", counted)
    weights, _ = parser_of(grammar, 1).level_posteriors(encode(grammar, words.tolist()), 0.0)
    items = nbest.unpruned_items(weights, 0.0)
    spans = sum(len(layout.beginnings(x, 1, 5, width)) for x in (0, 1) for width in range(2, 6))
    assert len(items.labels) == spans * 12 + 5 * 24
    pool = nbest.Pool(np.empty((1, 5), dtype=np.int64), np.empty(1))
    nbest.search(
        words,
        logarithms(grammar, 1),
        items,
        pool,
        nbest.new_edges(1, 1),
        np.full(36**2, -1),
        1,
    )
    assert spans * 12 <= len(tried) < spans * 12 * 36**2 / 10


def test_posteriors_that_lose_labels_lose_trees(monkeypatch):
    """The negative control: with labels of posterior 0.3 and less gone, best trees are missed."""
    grammar = random_grammar(3, 3, 5.0, 1)
    sentences = [np.random.default_rng(s).integers(0, 3, 6).tolist() for s in range(20)]
    corpus = encode(grammar, *sentences)
    _, exact = ChartParser(grammar, 2).viterbi(corpus)
    posteriors = ChartParser.level_posteriors

    def pruned(parser, some, negligible):
        weights, logs = posteriors(parser, some, negligible)
        return np.where(weights < 0.3, 0.0, weights), logs

    monkeypatch.setattr(ChartParser, "level_posteriors", pruned)

    def missed(s: int) -> bool:
        try:
            _, found = ChartParser(grammar, 2).viterbi(corpus.select(np.array([s])))
        except UnparsableError:
            return True
        return found[0] < exact[s] - 1e-6

    assert any(map(missed, range(20)))


@given(grammars_and_sentences(longest=4) | of_low_rank(), st.sampled_from([None, 1, 2]))
def test_log_probability_of_any_tree(grammar_and_words, depth):
    """Of those beyond the bound, too."""
    grammar, words = grammar_and_words
    within = ranking(grammar, words, depth)
    G, tokens = logarithms(grammar, depth), np.array(words, dtype=np.int32)
    for b in truth(dense(grammar), words, None).bracketings:
        for row in range(0, len(b.weights), 1 + len(b.weights) // 20):
            nodes = b.nodes(row)
            expected = within.get(nodes.tobytes(), 0.0)
            assert np.exp(log_probability(nodes, tokens, G)) == pytest.approx(expected, rel=1e-10)


@given(st.lists(st.integers(0, 5) | st.none()))
def test_a_heap_gives_the_best_first(moves):
    """Push a score, or pop if it is None."""
    scores, keys, size = np.zeros(len(moves) + 1), np.zeros(len(moves) + 1, dtype=np.int64), 0
    listed: list[tuple[int, int]] = []
    for key, score in enumerate(moves):
        if score is not None:
            push(scores, keys, size, score, -key)
            listed.append((-score, -key))
            size += 1
        elif listed:
            expected = min(listed)
            assert (-scores[0], keys[0]) == expected
            size -= 1
            remove_best(scores, keys, size)
            listed.remove(expected)
