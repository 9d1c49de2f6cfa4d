"""A binary heap of scores with keys, in two arrays; the greatest score is at index 0."""

from __future__ import annotations

from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels


@also_in_kernels
def push(scores: Floats, keys: Longs, size: int, score: float, key: int) -> None:
    """Add an entry to a heap of ``size`` entries; if scores are equal, the smaller key is first."""
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
    """Remove the entry at index 0, which leaves ``size`` entries."""
    score, key, index = scores[size], keys[size], 0
    while 2 * index + 1 < size:
        child = 2 * index + 1
        if child + 1 < size:
            sibling = child + 1
            if scores[sibling] > scores[child] or (
                scores[sibling] == scores[child] and keys[sibling] < keys[child]
            ):
                child = sibling
        if score > scores[child] or (score == scores[child] and key < keys[child]):
            break
        scores[index], keys[index] = scores[child], keys[child]
        index = child
    scores[index], keys[index] = score, key
