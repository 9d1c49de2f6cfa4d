"""Criterion for comparing chains: each measure against its definition."""

import itertools
import math

import numpy as np
import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import draw_grammar
from dbpcfg.induction.criteria import criteria, held_out_sentences
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.derivations import Derivations
from tests.induction.small import CORPUS, first, run, settings, states, step


def polya(counts: list[int], beta: float) -> float:
    """Log-probability of drawing uses of rules one after another, each seen making it likelier."""
    log, seen = 0.0, [0] * len(counts)
    for rule, uses in enumerate(counts):
        for _ in range(int(uses)):
            log += math.log((seen[rule] + beta) / (sum(seen) + beta * len(counts)))
            seen[rule] += 1
    return log


def test_the_posterior_is_that_of_an_urn():
    for state in itertools.islice(states(CORPUS, settings(categories=3, beta=0.3)), 3):
        counts = state.derivations.counts(3)
        rows = [counts.root.tolist(), *counts.rows.tolist()]
        expected = sum(polya(row, 0.3) for row in rows)
        assert state.measures.posterior == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("held_out", [0, 2, 7])
def test_sentences_kept_aside(held_out):
    """They get trees and are measured, but the grammar does not see their trees."""
    chosen = settings(categories=3, held_out=held_out)
    before = first(CORPUS, chosen)
    after = step(before, CORPUS, chosen)
    logs = chosen.learner.parser_for(before.grammar, chosen).log_probabilities(CORPUS)
    out = [s for s in range(len(CORPUS)) if held_out and s % held_out == held_out - 1]
    learned = [s for s in range(len(CORPUS)) if s not in out]
    assert held_out_sentences(len(CORPUS), held_out).tolist() == out
    assert after.measures.likelihood == pytest.approx(logs[learned].sum())
    assert math.isnan(after.measures.heldout) == (not held_out)
    if held_out:
        assert after.measures.heldout == pytest.approx(logs[out].sum())
    surprisals = [-log / n for log, n in zip(logs, CORPUS.lengths)]
    assert after.measures.variance == pytest.approx(np.var(surprisals))
    nodes = np.concatenate([after.derivations[s] for s in learned])
    expected = Derivations(nodes, CORPUS.select(np.array(learned))).counts(3)
    found = after.derivations.counts(3, held_out)
    assert (found.rows == expected.rows).all()
    assert (found.root == expected.root).all()
    drawn = draw_grammar(expected, 0.2, CORPUS.vocabulary, stream(0, 0, 0, Purpose.GRAMMAR))
    assert (drawn.rows == after.grammar.rows).all()  # nothing was learned from the others


def test_more_is_better():
    chain = run(4)
    chain.logs, chain.measures["variance"] = [1.0, 3.0, 5.0, 9.0], [1.0, 3.0, 5.0, 9.0]
    assert criteria["likelihood"].of_iterations(chain, 0, 2) == 2.0
    assert criteria["likelihood"].of_iterations(chain, -9, 1) == 1.0
    assert criteria["variance"].of_iterations(chain, 2, 4) == -7.0
    assert criteria["posterior"].of_iterations(chain, 4, 4) == -math.inf


@pytest.mark.parametrize(("held_out", "said"), [(1, "at least 2"), (-3, "from 0 up")])
def test_what_cannot_be_kept_aside(held_out, said):
    with pytest.raises(DbpcfgError, match=f"held_out.*{said}"):
        settings(held_out=held_out)
