"""Sentences as one sequence of symbols: ``EOS segment STOP segment … EOS segment … EOS``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import Longs
from dbpcfg.systems.upparse.tags import BOUNDARIES, EOS, SEGMENT_END

STOPS = frozenset((".", "?", "!", ";", ",", "--", "。", "，", "、"))
"""Stopping punctuation, that of Chinese and Japanese included."""


def segments(sentence: Iterable[str], stops: frozenset[str] = STOPS) -> list[list[str]]:
    """Cut a sentence at its stopping punctuation, which goes.

    Where there is nothing to cut, at the start or after another stop, a stop is kept as a word.
    """
    found: list[list[str]] = [[]]
    for word in sentence:
        if word in stops and found[-1]:
            found.append([])
        else:
            found[-1].append(word)
    return found if found[-1] else found[:-1]


@dataclass(frozen=True)
class Text:
    """The words that are kept of each sentence, and the symbols of all of them.

    Symbols are EOS, STOP and, numbered in order of appearance, the words of the ``vocabulary``.
    """

    sentences: list[list[str]]
    symbols: Longs
    vocabulary: dict[str, int]


def read(sentences: Sequence[Sequence[str]], stops: frozenset[str] = STOPS) -> Text:
    """Cut sentences into segments and number their words."""
    if not sentences:
        raise DbpcfgError("there are no sentences to learn from; give one at least")
    kept: list[list[str]] = []
    symbols = [EOS]
    vocabulary: dict[str, int] = {}
    for n, sentence in enumerate(sentences, start=1):
        if isinstance(sentence, str):
            raise DbpcfgError(f"sentence {n} is one text; give its words, as with text.split()")
        if not sentence:
            raise DbpcfgError(f"sentence {n} has no words; leave empty sentences out")
        cut = segments(sentence, stops)
        for segment in cut:
            for word in segment:
                symbols.append(vocabulary.setdefault(word, BOUNDARIES + len(vocabulary)))
            symbols.append(SEGMENT_END)
        symbols[-1] = EOS
        kept.append([word for segment in cut for word in segment])
    return Text(kept, np.array(symbols, dtype=np.int64), vocabulary)
