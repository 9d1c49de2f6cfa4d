"""Trees as the kernels write them."""

import numpy as np

from dbpcfg.trees.tree import Tree


def as_nodes(tree: Tree, categories: dict[str, int] | None = None) -> np.ndarray:
    """Pre-order nodes of a binary tree, whose labels are X0, X1, … or numbered by the caller."""
    assert tree.is_binary, tree
    spans = tree.spans(preterminals=True)
    numbers = [int(s.label[1:]) if categories is None else categories[s.label] for s in spans]
    rows = [(s.start, s.end, c) for s, c in zip(spans, numbers, strict=True)]
    return np.array(rows, dtype=np.int32)
