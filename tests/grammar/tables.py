"""Grammars with names and words as strangers choose them, for the tests of rule tables."""

import numpy as np
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.pcfg import Grammar
from tests.strategies import grammars

HOSTILE = r"<script> &amp; \input{x} % _ ( ) [0.5] | -> X0 T # ' { } =1+1 naïve 犬 a,b \ NaN 1e-3 –"
HOSTILE = [*HOSTILE.split(), '"', " ", "\u202e"]

letters = st.characters(exclude_categories=("Cs",), exclude_characters="\t\n\r\0")


def texts(alphabet: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(HOSTILE), st.text(alphabet, min_size=1, max_size=8))


def names(alphabet: st.SearchStrategy[str] = letters) -> st.SearchStrategy[str]:
    return texts(alphabet).filter(lambda name: not any(letter.isspace() for letter in name))


@st.composite
def named_grammars(
    draw: st.DrawFn,
    name: st.SearchStrategy[str] = names(),  # noqa: B008
    word: st.SearchStrategy[str] = texts(letters),  # noqa: B008
) -> Grammar:
    grammar = draw(grammars())
    K, W = grammar.categories, len(grammar.vocabulary)
    chosen = draw(st.lists(word, min_size=W, max_size=W, unique=True))
    labels = draw(st.lists(name, min_size=K, max_size=K, unique=True))
    arrays = (grammar.root, grammar.binary, grammar.lexical)
    return Grammar(*arrays, Vocabulary(tuple(chosen))).named(labels)


def assert_same(one: Grammar, other: Grammar) -> None:
    assert one.names == other.names
    assert one.vocabulary.words == other.vocabulary.words
    for name in ("root", "binary", "lexical"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def rules(grammar: Grammar) -> dict[tuple[str, ...], float]:
    """Every rule that is not impossible, whatever its categories and words are numbered."""
    names, words = grammar.names, grammar.vocabulary.words
    found = {("T", names[c]): grammar.root[c] for c in np.flatnonzero(grammar.root)}
    for c, a, b in np.argwhere(grammar.binary):
        found[names[c], names[a], names[b]] = grammar.binary[c, a, b]
    for c, w in np.argwhere(grammar.lexical):
        found[names[c], "word", words[w], ""] = grammar.lexical[c, w]
    return found
