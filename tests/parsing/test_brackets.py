"""Sentences with known brackets: against every tree that has them, one by one."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, draw_from_prior
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.layout import logarithms
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.derivations import first_cells, log_probability
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from dbpcfg.parsing.mbr import mbr, mbr_trees
from dbpcfg.parsing.parser import Parser
from dbpcfg.parsing.parsers import parser_of, prefix_parser_of
from tests import oracle
from tests.statistics import LEAST_P, goodness_of_fit

WORDS = Vocabulary(("a", "b", "c"))
SENTENCES = [
    [0, 1],
    [2, 0, 1, 1],
    [0, 2, 1, 0, 1],
    [0, 2, 1, 0, 1],
    [0, 2, 1, 0, 1],
    [0, 1, 1, 2, 0],
    [0, 2, 1, 0, 1],
    [2, 1, 1, 0, 2],
]
KNOWN = [
    *([], [(1, 3)], [(1, 4), (1, 3)], [], [(0, 2), (2, 5), (3, 5)], [(0, 4), (1, 3)]),
    *([(5, 3), (5, 2), (5, 1)], [(1, 3), (4, 1)]),
]
"""A bracket that ends before it begins is no constituent, as in ``with_brackets``."""
CORPUS = Encoded.from_numbers(SENTENCES, WORDS).with_brackets(KNOWN)
DEPTHS = [1, 2, None]


def low_rank(seed: int) -> LowRankGrammar:
    rng = np.random.default_rng(seed)
    left, right = (rng.dirichlet(np.ones(3), 2).T for _ in range(2))
    root, parent = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(2), 1)
    return LowRankGrammar(Factors(root, parent, left, right, rng.dirichlet(np.ones(3), 2)), WORDS)


GRAMMARS = {"dense": draw_from_prior(2, WORDS, 1.0, 3), "low-rank": low_rank(1)}


def dense(grammar: Grammar) -> Grammar:
    return grammar.multiplied_out() if isinstance(grammar, LowRankGrammar) else grammar


def possible(depth: int | None) -> list[int]:
    """Sentences with a tree that fits the bound and has the brackets."""
    return [
        s
        for s, (words, known) in enumerate(zip(SENTENCES, KNOWN, strict=True))
        if any(True for _ in oracle.all_trees(GRAMMARS["dense"], words, depth, known))
    ]


@cache
def truths(kind: str, depth: int | None) -> dict[int, oracle.Truth]:
    grammar = dense(GRAMMARS[kind])
    return {s: oracle.truth(grammar, SENTENCES[s], depth, KNOWN[s]) for s in possible(depth)}


def has_brackets(nodes: np.ndarray, known: list[tuple[int, int]]) -> bool:
    spans = {(i, j) for i, j, _ in nodes.tolist()}
    return {(i, j) for i, j in known if i < j} <= spans and not {
        (i, j) for j, i in known if i < j
    } & spans


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", GRAMMARS)
def test_probabilities_and_posteriors(kind: str, depth: int | None) -> None:
    grammar, cells = GRAMMARS[kind], first_cells(CORPUS)
    parser, expected = parser_of(grammar, depth), truths(kind, depth)
    weights, logs = parser.posteriors(CORPUS, 0.0)
    np.testing.assert_allclose(parser.log_probabilities(CORPUS), logs, rtol=0, atol=1e-10)
    for s, words in enumerate(SENTENCES):
        own = weights[cells[s] : cells[s + 1]]
        if s not in expected:
            assert logs[s] == -np.inf
            assert not own.any()
            continue
        total = np.log(expected[s].total) - parser.log_fitting_mass
        assert logs[s] == pytest.approx(total, abs=1e-10)
        i, last = np.triu_indices(len(words))
        np.testing.assert_allclose(own, expected[s].marginals[i, last + 1], atol=1e-10)
    assert len(expected) == (7 if depth == 1 else 8)


def counted(kind: str, depth: int | None) -> RuleWeights:
    counts = RuleWeights.zeros(GRAMMARS[kind].categories, len(WORDS))
    for s, found in truths(kind, depth).items():
        found.add_counts(SENTENCES[s], 1.0 + s, counts)
    return counts


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("scale", [1.0, 2.0**-150])
def test_expected_counts(depth: int | None, scale: float) -> None:
    """With rules of tiny weights charts need exponents, and each sentence is done by itself."""
    grammar, times = GRAMMARS["dense"], np.arange(1.0, 9.0)
    weights = RuleWeights(grammar.root, grammar.binary * scale, grammar.lexical)
    parser = ChartParser(grammar, depth, weights=weights)
    counts, _ = parser.expected_counts(CORPUS, times, 0.0)
    expected = counted("dense", depth)
    for name in ("root", "binary", "lexical"):
        found = getattr(counts, name)
        np.testing.assert_allclose(found, getattr(expected, name), rtol=0, atol=1e-10)
    own, cells = parser.posteriors(CORPUS, 0.0)[0], first_cells(CORPUS)
    for s, found in truths("dense", depth).items():
        i, last = np.triu_indices(len(SENTENCES[s]))
        expected_here = found.marginals[i, last + 1]
        np.testing.assert_allclose(own[cells[s] : cells[s + 1]], expected_here, atol=1e-10)


@pytest.mark.parametrize("depth", DEPTHS)
def test_expected_counts_of_factors(depth: int | None) -> None:
    grammar = GRAMMARS["low-rank"]
    counts, _ = parser_of(grammar, depth).expected_counts(CORPUS, np.arange(1.0, 9.0), 0.0)
    expected = counted("low-rank", depth)
    np.testing.assert_allclose(counts.root, expected.root, rtol=0, atol=1e-10)
    np.testing.assert_allclose(counts.emission, expected.lexical[1:], rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        counts.left.sum(axis=1), expected.binary.sum(axis=(0, 2)), rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(
        counts.right.sum(axis=1), expected.binary.sum(axis=(0, 1)), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", GRAMMARS)
def test_best_trees(kind: str, depth: int | None) -> None:
    grammar, here = GRAMMARS[kind], CORPUS.select(np.array(possible(depth)))
    parser, expected = parser_of(grammar, depth), truths(kind, depth)
    best, logs = parser.viterbi(here)
    chosen, G = mbr([parser], here), logarithms(grammar, depth)
    many = parser.n_best(here, 5000)
    for s, (number, truth) in enumerate(expected.items()):
        assert np.exp(logs[s] + parser.log_fitting_mass) == pytest.approx(truth.best, rel=1e-10)
        assert has_brackets(best[s], KNOWN[number])
        ranked = sorted(truth.posterior().values(), reverse=True)[:5000]
        found = [log_probability(tree, here.numbers(s), G) for tree in many[s]]
        np.testing.assert_allclose(np.exp(found) / truth.total, ranked, rtol=1e-9)
        assert len({tree.tobytes() for tree in many[s]}) == len(ranked)
        np.testing.assert_array_equal(chosen[s], oracle.mbr_tree(truth.marginals))
        assert has_brackets(chosen[s], KNOWN[number])


def outcomes(parser: Parser, corpus: Encoded, draws: int) -> Counter[bytes]:
    drawn, _ = parser.sample(corpus.select(np.zeros(draws, dtype=np.int64)), stream(5))
    return Counter(drawn[s].tobytes() for s in range(draws))


@pytest.mark.parametrize("depth", [2, None])
@pytest.mark.parametrize("kind", GRAMMARS)
def test_samples(kind: str, depth: int | None) -> None:
    """Those of the sentence without its brackets must fail, and so must those of other ones."""
    grammar, draws = GRAMMARS[kind], 3000
    parser, expected = parser_of(grammar, depth), truths(kind, depth)[5].posterior()
    own = CORPUS.select(np.array([5]))
    assert goodness_of_fit(outcomes(parser, own, draws), expected, draws) > LEAST_P
    free, other = own.with_brackets([[]]), own.with_brackets([[(1, 3)]])
    for wrong in (free, other):
        assert goodness_of_fit(outcomes(parser, wrong, draws), expected, draws) < 1e-10
    some = parser.samples(own, 3, 0, [7])[0]
    assert all(has_brackets(nodes, KNOWN[5]) for nodes in some)


def random_brackets(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Some spans of a random binary tree."""
    if n < 2:
        return []
    k = int(rng.integers(1, n))
    below = random_brackets(k, rng) + [(k + i, k + j) for i, j in random_brackets(n - k, rng)]
    return [span for span in [(0, n), *below] if rng.random() < 0.5]


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("kind", ["even", "dense", "low-rank"])
def test_every_tree_has_its_brackets(kind: str, precision: str) -> None:
    """Also where all trees are equally probable, long sentences, and any number of threads."""
    rng = np.random.default_rng(0)
    lengths = [*rng.integers(1, 16, 60).tolist(), 70, 120]
    known = [random_brackets(n, rng) for n in lengths]
    text = Encoded.from_numbers([rng.integers(0, 3, n).tolist() for n in lengths], WORDS)
    corpus, even = text.with_brackets(known), np.full((2, 2, 2), 0.1)
    grammars = {**GRAMMARS, "even": Grammar(np.full(2, 0.5), even, np.full((2, 3), 0.2), WORDS)}
    found = []
    for threads in (1, 2):
        parser = parser_of(grammars[kind], None, threads, precision)
        trees = [
            parser.viterbi(corpus)[0],
            mbr([parser, parser], corpus, threads),
            parser.sample(corpus, stream(1))[0],
        ]
        found.append(b"".join(each.nodes.tobytes() for each in trees))
        for each in trees:
            assert all(has_brackets(each[s], spans) for s, spans in enumerate(known))
        free, _ = parser.sample(text, stream(1))
        assert not all(has_brackets(free[s], spans) for s, spans in enumerate(known))
    assert found[0] == found[1]


