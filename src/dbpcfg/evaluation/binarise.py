"""Binary trees from trees of any shape.

Punctuation goes first, if asked, and nodes left without words with it.  Nodes over the same words
become one, with the topmost label.  A node with children c₁ … c_k, k > 2, becomes
``c₁ (c₂ (… c_k))`` with ``direction="right"`` and ``((c₁ c₂) …) c_k`` with ``"left"``; a new node
has the label of the old one with a prime, as in NP'.  A word beside other children gets a
preterminal labelled "".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree

__all__ = ["Direction", "binarise", "check_direction"]

Direction: TypeAlias = Literal["right", "left"]


def binarise(
    tree: Tree, direction: Direction = "right", punctuation: Sequence[bool] | None = None
) -> Tree:
    """The tree made binary; ``punctuation`` marks the words that are taken out."""
    check_direction(direction)
    order: list[Tree | str] = []  # pre-order
    todo: list[Tree | str] = [tree]
    while todo:
        item = todo.pop()
        order.append(item)
        if isinstance(item, Tree):
            todo.extend(reversed(item.children))
    removed = list(punctuation) if punctuation is not None else [False] * len(tree)
    if len(removed) != len(tree):
        raise DbpcfgError(f"{len(tree)} words but {len(removed)} marks of punctuation")
    built: list[Tree | None] = []
    for item in reversed(order):  # so that children wait on the stack, the first one on top
        if isinstance(item, str):
            built.append(None if removed.pop() else Tree("", (item,)))
        else:
            waiting = [built.pop() for _ in item.children]
            built.append(_joined(item.label, [it for it in waiting if it is not None], direction))
    whole = built.pop()
    if whole is None:
        raise DbpcfgError("nothing but punctuation is in the tree: there is nothing to make binary")
    return whole


def _joined(label: str, children: list[Tree], direction: Direction) -> Tree | None:
    if not children:
        return None
    if len(children) == 1:
        return Tree(label, children[0].children)
    new = label + "'"
    if direction == "right":
        joined = children.pop()
        while len(children) > 1:
            joined = Tree(new, (children.pop(), joined))
        return Tree(label, (children[0], joined))
    children.reverse()
    joined = children.pop()
    while len(children) > 1:
        joined = Tree(new, (joined, children.pop()))
    return Tree(label, (joined, children[0]))


def check_direction(direction: str) -> None:
    """Refuse anything but right and left."""
    if direction not in ("right", "left"):
        raise DbpcfgError(f"direction must be 'right' or 'left', not {direction!r}")
