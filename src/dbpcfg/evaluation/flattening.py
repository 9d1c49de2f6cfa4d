"""Flatten binary trees, by a round trip through dependencies.

Binary trees have more brackets than a treebank.  Shain et al. (2016) flatten the trees of their
system before scoring (UHHMM-F), and Jin et al. (2018) report the effect on theirs, but the code was
never published.  This is our reading of it: the label of a node determines its head child, so a
tree becomes dependencies, and each head with its dependents becomes one flat constituent
(`dbpcfg.trees.dependencies`).

So the constituents that remain are those that are not the head child of their parent; none is
added.  Each keeps its own label, which says more than the tag of its head.

The head side of each label is estimated from the trees.  The head word of a node is that of its
head child, and the head words of the other children depend on it.  The head child is the first or
the last, with probability side(first|p) for a node labelled p.  A dependency tree of *units* has
probability::

    root(u) · Π child(c|h,d) · Π side(first or last|p)

over its dependents c with head h in direction d, and over all nodes.  Units are tags, so head words
are those that predict each other best.  EM sums over all choices, from uniform parameters, with a
little smoothing::

    β(p)[h] = side(first|p) · β(first)[h] · Π_k Σ_c child(c|h,right) β(k)[c]  +  the mirror image

Nothing is random.  Trees with one label have one head side.  The model learns which words are
linked, not which of the two governs the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dbpcfg.corpus.sentence import by_characters
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.trees.tree import Tree, without_words

ITERATIONS = 20
"""Iterations of EM."""
UNITS = 50
"""The most frequent tags or words are units; all others are one more unit."""
SIDE_PRIOR, UNIT_PRIOR = 0.5, 0.1
"""Pseudo-counts of each side of a label, and of all units together after a head."""


def flattenable(trees: Sequence[Tree]) -> bool:
    """Whether trees can be flattened: they are binary and have several labels."""
    labels = {node.label for tree in trees for node in tree.nodes() if not node.preterminal}
    return len(labels) > 1 and all(tree.is_binary for tree in trees)


def flatten(trees: Sequence[Tree]) -> list[Tree]:
    """Flatten trees.

    Punctuation is removed, unless there is nothing else, and so are unary nodes other than
    preterminals.

    ``trees``: all trees of one system, from which the head sides of its labels are estimated.
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
        for number, child in enumerate(children):
            if number == head and isinstance(child, Tree) and not child.preterminal:
                parts.extend(child.children)
            else:
                parts.append(child)
        return Tree(item.label, parts)

    return tree.fold(str, node)


@dataclass
class _Nodes:
    """The words of all trees, and the nodes with two children or more; children come first."""

    label: list[int] = field(default_factory=list)
    unit: list[int] = field(default_factory=list)  # of words; -1 for nodes
    height: list[int] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    groups: dict[tuple[int, int], list[list[int]]] = field(
        default_factory=lambda: defaultdict(list)
    )  # by height and number of children: the node and its children

    def add(self, label: int, unit: int, children: Sequence[int] = ()) -> int:
        number = len(self.label)
        height = 1 + max((self.height[child] for child in children), default=-1)
        self.label.append(label)
        self.unit.append(unit)
        self.height.append(height)
        if children:
            self.groups[height, len(children)].append([number, *children])
        return number


@dataclass
class SideModel:
    """Parameters: ``[label, first or last]``, ``[unit]`` and ``[direction, head, unit]``."""

    sides: Floats
    root: Floats
    child: Floats

    @classmethod
    def uniform(cls, labels: int, units: int) -> SideModel:
        """The start of EM."""
        return cls(
            np.full((labels, 2), 1 / 2),
            np.full(units, 1 / units),
            np.full((2, units, units), 1 / units),
        )


def head_sides(trees: Sequence[Tree]) -> dict[str, int]:
    """Estimate for each label which child is the head: 0 for the first, −1 for the last.

    ``trees``: the trees of one system or treebank. Units are their tags, or the words if there are
    fewer than two tags.
    """
    nodes, labels, units = _collect(trees)
    if not labels:  # no node has two children
        return {}
    model = SideModel.uniform(len(labels), units)
    for _ in range(ITERATIONS):
        _, model = em_step(nodes, model)
    return {
        label: 0 if model.sides[number, 0] >= model.sides[number, 1] - 1e-9 else -1
        for label, number in labels.items()
    }


