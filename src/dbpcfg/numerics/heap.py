"""A heap of scores with keys, in two arrays: the greatest score is at index 0."""

from __future__ import annotations

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels


@also_in_kernels
def push(scores: Floats, keys: Longs, size: int, score: float, key: int) -> None:
    """Add an entry to a heap of some size; the least key is the best of equal scores."""
    index = size
    while index:
        parent = (index - 1) // 2
        if scores[parent] > score or (scores[parent] == score and keys[parent] < key):
            break
        scores[index], keys[index] = scores[parent], keys[parent]
        index = parent
    scores[index], keys[index] = score, key


@also_in_kernels
def remove_best(scores: Floats, keys: Longs, size: int) -> None:
    """Remove the entry at index 0; ``size`` entries are left."""
    score, key, index = scores[size], keys[size], 0
    while 2 * index + 1 < size:
        child = 2 * index + 1
        if child + 1 < size:
            other = child + 1
            if scores[other] > scores[child] or (
                scores[other] == scores[child] and keys[other] < keys[child]
            ):
                child = other
        if score > scores[child] or (score == scores[child] and key < keys[child]):
            break
        scores[index], keys[index] = scores[child], keys[child]
        index = child
    scores[index], keys[index] = score, key
