"""The statistics of words, and the links between the words of a sentence.

Kernels work on arrays of records (``np.dtype`` with named fields): ``tokens[x, LEFT].used`` is the
field ``used`` of the left side of word x.

**Statistics** of the adjacency points of every word. A word has two chains of adjacency points, one
on each side: point 0 is for its first neighbour on that side, point 1 for the next one after the
first has been linked, and so on. The record of a point counts how often it was used (Learn), how
often with nothing to link to (Block), and how strongly each label was seen there (Seen), of which
the ten strongest matter. Point 0 also has Out, In and In*, which determine the strengths of links.

The record of point 0 of word w on side s is number 2w + s; others are made when they are first
needed.  Seen is one hash table for all records (open addressing, at most half full) with the keys
``record · 2 · types + label``.

**Links** and what they cover. A link x→y, from a base to a head on either side of it, has depth 0
or 1. Links are added only between the newest word k and a word before it, always to the *adjacent*
word: the first one that is not yet reached. So the heads of x on one side, in the order of linking,
with all that they reach, cover contiguous words beside x, and a word has at most one base on each
side. Links to the right form a forest, and so do links to the left:

    x reaches y on its right   iff   x is an ancestor of y among the links to the right,

and the furthest word that x reaches is found by following its last link, then that of its head, ….
A word's links to the left are complete when the next word comes; how far they reach is stored.

A link *into* x limits the links of x beyond its base: they must have depth 1, and past a *complete
block* there can be none.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dbpcfg.numerics.kernels import kernel

Single: TypeAlias = np.float32
Records: TypeAlias = NDArray[Any]
Record: TypeAlias = Any

ZERO, ONE = np.float32(0), np.float32(1)  # statistics are in single precision throughout

LEFT, RIGHT = 0, 1  # the other side of s is 1 − s
NONE = -1  # in place of a word, a position or a label

# Sets of depths, as bits: a link is of depth 0 or 1.
NEITHER, SHALLOW, DEEP, EITHER = 0, 1, 2, 3
NEVER = 2  # the least depth of a link that is impossible

# A label says of a word that it is like word z (number 2z) or stands beside z (2z + 1).
BESIDE = 1


LONGEST = 10

FIELDS = [("count", "i8"), ("labels", "i8", (LONGEST,)), ("strengths", "f4", (LONGEST,))]
"""The fields of a record for a list of the strongest labels."""


@kernel
def place(record: Record, at: int, label: int, strength: Single) -> None:
    """Insert a label into the sorted list of the strongest, or move it up.

    It was at position ``at`` and has become stronger, or is new: then ``at`` is the list's length.
    If the list is full, the weakest label is dropped.
    """
    if at == record.count:
        if record.count < LONGEST:
            record.count += 1
        elif strength < record.strengths[LONGEST - 1]:
            return
        else:
            at = LONGEST - 1
    while at > 0 and record.strengths[at - 1] <= strength:
        record.labels[at] = record.labels[at - 1]
        record.strengths[at] = record.strengths[at - 1]
        at -= 1
    record.labels[at] = label
    record.strengths[at] = strength


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

_SCATTER = 0x1E3779B97F4A7C15  # an odd number whose multiples spread over the table
_FIRST_ROOM = 2**12


class Lexicon(NamedTuple):
    """All statistics; only the first part of each array is in use."""

    points: Records  # [record]
    seen: Records  # [slot]
    sizes: Records  # [0]  the number of records and entries in use, and of possible labels


def empty_lexicon(types: int) -> Lexicon:
    """An empty lexicon for a number of word types."""
    sizes = np.array([(2 * types, 0, 2 * types)], dtype=SIZES)
    return Lexicon(_points(2 * types + _FIRST_ROOM), _entries(_FIRST_ROOM), sizes)


def with_room(lexicon: Lexicon, events: int) -> Lexicon:
    """The same lexicon, enlarged if necessary to learn from a number of events."""
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
def _copy_entries(smaller: Records, larger: Records) -> None:
    for entry in smaller:
        if entry.key != NONE:
            copy = _entry(larger, entry.key)
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
    """Whether there is room to learn from a number of events."""
    points, slots = _needed(lexicon, events)
    return points <= len(lexicon.points) and slots <= len(lexicon.seen)


@kernel
def _needed(lexicon: Lexicon, events: int) -> tuple[int, int]:
    """Records and slots that are enough after a number of events."""
    sizes = lexicon.sizes[0]
    return sizes.points + events, 2 * (sizes.entries + LONGEST * events)


@kernel
def share(part: Single, learn: Single) -> Single:
    """A statistic divided by Learn; 0 if Learn is 0."""
    return part / learn if learn > ZERO else ZERO


@kernel
def first_point(word: int, side: int) -> int:
    """The record of a word's adjacency point 0."""
    return 2 * word + side


