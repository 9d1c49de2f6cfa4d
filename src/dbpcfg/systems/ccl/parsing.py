"""Parsing word by word, and learning from parsed sentences.

**Parsing** a word adds links between it and the words before it. First the newest word k and the
word before it are linked in each direction whose strength is positive. Then the best of all
possible links is added, one at a time, until no strength is positive. Links whose adjacency point
is not yet used up come first.

**Learning** from a parsed word. When the links of word k are fixed, k and the words that it was, or
could have been, linked with have met neighbours at their adjacency points: these are *events*.
Statistics are updated after the whole sentence has been parsed.

On its left, k meets its heads in order and then the word adjacent to them, but nothing after the
first point that is not used up.  On its right, each of the following words meets k: the word before
k, its base on the left, the base of that, … up to the base of k, or to the end if k has none.  No
word is passed twice in this climb, and a word is a head at most once on each side, so n words have
fewer than 4n events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.ccl.frontier import (
    Frontier,
    attach,
    depths_from_prefix,
    depths_into_prefix,
    empty_frontier,
    shift,
)
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
from dbpcfg.systems.ccl.scoring import WordText, is_used, score, tokens_of, use

CANDIDATE = np.dtype(
    [
        ("head", "i8"),
        ("depths", "i8"),  # the set of possible depths
        ("round", "i8"),  # the last round in which it was a candidate
        ("strength", "f4"),
        ("depth", "i8"),  # the depth it was scored with
        ("position", "i8"),  # the base's adjacency point, or NONE
    ]
)


class Candidates(NamedTuple):
    """Links that may be added in this round.

    A word is the base of at most one of them.  A link keeps its score from round to round as long
    as its depths do not change, even if adjacency points are used up meanwhile.
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
    iteration: int,
) -> int:
    """Link word k, which has no stop on its left; return the number of the last round."""
    link = score(tokens, lexicon, k - 1, k, EITHER, EITHER)
    if link.to_k > ZERO:
        attach(frontier, links, k - 1, k, link.depth)
        use(tokens[k - 1, RIGHT], link.x_position)
    if link.from_k > ZERO:
        attach(frontier, links, k, k - 1, link.depth)
        use(tokens[k, LEFT], link.k_position)
    iteration += 1  # so that scores of earlier words are not used
    while True:
        iteration += 1
        count = _collect(tokens, lexicon, links, frontier, candidates, k, iteration)
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
            return iteration
        attach(frontier, links, base, chosen.head, depth)


@kernel
def _collect(
    tokens: Records,
    lexicon: Lexicon,
    links: Records,
    frontier: Frontier,
    candidates: Candidates,
    k: int,
    iteration: int,
) -> int:
    """Find and score the links that may be added; return their number."""
    count = 0
    if links[k, LEFT].base == NONE:
        for rank in range(frontier.state[0].size - 2, -1, -1):  # the last one is k − 1
            depths = depths_from_prefix(frontier, links, rank, k)
            if depths != NEITHER:
                x = frontier.stack[rank].word
                _weigh(tokens, lexicon, candidates.by_base[x], x, k, depths, iteration)
                candidates.bases[count] = x
                count += 1
    head = links[k, LEFT].reach - 1
    if head != k - 1:
        depths = depths_into_prefix(frontier, links, k)
        if depths != NEITHER:
            _weigh(tokens, lexicon, candidates.by_base[k], k, head, depths, iteration)
            candidates.bases[count] = k
            count += 1
    return count


@kernel
def _weigh(
    tokens: Records,
    lexicon: Lexicon,
    candidate: Record,
    base: int,
    head: int,
    depths: int,
    iteration: int,
) -> None:
    """Score a candidate, unless it has not changed since the last round."""
    unchanged = (
        candidate.round == iteration - 1 and candidate.head == head and candidate.depths == depths
    )
    candidate.round = iteration
    if unchanged:
        return
    candidate.head, candidate.depths = head, depths
    if base < head:
        link = score(tokens, lexicon, base, head, depths, NEITHER)
        candidate.strength, candidate.position = link.to_k, link.x_position
    else:
        link = score(tokens, lexicon, head, base, NEITHER, depths)
        candidate.strength, candidate.position = link.from_k, link.k_position
    candidate.depth = link.depth


@kernel
def _strongest(tokens: Records, candidates: Candidates, count: int, k: int) -> int:
    """The base of the link to add, or NONE if no strength is positive.

    Of the links to k, a stronger one replaces earlier ones, and so does one of any strength that
    uses a new adjacency point if earlier ones use only old points.  The link from k replaces the
    choice if only it uses a new point; if both or neither do, it must be stronger, or equally
    strong and shorter.
    """
    best, strongest, only_used = NONE, ZERO, True
    for rank in range(count):
        base = candidates.bases[rank]
        candidate = candidates.by_base[base]
        is_old = is_used(tokens[base, LEFT if base == k else RIGHT], candidate.position)
        fresh = only_used and not is_old and candidate.strength > ZERO
        if base < k:
            if fresh or candidate.strength > strongest:
                best, strongest = base, candidate.strength
                only_used = only_used and is_old
        elif fresh or (
            is_old == only_used
            and (
                candidate.strength > strongest
                or (best != NONE and candidate.strength == strongest and candidate.head > best)
            )
        ):
            best = k
    return best


@kernel
def _most_promising(tokens: Records, candidates: Candidates, count: int, k: int) -> int:
    """The base of the link to add if a violation forces one and no strength is positive.

    It is the base with the most labels stronger than Block, then that with the strongest label,
    then the nearest.
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
    """The events of one sentence, in order."""

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
    """Record what word k meets on its left."""
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
    """Record that words before k meet k, or the end of the sentence, on their right."""
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

    Learn is increased by 1.  If nothing was met, or there is a stop, Block is increased by 1;
    otherwise Seen is increased for every label of the neighbour on the facing side, by its
    strength.  At adjacency point 0, with the neighbour's shares on the facing side::

        Out += In / Learn        In* += Out / Learn

    and In is decreased by 1 if the neighbour has seen labels on the facing side, but none stronger
    than Block; it is increased by 1 if it has seen stronger ones there, and none on its other side.
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
    """Link the words of a sentence from left to right, and record events."""
    n = len(tokens)
    links, frontier, candidates = empty_links(n), empty_frontier(n), empty_candidates(n)
    iteration = 0
    for k in range(n):
        if k > 0:
            shift(frontier, links, k)
            if not tokens[k, LEFT].stop:
                iteration = parse_word(tokens, lexicon, links, frontier, candidates, k, iteration)
        meet_on_the_left(events, tokens, links, k)
        meet_on_the_right(events, tokens, links, k)
    meet_on_the_right(events, tokens, links, n)
    return links


@kernel
def learn(text: WordText, first: int, last: int, lexicon: Lexicon, faithful: bool) -> int:
    """Learn from sentences ``first:last``; return the next sentence, early if there is no room."""
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

    The first bracket of a word has the word and all that it reaches by paths whose first link has
    depth 0; the second one has all that it reaches.
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
