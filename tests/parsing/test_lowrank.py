"""The chart in rank space against every tree, the dense chart and finite differences."""

from collections import Counter

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar, RuleWeights
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.lowrank.parser import FactorParser, LowRankParser
from dbpcfg.parsing.parsers import parser_of
from tests import oracle
from tests.statistics import LEAST_P, goodness_of_fit

WORDS = Vocabulary(("a", "b", "c"))
SENTENCES = [[0], [1, 2], [0, 1, 1], [2, 0, 1, 1], [0, 2, 1, 0], [0, 2, 1, 0], [2] * 4, [1]]
CORPUS = Encoded.from_numbers(SENTENCES, WORDS)
LONGER = Encoded.from_numbers([[0, 2, 1, 0, 1, 1, 2, 2], [2, 1, 0] * 3, [1, 1], [0] * 7], WORDS)
DEPTHS = [1, 2, 3, None]


def drawn(phrases: int, words: int, rank: int, seed: int, vocabulary: int = 3) -> Factors:
    rng, K = np.random.default_rng(seed), phrases + words
    return Factors(
        rng.dirichlet(np.ones(K)),
        rng.dirichlet(np.ones(rank), phrases),
        rng.dirichlet(np.ones(K), rank).T,
        rng.dirichlet(np.ones(K), rank).T,
        rng.dirichlet(np.ones(vocabulary), words),
    )


def weights_of(factors: Factors) -> RuleWeights:
    """Multiplied out, also if they are not probabilities."""
    N, K = factors.phrases, factors.categories
    binary, lexical = np.zeros((K, K, K)), np.zeros((K, len(WORDS)))
    binary[:N] = np.einsum("ar,br,cr->abc", factors.parent, factors.left, factors.right)
    lexical[N:] = factors.emission
    return RuleWeights(factors.root, binary, lexical)


def dense(factors: Factors) -> Grammar:
    weights = weights_of(factors)
    return Grammar(weights.root, weights.binary, weights.lexical, WORDS)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("seed", [0, 1])
def test_inside_is_the_sum_over_all_trees(depth: int | None, seed: int) -> None:
    factors = drawn(1, 2, 2, seed)
    logs = FactorParser(factors, depth).log_inside(CORPUS)
    grammar = dense(factors)
    for words, log in zip(SENTENCES, logs, strict=True):
        assert log == pytest.approx(np.log(oracle.truth(grammar, words, depth).total), abs=1e-10)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("sizes", [(2, 3, 4), (5, 3, 2), (7, 9, 11)])
