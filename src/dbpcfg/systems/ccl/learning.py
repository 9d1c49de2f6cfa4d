"""What is learnt from a parsed word.

When the links of word k are fixed, k and the words it was, or could have been, linked with have met
neighbours at their adjacency points: these are *events*.  They wait until the whole sentence is
parsed, so the statistics stand still meanwhile.

On its left, k meets its heads in order and then the word adjacent to them, but nothing after the
first point that is not used up.  On their right, k is met by the word before it, by the base of
that word on the left, by the base of that, … up to the base of k, or to the end if k has none.
A word left behind in this climb is never met again, and a word is a head at most once on each side:
so n words have fewer than 4n events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.ccl.arrays import LEFT, NEVER, NONE, ONE, RIGHT, Records
from dbpcfg.systems.ccl.lexicon import Lexicon, add_seen, find_or_add_point
from dbpcfg.systems.ccl.links import least_depth
from dbpcfg.systems.ccl.tokens import is_used

EVENTS_PER_WORD = 4

EVENT = np.dtype(
    [
        ("unit", "i8"),  # the word
        ("side", "i8"),
        ("position", "i8"),  # of the adjacency point
        ("neighbour", "i8"),  # the word met there, or NONE
    ]
)


class Events(NamedTuple):
    """What is learnt from one sentence, in order."""

    met: Records  # [event]
    total: Longs  # [0]


@kernel
def empty_events(n: int) -> Events:
    """Room for the events of a sentence of n words."""
    return Events(np.zeros(EVENTS_PER_WORD * n, EVENT), np.zeros(1, np.int64))


@kernel
def _meet(events: Events, unit: int, side: int, position: int, neighbour: int) -> None:
    event = events.met[events.total[0]]
    event.unit, event.side, event.position, event.neighbour = unit, side, position, neighbour
    events.total[0] += 1


@kernel
def meet_on_the_left(events: Events, tokens: Records, links: Records, k: int) -> None:
    """What word k meets on its left."""
    if k == 0 or tokens[k, LEFT].stop:
        _meet(events, k, LEFT, 0, NONE)
        return
    position, head = 0, links[k, LEFT].first
    while head != NONE:
        _meet(events, k, LEFT, position, head)
        if not is_used(tokens[k, LEFT], position):
            return
        position, head = position + 1, links[head, RIGHT].following
    neighbour = links[k, LEFT].reach - 1
    if neighbour >= 0 and least_depth(links, k, neighbour) == NEVER:
        neighbour = NONE
    _meet(events, k, LEFT, position, neighbour)


@kernel
def meet_on_the_right(events: Events, tokens: Records, links: Records, k: int) -> None:
    """What the words before k meet on their right, which is k or the end of the sentence."""
    n = len(tokens)
    u = k - 1
    while u != NONE:
        linked = k < n and links[k, LEFT].base == u
        position = links[u, RIGHT].count - (1 if linked else 0)
        if position == 0 or is_used(tokens[u, RIGHT], position - 1):
            ends = k == n or (u == k - 1 and tokens[k, LEFT].stop)
            _meet(events, u, RIGHT, position, NONE if ends else k)
        if linked:
            return
        u = links[u, LEFT].base


@kernel
def learn_events(events: Events, tokens: Records, lexicon: Lexicon) -> None:
    """Learn from all events, in order.

    Learn grows by 1.  If nothing was met, or there is a stop, Block grows by 1; else every label of
    the neighbour on the side where it was met is seen with its strength.  At adjacency point 0,
    with the shares that the neighbour had on the side where it was met::

        Out += In / Learn        In* += Out / Learn

    and In falls by 1 if the neighbour saw labels on that side, but none stronger than Block; it
    rises by 1 if it saw some that are stronger there and none on its other side.
    """
    for at in range(events.total[0]):
        event = events.met[at]
        unit, side = tokens[event.unit, event.side], event.side
        number = find_or_add_point(lexicon, unit.word, side, event.position)
        point = lexicon.points[number]
        point.learn += ONE
        if event.neighbour == NONE or unit.stop:
            point.block += ONE
            continue
        facing, behind = tokens[event.neighbour, 1 - side], tokens[event.neighbour, side]
        for rank in range(facing.count):
            if facing.labels[rank] != NONE:
                add_seen(lexicon, number, facing.labels[rank], facing.strengths[rank])
        if event.position > 0:
            continue
        if facing.seen > 0:
            if facing.stronger == 0:
                point.into -= ONE
            elif behind.stronger == 0:
                point.into += ONE
        point.out += facing.into_share
        point.into_star += facing.out_share
