"""Expected rule counts against every tree, one by one."""

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, draw_from_prior
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.outside import RuleSums
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.chart.scaled import fill_chart, scaled_outside
from tests import oracle

WORDS = Vocabulary(("a", "b", "c"))
SENTENCES = [[0], [1, 2], [0, 1, 1], [2, 0, 1, 1], [0, 2, 1, 0, 1], [0, 2, 1, 0, 1], [2] * 6]
CORPUS = Encoded.from_numbers(SENTENCES, WORDS)
DEPTHS = [1, 2, 3, None]


def counted_by_hand(grammar: Grammar, depth: int | None, copies: list[float]) -> RuleWeights:
    found = RuleWeights.zeros(grammar.categories, len(WORDS))
    for words, times in zip(SENTENCES, copies, strict=True):
        oracle.truth(grammar, words, depth).add_counts(words, times, found)
    return found


def difference(one: RuleWeights, other: RuleWeights) -> float:
    return max(
        float(np.abs(getattr(one, name) - getattr(other, name)).max())
        for name in ("root", "binary", "lexical")
    )


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("seed", [0, 1])
def test_counts_are_those_of_all_trees(depth: int | None, seed: int) -> None:
    grammar = draw_from_prior(2, WORDS, 1.0, seed)
    copies = [1.0, 2.0, 0.0, 1.5, 1.0, 0.0, 1.0]
    counts, logs = ChartParser(grammar, depth).expected_counts(CORPUS, np.array(copies), 0.0)
    assert difference(counts, counted_by_hand(grammar, depth, copies)) < 1e-10
    np.testing.assert_array_equal(logs, ChartParser(grammar, depth).log_probabilities(CORPUS))


def test_counts_of_another_bound_are_others() -> None:
    grammar = draw_from_prior(2, WORDS, 1.0, 0)
    counts, _ = ChartParser(grammar, 1).expected_counts(CORPUS, negligible=0.0)
    assert difference(counts, counted_by_hand(grammar, 2, [1.0] * 7)) > 1e-3


@pytest.mark.parametrize("depth", DEPTHS)
def test_counts_are_derivatives_of_the_log_likelihood(depth: int | None) -> None:
    grammar = draw_from_prior(3, WORDS, 1.0, 5)
    counts, _ = ChartParser(grammar, depth).expected_counts(CORPUS, negligible=0.0)

    def total(weights: RuleWeights) -> float:
        parser = ChartParser(grammar, depth, weights=weights)
        return float(parser.log_probabilities(CORPUS).sum())

    for name, rule in (("root", (1,)), ("binary", (0, 1, 2)), ("binary", (2, 2, 1))):
        changed = []
        for sign in (1.0, -1.0):
            rules = {n: getattr(grammar, n).copy() for n in ("root", "binary", "lexical")}
            rules[name][rule] *= np.exp(sign * 1e-5)
            changed.append(total(RuleWeights(**rules)))
        slope = (changed[0] - changed[1]) / 2e-5
        assert slope == pytest.approx(getattr(counts, name)[rule], abs=1e-8, rel=1e-7)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_threads_change_no_bit(precision: str) -> None:
    rng = np.random.default_rng(0)
    sentences = [rng.integers(0, 3, n % 9 + 1).tolist() for n in range(700)]
    corpus, grammar = Encoded.from_numbers(sentences, WORDS), draw_from_prior(5, WORDS, 0.5, 1)
    found = [ChartParser(grammar, 2, n, precision).expected_counts(corpus)[0] for n in (1, 3)]
    for name in ("root", "binary", "lexical"):
        assert getattr(found[0], name).tobytes() == getattr(found[1], name).tobytes()
    assert found[0].root.sum() == pytest.approx(700)
    assert found[0].lexical.sum() == pytest.approx(corpus.lengths.sum())
    assert found[0].binary.sum() == pytest.approx(corpus.lengths.sum() - 700)


@pytest.mark.parametrize("depth", DEPTHS)
def test_single_precision_is_near(depth: int | None) -> None:
    grammar = draw_from_prior(4, WORDS, 0.5, 2)
    exact, _ = ChartParser(grammar, depth).expected_counts(CORPUS)
    near, _ = ChartParser(grammar, depth, precision="single").expected_counts(CORPUS)
    assert difference(exact, near) < 1e-4


