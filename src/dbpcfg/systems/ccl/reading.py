"""The input of CCL: lower-cased words, and where stopping punctuation is.

Punctuation is recognised by its exact form, so ``-LRB-`` is punctuation and ``-lrb-`` is a word.
All of it is left out; ``. ? ! ; , --`` leave a stop behind, on the right of the word before and on
the left of the word after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Longs
from dbpcfg.systems.ccl.arrays import RIGHT
from dbpcfg.systems.checks import check_sentences

STOPS = frozenset({".", "?", "!", ";", ",", "--"})
PUNCTUATION = STOPS | frozenset(
    {":", "...", "-LCB-", "-LRB-", "-RCB-", "-RRB-", "(", ")", "``", "''", "`", "'", "-"}
)
CURRENCY = frozenset({"$", "#"})


class WordText(NamedTuple):
    """Sentences end to end; sentence s has the words ``starts[s] : starts[s + 1]``, maybe none."""

    words: Longs  # [word]        numbered by first appearance
    stops: Longs  # [word, side] whether stopping punctuation is beside it
    starts: Longs  # [sentence + 1]
    types: int

    def length(self, sentence: int) -> int:
        """The number of words of a sentence."""
        return int(self.starts[sentence + 1] - self.starts[sentence])


class Reader:
    """Separates words from punctuation; ``$`` and ``#`` are either."""

    def __init__(self, currency_is_punctuation: bool) -> None:
        self.punctuation = PUNCTUATION | (CURRENCY if currency_is_punctuation else frozenset())

    def words(self, sentence: Sequence[str]) -> list[str]:
        """The words of a sentence as written, without punctuation."""
        return [token for token in sentence if token not in self.punctuation]

    def read(self, sentences: Sequence[Sequence[str]]) -> WordText:
        """Number the words of all sentences; raises an error if one is empty or not a list."""
        check_sentences(sentences)
        numbers: dict[str, int] = {}
        words: list[int] = []
        stops: list[list[bool]] = []
        starts = [0]
        for sentence in sentences:
            stop = False
            for token in sentence:
                if token not in self.punctuation:
                    words.append(numbers.setdefault(token.lower(), len(numbers)))
                    stops.append([stop, False])
                    stop = False
                elif token in STOPS and len(words) > starts[-1]:
                    stop = stops[-1][RIGHT] = True
            starts.append(len(words))
        return WordText(
            words=np.array(words, dtype=np.int64),
            stops=np.array(stops, dtype=np.int64).reshape(-1, 2),
            starts=np.array(starts, dtype=np.int64),
            types=len(numbers),
        )
