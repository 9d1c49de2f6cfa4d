"""The memory depth of trees: the fragments that a left-corner parser stores.

The memory depth of a binary tree is the greatest number of derivation fragments that a left-corner
parser holds at once.  It follows from sides and depths: the root is a left node at depth 1; a left
node at depth d has children (L,d) and (R,d); a right node at depth d has children (L,d+1) and
(R,d).  The tree has the depth of its deepest right node.

Treebank trees are not binary, and the depth depends on how they are binarised.  Nodes over the same
words become one, and a node with children c₁ … c_k, k > 2, becomes ``c₁ (c₂ (… c_k))`` with
``direction="right"`` and ``((c₁ c₂) …) c_k`` with ``"left"``.  The binary tree need not be built:
in it the first, the last and the other children of a node of the original tree are::

                          first      between     last
    right   of (L,d)      (L,d)      (L,d+1)     (R,d)
            of (R,d)      (L,d+1)    (L,d+1)     (R,d)
    left    of (L,d)      (L,d)      (R,d)       (R,d)
            of (R,d)      (L,d+1)    (R,d+1)     (R,d)

Sentences of one word have depth 1.  Those of punctuation only have none, and are counted apart.
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
    """The convention."""

    @property
    def sentences(self) -> int:
        """The number of sentences with a depth."""
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
    ``sentences``: the part of the signature that describes the sentences.
    """
    counts = Counter(depths)
    empty = counts.pop(0, 0)
    return DepthTable(
        counts=tuple(counts[depth] for depth in range(1, max(counts, default=0) + 1)),
        only_punctuation=empty,
        signature=signature_of("depth:memory", f"binary:{direction}", sentences),
    )


def tree_depth(
    tree: Tree, direction: Direction = "right", punctuation: Sequence[bool] | None = None
) -> int:
    """The memory depth of a tree after binarisation; 0 if it has only punctuation."""
    words = number_words(punctuation if punctuation is not None else [False] * len(tree))
    spans, _ = brackets(tree, words)
    return span_depth(spans, max(words) + 1, direction)


def span_depth(spans: Brackets, words: int, direction: Direction = "right") -> int:
    """The memory depth of the tree with these spans, after binarisation."""
    if direction not in ("right", "left"):
        raise DbpcfgError(f"direction must be 'right' or 'left', not {direction!r}")
    if words < 2:
        return words
    deepest = 1
    ancestors = [(0, words, False, 1)]  # start, end, whether it is a right node, depth
    for start, end in spans:
        if end - start < 2 or end - start == words:
            continue
        while ancestors[-1][1] <= start:
            ancestors.pop()
        first, last, under_right, depth = ancestors[-1]
        is_right = end == last
        if not is_right and (start > first or under_right):  # see the table above
            is_right = direction == "left" and start > first
            depth += under_right or direction == "right"
        ancestors.append((start, end, is_right, depth))
        deepest = max(deepest, depth)
        if direction == "left" and is_right and end - start > 2 and (start + 1, end) not in spans:
            deepest = max(deepest, depth + 1)  # its children but the last form a left node
    return deepest
