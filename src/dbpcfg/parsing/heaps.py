"""Pairing heaps (Fredman, Sedgewick, Sleator and Tarjan 1986) of entries that are kept elsewhere.

Many heaps share two arrays: ``scores[entry]``, and ``links[entry]`` with the entry's first child
and next sibling. A heap is the number of its best entry, or NONE; among equals the earlier is best.
"""

from __future__ import annotations

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels

NONE = -1
CHILD, SIBLING = 0, 1


@also_in_kernels
def melded(links: Longs, scores: Floats, one: int, other: int) -> int:
    """Make one heap of two."""
    if one == NONE:
        return other
    if other == NONE:
        return one
    if scores[other] > scores[one] or (scores[other] == scores[one] and other < one):
        one, other = other, one
    links[other, SIBLING] = links[one, CHILD]
    links[one, CHILD] = other
    return one


@also_in_kernels
def without_best(links: Longs, scores: Floats, heap: int) -> int:
    """The heap without its best entry: meld the children in pairs, then all pairs."""
    pairs, child = NONE, links[heap, CHILD]
    while child != NONE:
        second = links[child, SIBLING]
        following = NONE
        links[child, SIBLING] = NONE
        if second != NONE:
            following = links[second, SIBLING]
            links[second, SIBLING] = NONE
        pair = melded(links, scores, child, second)
        links[pair, SIBLING] = pairs
        pairs, child = pair, following
    rest = NONE
    while pairs != NONE:
        following = links[pairs, SIBLING]
        links[pairs, SIBLING] = NONE
        rest = melded(links, scores, rest, pairs)
        pairs = following
    return rest
