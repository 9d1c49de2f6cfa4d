"""Small lexica for tests of CCL, and sentences over them."""

from __future__ import annotations

import numpy as np

from dbpcfg.systems.ccl.lexicon import add_seen, empty_lexicon, first_point
from dbpcfg.systems.ccl.scoring import tokens_of


def like(word: int) -> int:
    return 2 * word


def beside(word: int) -> int:
    return 2 * word + 1


def lexicon_of(words: int, points: dict[tuple[int, int], dict[str, object]]):
    """A lexicon whose records 0 are as given: by word and side, statistics and labels seen."""
    lexicon = empty_lexicon(words)
    for (word, side), fields in points.items():
        number = first_point(word, side)
        for field, value in fields.items():
            if field == "seen":
                for label, strength in value.items():
                    add_seen(lexicon, number, label, np.float32(strength))
            else:
                lexicon.points[field][number] = value
    return lexicon


def tokens(lexicon, *words: int, faithful: bool = True):
    numbers = np.array(words, dtype=np.int64)
    return tokens_of(numbers, np.zeros((len(words), 2), np.int64), lexicon, faithful)


def labels(token) -> list[tuple[int, float]]:
    return list(zip(token["labels"].tolist(), token["strengths"].tolist()))[: token["count"]]
