"""Baselines that look at nothing but the number of words.

==========  ===================================================================================
right       (a (b (c d))): strong for English
left        (((a b) c) d)
balanced    ((a b) (c d)): each span in two halves, the longer first
random      every binary tree of the sentence with equal probability
==========  ===================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.philox import Stream, uniform_pair
from dbpcfg.trees import Tree

Branching = Literal["right", "left", "balanced", "random"]
LABEL = "X"


def branching_tree(
    system: Branching, words: Sequence[str], numbers: Stream, sentence: int = 0
) -> Tree:
    """The tree that a baseline gives to a sentence; ``numbers`` and ``sentence`` are for random."""
    if not words:
        raise DbpcfgError("a sentence without words has no tree")
    if system == "right":
        return _binary_tree(words, lambda i, j: i + 1)
    if system == "left":
        return _binary_tree(words, lambda i, j: j - 1)
    if system == "balanced":
        return _binary_tree(words, lambda i, j: (i + j + 1) // 2)
    if system == "random":
        return _binary_tree(words, _uniform_split(numbers, sentence, len(words)))
    raise DbpcfgError(f"no baseline {system!r}; choose one of {', '.join(get_args(Branching))}")


def _binary_tree(words: Sequence[str], split: Callable[[int, int], int]) -> Tree:
    """The tree whose spans (i,j) are split at ``split(i, j)``."""
    preorder = []
    todo = [(0, len(words))]
    while todo:
        i, j = todo.pop()
        preorder.append((i, j))
        if j - i > 1:
            k = split(i, j)
            todo += [(k, j), (i, k)]
    built: list[Tree] = []
    for i, j in reversed(preorder):
        children = (words[i],) if j - i == 1 else (built.pop(), built.pop())
        built.append(Tree(LABEL, children))
    return built[0]


def _uniform_split(numbers: Stream, sentence: int, n: int) -> Callable[[int, int], int]:
    """Draw split points so that all binary trees are equally probable.

    A span of w words has Catalan(w − 1) trees, Catalan(l − 1) · Catalan(w − l − 1) of them with a
    left child of l words.
    """

    def log_trees(w: int) -> float:
        return math.lgamma(2 * w - 1) - math.lgamma(w) - math.lgamma(w + 1)

    def split(i: int, j: int) -> int:
        uniform, _ = uniform_pair(numbers, sentence, i * (n + 1) + j)
        remaining, width = uniform, j - i
        for left in range(1, width - 1):
            remaining -= math.exp(log_trees(left) + log_trees(width - left) - log_trees(width))
            if remaining < 0:
                return i + left
        return j - 1

    return split
