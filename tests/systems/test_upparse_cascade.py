"""The cascade of UPPARSE: segments, pseudo-words, levels, trees."""

import numpy as np
import pytest

from dbpcfg.systems.upparse import build_trees, find_chunks, segment_text, segments
from dbpcfg.systems.upparse.models import ALLOWED, STOP, B, I, O, Trainer

NOTHING_LEARNT = None


# --- segments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("we came , saw -- and left .", "we came|saw|and left"),
        ("no stop at the end", "no stop at the end"),
        ("so : `` $ 3 '' ...", "so : `` $ 3 '' ..."),  # other punctuation is words
        (". . a", ".|a"),  # nothing to cut before the first stop
        ("-- a", "-- a"),
        ("a , -- b", "a|-- b"),
        ("a . .", "a|."),
        (". . .", ".|."),
        ("?", "?"),
        ("", ""),
    ],
)
def test_segments(sentence, expected):
    assert "|".join(map(" ".join, segments(sentence.split()))) == expected


def test_the_sequence():
    text = segment_text([["a", ",", "b", "a", "."], ["b"], [",", "c"]])
    assert text.symbols.tolist() == [0, 2, 1, 3, 2, 0, 3, 0, 4, 5, 0]
    assert text.vocabulary == {"a": 2, "b": 3, ",": 4, "c": 5}
    assert text.sentences == [["a", "b", "a"], ["b"], [",", "c"]]


# --- pseudo-words -------------------------------------------------------------------------------


class Scripted:
    """Trains nothing: each level's words are tagged as given, and what it is shown is kept.

    A tagging gives a word tags with equal probability; a new chunk is less probable than going on.
    """

    def __init__(self, *levels: dict[int, str] | None) -> None:
        self.levels = list(levels)
        self.shown: list[list[int]] = []

    def __call__(self, symbols, number):
        self.shown.append(symbols.tolist())
        level = self.levels.pop(0)
        if level is None:
            return NOTHING_LEARNT
        transitions = ALLOWED * [[1, 1, 1, 1], [1, 1, 1, 1], [1, 0.1, 1, 1], [1, 1, 1, 1]]
        table = np.full((number, 4, 4), 1e-6) * transitions
        table[:2, STOP] = transitions[STOP]
        for symbol, tags in level.items():
            for tag in tags:
                j = {"B": B, "I": I, "O": O}[tag]
                table[symbol, j] = transitions[j]
        return table


def test_two_levels_by_hand():
    """Level by level, with taggings instead of models:

    1. ``the dog saw the cat | the cat sleeps``: determiners are B, nouns I, verbs O.  The is the
       most frequent of its chunks (3 times; cat 2, dog 1), so all three chunks become ``=the``.
    2. ``=the saw =the | =the sleeps``: three symbols besides the boundaries, =the last, because it
       is numbered after all words.  =the may be B or I, verbs are I, and going on is more probable
       than a new chunk, so both sentences are one chunk, ``==the``.
    3. ``==the | ==the``: nothing can be learnt, and levels 1 and 2 are the answer.
    """
    text = segment_text([["the", "dog", "saw", "the", "cat", "."], ["the", "cat", "sleeps", "."]])
    the, dog, saw, cat, sleeps = range(2, 7)
    train = Scripted(
        {the: "B", dog: "I", cat: "I", saw: "O", sleeps: "O"},
        {2: "I", 3: "I", 4: "BI"},
        NOTHING_LEARNT,
    )
    found = find_chunks(text.symbols, len(text.vocabulary), train)
    assert train.shown == [
        [0, the, dog, saw, the, cat, 0, the, cat, sleeps, 0],
        [0, 4, 2, 4, 0, 4, 3, 0],
        [0, 2, 0, 2, 0],
    ]
    assert (found.levels, found.ended) == (2, "all chunked")
    assert list(map(str, build_trees(text.sentences, text.symbols, found.brackets))) == [
        "(X (X the dog) saw (X the cat))",
        "(X (X the cat) sleeps)",
    ]


def test_the_same_pseudo_word_from_different_levels():
    """``=a`` of level 1 is left alone by level 2, which makes ``=a`` too: one symbol at level 3."""
    text = segment_text([["a", "b"], ["a", "c", "d"], ["a"], ["a"]])
    a, b, c, d = range(2, 6)
    train = Scripted(
        # At level 1 the second sentence stays as it is: c is no part of a chunk.
        {a: "BO", b: "I", c: "O", d: "O"},
        # a, c, d and =a; now the second sentence is a chunk.
        {2: "BO", 3: "I", 4: "I", 5: "O"},
        NOTHING_LEARNT,
    )
    find_chunks(text.symbols, len(text.vocabulary), train)
    assert train.shown[1:] == [[0, 5, 0, 2, 3, 4, 0, 2, 0, 2, 0], [0, 3, 0, 3, 0, 2, 0, 2, 0]]


def test_frequency_is_that_of_the_level():
    """b is the more frequent word at level 1, but at level 2 most b's are inside chunks."""
    sentences = [["a", "x", "y"], ["b", "y"], ["b", "y"], ["b", "y"], ["a", "b"]]
    text = segment_text(sentences)
    a, x, y, b = range(2, 6)
    train = Scripted({a: "O", x: "O", y: "IO", b: "BO"}, {2: "B", 3: "I", 4: "I", 5: "I"}, None)
    found = find_chunks(text.symbols, len(text.vocabulary), train)
    # Level 2 is a x y | =b | =b | =b | a b; a is there twice, x, y and b once.
    levels = [pairs.tolist() for pairs in found.brackets]
    assert levels == [[[5, 7], [8, 10], [11, 13]], [[1, 4], [14, 16]]]
    # Both become =a. By the frequencies of level 1 they would be =y and =b.
    assert train.shown[2] == [0, 2, 0, 3, 0, 3, 0, 3, 0, 2, 0]


def test_segments_are_passed_on_with_a_semicolon():
    """``; a`` becomes ``=;`` although a is more frequent, for four segments end with ``;``."""
    text = segment_text([[";", "a"], ["a"], ["a"], ["b", "a"]])
    semicolon, a, b = range(2, 5)
    shown = {}
    for separator in (semicolon, -1):
        train = Scripted({semicolon: "B", b: "B", a: "IO"}, None)
        find_chunks(text.symbols, len(text.vocabulary), train, separator)
        shown[separator] = train.shown[1]
    assert shown[semicolon] == [0, 3, 0, 2, 0, 2, 0, 4, 0]  # =; a a =a
    assert shown[-1] == [0, 3, 0, 2, 0, 2, 0, 3, 0]  # =a a a =a

    # One more a, and both are there five times: the later is taken.
    text = segment_text([[";", "a"], ["a", "a"], ["a"], ["b", "a"]])
    train = Scripted({semicolon: "B", b: "B", a: "IO"}, None)
    find_chunks(text.symbols, len(text.vocabulary), train, semicolon)
    assert train.shown[1] == [0, 3, 0, 2, 2, 0, 2, 0, 3, 0]  # =a a a a =a


# --- the end of the cascade ---------------------------------------------------------------------


@pytest.mark.parametrize("model", ["hmm", "prlg"])
def test_single_words_everywhere(model):
    text = segment_text([["a"], ["b", ",", "a"], ["."]])
    found = find_chunks(text.symbols, 3, Trainer(model, 0.1, 1e-4).train)
    assert (found.levels, found.ended, found.brackets) == (0, "all chunked", [])
    trees = build_trees(text.sentences, text.symbols, found.brackets)
    assert list(map(str, trees)) == ["(X a)", "(X b a)", "(X .)"]