def test_brackets_that_change_nothing() -> None:
    """Single words, whole sentences and repeated brackets are none, and no bit changes."""
    plain = Encoded.from_numbers(SENTENCES, WORDS)
    assert plain.with_brackets([[(0, len(s)), (0, 1)] for s in SENTENCES]).brackets is None
    once = plain.with_brackets([[(1, 3), (1, 3)] if len(s) == 4 else [] for s in SENTENCES])
    assert once.brackets is not None
    assert once.brackets.tolist() == [[1, 1, 3]]
    others = np.array([0, 2, 3, 4, 5])
    parser = ChartParser(GRAMMARS["dense"], 2)
    free, bound = (parser.log_probabilities(one) for one in (plain, once))
    np.testing.assert_array_equal(free[others], bound[others])
    assert bound[1] < free[1]


def test_parts_of_a_corpus_keep_their_brackets() -> None:
    some = CORPUS.select(np.array([5, 3, 4, 4]))
    assert some.brackets is not None
    again = [[(i, j) for s, i, j in some.brackets.tolist() if s == t] for t in range(4)]
    assert again == [KNOWN[5], [], KNOWN[4], KNOWN[4]]
    assert CORPUS.select(np.array([0, 3])).brackets is None
    assert CORPUS.compact[1].brackets is CORPUS.brackets
    distinct, first, copies = some.distinct
    kinds = [copies[a:b].tolist() for a, b in pairwise(first.tolist())]
    assert sorted(kinds) == [[0], [1], [2, 3]]
    assert len(distinct) == 3


