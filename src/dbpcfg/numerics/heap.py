"""A heap of scores with keys, in two arrays: the greatest score is in place 0."""

from __future__ import annotations

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels


@also_in_kernels
def push(scores: Floats, keys: Longs, size: int, score: float, key: int) -> None:
    """Add an entry to a heap of some size; the least key is the best of equal scores."""
    place = size
    while place:
        above = (place - 1) // 2
        if scores[above] > score or (scores[above] == score and keys[above] < key):
            break
        scores[place], keys[place] = scores[above], keys[above]
        place = above
    scores[place], keys[place] = score, key


@also_in_kernels
def remove_best(scores: Floats, keys: Longs, size: int) -> None:
    """Remove the entry in place 0; ``size`` entries are left."""
    score, key, place = scores[size], keys[size], 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            other = child + 1
            if scores[other] > scores[child] or (
                scores[other] == scores[child] and keys[other] < keys[child]
            ):
                child = other
        if score > scores[child] or (score == scores[child] and key < keys[child]):
            break
        scores[place], keys[place] = scores[child], keys[child]
        place = child
    scores[place], keys[place] = score, key
