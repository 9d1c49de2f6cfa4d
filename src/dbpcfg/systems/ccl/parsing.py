"""Parsing word by word, and learning from parsed sentences.

**Parsing** a word adds links between it and the words before it. The newest word k and the word
before it come first, and are linked in either direction whose strength is positive. Then, of all
links that may be added, the best is added, one at a time, until no strength is positive. A link
whose adjacency point is not yet used up goes before links whose point is.

**Learning** from a parsed word. When the links of word k are fixed, k and the words it was, or
could have been, linked with have met neighbours at their adjacency points: these are *events*. They
wait until the whole sentence is parsed, so the statistics stand still meanwhile.

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
from dbpcfg.systems.ccl.lexicon import (
    EITHER,
    LEFT,
    NEITHER,
    NEVER,
    NONE,
    ONE,
    RIGHT,
    SHALLOW,
    ZERO,
    Lexicon,
    Record,
    Records,
    add_seen,
    empty_links,
    find_or_add_point,
    has_room,
    least_depth,
)
from dbpcfg.systems.ccl.scoring import (
    Frontier,
    WordText,
    attach,
    depths_from_prefix,
    depths_into_prefix,
    empty_frontier,
    is_used,
    score,
    shift,
    tokens_of,
    use,
)

CANDIDATE = np.dtype(
    [
        ("head", "i8"),
        ("depths", "i8"),  # the set of depths that it may have
        ("round", "i8"),  # when it last was a candidate
        ("strength", "f4"),
        ("depth", "i8"),  # the depth it was scored with
        ("position", "i8"),  # the base's adjacency point, or NONE
    ]
)


class Candidates(NamedTuple):
    """Links that may be added in this round.

    A word is the base of at most one of them.  The score of a link is kept as long as the link and
    its depths stay, from round to round, even if adjacency points are used up meanwhile.
    """

    bases: Longs  # [rank]      nearest first, k last
    by_base: Records  # [base]


@kernel
def empty_candidates(n: int) -> Candidates:
    """Room for the candidates of a sentence of n words."""
    return Candidates(np.empty(n, np.int64), np.zeros(n, CANDIDATE))


@kernel
def parse_word(
    tokens: Records,
    lexicon: Lexicon,
    links: Records,
    frontier: Frontier,
    candidates: Candidates,
    k: int,
    now: int,
) -> int:
    """Link word k, which has no stop on its left; rounds count on from ``now``; return the last."""
    both = score(tokens, lexicon, k - 1, k, EITHER, EITHER)
    if both.to_k > ZERO:
        attach(frontier, links, k - 1, k, both.depth)
        use(tokens[k - 1, RIGHT], both.x_position)
    if both.from_k > ZERO:
        attach(frontier, links, k, k - 1, both.depth)
        use(tokens[k, LEFT], both.k_position)
    now += 1  # no score of an earlier word is taken for one of this word
    while True:
        now += 1
        count = _collect(tokens, lexicon, links, frontier, candidates, k, now)
        base = _strongest(tokens, candidates, count, k)
        if base != NONE:
            chosen = candidates.by_base[base]
            depth = chosen.depth
            use(tokens[base, LEFT if base == k else RIGHT], chosen.position)
        elif frontier.state[0].violation != NONE and count > 0:
            base = _most_promising(tokens, candidates, count, k)
            chosen = candidates.by_base[base]
            depth = 0 if chosen.depths & SHALLOW else 1
        else:
            return now
        attach(frontier, links, base, chosen.head, depth)


@kernel
def _collect(
    tokens: Records,
    lexicon: Lexicon,
    links: Records,
    frontier: Frontier,
    candidates: Candidates,
    k: int,
    now: int,
) -> int:
    """Find and score the links that may be added; return their number."""
    count = 0
    if links[k, LEFT].base == NONE:
        for rank in range(frontier.state[0].size - 2, -1, -1):  # the last one is k − 1
            depths = depths_from_prefix(frontier, links, rank, k)
            if depths != NEITHER:
                x = frontier.stack[rank].word
                _weigh(tokens, lexicon, candidates.by_base[x], x, k, depths, now)
                candidates.bases[count] = x
                count += 1
    head = links[k, LEFT].reach - 1
    if head != k - 1:
        depths = depths_into_prefix(frontier, links, k)
        if depths != NEITHER:
            _weigh(tokens, lexicon, candidates.by_base[k], k, head, depths, now)
            candidates.bases[count] = k
            count += 1
    return count


@kernel
def _weigh(
    tokens: Records, lexicon: Lexicon, it: Record, base: int, head: int, depths: int, now: int
) -> None:
    """Score a candidate, unless it was the same in the last round."""
    known = it.round == now - 1 and it.head == head and it.depths == depths
    it.round = now
    if known:
        return
    it.head, it.depths = head, depths
    if base < head:
        found = score(tokens, lexicon, base, head, depths, NEITHER)
        it.strength, it.position = found.to_k, found.x_position
    else:
        found = score(tokens, lexicon, head, base, NEITHER, depths)
        it.strength, it.position = found.from_k, found.k_position
    it.depth = found.depth


@kernel
def _strongest(tokens: Records, candidates: Candidates, count: int, k: int) -> int:
    """The base of the link to add, NONE if no strength is positive.

    Of the links to k, a stronger one replaces those before it, and one that uses a new adjacency
    point replaces them however strong it is, as long as they only use old ones.  The link from k
    replaces the choice if it alone uses a new point, or else, if both or neither do, if it is
    stronger, or as strong and shorter.
    """
    best, strongest, only_used = NONE, ZERO, True
    for rank in range(count):
        base = candidates.bases[rank]
        it = candidates.by_base[base]
        used = is_used(tokens[base, LEFT if base == k else RIGHT], it.position)
        fresh = only_used and not used and it.strength > ZERO
        if base < k:
            if fresh or it.strength > strongest:
                best, strongest = base, it.strength
                only_used = only_used and used
        elif fresh or (
            used == only_used
            and (
                it.strength > strongest
                or (best != NONE and it.strength == strongest and it.head > best)
            )
        ):
            best = k
    return best


@kernel
def _most_promising(tokens: Records, candidates: Candidates, count: int, k: int) -> int:
    """The base of the link to add if a violation forces one and none is strong.

    The base with the most labels stronger than Block, then with the strongest label, then the
    nearest.
    """
    best, best_number, best_strength = NONE, -1, ZERO
    for rank in range(count):
        base = candidates.bases[rank]
        side = LEFT if base == k else RIGHT
        number, strength = tokens[base, side].stronger, tokens[base, side].strongest
        nearer = base == k and candidates.by_base[k].head > best
        if (
            number > best_number
            or (number == best_number and strength > best_strength)
            or (number == best_number and strength == best_strength and nearer)
        ):
            best, best_number, best_strength = base, number, strength
    return best


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


@kernel
def _parse(tokens: Records, lexicon: Lexicon, events: Events) -> Records:
    """Link the words of a sentence from left to right, and note what is learnt from them."""
    n = len(tokens)
    links, frontier, candidates = empty_links(n), empty_frontier(n), empty_candidates(n)
    now = 0
    for k in range(n):
        if k > 0:
            shift(frontier, links, k)
            if not tokens[k, LEFT].stop:
                now = parse_word(tokens, lexicon, links, frontier, candidates, k, now)
        meet_on_the_left(events, tokens, links, k)
        meet_on_the_right(events, tokens, links, k)
    meet_on_the_right(events, tokens, links, n)
    return links


@kernel
def learn(text: WordText, first: int, last: int, lexicon: Lexicon, faithful: bool) -> int:
    """Learn from sentences ``first:last``; return the next, before ``last`` if room runs out."""
    for sentence in range(first, last):
        start, end = text.starts[sentence], text.starts[sentence + 1]
        if not has_room(lexicon, EVENTS_PER_WORD * (end - start)):
            return sentence
        tokens = tokens_of(text.words[start:end], text.stops[start:end], lexicon, faithful)
        events = empty_events(end - start)
        _parse(tokens, lexicon, events)
        learn_events(events, tokens, lexicon)
    return last


@kernel
def parse(
    text: WordText, first: int, last: int, lexicon: Lexicon, faithful: bool, brackets: Longs
) -> None:
    """Parse sentences ``first:last`` and write two brackets for each of their words."""
    for sentence in range(first, last):
        start, end = text.starts[sentence], text.starts[sentence + 1]
        tokens = tokens_of(text.words[start:end], text.stops[start:end], lexicon, faithful)
        links = _parse(tokens, lexicon, empty_events(end - start))
        _brackets(links, brackets[start:end])


@kernel
def _brackets(links: Records, brackets: Longs) -> None:
    """The brackets (start, end, deep start, deep end) of every word.

    A word's bracket is all that it reaches by paths whose first link has depth 0, on both sides,
    and the word itself; with links of depth 1 there is a second bracket, all that it reaches.
    """
    n = len(links)
    for x in range(n):
        deep, shallow = links[x, LEFT].last, links[x, LEFT].last_shallow
        brackets[x, 0] = x if shallow == NONE else links[shallow, LEFT].reach
        brackets[x, 2] = x if deep == NONE else links[deep, LEFT].reach
    for x in range(n - 1, -1, -1):
        deep, shallow = links[x, RIGHT].last, links[x, RIGHT].last_shallow
        brackets[x, 1] = x + 1 if shallow == NONE else brackets[shallow, 3]
        brackets[x, 3] = x + 1 if deep == NONE else brackets[deep, 3]
