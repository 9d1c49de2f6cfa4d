"""CCL: the incremental parser with common cover links.

Yoav Seginer. 2007. Fast unsupervised incremental parsing. In Proceedings of the 45th Annual Meeting
of the Association of Computational Linguistics, pages 384–391, Prague.

CCL reads a sentence word by word and never removes a link.  It has no grammar and no categories,
only statistics of which words have occurred next to which.

**Links** (`lexicon`, `scoring`, `frontier`).  There may be links between each new word and the
words before it, in both directions.  A link goes from a base to a head: the nearest word on that
side that the base does not reach yet.  At depth 0 the two belong together; at depth 1 the head,
with all that belongs to it, is attached to what the base has gathered at depth 0.  Rules about
which links may be added, and when they must be, keep brackets from crossing.

**Brackets** (`tree_from_brackets`).  All words that a word reaches through its links are a
constituent, and so are those that it reaches with a first link of depth 0.  With the whole sentence
they are a tree.  Brackets nest, with a rare exception: x and y are linked to each other at depth 0,
and both are also linked at depth 1, x to its left and y to its right.  Then the bracket of x has
all that y reaches, the bracket of y all that x reaches, and the two cross.  The links mean that x
and y are one constituent inside a larger one.  The brackets read the same when they are written
down: each closing bracket closes the last open one.  (This is our reading: we know no description
of CCL that mentions this case.)

**Learning** (`lexicon`, `parsing`).  A word has adjacency points on each side, for its first
neighbour, its second, and so on.  Each counts how often there was nothing (at the edge of a
sentence, or at punctuation), and which labels its neighbours had.  Labels come from neighbours too:
a word is like itself; it stands *beside* z if its neighbours were like z, and it is *like* z if its
neighbours stood beside z.  So frequent words come to stand for classes of words.

**Parsing** (`scoring`, `parsing`).  Two words match if one has had a neighbour with a label of the
other.  The label names a word z, and one of the two is in its place; the statistics of z at this
place determine the directions, strengths and depth of the links between the two.

A sentence is parsed with what has been learned so far, and then learned from, so the order of
sentences matters.  At the end all sentences are parsed again.  Nothing is random, and numbers are
in single precision, as in the program that published results come from; the tests compare with its
brackets, sentence by sentence.  One difference: that program treats lines that begin with ``#`` as
comments; here sentences are lists of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Self

import numpy as np

from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Longs
from dbpcfg.systems.ccl.lexicon import empty_lexicon, with_room
from dbpcfg.systems.ccl.parsing import EVENTS_PER_WORD, learn, parse
from dbpcfg.systems.ccl.scoring import TextReader, WordText
from dbpcfg.systems.registry import require_fit, tree_from_spans
from dbpcfg.trees.tree import Tree


def tree_from_brackets(words: Sequence[str], brackets: Iterable[tuple[int, int]]) -> Tree:
    """The tree of a sentence with a node for each bracket of two words or more, and a root.

    ``brackets``: half-open spans in any order; they may cross (see above).
    """
    preorder = sorted(nested(brackets), key=lambda span: (span[0], -span[1]))
    return tree_from_spans(words, preorder)


def nested(brackets: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Nested brackets of two words or more that begin and end at the same positions."""
    spans = set(brackets)
    ends = [(end, False) for _, end in spans]
    starts = [(start, True) for start, _ in spans]
    nested_spans = set()
    unclosed: list[int] = []
    for position, opens in sorted(ends + starts):  # at each position, ends come first
        if opens:
            unclosed.append(position)
        else:
            start = unclosed.pop()
            if position - start > 1:
                nested_spans.add((start, position))
    return nested_spans


BATCH = 256
"""The number of sentences between two updates of progress."""


class CCL:
    """The incremental parser with common cover links of Seginer (2007).

    It learns from the sentences once, in order, and then parses all of them.

    ``faithful``: keep a bug of the program that published results come from: a label that a word
    already has on its left is entered on its right without its name, so it takes a place among the
    ten strongest labels, but nothing is learned from it.
    ``currency_is_punctuation``: whether ``$`` and ``#`` are punctuation, as by default in that
    program. Here they are words by default, as in scoring and in Jin et al. (2018).
    """

    name = "ccl"
    summary = "incremental parser with common cover links"
    reference = "Seginer (2007)"

    def __init__(self, faithful: bool = True, currency_is_punctuation: bool = False) -> None:
        self.faithful = faithful
        self.reader = TextReader(currency_is_punctuation)
        self._fitted: tuple[list[list[str]], WordText, Longs] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences, then parse them all.

        ``sentences``: the words of each sentence, punctuation included. Their order matters.
        ``progress``: updated with half of the number of sentences learned from and then parsed.
        """
        text = self.reader.read(sentences)
        lexicon = empty_lexicon(text.types)
        brackets = np.empty((len(text.words), 4), dtype=np.int64)
        n = len(sentences)
        next_sentence = 0
        while next_sentence < n:
            lexicon = with_room(lexicon, EVENTS_PER_WORD * text.length(next_sentence))
            next_sentence = learn(
                text, next_sentence, min(next_sentence + BATCH, n), lexicon, self.faithful
            )
            if progress is not None:
                progress.update(next_sentence // 2)
        for first in range(0, n, BATCH):
            last = min(first + BATCH, n)
            parse(text, first, last, lexicon, self.faithful, brackets)
            if progress is not None:
                progress.update((n + last) // 2)
        words = [self.reader.words(sentence) or list(sentence) for sentence in sentences]
        self._fitted = words, text, brackets
        return self

    def trees(self) -> list[Tree]:
        """A tree for every sentence, over its words as written, without punctuation.

        A sentence of punctuation only has a flat tree.
        """
        sentences, text, brackets = require_fit(self.name, self._fitted)
        spans = [[(i, j), (k, l)] for i, j, k, l in brackets.tolist()]
        return [
            tree_from_brackets(words, chain.from_iterable(spans[start:end]))
            for words, start, end in zip(sentences, text.starts, text.starts[1:])
        ]