@pytest.mark.parametrize("depth", [1, 2, None])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_long_sentences_are_counted_with_exponents(depth: int | None, precision: str) -> None:
    lexical = np.full((2, 3), 1e-4)
    binary = np.full((2, 2, 2), (1 - 3e-4) / 4)
    binary[0, 0, 1] += 0.05
    binary[0, 1, 1] -= 0.05
    grammar = Grammar(np.array([0.7, 0.3]), binary, lexical, WORDS)
    words = [0, 1, 2] * 40
    corpus = Encoded.from_numbers([words, [0, 1, 2]], WORDS)
    counts, logs = ChartParser(grammar, depth, 1, precision).expected_counts(corpus)
    assert np.isfinite(logs).all()
    assert counts.lexical.sum(axis=0) == pytest.approx([41, 41, 41], rel=1e-4)
    assert counts.binary.sum() == pytest.approx(121, rel=1e-4)


def test_a_long_sentence_by_hand() -> None:
    """The code with exponents, on sentences that need none."""
    grammar = draw_from_prior(4, WORDS, 1.0, 3)
    words = np.array([2, 0, 1, 1, 0], dtype=np.int32)
    for depth in (0, 1, 2):
        G = tables(grammar, depth)
        K = len(G.root)
        own = RuleSums(np.zeros(K), np.zeros((K, K * K)), np.zeros((K, K * K)), np.zeros((5, K)))
        scaled_outside(fill_chart(words, G)[0], G, 2.0, own, True, 0, np.zeros((0, 0)))
        lexical = np.zeros((3, K))
        np.add.at(lexical, words, own.lexical)
        counts, _ = ChartParser(grammar, depth or None).expected_counts(
            Encoded.from_numbers([words.tolist()], WORDS), np.array([2.0]), 0.0
        )
        np.testing.assert_allclose(own.root, counts.root, atol=1e-12)
        np.testing.assert_allclose(
            own.by_parent.reshape(K, K, K) * G.binary, counts.binary, atol=1e-12
        )
        np.testing.assert_allclose((lexical * G.emission).T, counts.lexical, atol=1e-12)


def test_an_impossible_sentence_counts_nothing() -> None:
    binary, lexical = np.zeros((2, 2, 2)), np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    grammar = Grammar(np.array([1.0, 0.0]), binary, lexical, WORDS)
    corpus = Encoded.from_numbers([[0], [2], [0, 1]], WORDS)
    counts, logs = ChartParser(grammar, 2).expected_counts(corpus)
    assert logs.tolist()[1:] == [-np.inf, -np.inf]
    assert counts.lexical.tolist() == [[1, 0, 0], [0, 0, 0]]
    assert not counts.binary.any()
    nothing, logs = ChartParser(grammar, 2).expected_counts(Encoded.from_numbers([], WORDS))
    assert not nothing.rows.any()
    assert not len(logs)


@pytest.mark.parametrize("depth", [2, None])
def test_many_categories_are_counted_alike(depth: int | None) -> None:
    """Several panels of rules give the same as the posteriors of spans."""
    grammar = draw_from_prior(26, WORDS, 0.5, 1)
    parser = ChartParser(grammar, depth)
    counts, _ = parser.expected_counts(CORPUS, negligible=0.0)
    weights, _ = parser.posteriors(CORPUS, negligible=0.0)
    spans = counts.binary.sum(axis=(1, 2)) + counts.lexical.sum(axis=1)
    np.testing.assert_allclose(spans, weights.sum(axis=0), atol=1e-10)
    children = counts.binary.sum(axis=(0, 2)) + counts.binary.sum(axis=(0, 1)) + counts.root
    np.testing.assert_allclose(children, spans, atol=1e-10)


def test_words_are_counted_alike_when_few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    from dbpcfg.parsing.chart import outside as module

    words = Vocabulary(tuple(f"w{number}" for number in range(63)))
    corpus = Encoded.from_numbers([list(range(7 * n, 7 * n + n + 2)) for n in range(8)], words)
    grammar = draw_from_prior(3, words, 1.0, 4)
    held, _ = ChartParser(grammar, 2).expected_counts(corpus)
    monkeypatch.setattr(module, "HELD_BYTES", 0)
    one_batch, _ = ChartParser(grammar, 2).expected_counts(corpus)
    assert difference(held, one_batch) < 1e-12


@pytest.mark.parametrize("depth", [2, None])
def test_copies_do_not_decide_what_is_pruned(depth: int | None) -> None:
    parser = ChartParser(draw_from_prior(3, WORDS, 1.0, 4), depth)
    once, _ = parser.expected_counts(CORPUS, np.ones(7), 0.4)
    assert difference(once, parser.expected_counts(CORPUS, np.ones(7), 0.0)[0]) > 1e-3
    for copies in (2.0**-10, 2.0**10):
        counts, _ = parser.expected_counts(CORPUS, np.full(7, copies), 0.4)
        assert difference(counts * (1 / copies), once) < 1e-10