def test_what_goes_word_by_word_refuses() -> None:
    grammar = GRAMMARS["dense"]
    with pytest.raises(DbpcfgError, match="brackets are for whole sentences"):
        LeftCornerParser(grammar, 1).log_probabilities(CORPUS)
    for one in GRAMMARS.values():
        with pytest.raises(DbpcfgError, match="brackets are for whole sentences"):
            prefix_parser_of(one, 2).prefixes(CORPUS)
    with pytest.raises(UnparsableError, match=r"sentence 3 .*fits the bound and has its brackets"):
        ChartParser(grammar, 1).sample(CORPUS, stream(0))


def excluded(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Spans of two words or more, as known to be no constituents."""
    i, last = np.triu_indices(n, 1)
    some = rng.permutation(len(i))[: rng.integers(1, 2 * n)]
    return [(int(last[x]) + 1, int(i[x])) for x in some if last[x] + 1 - i[x] < n]


def spans_of(shape: oracle.Shape) -> set[tuple[int, int]]:
    return {node[:2] for node in oracle.preorder(shape)}


def test_mbr_trees_are_the_best_of_those_without_what_is_excluded() -> None:
    """Whatever the weights: posteriors hardly ever make a tree with such a span the best."""
    rng, several, avoided = np.random.default_rng(3), 0, 0
    for _ in range(60):
        n = int(rng.integers(4, 8))
        known = [(2, 0), *excluded(n, rng), *random_brackets(n, rng)[:1]]
        fitting = [
            spans
            for spans in map(spans_of, oracle.shapes(0, n))
            if not {(j, i) for i, j in spans} & set(known)
            and {(i, j) for i, j in known if i < j} <= spans
        ]
        if not fitting:
            continue
        corpus = Encoded.from_numbers([[0, 1], [0] * n], WORDS).with_brackets([[], known])
        weights = rng.random((3 + n * (n + 1) // 2, 2))
        before = weights.copy()
        chosen, free = (
            {(i, j) for i, j, _ in mbr_trees(one, weights)[1].tolist()}
            for one in (corpus, replace(corpus, brackets=None))
        )
        np.testing.assert_array_equal(weights, before)
        spans = combinations(range(n + 1), 2)
        total = dict(zip(spans, weights[3:].sum(axis=1).tolist(), strict=True))
        sums = [sum(map(total.__getitem__, spans)) for spans in fitting]
        assert sum(map(total.__getitem__, chosen)) == pytest.approx(max(sums), abs=1e-5)
        assert chosen in fitting
        several, avoided = several + (len(fitting) > 1), avoided + (free not in fitting)
    assert several > 5
    assert avoided > 5
