"""Parsing one word: which links to add between it and the words before it.

The newest word k and the word before it come first, and are linked in either direction whose
strength is positive.  Then, of all links that may be added, the best is added, one at a time, until
no strength is positive.  A link whose adjacency point is not yet used up goes before links whose
point is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.ccl.admission import (
    Frontier,
    attach,
    depths_from_prefix,
    depths_into_prefix,
)
from dbpcfg.systems.ccl.arrays import (
    EITHER,
    LEFT,
    NEITHER,
    NONE,
    RIGHT,
    SHALLOW,
    ZERO,
    Record,
    Records,
)
from dbpcfg.systems.ccl.lexicon import Lexicon
from dbpcfg.systems.ccl.scoring import score
from dbpcfg.systems.ccl.tokens import is_used, use

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
