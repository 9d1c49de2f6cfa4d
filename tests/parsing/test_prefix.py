"""Prefix probabilities of charts against lists of all derivations and the left-corner parser."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.parsing.chart.prefix import rescale_sums
from dbpcfg.parsing.leftcorner.parser import WordByWord
from dbpcfg.parsing.parsers import parser_of, prefix_parser_of
from dbpcfg.parsing.prefixes import BLOCK, Prefixes, next_word_entropies
from tests.parsing.finite import (
    Derivation,
    Truth,
    derivations,
    embedding_grammar,
    entropy,
    finite_grammar,
    sentences_of,
)
from tests.strategies import grammars, random_grammar

CLOSE = {"rel": 1e-10, "abs": 1e-10}
ENDLESS = 20
"""A depth that no derivation of these finite languages needs."""


def low_rank(phrases: int, words: int, rank: int, seed: int, W: int = 3) -> LowRankGrammar:
    """Phrases that are mostly of words, so that most trees end."""
    rng, K = np.random.default_rng(seed), phrases + words
    children = np.concatenate([np.full(phrases, 0.5), np.ones(words)])
    factors = Factors(
        rng.dirichlet(np.ones(K)),
        rng.dirichlet(np.ones(rank), phrases),
        rng.dirichlet(children, rank).T,
        rng.dirichlet(children, rank).T,
        rng.dirichlet(np.full(W, 0.5), words),
    )
    return LowRankGrammar(factors, Vocabulary(tuple(f"w{w}" for w in range(W))))


def follow(
    grammar: Grammar, depth: int | None, *sentences: list[int]
) -> list[tuple[Prefixes, np.ndarray]]:
    parser = prefix_parser_of(grammar, depth)
    numbers = [[parser.impossible if w < 0 else w for w in words] for words in sentences]
    found = parser.prefixes(Encoded.from_numbers(numbers, grammar.vocabulary))
    return [(one, parser.entropies(one)) for one in found]


def check_against_list(grammar: Grammar, depth: int | None, listed: list[Derivation]) -> None:
    sentences = sentences_of(listed)
    some = sentences[:: max(1, len(sentences) // 6)]
    for words, (found, entropies) in zip(some, follow(grammar, depth, *some), strict=True):
        for t in range(len(words) + 1):
            true = Truth(listed, words, t)
            ending = words[t] if t < len(words) else None
            assert math.exp(found.logs[t]) == pytest.approx(true.following[ending], **CLOSE)
            assert entropies[t] == pytest.approx(entropy(true.following.values()), **CLOSE)
            assert found.ended[t] == pytest.approx(true.following[None], **CLOSE)
            if t < len(words):
                assert found.fork[t] == pytest.approx(true.share("forks"), **CLOSE)
                assert found.join[t] == pytest.approx(true.share("joins"), **CLOSE)
            if depth is None:
                continue
            of_depth = np.zeros(depth + 1)
            for store, p in true.stores.items():
                of_depth[len(store)] += p if store or t == 0 else 0.0
            assert found.depths[t] == pytest.approx(of_depth, **CLOSE)
            if t < len(words):
                assert found.closed[t] == pytest.approx(true.closed(depth), **CLOSE)


@settings(max_examples=25)
@given(
    st.sampled_from([(2, 2), (3, 2), (3, 3), (4, 1)]),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 3, None]),
)
def test_everything_about_finite_languages(size, seed, depth):
    grammar = finite_grammar(*size, seed)
    check_against_list(grammar, depth, derivations(grammar, depth or ENDLESS))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, None])
def test_three_fragments_at_once(depth):
    grammar = embedding_grammar()
    check_against_list(grammar, depth, derivations(grammar, depth or ENDLESS))


def check_against_left_corners(grammar: Grammar, depth: int, *sentences: list[int]) -> None:
    parser = WordByWord(grammar, depth)
    for words, (found, entropies) in zip(
        sentences, follow(grammar, depth, *sentences), strict=True
    ):
        trace = parser.follow(np.array(words, dtype=np.int32))
        for name in ("logs", "ended", "depths", "fork", "join", "closed"):
            ours, theirs = getattr(found, name), getattr(trace, name)
            assert ours == pytest.approx(theirs, **CLOSE, nan_ok=True), name
        mass = np.where(grammar.lexical_mass > 0, grammar.lexical_mass, 1.0)
        next_words = trace.category @ (grammar.lexical / mass[:, np.newaxis])
        for t in np.flatnonzero(np.isfinite(entropies)).tolist():
            expected = entropy([*next_words[t], trace.ended[t]])
            assert entropies[t] == pytest.approx(expected, **CLOSE)
        assert (np.isnan(entropies) == np.isnan(trace.ended)).all()


SENTENCES = st.lists(st.lists(st.integers(-1, 0) | st.integers(0, 2), min_size=1, max_size=8))


@settings(max_examples=60)
@given(grammars(), SENTENCES, st.integers(1, 3))
def test_every_measure_is_that_of_the_left_corner_parser(grammar, sentences, depth):
    """Also with rules and words of probability zero."""
    assume(fitting_mass(grammar, containment(grammar, depth)) > 0)
    W = len(grammar.vocabulary)
    check_against_left_corners(
        grammar, depth, *([min(w, W - 1) for w in words] for words in sentences)
    )


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(("sizes", "seed"), [((1, 2, 2), 0), ((2, 1, 3), 1), ((3, 2, 4), 2)])
def test_low_rank_grammars_are_followed_in_rank_space(sizes, seed, depth):
    grammar, rng = low_rank(*sizes, seed), np.random.default_rng(seed)
    sentences = [rng.integers(0, 3, n).tolist() for n in (1, 1, 2, 3, 3, 8, 25)]
    check_against_left_corners(grammar, depth, *sentences, [0, 1, -1, 2], [-1])


def finite_low_rank() -> LowRankGrammar:
    """0 → 1 or a word, and a word; 1 → two words: sentences of one to three words."""
    children = np.array([[0, 0.0], [0.3, 0.0], [0.5, 0.4], [0.2, 0.6]])
    factors = Factors(
        np.array([0.7, 0.1, 0.1, 0.1]),
        np.array([[0.8, 0.2], [0.0, 1.0]]),
        children,
        np.array([[0, 0], [0.2, 0.0], [0.7, 0.9], [0.1, 0.1]]),
        np.array([[0.6, 0.4, 0.0], [0.1, 0.2, 0.7]]),
    )
    return LowRankGrammar(factors, Vocabulary(("a", "b", "c")))


@pytest.mark.parametrize("depth", [1, 2, None])
def test_everything_about_a_finite_language_of_low_rank(depth):
    grammar = finite_low_rank()
    check_against_list(grammar, depth, derivations(grammar.multiplied_out(), depth or ENDLESS))


def with_fewer_phrases(grammar: Grammar, share: float) -> Grammar:
    """What binary rules lose goes to all words alike."""
    binary, words = grammar.binary * share, len(grammar.vocabulary)
    lost = (1 - share) * grammar.binary.sum(axis=(1, 2))
    lexical = grammar.lexical + lost[:, np.newaxis] / words
    return Grammar(grammar.root, binary, lexical, grammar.vocabulary)


def mass_of(grammar: Grammar) -> float:
    """The probability of all trees that end."""
    if isinstance(grammar, LowRankGrammar):
        grammar = grammar.multiplied_out()
    return fitting_mass(grammar, containment(grammar, None))


def with_endless_trees(rank: int) -> Grammar:
    """Phrases mostly have phrases below them, so that many trees never end."""
    if not rank:
        rare = random_grammar(3, 3, 1.0, seed=2)
        rules = rare.binary / rare.binary.sum(axis=(1, 2), keepdims=True)
        words = rare.lexical / rare.lexical.sum(axis=1, keepdims=True)
        share = np.array([0.55, 0.65, 0.6])
        binary, lexical = share[:, None, None] * rules, (1 - share)[:, None] * words
        return Grammar(rare.root, binary, lexical, rare.vocabulary)
    rng, few = np.random.default_rng(5), np.array([4.0, 4.0, 1.0, 1.0])
    left, right = (rng.dirichlet(few, rank).T for _ in range(2))
    rules, words = rng.dirichlet(np.ones(rank), 2), rng.dirichlet(np.ones(3), 2)
    factors = Factors(np.array([0.3, 0.3, 0.3, 0.1]), rules, left, right, words)
    return LowRankGrammar(factors, Vocabulary(("w0", "w1", "w2")))


@pytest.mark.parametrize("depth", [1, 2, None])
@pytest.mark.parametrize("rank", [0, 3])
def test_what_is_awaited_is_what_words_have(depth, rank):
    """One convention at every word: also at the first one, if many trees never end."""
    grammar = with_endless_trees(rank)
    assert mass_of(grammar) < 0.8
    sentences = [[0], [2, 1], [1, 1, 0], [2, 0, 1, 1, 0, 2, 2]]
    for words, (found, _) in zip(sentences, follow(grammar, depth, *sentences), strict=True):
        lexical = grammar.lexical[-found.awaited.shape[1] :]
        expected = [found.awaited[t] @ lexical[:, w] for t, w in enumerate(words)]
        assert np.exp(found.logs[:-1]) == pytest.approx(np.array(expected), rel=1e-11)
    sums_to_sentences(grammar, depth, *sentences)


def sums_to_sentences(grammar: Grammar, depth: int | None, *sentences: list[int]) -> None:
    """Words and the end are all that can come, and surprisals sum to the sentence's."""
    corpus = Encoded.from_numbers(sentences, grammar.vocabulary)
    logs = parser_of(grammar, depth).log_probabilities(corpus)
    for log, (found, _) in zip(logs, follow(grammar, depth, *sentences), strict=True):
        assert found.logs.sum() == pytest.approx(log, rel=1e-11)
        lexical = grammar.lexical[-found.awaited.shape[1] :]  # of low rank: of words' categories
        next_words = (found.awaited @ lexical).sum(axis=1)
        possible = np.ones(len(next_words))
        possible[0] = 1.0 if depth else mass_of(grammar)
        assert next_words + found.ended == pytest.approx(possible, abs=1e-11)
        assert found.depths.sum(axis=1) + found.ended == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("depth", [1, 2, 3, None])
