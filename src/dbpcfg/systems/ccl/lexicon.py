"""What is learnt: statistics of the adjacency points of every word.

A word has two chains of adjacency points, one on each side: point 0 is where its first neighbour
on that side stands, point 1 where the next one does when the first has been linked to, and so on.
Each has a record: how often it was met (Learn), how often with nothing to link to (Block), and how
strongly every label was seen there (Seen), of which the ten strongest count.  Point 0 also keeps
Out, In and In*, from which the strengths of links come.

The record of point 0 of word w on side s is number 2w + s; later ones are made when they are first
needed.  Seen is one hash table for all records (open addressing, at most half full) under the keys
``record · 2 · types + label``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import kernel
from dbpcfg.systems.ccl.arrays import NONE, ZERO, Record, Records, Single
from dbpcfg.systems.ccl.toplist import FIELDS, LONGEST, place

POINT = np.dtype(
    [
        ("learn", "f4"),
        ("block", "f4"),
        ("out", "f4"),
        ("into", "f4"),  # In
        ("into_star", "f4"),  # In*
        ("following", "i8"),  # the record of the word's next point on the same side, or NONE
        *FIELDS,  # the strongest labels seen
    ]
)
ENTRY = np.dtype([("key", "i8"), ("strength", "f4")], align=True)
SIZES = np.dtype([("points", "i8"), ("entries", "i8"), ("labels", "i8")])

_SCATTER = 0x1E3779B97F4A7C15  # odd and without a pattern, so that products spread over the table
_FIRST_ROOM = 2**12


class Lexicon(NamedTuple):
    """All statistics; the arrays are longer than what is in use."""

    points: Records  # [record]
    seen: Records  # [slot]
    sizes: Records  # [0]  the number of records and entries in use, and of possible labels


def empty_lexicon(types: int) -> Lexicon:
    """The lexicon for a number of word types before anything is learnt."""
    sizes = np.array([(2 * types, 0, 2 * types)], dtype=SIZES)
    return Lexicon(_points(2 * types + _FIRST_ROOM), _entries(_FIRST_ROOM), sizes)


def with_room(lexicon: Lexicon, events: int) -> Lexicon:
    """The same lexicon with room to learn from a number of events, whatever they are."""
    points, seen, sizes = lexicon
    points_needed, slots_needed = _needed(lexicon, events)
    if points_needed > len(points):
        points = _points(2 * points_needed)
        points[: len(lexicon.points)] = lexicon.points
    if slots_needed > len(seen):
        seen = _entries(1 << slots_needed.bit_length())
        _copy_entries(lexicon.seen, seen)
    return Lexicon(points, seen, sizes)


def _points(room: int) -> Records:
    points = np.zeros(room, dtype=POINT)
    points["following"] = NONE
    return points


def _entries(room: int) -> Records:
    seen = np.zeros(room, dtype=ENTRY)
    seen["key"] = NONE
    return seen


@kernel
def _copy_entries(old: Records, new: Records) -> None:
    for entry in old:
        if entry.key != NONE:
            copy = _entry(new, entry.key)
            copy.key, copy.strength = entry.key, entry.strength


@kernel
def _entry(seen: Records, key: int) -> Record:
    """The entry of the hash table that has a key, or is free for it."""
    last = len(seen) - 1  # the size is a power of two
    slot = (key * _SCATTER >> 20) & last
    while seen[slot].key != key and seen[slot].key != NONE:
        slot = (slot + 1) & last
    return seen[slot]


@kernel
def has_room(lexicon: Lexicon, events: int) -> bool:
    """Whether there is room to learn from a number of events, whatever they are."""
    points, slots = _needed(lexicon, events)
    return points <= len(lexicon.points) and slots <= len(lexicon.seen)


@kernel
def _needed(lexicon: Lexicon, events: int) -> tuple[int, int]:
    """Records and slots that are enough after a number of events."""
    sizes = lexicon.sizes[0]
    return sizes.points + events, 2 * (sizes.entries + LONGEST * events)


@kernel
def share(part: Single, learn: Single) -> Single:
    """A statistic as a share of the times its record was met; 0 if it never was."""
    return part / learn if learn > ZERO else ZERO


@kernel
def first_point(word: int, side: int) -> int:
    """The record of a word's adjacency point 0."""
    return 2 * word + side


@kernel
def find_or_add_point(lexicon: Lexicon, word: int, side: int, position: int) -> int:
    """The record of any adjacency point, added if it does not exist yet."""
    number = first_point(word, side)
    for _ in range(position):
        if lexicon.points[number].following == NONE:
            lexicon.points[number].following = lexicon.sizes[0].points
            lexicon.sizes[0].points += 1
        number = lexicon.points[number].following
    return number


@kernel
def add_seen(lexicon: Lexicon, number: int, label: int, strength: Single) -> None:
    """Seen[label] += strength."""
    key = number * lexicon.sizes[0].labels + label
    entry = _entry(lexicon.seen, key)
    if entry.key == NONE:
        entry.key = key
        lexicon.sizes[0].entries += 1
    entry.strength += strength
    point = lexicon.points[number]
    at = 0
    while at < point.count and point.labels[at] != label:
        at += 1
    place(point, at, label, entry.strength)


@kernel
def stronger_than_block(point: Record) -> int:
    """The number of the strongest labels that were seen more often than nothing was."""
    number = 0
    while number < point.count and point.strengths[number] > point.block:
        number += 1
    return number
