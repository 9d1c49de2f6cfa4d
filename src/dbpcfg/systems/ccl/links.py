"""Links between words, and what they cover.

A link x→y, from a base to a head on either side of it, has depth 0 or 1.  Links are only ever added
between the newest word k and a word before it, always to the *adjacent* word: the first one that
is not yet reached.  So the heads of x on one side, in the order in which they were linked to,
with all that they reach in turn, cover an unbroken stretch of words beside x, and a word has at
most one base on each side.  Links to the right form a forest, and so do links to the left:

    x reaches y on its right   iff   x is an ancestor of y among the links to the right,

and the furthest word that x reaches is found by following its last link, then that of its head, ….
A word's links to the left are complete when the next word comes; how far they reach is kept.

A link *into* x limits how x may go on beyond its base: to links of depth 1, or, past a *complete
block*, not at all.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import kernel
from dbpcfg.systems.ccl.arrays import LEFT, NEVER, NONE, RIGHT, Records

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
            it = links[x, side]
            it.base = it.following = it.first = it.last = it.last_shallow = it.block = NONE
            it.reach = x
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
    """Make x the complete block on the right of all that it reaches on the left.

    A word that has one already keeps it, and what it reaches is left alone; so is everything if x
    itself has one.
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

    It is no less than that of the link before.  If the base of a link into x lies between them, it
    is at least 1; if a complete block of x does as well, there can be none.
    """
    side = LEFT if p < x else RIGHT
    it = links[x, side]
    least = last_depth(links, x, side)
    if it.base == NONE:
        return least
    if it.block != NONE and abs(it.block - x) < abs(p - x):
        return NEVER
    return 1 if abs(it.base - x) < abs(p - x) else least


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