def test_inside_and_posteriors_are_the_dense_chart_s(
    depth: int | None, sizes: tuple[int, int, int]
) -> None:
    factors = drawn(*sizes, seed=4)
    chart = ChartParser(dense(factors), depth)
    parser = FactorParser(factors, depth)
    weights, logs = parser.posteriors(LONGER, 0.0)
    expected, bounded = chart.posteriors(LONGER, 0.0)
    np.testing.assert_allclose(logs, bounded, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(parser.log_probabilities(LONGER), logs)
    unbounded = bounded + chart.log_fitting_mass
    np.testing.assert_allclose(parser.log_inside(LONGER), unbounded, rtol=0, atol=1e-10)
    np.testing.assert_allclose(weights, expected, atol=1e-10)


@pytest.mark.parametrize("depth", [2, None])
def test_equal_sentences_and_words_that_nothing_emits(depth: int | None) -> None:
    factors = drawn(2, 3, 4, 5)
    emission = factors.emission.copy()
    emission[:, 2] = 0.0
    factors = factors._replace(emission=emission / emission.sum(axis=1, keepdims=True))
    corpus = Encoded.from_numbers([[0, 1, 1], [2], [0, 2], [0, 1, 1], [1], [0, 1, 1], [1]], WORDS)
    weights, logs = FactorParser(factors, depth).posteriors(corpus, 0.0)
    expected, bounded = ChartParser(dense(factors), depth).posteriors(corpus, 0.0)
    np.testing.assert_allclose(logs, bounded, atol=1e-10)
    assert np.flatnonzero(np.isneginf(logs)).tolist() == [1, 2]
    np.testing.assert_allclose(weights, expected, atol=1e-10)


def test_another_bound_gives_other_sums() -> None:
    factors = drawn(2, 3, 4, 0)
    one, two = (FactorParser(factors, depth).log_inside(LONGER) for depth in (1, 2))
    assert np.abs(one - two).max() > 1e-3
    assert (one <= two).all()


@pytest.mark.parametrize("depth", DEPTHS)
def test_counts_are_derivatives(depth: int | None) -> None:
    factors = drawn(2, 3, 4, 7)
    copies = np.array([1.0, 2.0, 0.5, 1.0])
    counts, logs = FactorParser(factors, depth).expected_counts(LONGER, copies, 0.0)
    np.testing.assert_array_equal(logs, FactorParser(factors, depth).log_inside(LONGER))

    def total(name: str, place: tuple[int, ...], factor: float) -> float:
        changed = getattr(factors, name).copy()
        changed[place] *= factor
        other = factors._replace(**{name: changed})
        return float(copies @ FactorParser(other, depth).log_inside(LONGER))

    for name in Factors._fields:
        for place in np.ndindex(getattr(factors, name).shape):
            ends = [total(name, place, np.exp(sign * 1e-5)) for sign in (1, -1)]
            slope = (ends[0] - ends[1]) / 2e-5
            assert getattr(counts, name)[place] == pytest.approx(slope, abs=1e-8), (name, place)


@pytest.mark.parametrize("depth", [2, None])
def test_copies_change_nothing_but_the_number(depth: int | None) -> None:
    """Equal sentences count together, and what is negligible does not depend on it."""
    parser, words = FactorParser(drawn(2, 3, 4, 7), depth), [0, 2, 1, 0, 1, 1, 2, 2]
    some = Encoded.from_numbers([words, [1, 0, 1], words], WORDS)
    counts, _ = parser.expected_counts(some, np.array([1.0, 2.0, 4.0]), negligible=0.05)
    one, other = (parser.expected_counts(some.select(np.array([s])), None, 0.05)[0] for s in (0, 1))
    for name in Factors._fields:
        expected = 5 * getattr(one, name) + 2 * getattr(other, name)
        np.testing.assert_allclose(getattr(counts, name), expected, atol=1e-12)


@pytest.mark.parametrize("depth", DEPTHS)
def test_counts_are_the_dense_chart_s(depth: int | None) -> None:
    """E[A → B C] is shared out among r in proportion to u_Ar v_Br w_Cr."""
    factors = drawn(3, 4, 5, 2)
    both = Encoded.from_numbers([*SENTENCES, [0, 2, 1, 0, 1, 1, 2, 2]], WORDS)
    counts, _ = FactorParser(factors, depth).expected_counts(both, negligible=0.0)
    chart = ChartParser(dense(factors), depth)
    expected, _ = chart.expected_counts(both, negligible=0.0)
    N = factors.phrases
    joint = np.einsum("ar,br,cr->abcr", factors.parent, factors.left, factors.right)
    joint *= (expected.binary[:N] / joint.sum(axis=3))[..., np.newaxis]
    np.testing.assert_allclose(counts.root, expected.root, atol=1e-10)
    np.testing.assert_allclose(counts.parent, joint.sum(axis=(1, 2)), atol=1e-10)
    np.testing.assert_allclose(counts.left, joint.sum(axis=(0, 2)), atol=1e-10)
    np.testing.assert_allclose(counts.right, joint.sum(axis=(0, 1)), atol=1e-10)
    np.testing.assert_allclose(counts.emission, expected.lexical[N:], atol=1e-10)


@pytest.mark.parametrize("depth", DEPTHS)
def test_single_precision_is_near(depth: int | None) -> None:
    factors = drawn(6, 10, 12, 5)
    exact, logs = FactorParser(factors, depth).expected_counts(LONGER)
    near, near_logs = FactorParser(factors, depth, 1, "single").expected_counts(LONGER)
    np.testing.assert_allclose(near_logs, logs, rtol=1e-5)
    for one, other in zip(near, exact, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_threads_change_no_bit(precision: str) -> None:
    rng = np.random.default_rng(0)
    sentences = [rng.integers(0, 3, n % 13 + 1).tolist() for n in range(400)]
    corpus, factors = Encoded.from_numbers(sentences, WORDS), drawn(5, 7, 9, 1)
    results = [
        FactorParser(factors, 2, threads, precision).expected_counts(corpus) for threads in (1, 3)
    ]
    for one, other in zip(results[0][0], results[1][0], strict=True):
        assert one.tobytes() == other.tobytes()
    assert results[0][1].tobytes() == results[1][1].tobytes()
    counts, tokens = results[0][0], len(corpus.tokens)
    assert counts.root.sum() == pytest.approx(400)
    assert counts.emission.sum() == pytest.approx(tokens)
    for array in (counts.parent, counts.left, counts.right):
        assert array.sum() == pytest.approx(tokens - 400, rel=1e-4)


@pytest.mark.parametrize("depth", [1, 2, None])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_long_sentences_do_not_underflow(depth: int | None, precision: str) -> None:
    factors = drawn(3, 5, 4, 8)
    corpus = Encoded.from_numbers([[0, 1, 2, 2] * 40, [1, 0]], WORDS)
    counts, logs = FactorParser(factors, depth, 1, precision).expected_counts(corpus)
    exact = ChartParser(dense(factors), depth, weights=weights_of(factors))
    np.testing.assert_allclose(logs, exact.log_probabilities(corpus), rtol=1e-5)
    assert counts.parent.sum() == pytest.approx(160, rel=1e-3)
    assert counts.emission.sum(axis=0) == pytest.approx([41, 41, 80], rel=1e-3)


def test_what_crosses_a_bracket_has_no_part_in_scaling() -> None:
    """A cell that is empty must not count as one that needs no scale."""
    factors, n = drawn(3, 5, 4, 8), 160
    corpus = Encoded.from_numbers([[0, 1, 2, 2] * (n // 4)], WORDS)
    corpus = corpus.with_brackets([[(0, n - k) for k in range(1, n - 1, 2)]])
    exact = ChartParser(dense(factors), None, weights=weights_of(factors))
    found = FactorParser(factors, None, 1, "single").log_probabilities(corpus)
    np.testing.assert_allclose(found, exact.log_probabilities(corpus), rtol=1e-5)


def test_impossible_sentences_count_nothing() -> None:
    factors = drawn(2, 3, 4, 0)
    emission = factors.emission.copy()
    emission[:, 2] = 0.0
    emission /= emission.sum(axis=1, keepdims=True)
    parser = FactorParser(factors._replace(emission=emission), 2)
    corpus = Encoded.from_numbers([[2], [0, 2, 1], [0, 1]], WORDS)
    counts, logs = parser.expected_counts(corpus)
    assert logs.tolist()[:2] == [-np.inf, -np.inf]
    assert counts.root.sum() == pytest.approx(1)
    weights, _ = parser.posteriors(corpus)
    assert not weights[:7].any()
    assert parser.expected_counts(Encoded.from_numbers([], WORDS))[1].shape == (0,)


def test_what_does_not_fit_is_said() -> None:
    factors = drawn(2, 3, 4, 0)
    with pytest.raises(DbpcfgError, match="make it with the grammar's vocabulary"):
        FactorParser(factors, 1).log_inside(Encoded.from_sentences([["a"]]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parent": np.ones(2)}, "factors of shapes"),
        ({"root": np.ones(2)}, "factors of shapes"),
        ({"emission": np.ones((3, 2)) / 2}, "factors of shapes"),
        ({"left": np.full((5, 4), 0.3)}, r"left\[:, 0\] must sum to 1 \(it sums to 1.5\)"),
        ({"parent": np.ones((2, 4))}, r"parent\[0\] must sum to 1 \(it sums to 4\)"),
        ({"root": np.ones(5)}, r"root must sum to 1 \(it sums to 5\)"),
        ({"right": np.full((5, 4), np.nan)}, "right has entries that are negative, infinite"),
        ({"root": np.array([-1.0, 1, 1, 0, 0])}, "root has entries that are negative"),
    ],
)
def test_factors_are_checked(changes: dict, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        LowRankGrammar(drawn(2, 3, 4, 0)._replace(**changes), WORDS)


def test_rules_are_multiplied_out_when_asked_for() -> None:
    factors = drawn(2, 3, 4, 0)
    low = LowRankGrammar(factors, WORDS).named("ABCDE")
    grammar, expected = low.multiplied_out(), weights_of(factors)
    assert grammar.names == low.names
    np.testing.assert_allclose(grammar.binary, expected.binary, atol=1e-15)
    np.testing.assert_array_equal(grammar.lexical, expected.lexical)
    for array in (low.root, low.lexical, *low.factors):
        assert not array.flags.writeable
    wide = LowRankGrammar(drawn(2, 1030, 1, 0), WORDS)
    with pytest.raises(GrammarError, match="1,032 categories and 3 words has 1,099,104,768 rules"):
        wide.multiplied_out()


def test_the_parser_of_a_grammar() -> None:
    grammar = LowRankGrammar(drawn(2, 3, 4, 0), WORDS)
    low = parser_of(grammar, 2)
    assert isinstance(low, LowRankParser)
    assert isinstance(parser_of(dense(drawn(2, 3, 4, 0)), 2), ChartParser)


DRAWS = 20_000


def p_value(
    factors: Factors,
    true: Factors,
    words: list[int],
    depth: int | None,
    precision: Precision = "double",
) -> float:
    """How well trees drawn in rank space fit the enumerated posterior of some factors."""
    corpus = Encoded.from_numbers([words] * DRAWS, WORDS)
    parser = LowRankParser(LowRankGrammar(factors, WORDS), depth, 1, precision)
    trees, logs = parser.sample(corpus, stream(5, 2))
    observed = Counter(trees[s].tobytes() for s in range(DRAWS))
    truth = oracle.truth(dense(true), words, depth)
    assert np.ptp(logs) == 0.0
    return goodness_of_fit(observed, truth.posterior(), DRAWS)


@pytest.mark.parametrize("depth", [1, 2, None])
@pytest.mark.parametrize("words", [[1], [0, 2, 1, 0], [1, 0, 2, 1, 1]])
def test_samples_follow_the_posterior(words: list[int], depth: int | None) -> None:
    factors = drawn(2, 1, 3, 3) if len(words) == 5 else drawn(1, 2, 2, 4)
    assert p_value(factors, factors, words, depth) > LEAST_P


@pytest.mark.parametrize("depth", [2, None])
def test_samples_from_charts_with_exponents(depth: int | None) -> None:
    """Phrases are rare, so in single precision long ones have one; all trees are as probable."""
    children = np.array([[1e-4], [1 - 1e-4]])
    rare = Factors(
        np.array([1.0, 0.0]), np.ones((1, 1)), children, children, np.full((1, 3), 1 / 3)
    )
    assert p_value(rare, rare, [1, 0, 2, 1, 1], depth, "single") > LEAST_P


def test_slightly_wrong_factors_are_caught() -> None:
    """Negative control: one factor off by a quarter."""
    factors = drawn(2, 1, 3, 3)
    left = factors.left.copy()
    left[0] *= 1.25
    wrong = factors._replace(left=left / left.sum(axis=0))
    assert p_value(wrong, factors, [1, 0, 2, 1, 1], 2) < 1e-8


def test_samples_are_the_same_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    sentences = [rng.integers(0, 3, n % 17 + 1).tolist() for n in range(300)]
    corpus, grammar = (
        Encoded.from_numbers(sentences, WORDS),
        LowRankGrammar(drawn(5, 7, 9, 1), WORDS),
    )
    one, other = (LowRankParser(grammar, 2, n).sample(corpus, stream(3)) for n in (1, 3))
    assert one[0].nodes.tobytes() == other[0].nodes.tobytes()
    assert one[1].tobytes() == other[1].tobytes()
    for parser in (LowRankParser(grammar, 2), LowRankParser(grammar, 2, 1, "single")):
        trees, logs = parser.sample(corpus, stream(3))
        np.testing.assert_allclose(logs, parser.log_probabilities(corpus), rtol=1e-12)
        assert trees.counts(12).lexical[:5].sum() == 0
