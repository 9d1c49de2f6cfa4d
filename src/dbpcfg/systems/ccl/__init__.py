"""CCL: the incremental parser with common cover links.

Yoav Seginer. 2007. Fast unsupervised incremental parsing. In Proceedings of the 45th Annual Meeting
of the Association of Computational Linguistics, pages 384–391, Prague.

CCL reads a sentence word by word and never takes a link back.  It has no grammar and no categories,
only statistics of which words it has met next to which.

**Links** (`lexicon`, `scoring`).  Each new word may be linked to words before it, and they to it.
A link goes from a base to a head, always to the nearest word on that side that the base does not
reach yet.  At depth 0 it means that the two belong together; at depth 1, that the head, with all
that belongs to it, hangs on what the base has gathered at depth 0.  Rules about which links may be
added, and when they must be, keep the brackets that come out from crossing.

**Brackets** (`tree_from_brackets`).  All that a word reaches through its links is a constituent,
and so is what it reaches if the first link must be of depth 0.  With the whole sentence they are a
tree.  Brackets nest, with a rare exception: x and y are linked to each other at depth 0, and both
are also linked at depth 1, x to what is left of them and y to what is right.  Then x has a bracket
with all that y reaches, y one with all that x reaches, and the two cross.  What the links mean is
that x and y are one constituent inside a bigger one.  That is also how the brackets read when they
are written down: each closing bracket closes the last one still open.  (This is our own reading:
we know no description of CCL that has this case.)

**Learning** (`lexicon`, `parsing`).  A word has adjacency points on each side, where it meets its
first neighbour, its second, and so on.  At each it remembers how often it was met with nothing
there (at the edge of a sentence, or at punctuation) and which labels its neighbours had.  Labels
are made from what was met, too: a word is like itself; it stands *beside* z if it has met things
that are like z, and it is *like* z if it has met things that stand beside z.  So frequent words
come to stand for classes of words that nobody had to count.

**Parsing** (`scoring`, `parsing`).  Two words match if one has met a label that the other has.  The
label names a word z, and one of the two is in its place; what was learnt about z at that place
decides on the directions, strengths and depth of the links between them.

Learning from a sentence happens after parsing it with what is known so far; so the order of
sentences matters.  When all have been learnt from, they are parsed once more.  Nothing is random,
and numbers are in single precision, as in the program that published results come from; the tests
compare with its brackets, sentence by sentence.  One difference: that program takes lines that
begin with ``#`` for comments; here sentences are lists of words.
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
    """The tree of a sentence whose nodes are its brackets of two words or more and the whole.

    ``brackets``: half-open spans in any order; those that cross are read as described above.
    """
    preorder = sorted(nested(brackets), key=lambda span: (span[0], -span[1]))
    return tree_from_spans(words, preorder)


def nested(brackets: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Brackets of two words or more that begin and end where the given ones do, and nest."""
    spans = set(brackets)
    ends = [(end, False) for _, end in spans]
    starts = [(start, True) for start, _ in spans]
    found = set()
    unclosed: list[int] = []
    for position, opens in sorted(ends + starts):  # what ends at a position goes first
        if opens:
            unclosed.append(position)
        else:
            start = unclosed.pop()
            if position - start > 1:
                found.add((start, position))
    return found


BATCH = 256
"""The number of sentences between two updates of progress."""


class CCL:
    """The incremental parser with common cover links of Seginer (2007).

    It learns from the sentences in order, once, and then parses them all with what it has learnt.

    ``faithful``: keep a bug of the program that published results come from: a label that a word
    has on its left already is entered on its right without its name. It takes a place in the list
    of the ten strongest labels there, but nothing is learnt from it.
    ``currency_is_punctuation``: whether ``$`` and ``#`` are punctuation, as by default in that
    program. They are words by default here, as they are for the scorer and in Jin et al. (2018).
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
        ``progress``: updated with half the number of sentences learnt from and half that of those
        parsed.
        """
        text = self.reader.read(sentences)
        lexicon = empty_lexicon(text.types)
        brackets = np.empty((len(text.words), 4), dtype=np.int64)
        n = len(sentences)
        done = 0
        while done < n:
            lexicon = with_room(lexicon, EVENTS_PER_WORD * text.length(done))
            done = learn(text, done, min(done + BATCH, n), lexicon, self.faithful)
            if progress is not None:
                progress.update(done // 2)
        for first in range(0, n, BATCH):
            last = min(first + BATCH, n)
            parse(text, first, last, lexicon, self.faithful, brackets)
            if progress is not None:
                progress.update((n + last) // 2)
        words = [self.reader.words(sentence) or list(sentence) for sentence in sentences]
        self._fitted = words, text, brackets
        return self

    def trees(self) -> list[Tree]:
        """A tree for every sentence, over its words as they were written, without punctuation.

        A sentence of nothing but punctuation has a flat tree over all of it.
        """
        sentences, text, brackets = require_fit(self.name, self._fitted)
        spans = [[(i, j), (k, l)] for i, j, k, l in brackets.tolist()]
        return [
            tree_from_brackets(words, chain.from_iterable(spans[start:end]))
            for words, start, end in zip(sentences, text.starts, text.starts[1:])
        ]