@kernel
def find_or_add_point(lexicon: Lexicon, word: int, side: int, position: int) -> int:
    """The record of an adjacency point, added if it does not exist yet."""
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
    """The number of labels, from the strongest on, that are stronger than Block."""
    number = 0
    while number < point.count and point.strengths[number] > point.block:
        number += 1
    return number


LINKS = np.dtype(
    [
        # The link into the word from a base on this side:
        ("base", "i8"),  # or NONE
        ("depth", "i8"),
        ("following", "i8"),  # the next head of the same base, or NONE
        # The links from the word to heads on this side:
        ("count", "i8"),
        ("first", "i8"),  # the nearest head, or NONE
        ("last", "i8"),  # the furthest
        ("last_shallow", "i8"),  # the furthest linked to at depth 0
        ("reach", "i8"),  # on the left: the furthest word reached
        ("block", "i8"),  # the complete block on this side, or NONE
    ]
)
"""One side of one word of a sentence."""


@kernel
def empty_links(n: int) -> Records:
    """Both sides of n words before they are linked."""
    links = np.zeros((n, 2), LINKS)
    for x in range(n):
        for side in (LEFT, RIGHT):
            links_of_side = links[x, side]
            links_of_side.base = links_of_side.following = links_of_side.first = (
                links_of_side.last
            ) = links_of_side.last_shallow = links_of_side.block = NONE
            links_of_side.reach = x
    return links


@kernel
def add_link(links: Records, x: int, y: int, depth: int) -> None:
    """Link x to y, one of them the newest word, the other adjacent to it."""
    side = LEFT if y < x else RIGHT
    outward, inward = links[x, side], links[y, 1 - side]
    if outward.count == 0:
        outward.first = y
    else:
        links[outward.last, 1 - side].following = y
    outward.last = y
    outward.count += 1
    if depth == 0:
        outward.last_shallow = y
    inward.base, inward.depth = x, depth
    if depth == 1:
        _block_on_the_right(links, x)
    if side == RIGHT:
        inward.block = x if depth == 1 else links[x, LEFT].block
    else:
        outward.reach = links[y, LEFT].reach


@kernel
def _block_on_the_right(links: Records, x: int) -> None:
    """Make x the complete block on the right of all words that it reaches on the left.

    A word that already has one keeps it, and the words that it reaches are not changed; if x itself
    has one, nothing is changed.
    """
    if links[x, RIGHT].block != NONE:
        return
    y = links[x, LEFT].first
    while y != NONE:
        down = NONE
        if links[y, RIGHT].block == NONE:
            links[y, RIGHT].block = x
            down = links[y, LEFT].first
        while down == NONE and y != x:
            down = links[y, RIGHT].following
            y = links[y, RIGHT].base
        y = down


@kernel
def last_depth(links: Records, x: int, side: int) -> int:
    """The depth of the last link of x on a side; 0 if there is none."""
    last = links[x, side].last
    return int(links[last, 1 - side].depth) if last != NONE else 0


@kernel
def least_depth(links: Records, x: int, p: int) -> int:
    """The least depth that a link from x to the adjacent word p can have: 0, 1 or NEVER.

    It is at least that of the previous link.  If the base of a link into x lies between them, it is
    at least 1; if a complete block of x does too, the link is impossible.
    """
    side = LEFT if p < x else RIGHT
    links_of_side = links[x, side]
    depth = last_depth(links, x, side)
    if links_of_side.base == NONE:
        return depth
    if links_of_side.block != NONE and abs(links_of_side.block - x) < abs(p - x):
        return NEVER
    return 1 if abs(links_of_side.base - x) < abs(p - x) else depth


@kernel
def first_depth(links: Records, x: int, y: int) -> int:
    """The depth of the first link on the path from x to a word y on its right, NONE without one."""
    while y > x:
        inward = links[y, LEFT]
        if inward.base == x:
            return int(inward.depth)
        y = inward.base
    return NONE


@kernel
def reaches(links: Records, x: int, y: int) -> bool:
    """Whether there is a path from x to another word y."""
    if y < x:
        return bool(links[x, LEFT].reach <= y)
    return first_depth(links, x, y) != NONE