@pytest.mark.parametrize("rank", [0, 3])
def test_every_length(depth, rank):
    rng = np.random.default_rng(depth)
    grammar = low_rank(2, 2, rank, 3) if rank else random_grammar(3, 3, 0.5, seed=6)
    sums_to_sentences(grammar, depth, *(rng.integers(0, 3, n).tolist() for n in range(1, 101)))


RARE = 1e-20


def with_a_rare_category(grammar: Grammar) -> Grammar:
    """The last category alone has the last word, and it hardly occurs."""
    binary, lexical = grammar.binary.copy(), grammar.lexical.copy()
    binary[:, -1] *= RARE
    binary[:, :, -1] *= RARE
    binary[-1] = lexical[:, -1] = lexical[-1] = 0.0
    lexical[-1, -1] = 1.0
    total = binary.sum(axis=(1, 2)) + lexical.sum(axis=1)
    binary, lexical = binary / total[:, None, None], lexical / total[:, None]
    return Grammar(grammar.root, binary, lexical, grammar.vocabulary)


def with_a_rare_word(grammar: LowRankGrammar) -> LowRankGrammar:
    """The same, of low rank."""
    F, few = grammar.factors, np.append(np.ones(grammar.categories - 1), RARE)[:, np.newaxis]
    left, right, emission = F.left * few, F.right * few, F.emission.copy()
    emission[:, -1] = emission[-1] = 0.0
    emission[-1, -1] = 1.0
    factors = F._replace(
        left=left / left.sum(axis=0),
        right=right / right.sum(axis=0),
        emission=emission / emission.sum(axis=1, keepdims=True),
    )
    return LowRankGrammar(factors, grammar.vocabulary)


