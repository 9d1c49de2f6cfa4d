"""One Gibbs step: a pure function, the same on any number of threads."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from dbpcfg.induction.initial import initial_state

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.grammar.pcfg import draw_grammar
from dbpcfg.induction.learners import State, step
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import parser_for
from dbpcfg.numerics.philox import Purpose, stream
from tests.induction.small import states
from tests.oracle import truth
from tests.stores import memory_depth

CORPUS = Encoded.from_sentences(tree.words() for tree in synthetic_trees("center", sentences=60))


def bits(state: State) -> tuple[bytes, ...]:
    return (
        state.grammar.root.tobytes(),
        state.grammar.rows.tobytes(),
        state.derivations.nodes.tobytes(),
        np.float64(state.measures.likelihood).tobytes(),
    )


@pytest.mark.parametrize(
    "settings",
    [
        ChainSettings(categories=4, depth=2),
        ChainSettings(categories=4, depth=2, exact=True),
        ChainSettings(categories=4, depth=None),
        ChainSettings(categories=4, depth=2, parser="leftcorner"),
        ChainSettings(categories=15, depth=1),
    ],
    ids=str,
)
def test_the_same_bits_on_one_two_and_three_threads(settings):
    alone, together, crowd = (
        [bits(state) for state in itertools.islice(states(CORPUS, settings, threads), 4)]
        for threads in (1, 2, 3)
    )
    assert alone == together == crowd


def test_going_on_from_a_state_is_not_having_stopped():
    settings = ChainSettings(categories=3, depth=2, seed=9, chain=1)
    whole = list(itertools.islice(states(CORPUS, settings), 6))
    saved = State(iteration=3, grammar=whole[2].grammar, beta=settings.beta)
    for expected in whole[3:]:
        saved = step(saved, CORPUS, settings)
        assert bits(saved) == bits(expected)
    assert saved.iteration == 6


def test_seeds_and_chains_go_their_own_ways():
    def end(**changed):
        settings = ChainSettings(categories=3, depth=2, **changed)
        return bits(next(states(CORPUS, settings)))

    assert len({end(), end(seed=1), end(chain=1), end(beta=0.3)}) == 4
    assert end() == end()


def test_the_step_is_its_three_parts():
    settings = ChainSettings(categories=3, depth=1, seed=4)
    first = initial_state(CORPUS, settings)
    after = step(first, CORPUS, settings)
    parser = parser_for(first.grammar, settings.depth, settings)
    assert after.measures.likelihood == pytest.approx(parser.log_probabilities(CORPUS).sum())
    counts = after.derivations.counts(3)
    assert counts.root.sum() == len(CORPUS)
    assert counts.lexical.sum() == len(CORPUS.tokens)
    assert counts.binary.sum() == len(CORPUS.tokens) - len(CORPUS)
    again = draw_grammar(counts, 0.2, CORPUS.vocabulary, stream(4, 0, 0, Purpose.GRAMMAR))
    assert (again.rows == after.grammar.rows).all()
    assert all(memory_depth(tree) == 1 for tree in after.derivations.trees())


def test_log_likelihood_rises_from_the_prior():
    settings = ChainSettings(categories=5, depth=2)
    chain = list(itertools.islice(states(CORPUS, settings), 60))
    assert chain[-1].measures.likelihood > chain[0].measures.likelihood + 100


def test_what_cannot_be():
    with pytest.raises(DbpcfgError, match="needs a depth bound"):
        ChainSettings(categories=3, depth=None, parser="leftcorner")
    with pytest.raises(DbpcfgError, match="parser must be chart or leftcorner, got 'earley'"):
        ChainSettings(categories=3, depth=2, parser="earley")
    with pytest.raises(GrammarError, match="at least one category"):
        next(states(CORPUS, ChainSettings(categories=0, depth=2)))
    with pytest.raises(GrammarError, match=r"beta must be a positive number, .* got 0"):
        next(states(CORPUS, ChainSettings(categories=2, depth=2, beta=0)))
    with pytest.raises(GrammarError, match="depth bound must be at least 1"):
        next(states(CORPUS, ChainSettings(categories=2, depth=0)))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
def test_what_is_measured_is_the_likelihood_of_the_bounded_model(depth, exact):
    """Π P/Z, by brute force: Z is divided out once."""
    short = Encoded.from_sentences([["a", "b", "b"], ["b", "a"], ["a", "a", "b", "a"]])
    settings = ChainSettings(categories=3, depth=depth, exact=exact)
    first = next(itertools.islice(states(short, settings), 4, None))
    probabilities = [
        truth(first.grammar, short.numbers(i).tolist(), depth).total for i in range(len(short))
    ]
    kept = fitting_mass(first.grammar, containment(first.grammar, depth))
    assert kept < 0.999
    expected = sum(math.log(one / kept) for one in probabilities)
    assert step(first, short, settings).measures.likelihood == pytest.approx(expected, rel=1e-10)
