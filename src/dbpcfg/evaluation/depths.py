"""The memory depth of trees: the store of a left-corner parser, after making them binary.

A binary tree's memory depth is the most derivation fragments that a left-corner parser ever holds.
Sides and depths handed down from the root give
it: the root is a left node at depth 1; a left node at depth d has children (L,d) and (R,d); a right
node at depth d has children (L,d+1) and (R,d); the tree needs the depth of its deepest right node.

Treebank trees are not binary, and the depth depends on how they are made so.  Nodes over the same
words become one, and a node with children c₁ … c_k, k > 2, becomes ``c₁ (c₂ (… c_k))`` with
``direction="right"`` and ``((c₁ c₂) …) c_k`` with ``"left"``.  The binary tree need not be built,
for in it the children of a node of the old tree, the first, the last and those between, are::

                          first      between     last
    right   of (L,d)      (L,d)      (L,d+1)     (R,d)
            of (R,d)      (L,d+1)    (L,d+1)     (R,d)
    left    of (L,d)      (L,d)      (R,d)       (R,d)
            of (R,d)      (L,d+1)    (R,d+1)     (R,d)

Sentences of one word have depth 1; those of punctuation only have none, and are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import Brackets, brackets, number_words
from dbpcfg.evaluation.parseval import signature_of
from dbpcfg.io.tables import percent
from dbpcfg.trees.tree import Tree

Direction: TypeAlias = Literal["right", "left"]
"""How a node of more than two children is made binary."""


@dataclass(frozen=True, slots=True)
class DepthTable:
    """How many sentences need each memory depth."""

    counts: tuple[int, ...]
    """The number of sentences of depth 1, 2, …."""
    only_punctuation: int
    """Sentences without words."""
    signature: str
    """What the depths are of."""

    @property
    def sentences(self) -> int:
        """All sentences with a depth."""
        return sum(self.counts)

    def share(self, depth: int) -> float:
        """The fraction of sentences that need exactly this depth; nan without sentences."""
        if not self.counts:
            return float("nan")
        return self.counts[depth - 1] / self.sentences if depth <= len(self.counts) else 0.0

    def __str__(self) -> str:
        parts = [f"{d}: {n} ({percent(self.share(d))}%)" for d, n in enumerate(self.counts, 1)]
        return f"memory depth {', '.join(parts) or 'of no sentence'} {self.signature}"


def depth_table(
    depths: Iterable[int], direction: Direction, sentences: str = "punct:kept"
) -> DepthTable:
    """Count depths.

    ``depths``: the depth of each sentence; 0 for one without words.
    ``sentences``: the part of the signature that says what the depths are of.
    """
    counts = Counter(depths)
    nothing = counts.pop(0, 0)
    return DepthTable(
        counts=tuple(counts[depth] for depth in range(1, max(counts, default=0) + 1)),
        only_punctuation=nothing,
        signature=signature_of("depth:memory", f"binary:{direction}", sentences),
    )


def tree_depth(
    tree: Tree, direction: Direction = "right", punctuation: Sequence[bool] | None = None
) -> int:
    """The memory depth of a tree, made binary.

    Returns the depth; 0 if there is nothing but punctuation.
    """
    words = number_words(punctuation if punctuation is not None else [False] * len(tree))
    spans, _ = brackets(tree, words)
    return span_depth(spans, max(words) + 1, direction)


def span_depth(spans: Brackets, words: int, direction: Direction = "right") -> int:
    """The memory depth of the tree with these spans, made binary."""
    if direction not in ("right", "left"):
        raise DbpcfgError(f"direction must be 'right' or 'left', not {direction!r}")
    if words < 2:
        return words
    deepest = 1
    above = [(0, words, False, 1)]  # start, end, whether it is a right node, depth
    for start, end in spans:
        if end - start < 2 or end - start == words:
            continue
        while above[-1][1] <= start:
            above.pop()
        first, last, under_right, depth = above[-1]
        is_right = end == last
        if not is_right and (start > first or under_right):  # see the table above
            is_right = direction == "left" and start > first
            depth += under_right or direction == "right"
        above.append((start, end, is_right, depth))
        deepest = max(deepest, depth)
        if direction == "left" and is_right and end - start > 2 and (start + 1, end) not in spans:
            deepest = max(deepest, depth + 1)  # all its children but the last are a left node
    return deepest