@pytest.mark.parametrize("depth", [1, 2, None])
@pytest.mark.parametrize("rank", [0, 3])
def test_numbers_that_need_exponents(depth, rank):
    """The last word has the probability 1 in its category, and hardly any where it occurs."""
    rare = (
        with_a_rare_word(low_rank(2, 3, rank, 3))
        if rank
        else with_a_rare_category(random_grammar(3, 3, 0.5, seed=1))
    )
    rng = np.random.default_rng(0)
    sentences = [rng.choice(3, n, p=[0.15, 0.15, 0.7]).tolist() for n in (40, 40, 90)]
    sums_to_sentences(rare, depth, *sentences)
    assert all(found.logs.sum() < -40 * 0.5 * 46 for found, _ in follow(rare, depth, *sentences))
    if depth is not None:
        check_against_left_corners(rare, depth, *sentences)


@pytest.mark.parametrize("exponent", [-500, 0, 500])
def test_sums_are_scaled_if_they_are_small_or_large(exponent):
    above, masses = np.full((1, 2, 1, 1), 2.0**exponent), np.zeros((1, 1, 2))
    scale = np.array([[3]], dtype=object)  # of Python's integers, as `math` wants them
    rescale_sums(above, scale, np.ones((1, 1)), 0, 0, masses)
    assert 0.5 <= masses.sum() <= 2
    for array in (masses, above):
        assert (np.ldexp(array, scale[0, 0] - 3) == 2.0**exponent).all()


