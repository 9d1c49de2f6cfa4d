"""Trees as EVALB reads them, and tools that follow its format.

One tree a line, below a node ``TOP``. Each word has a preterminal, which such tools take for a part
of speech and do not score: where a tree has none, it is ``XX``, the Penn Treebank's tag for a word
of unknown kind. A node without a label is ``X``. Round brackets in words are ``-LRB-`` and
``-RRB-``; other characters stay, so that words are still those of the gold trees.
"""

from __future__ import annotations

from dbpcfg.trees.tree import Tree

TOP, TAG, LABEL = "TOP", "XX", "X"
_TOPS = ("", "TOP", "ROOT")


def evalb_line(tree: Tree) -> str:
    """Write a tree on one line for EVALB."""
    whole = tree.fold(lambda word: Tree(TAG, (word,)), _labelled)
    if tree.label in _TOPS and not tree.preterminal:
        return str(Tree(TOP, whole.children))
    return str(Tree(TOP, (whole,)))


def _labelled(node: Tree, children: list[Tree]) -> Tree:
    """A node with a label, over children that have one."""
    if not node.preterminal:
        return Tree(node.label or LABEL, children)
    return children[0] if node.label in _TOPS else node
