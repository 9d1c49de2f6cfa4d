"""What chains are compared by: each measure against its definition."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from dbpcfg.induction.initial import initial_state

from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import draw_grammar
from dbpcfg.induction.criteria import goodness, kept_aside
from dbpcfg.induction.learners import step
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import parser_for
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.derivations import Derivations
from tests.induction.small import CORPUS, states


def polya(counts: list[int], beta: float) -> float:
    """Log-probability of drawing uses of rules one after another, each seen making it likelier."""
    log, seen = 0.0, [0] * len(counts)
    for rule, uses in enumerate(counts):
        for _ in range(uses):
            log += math.log((seen[rule] + beta) / (sum(seen) + beta * len(counts)))
            seen[rule] += 1
    return log


def test_the_posterior_is_that_of_an_urn():
    settings = ChainSettings(categories=3, depth=2, beta=0.3)
    for state in itertools.islice(states(CORPUS, settings), 3):
        counts = state.derivations.counts(3)
        rows = [counts.root.tolist(), *counts.rows.tolist()]
        expected = sum(polya(row, 0.3) for row in rows)
        assert state.measures.posterior == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("aside", [0, 2, 7])
def test_sentences_kept_aside(aside):
    """They get trees and are measured, but the grammar does not see their trees."""
    settings = ChainSettings(categories=3, depth=2, aside=aside)
    before = initial_state(CORPUS, settings)
    after = step(before, CORPUS, settings)
    logs = parser_for(before.grammar, 2, settings).log_probabilities(CORPUS)
    out = [s for s in range(len(CORPUS)) if aside and s % aside == aside - 1]
    learned = [s for s in range(len(CORPUS)) if s not in out]
    assert kept_aside(len(CORPUS), aside).tolist() == out
    assert after.measures.likelihood == pytest.approx(logs[learned].sum())
    assert math.isnan(after.measures.heldout) == (not aside)
    if aside:
        assert after.measures.heldout == pytest.approx(logs[out].sum())
    surprisals = [-log / n for log, n in zip(logs, CORPUS.lengths)]
    assert after.measures.variance == pytest.approx(np.var(surprisals))
    some = CORPUS.chosen(np.array(learned))
    nodes = np.concatenate([after.derivations[s] for s in learned])
    expected = Derivations(nodes, some).counts(3)
    found = after.derivations.counts(3, aside)
    assert (found.rows == expected.rows).all()
    assert (found.root == expected.root).all()
    numbers = stream(settings.seed, settings.chain, 0, Purpose.GRAMMAR)
    drawn = draw_grammar(expected, settings.beta, CORPUS.vocabulary, numbers)
    assert (drawn.rows == after.grammar.rows).all()  # nothing was learned from the others


def test_words_that_occur_only_aside_are_never_counted():
    settings = ChainSettings(categories=3, depth=2, aside=2)
    for state in itertools.islice(states(CORPUS, settings), 3):
        counts = state.derivations.counts(3, 2)
        assert counts.root.sum() == len(CORPUS) // 2


def test_more_is_better():
    assert goodness([1.0, 3.0], "likelihood") == 2.0
    assert goodness([1.0, 3.0], "variance") == -2.0
    assert goodness([], "posterior") == -math.inf


@pytest.mark.parametrize("aside", [1, -3])
def test_what_cannot_be_kept_aside(aside):
    with pytest.raises(DbpcfgError, match=f"every n-th sentence aside, got {aside}"):
        ChainSettings(aside=aside)
