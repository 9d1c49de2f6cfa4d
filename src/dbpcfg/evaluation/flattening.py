"""Flat trees from binary ones, by a round trip through dependencies.

Binary trees have more brackets than a treebank.  Shain et al. (2016) flatten the trees of their
system before they are scored (UHHMM-F), and Jin et al. (2018) report what this does to theirs, but
it was never published as code.  This is our reading of it: the head child of every node is chosen
by the label of the node (`headedness`), which makes dependencies of the tree, and each head with
dependents becomes one flat constituent (`dbpcfg.trees.dependencies`).

So the constituents that stay are those of the original that are not the head child of their parent:
nothing is added.  Each keeps its own label, which says more than the tag of its head.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbpcfg.corpus.punctuation import by_characters
from dbpcfg.evaluation.headedness import head_sides
from dbpcfg.trees.removal import without_words
from dbpcfg.trees.tree import Tree

__all__ = ["flatten", "flattenable"]


def flattenable(trees: Sequence[Tree]) -> bool:
    """Whether trees are binary and have several labels, by which heads can be estimated."""
    labels = {node.label for tree in trees for node in tree.nodes() if not node.preterminal}
    return len(labels) > 1 and all(tree.is_binary for tree in trees)


def flatten(trees: Sequence[Tree]) -> list[Tree]:
    """Flatten trees.

    ``trees``: all trees of one system, from which the heads of its labels are estimated. Trees
    without labels have one side for all nodes.
    Returns flatter trees without punctuation (unless they have nothing else) and without nodes over
    one child, preterminals excepted.
    """
    bare = [_without_punctuation(tree) for tree in trees]
    sides = head_sides(bare)
    return [_spliced(tree, sides) for tree in bare]


def _without_punctuation(tree: Tree) -> Tree:
    marks = by_characters(tree.words())
    return tree if all(marks) else without_words(tree, marks)


def _spliced(tree: Tree, sides: dict[str, int]) -> Tree:
    """The tree without nodes that are the head child of their parent."""

    def node(item: Tree, children: list[Tree | str]) -> Tree:
        if len(children) == 1:
            (child,) = children
            return child if isinstance(child, Tree) else item
        head = sides[item.label] % len(children)
        parts: list[Tree | str] = []
        for place, child in enumerate(children):
            if place == head and isinstance(child, Tree) and not child.preterminal:
                parts.extend(child.children)
            else:
                parts.append(child)
        return Tree(item.label, parts)

    return tree.fold(str, node)
