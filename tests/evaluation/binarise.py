"""Binary trees from trees of any shape: what `dbpcfg.evaluation.depths` computes without them.

Punctuation goes first, and nodes left without words with it.  Nodes over the same words become one,
with the topmost label.  A new node has the label of the old one with a prime, as in NP'.  A word
beside other children gets a preterminal labelled "".
"""

from collections.abc import Sequence

from dbpcfg.evaluation.depths import Direction
from dbpcfg.trees.tree import Tree


def binarise(tree: Tree, direction: Direction, punctuation: Sequence[bool] | None = None) -> Tree:
    """The tree made binary; ``punctuation`` marks the words that are taken out, never all."""
    removed = iter([False] * len(tree) if punctuation is None else punctuation)
    whole = tree.fold(
        lambda word: None if next(removed) else Tree("", (word,)),
        lambda node, parts: _joined(node.label, [it for it in parts if it is not None], direction),
    )
    assert whole is not None
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