def _collect(trees: Sequence[Tree]) -> tuple[_Nodes, dict[str, int], int]:
    leaves = [tree.leaves() for tree in trees]
    tags = Counter(tag for tree_leaves in leaves for _, tag in tree_leaves)
    column = 1 if len(tags) > 1 else 0
    frequencies = (
        tags if column else Counter(word for tree_leaves in leaves for word, _ in tree_leaves)
    )
    ranked = sorted(frequencies, key=lambda unit: (-frequencies[unit], unit))
    units = {unit: min(rank, UNITS) for rank, unit in enumerate(ranked)}
    labels: dict[str, int] = {}
    nodes = _Nodes()
    for tree, tree_leaves in zip(trees, leaves):
        remaining = iter(tree_leaves)

        def word(_: str) -> int:
            return nodes.add(0, units[next(remaining)[column]])  # noqa: B023 (called in this round)

        def node(item: Tree, children: list[int]) -> int:
            if len(children) == 1:
                return children[0]
            return nodes.add(labels.setdefault(item.label, len(labels)), -1, children)

        nodes.roots.append(tree.fold(word, node))
    return nodes, labels, min(len(ranked), UNITS + 1)


def em_step(nodes: _Nodes, model: SideModel) -> tuple[float, SideModel]:
    """The log-likelihood of a model, and the next model."""
    units = len(model.root)
    inside = np.zeros((len(nodes.label), units))
    words = np.array([number for number, unit in enumerate(nodes.unit) if unit >= 0])
    inside[words, np.array(nodes.unit)[words]] = 1.0
    label = np.array(nodes.label)
    parts = []  # of each group: its nodes and children, and both shares of inside
    log_likelihood = 0.0
    for key in sorted(nodes.groups):
        group = np.array(nodes.groups[key])
        first, log_first = _headed(inside, group[:, 1], group[:, 2:], model.child[1])
        last, log_last = _headed(inside, group[:, -1], group[:, 1:-1], model.child[0])
        greatest = np.maximum(log_first, log_last)
        sides = model.sides[label[group[:, 0]]]
        first *= (sides[:, 0] * np.exp(log_first - greatest))[:, None]
        last *= (sides[:, 1] * np.exp(log_last - greatest))[:, None]
        total = (first + last).sum(axis=1)
        log_likelihood += float((np.log(total) + greatest).sum())
        inside[group[:, 0]] = (first + last) / total[:, None]
        parts.append((group, first / total[:, None], last / total[:, None]))
    posterior = np.zeros_like(inside)
    roots = inside[nodes.roots] * model.root
    log_likelihood += float(np.log(roots.sum(axis=1)).sum())
    posterior[nodes.roots] = roots / roots.sum(axis=1, keepdims=True)
    counts = SideModel(
        np.full_like(model.sides, SIDE_PRIOR),
        posterior[nodes.roots].sum(axis=0) + UNIT_PRIOR / units,
        np.full_like(model.child, UNIT_PRIOR / units),
    )
    for group, first, last in reversed(parts):
        node_ratio = posterior[group[:, 0]] / np.where(
            inside[group[:, 0]] > 0, inside[group[:, 0]], 1
        )
        for side, share, head, others in (
            (0, first * node_ratio, group[:, 1], group[:, 2:]),
            (1, last * node_ratio, group[:, -1], group[:, 1:-1]),
        ):
            np.add.at(counts.sides[:, side], label[group[:, 0]], share.sum(axis=1))
            posterior[head] += share
            for child in others.T:
                table = model.child[1 - side]
                child_sum = inside[child] @ table.T
                ratio = share / np.where(child_sum > 0, child_sum, 1)
                counts.child[1 - side] += table * (ratio.T @ inside[child])
                posterior[child] += (ratio @ table) * inside[child]
    return log_likelihood, SideModel(
        counts.sides / counts.sides.sum(axis=-1, keepdims=True),
        counts.root / counts.root.sum(),
        counts.child / counts.child.sum(axis=-1, keepdims=True),
    )


def _headed(
    inside: Floats, head: Longs, others: Longs, probabilities: Floats
) -> tuple[Floats, Floats]:
    """β(head)[h] · Π Σ_c child(c|h) β(other)[c] for each row, scaled, and the log of the scale."""
    product: Floats = inside[head].copy()
    logs = np.zeros(len(head))
    for child in others.T:
        product *= inside[child] @ probabilities.T
        scale = product.max(axis=1)
        product /= scale[:, None]
        logs += np.log(scale)
    return product, logs
