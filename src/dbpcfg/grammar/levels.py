"""Levels: the sides and depths of nodes, numbered.

A node of a binary tree has a side s and a depth d. The root is (L,1). A left node (L,d) has
children (L,d) and (R,d); a right node (R,d) has children (L,d+1) and (R,d). Right nodes deeper than
D do not exist, so (L,D+1) can only be a word. We number the pairs

    level     0      1      2      3    …   2D−2    2D−1     2D
    node    (L,1)  (R,1)  (L,2)  (R,2)  …  (L,D)   (R,D)  (L,D+1)

so that the children of a node on level m are on levels m and m + 1: the left child on the even one,
the right child on the odd one. Without a bound all nodes are alike, and on one level.
"""

from __future__ import annotations

from dbpcfg.errors import GrammarError
from dbpcfg.numerics.kernels import also_in_kernels

GREATEST_DEPTH = 10_000
"""A sentence of a thousand words needs 500 at most; tables grow with the depth."""


def check_depth(depth: int) -> int:
    """Return a valid bound D, or raise a GrammarError."""
    if depth < 1:
        raise GrammarError(f"the depth bound must be at least 1, got {depth}")
    if depth > GREATEST_DEPTH:
        raise GrammarError(
            f"the depth bound must be at most {GREATEST_DEPTH:,}, got {depth:,}: no sentence needs "
            "as much; for no bound choose none"
        )
    return depth


def level_count(depth: int | None) -> int:
    """The number of levels under a bound D, 2D + 1; without one (None), 1."""
    return 1 if depth is None else 2 * check_depth(depth) + 1


def level_name(level: int) -> str:
    """The side and depth of the nodes on a level: L1, R1, L2, …"""
    return f"{'LR'[level % 2]}{level // 2 + 1}"


@also_in_kernels
def left_level(d: int) -> int:
    """The level of (L,d)."""
    return 2 * d - 2


@also_in_kernels
def right_level(d: int) -> int:
    """The level of (R,d)."""
    return 2 * d - 1


@also_in_kernels
def is_right(level: int) -> bool:
    """Whether the nodes on a level are right nodes."""
    return level % 2 == 1


@also_in_kernels
def left_child(level: int) -> int:
    """The level of the left child of a node on this level: the even one of level, level + 1."""
    return level + level % 2


@also_in_kernels
def right_child(level: int) -> int:
    """The level of the right child of a node on this level: the odd one of level, level + 1."""
    return level + (level + 1) % 2


@also_in_kernels
def children(level: int, levels: int) -> tuple[int, int]:
    """The levels of both children; if there is one level only, that."""
    if levels == 1:
        return 0, 0
    return left_child(level), right_child(level)
