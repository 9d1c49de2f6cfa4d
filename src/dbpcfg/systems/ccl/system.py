"""The system: what a caller sees of CCL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import Longs
from dbpcfg.runtime.progress import Progress
from dbpcfg.systems.ccl.learning import EVENTS_PER_WORD
from dbpcfg.systems.ccl.lexicon import empty_lexicon, with_room
from dbpcfg.systems.ccl.passes import learn, parse
from dbpcfg.systems.ccl.reading import Reader, Text
from dbpcfg.systems.ccl.trees import tree_of
from dbpcfg.trees.tree import Tree

AT_ONCE = 256
"""Sentences between two words of progress."""


class CCL:
    """The incremental parser with common cover links of Seginer (2007).

    It learns from the sentences in order, once, and then parses them all with what it has learnt.

    ``faithful`` keeps a slip of the program that published results come from: a label that a word
    has on its left already is entered on its right without its name.  It takes a place in the list
    of the ten strongest labels there, but teaches nothing.

    ``currency_is_punctuation`` makes ``$`` and ``#`` punctuation, as that program does unless told
    otherwise.  They are words by default here, as they are for the scorer and in Jin et al. (2018).
    """

    name = "ccl"
    stochastic = False

    def __init__(self, faithful: bool = True, currency_is_punctuation: bool = False) -> None:
        self.faithful = faithful
        self.reader = Reader(currency_is_punctuation)
        self._fitted: tuple[list[list[str]], Text, Longs] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences in order, then parse them all; each is half of the progress."""
        text = self.reader.read(sentences)
        lexicon = empty_lexicon(text.types)
        brackets = np.empty((len(text.words), 4), dtype=np.int64)
        n = len(sentences)
        done = 0
        while done < n:
            lexicon = with_room(lexicon, EVENTS_PER_WORD * text.length(done))
            done = learn(text, done, min(done + AT_ONCE, n), lexicon, self.faithful)
            if progress is not None:
                progress.update(done // 2)
        for first in range(0, n, AT_ONCE):
            last = min(first + AT_ONCE, n)
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
        if self._fitted is None:
            raise DbpcfgError("CCL has no trees yet; give sentences to fit first")
        sentences, text, brackets = self._fitted
        return [
            tree_of(words, [(i, j) for i, j in brackets[start:end].reshape(-1, 2).tolist()])
            for words, start, end in zip(sentences, text.starts, text.starts[1:])
        ]
