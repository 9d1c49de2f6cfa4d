"""Trees as EVALB and the tools after its example read them.

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
    """A tree on one line for EVALB; an error if a word has white space."""
    order: list[Tree | str] = []
    todo: list[Tree | str] = [tree]
    while todo:
        item = todo.pop()
        order.append(item)
        if isinstance(item, Tree):
            todo.extend(item.children)
    built: list[Tree] = []  # whatever waits for its parent: nodes, and words below a tag
    for item in reversed(order):  # children before their parents, from left to right
        if isinstance(item, str):
            built.append(Tree(TAG, (item,)))
            continue
        children = built[-len(item.children) :]
        del built[-len(item.children) :]
        if item.preterminal and item.label not in _TOPS:
            children = [Tree(item.label, item.children)]
        elif not item.preterminal:
            children = [Tree(item.label or LABEL, children)]
        built += children
    (whole,) = built
    if tree.label in _TOPS and not tree.preterminal:
        return str(Tree(TOP, whole.children))
    return str(Tree(TOP, (whole,)))
