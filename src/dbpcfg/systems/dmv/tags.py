"""Tags as numbers, and each sequence of tags once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import Floats, Longs

MOST_TAGS = 5000
"""The table of dependents has two numbers for each pair of tags: 400 MB, and as much for counts."""

Tag = TypeVar("Tag", bound=Hashable)


def number_tags(sentences: Sequence[Sequence[Tag]]) -> tuple[list[Longs], list[Tag]]:
    """Number tags from 0, in the order in which they first occur."""
    numbers: dict[Tag, int] = {}
    numbered = [
        np.array([numbers.setdefault(tag, len(numbers)) for tag in sentence], dtype=np.int64)
        for sentence in sentences
    ]
    return numbered, list(numbers)


class TagSequences(NamedTuple):
    """The different sequences of tags of a corpus, which share one chart each."""

    tags: Longs
    """One sequence after the other."""
    ends: Longs
    """Where each sequence ends."""
    weights: Floats
    """How often each occurs."""
    sequence_of: list[int]
    """For each sentence the number of its sequence."""
    number: int
    """The number of different tags; they are numbered below it."""

    def split(self, values: Longs) -> list[Longs]:
        """Cut an array over ``tags`` into one part for each sequence."""
        return np.split(values, self.ends[:-1])


def tag_sequences(sentences: Sequence[Sequence[int] | Longs]) -> TagSequences:
    """Collect the sequences of a corpus."""
    if not len(sentences):
        raise DbpcfgError("there are no sentences to learn dependencies from")
    found: dict[bytes, int] = {}
    different: list[Longs] = []
    sequence_of: list[int] = []
    for number, sentence in enumerate(sentences, start=1):
        tags = np.asarray(sentence)
        if tags.ndim != 1 or not len(tags):
            raise DbpcfgError(f"sentence {number} has no tags; leave empty sentences out")
        if tags.dtype.kind not in "iu":
            raise DbpcfgError(
                f"sentence {number} has tags that are no integers, such as {sentence[0]!r}; "
                "number them first, with number_tags"
            )
        tags = tags.astype(np.int64)
        place = found.setdefault(tags.tobytes(), len(different))
        if place == len(different):
            different.append(tags)
        sequence_of.append(place)
    names, numbers = np.unique(np.concatenate(different), return_inverse=True)
    if len(names) > MOST_TAGS:
        raise DbpcfgError(
            f"found {len(names):,} different tags; DMV takes at most {MOST_TAGS:,}, because its "
            "tables grow with their square: use parts of speech, or classes of rare words"
        )
    return TagSequences(
        numbers.astype(np.int64).reshape(-1),
        np.cumsum([len(tags) for tags in different]),
        np.bincount(sequence_of).astype(np.float64),
        sequence_of,
        len(names),
    )
