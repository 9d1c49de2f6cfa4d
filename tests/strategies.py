"""Random small grammars and sentences for hypothesis."""

import numpy as np
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.pcfg import Grammar


def random_grammar(K: int, W: int, concentration: float, seed: int, zeros: float = 0.0) -> Grammar:
    """A grammar with Dirichlet rows, a share ``zeros`` of whose rules are impossible."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(K * K + W, concentration), size=K)
    rows *= rng.random(rows.shape) >= zeros
    rows[rows.sum(axis=1) == 0, -1] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    root = rng.dirichlet(np.full(K, max(concentration, 0.5)))
    return Grammar(
        root=root,
        binary=rows[:, : K * K].reshape(K, K, K),
        lexical=rows[:, K * K :],
        vocabulary=Vocabulary(tuple(f"w{w}" for w in range(W))),
    )


@st.composite
def grammars(draw: st.DrawFn, most_categories: int = 3, most_words: int = 3) -> Grammar:
    return random_grammar(
        K=draw(st.integers(1, most_categories)),
        W=draw(st.integers(1, most_words)),
        concentration=draw(st.sampled_from([0.1, 0.3, 1.0, 5.0])),
        seed=draw(st.integers(0, 2**32 - 1)),
        zeros=draw(st.sampled_from([0.0, 0.0, 0.0, 0.3, 0.6])),
    )


@st.composite
def grammars_and_sentences(draw: st.DrawFn, longest: int = 6) -> tuple[Grammar, list[int]]:
    grammar = draw(grammars())
    length = draw(st.integers(1, longest))
    word = st.integers(0, len(grammar.vocabulary) - 1)
    return grammar, draw(st.lists(word, min_size=length, max_size=length))


def encode(grammar: Grammar, *sentences: list[int]) -> Encoded:
    words = grammar.vocabulary.words
    return grammar.vocabulary.encode([[words[w] for w in sentence] for sentence in sentences])