def test_entropies_of_many_words():
    """So many that the words of a sentence are not all in one block."""
    rng = np.random.default_rng(0)
    lexical = rng.dirichlet(np.full(BLOCK // 2 + 1, 0.1), 2)
    awaited = rng.dirichlet(np.ones(3), 4)
    found = np.empty(4)
    next_word_entropies(awaited[:, :2].copy(), awaited[:, 2].copy(), lexical, found)
    expected = [entropy([*(some @ lexical), end]) for *some, end in awaited]
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_word_that_is_hardly_possible():
    """The probability of the second word is 5e-321, which has no reciprocal."""
    binary, lexical = np.zeros((3, 3, 3)), np.zeros((3, 3))
    binary[0, 2, 1], binary[0, 2, 2] = 1.0, 1e-320
    lexical[1] = 0.0, 1.0, 0.0
    lexical[2] = 0.5, 0.0, 0.5
    grammar = Grammar(np.eye(3)[0], binary, lexical, Vocabulary(("a", "b", "c")))
    ((found, entropies),) = follow(grammar, 1, [0, 2])
    assert found.logs == pytest.approx([math.log(0.5), math.log(5e-321), 0.0], rel=1e-3)
    assert found.ended[2] == 1.0
    assert np.isfinite(entropies).all()


def test_without_a_bound_it_is_what_great_depths_come_to():
    grammar = with_fewer_phrases(random_grammar(3, 3, 1.0, seed=11), 0.3)
    words = np.random.default_rng(0).integers(0, 3, 12).tolist()
    ((endless, entropies),) = follow(grammar, None, words)
    gaps = []
    for depth in (1, 3, 9, 27):
        ((bounded, others),) = follow(grammar, depth, words)
        ours = endless.logs, endless.fork[:-1], endless.join[:-1], entropies
        theirs = bounded.logs, bounded.fork[:-1], bounded.join[:-1], others
        gaps.append(max(np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True)))
    assert gaps[0] > 1e-3
    assert gaps[-1] < 1e-9
    assert sorted(gaps, reverse=True) == gaps


def test_trees_that_never_end_count_as_in_the_sentences_probability():
    """c → c c with probability 0.6: a third of all trees never ends."""
    grammar = Grammar(np.ones(1), np.full((1, 1, 1), 0.6), np.array([[0.3, 0.1]]), Vocabulary("ab"))
    ((found, entropies),) = follow(grammar, None, [0, 1, 0])
    log = parser_of(grammar, None).log_probabilities(
        Encoded.from_numbers([[0, 1, 0]], Vocabulary("ab"))
    )
    assert found.logs.sum() == pytest.approx(log[0], abs=1e-10)
    assert math.exp(found.logs[0]) == pytest.approx(2 / 3 * 0.75)
    assert found.awaited[0] @ grammar.lexical == pytest.approx([2 / 3 * 0.75, 2 / 3 * 0.25])
    assert entropies[0] == pytest.approx(entropy([0.75, 0.25]))  # of those that do end


def test_threads_and_company_change_nothing():
    rng = np.random.default_rng(0)
    for grammar in (random_grammar(K=5, W=7, concentration=0.3, seed=1), low_rank(3, 4, 5, 1, 7)):
        sentences = [rng.integers(0, 7, n).tolist() for n in rng.integers(1, 30, 60)]
        parser = prefix_parser_of(grammar, 2)
        corpus = Encoded.from_numbers(sentences, grammar.vocabulary)
        one, three = (parser.prefixes(corpus, threads) for threads in (1, 3))
        for s, (x, y) in enumerate(zip(one, three, strict=True)):
            assert all(a.tobytes() == b.tobytes() for a, b in zip(x, y, strict=True))
            if s % 20 == 0:
                (alone,) = parser.prefixes(corpus.select(np.array([s])))
                assert all(np.allclose(a, b, 1e-12, 1e-14, True) for a, b in zip(x, alone))
