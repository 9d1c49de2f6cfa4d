"""Sentences as one sequence of symbols: ``EOS segment STOP segment … EOS segment … EOS``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import Longs
from dbpcfg.systems.checks import check_sentences
from dbpcfg.systems.upparse.tags import BOUNDARIES, EOS, SEGMENT_END

STOPS = frozenset((".", "?", "!", ";", ",", "--", "。", "，", "、"))
"""Stopping punctuation, that of Chinese and Japanese included."""


def segments(sentence: Iterable[str], stops: frozenset[str] = STOPS) -> list[list[str]]:
    """Cut a sentence at its stopping punctuation, which is left out.

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
class SegmentedText:
    """The words that are kept of each sentence, and the symbols of all of them.

    Symbols are EOS, STOP and, numbered in order of appearance, the words of the ``vocabulary``.
    """

    sentences: list[list[str]]
    symbols: Longs
    vocabulary: dict[str, int]


def segment_text(
    sentences: Sequence[Sequence[str]], stops: frozenset[str] = STOPS
) -> SegmentedText:
    """Cut sentences into segments and number their words."""
    if not sentences:
        raise DbpcfgError("there are no sentences to learn from; give one at least")
    check_sentences(sentences)
    kept: list[list[str]] = []
    symbols = [EOS]
    vocabulary: dict[str, int] = {}
    for sentence in sentences:
        cut = segments(sentence, stops)
        for segment in cut:
            for word in segment:
                symbols.append(vocabulary.setdefault(word, BOUNDARIES + len(vocabulary)))
            symbols.append(SEGMENT_END)
        symbols[-1] = EOS
        kept.append([word for segment in cut for word in segment])
    return SegmentedText(kept, np.array(symbols, dtype=np.int64), vocabulary)
