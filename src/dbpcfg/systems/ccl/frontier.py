"""Which links may be added between the newest word k and the words before it, and at what depths.

**From the prefix.**  The words that may link to k are those whose adjacent word on the right is k.
They are a stack, the nearest on top: of those at k − 1, its base and words before the base stay,
and k − 1 joins them.

**Into the prefix.**  k may link only to the word adjacent to it on its left, if there is one.

**Violations.**  If k links to a word that reaches m, and m has a base v on its left that does not
reach k, the brackets of v and k would cross.  While there is such a *resolution violation*, the
parser may not move on to the next word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import kernel
from dbpcfg.systems.ccl.lexicon import (
    DEEP,
    EITHER,
    LEFT,
    NEITHER,
    NEVER,
    NONE,
    Records,
    add_link,
    first_depth,
    last_depth,
    least_depth,
    reaches,
)

WAITING = np.dtype([("word", "i8"), ("depth", "i8")])
STATE = np.dtype([("size", "i8"), ("violation", "i8"), ("violation_depth", "i8")])


class Frontier(NamedTuple):
    """The words that may link to the newest word, and the violation, if there is one."""

    stack: Records  # [rank]  words that may link to k, the nearest last, and at what least depth
    state: Records  # [0]     the size of the stack; the violation's base v, or NONE, and its depth


@kernel
def empty_frontier(n: int) -> Frontier:
    """The frontier of a sentence of n words before it is parsed."""
    return Frontier(np.zeros(n, WAITING), np.zeros(1, STATE))


@kernel
def shift(frontier: Frontier, links: Records, k: int) -> None:
    """Move on to word k > 0."""
    state = frontier.state[0]
    base = links[k - 1, LEFT].base  # NONE lies to the left of every word
    size = 0
    for rank in range(state.size):
        word = frontier.stack[rank].word
        depth = least_depth(links, word, k)
        if word <= base and depth < NEVER:
            frontier.stack[size].word, frontier.stack[size].depth = word, depth
            size += 1
    frontier.stack[size].word, frontier.stack[size].depth = k - 1, 0
    state.size = size + 1
    state.violation = NONE


@kernel
def attach(frontier: Frontier, links: Records, x: int, y: int, depth: int) -> None:
    """Link x to y; update the violation."""
    add_link(links, x, y, depth)
    state = frontier.state[0]
    if y > x:
        state.violation = NONE
        return
    m = links[y, LEFT].reach
    if m <= state.violation:
        state.violation = NONE
    inward = links[m, LEFT]
    if inward.base == NONE or reaches(links, inward.base, x):
        return
    nearer = inward.base > state.violation
    if nearer or (inward.base == state.violation and inward.depth < state.violation_depth):
        state.violation, state.violation_depth = inward.base, inward.depth


@kernel
def depths_from_prefix(frontier: Frontier, links: Records, rank: int, k: int) -> int:
    """The possible depths of a link from a word of the stack to k, which has no base yet."""
    state = frontier.state[0]
    x = frontier.stack[rank].word
    depths = EITHER if frontier.stack[rank].depth == 0 else DEEP
    if links[k, LEFT].count > 0:
        if x > links[k, LEFT].last:
            return NEITHER
        if reaches(links, k, x):  # through the last link
            depths &= 1 << last_depth(links, k, LEFT)
    if x < state.violation:
        return NEITHER
    if x == state.violation:
        depths &= 1 << state.violation_depth
    return depths


@kernel
def depths_into_prefix(frontier: Frontier, links: Records, k: int) -> int:
    """The possible depths of a link from k to the word adjacent to it on its left."""
    inward = links[k, LEFT]
    head = inward.reach - 1
    if head < 0:
        return NEITHER
    min_depth = least_depth(links, k, head)
    if min_depth == NEVER:
        return NEITHER
    depths = EITHER if min_depth == 0 else DEEP
    if inward.base != NONE:
        if inward.depth == 1:
            depths &= DEEP
        path = first_depth(links, head, k)
        if path != NONE:
            depths &= 1 << path
        if reaches(links, head, inward.base):
            depths &= 1 << inward.depth
    if frontier.state[0].violation != NONE:
        depths &= 1 << last_depth(links, k, LEFT)
    return depths
