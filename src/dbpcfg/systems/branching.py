"""Baselines that depend only on the number of words.

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
from typing import Literal, Self, get_args

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.philox import Purpose, Stream, compiled_uniform_pair, stream
from dbpcfg.systems.registry import LABEL, require_fit
from dbpcfg.trees.tree import Tree

Shape = Literal["right", "left", "balanced", "random"]


class Right:
    """Right-branching trees.

    Trees are over all words, so remove punctuation first, as most scores do.
    """

    name: Shape = "right"
    learns = False
    summary = "(a (b (c d))), no learning: strong for English"
    reference = "baseline"
    _numbers = stream(0, purpose=Purpose.BASELINE)
    _trees: list[Tree] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Build the trees; nothing is learned."""
        self._trees = []
        for number, words in enumerate(sentences):
            self._trees.append(branching_tree(self.name, words, self._numbers, number))
            if progress is not None:
                progress.update(number + 1)
        return self

    def trees(self) -> list[Tree]:
        """A tree for every sentence, in order."""
        return list(require_fit(self.name, self._trees))


class Left(Right):
    """Left-branching trees."""

    name: Shape = "left"
    summary = "(((a b) c) d), no learning"


class Balanced(Right):
    """Balanced trees."""

    name: Shape = "balanced"
    summary = "((a b) (c d)), no learning"


class Random(Right):
    """Random trees."""

    name: Shape = "random"
    summary = "any binary tree with equal probability, no learning"

    def __init__(self, seed: int = 0) -> None:
        self._numbers = stream(seed, purpose=Purpose.BASELINE)


def branching_tree(shape: Shape, words: Sequence[str], numbers: Stream, sentence: int = 0) -> Tree:
    """The tree of one sentence; random trees depend on the number of the sentence."""
    if not words:
        raise DbpcfgError("a sentence without words has no tree")
    if shape == "right":
        return _binary_tree(words, lambda i, j: i + 1)
    if shape == "left":
        return _binary_tree(words, lambda i, j: j - 1)
    if shape == "balanced":
        return _binary_tree(words, lambda i, j: (i + j + 1) // 2)
    if shape == "random":
        return _binary_tree(words, _uniform_split(numbers, sentence, len(words)))
    raise DbpcfgError(f"no baseline {shape!r}; choose one of {', '.join(get_args(Shape))}")


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
        uniform, _ = compiled_uniform_pair(numbers, sentence, i * (n + 1) + j)
        remaining, width = uniform, j - i
        for left_width in range(1, width - 1):
            remaining -= math.exp(
                log_trees(left_width) + log_trees(width - left_width) - log_trees(width)
            )
            if remaining < 0:
                return i + left_width
        return j - 1

    return split
