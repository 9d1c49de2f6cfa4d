"""Branching trees to start from: their shapes, and the categories drawn for them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.initial import branching_counts, branching_nodes, initial_state
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.systems.branching import branching_tree
from tests.induction.small import CORPUS
from tests.statistics import LEAST_P, goodness_of_fit

NUMBERS = stream(4, purpose=Purpose.INITIAL)
BRANCHING = pytest.mark.parametrize("branching", ["left", "right"])


def started(corpus: Encoded, branching: str, categories: int = 3, numbers=NUMBERS) -> Derivations:
    trees = Derivations.empty(corpus)
    branching_nodes(corpus.starts, categories, branching == "right", numbers, trees.nodes)
    return trees


@BRANCHING
@given(st.lists(st.integers(1, 8), min_size=1, max_size=5))
def test_shapes(branching, lengths):
    corpus = Encoded.from_sentences([[f"w{i}" for i in range(n)] for n in lengths])
    for sentence, tree in enumerate(started(corpus, branching).trees()):
        expected = branching_tree(branching, corpus[sentence], NUMBERS)
        assert tree.words() == expected.words()
        spans = [(span.start, span.end) for span in tree.spans(preterminals=True)]
        assert spans == [(span.start, span.end) for span in expected.spans(preterminals=True)]


@BRANCHING
def test_categories_are_equally_probable(branching):
    corpus = Encoded.from_sentences([["w"] * 5] * 800)
    used = started(corpus, branching, categories=4).nodes[:, 2]
    by_place = used.reshape(800, 9)
    for categories in (used, by_place[:, 0], by_place[:, -1]):
        found = Counter(categories.tolist())
        even = dict.fromkeys(range(4), 0.25)
        assert goodness_of_fit(found, even, len(categories)) > LEAST_P
        # Negative control: one category a little more often.
        found[0] += len(categories) // 5
        assert goodness_of_fit(found, even, sum(found.values())) < 1e-6
    assert abs(np.corrcoef(by_place.T)[np.triu_indices(9, 1)]).max() < 0.2


@BRANCHING
def test_counts_and_the_start_of_a_chain(branching):
    counts = branching_counts(CORPUS, 3, branching, NUMBERS)
    assert counts.rows.tolist() == started(CORPUS, branching).counts(3).rows.tolist()
    assert counts.lexical.sum() == len(CORPUS.tokens)
    again = branching_counts(CORPUS, 3, branching, stream(4, purpose=Purpose.INITIAL))
    assert again.rows.tolist() == counts.rows.tolist()
    other = branching_counts(CORPUS, 3, branching, stream(5, purpose=Purpose.INITIAL))
    assert other.rows.tolist() != counts.rows.tolist()


def test_each_start_is_its_own():
    def grammar(iteration=0, **settings):
        return initial_state(
            CORPUS, ChainSettings(categories=3, **settings), iteration
        ).grammar.rows.tobytes()

    starts = [
        grammar(iteration, initial=initial, chain=chain)
        for initial in ("prior", "left", "right")
        for chain in (0, 1)
        for iteration in (0, 20)
    ]
    assert len(set(starts)) == len(starts)
    assert grammar(initial="left") == starts[4]
