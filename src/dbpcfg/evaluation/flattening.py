"""Flat trees from binary ones, by a round trip through dependencies.

Binary trees have more brackets than a treebank.  Shain et al. (2016) flatten the trees of their
system before they are scored (UHHMM-F), and Jin et al. (2018) report what this does to theirs, but
it was never published as code.  This is our reading of it: the head child of every node is chosen
by the label of the node, which makes dependencies of the tree, and each head with
dependents becomes one flat constituent (`dbpcfg.trees.dependencies`).

So the constituents that stay are those of the original that are not the head child of their parent:
nothing is added.  Each keeps its own label, which says more than the tag of its head.

Which side of a label is its head is estimated from the trees alone.

A tree becomes a dependency tree if one child of every node is its head: the head word of a node is
that of its head child, and the head words of the other children depend on it.  Here the head child
is the first or the last, with probability side(first|p) for a node labelled p, and a dependency
tree of *units* has probability::

    root(u) · Π child(c|h,d) · Π side(first or last|p)

over its dependents c with head h in direction d, and over all nodes.  Units are tags, so heads are
chosen such that the words which represent phrases predict each other.  EM sums over all choices,
from uniform parameters, with a little smoothing::

    β(p)[h] = side(first|p) · β(first)[h] · Π_k Σ_c child(c|h,right) β(k)[c]  +  the mirror image

Nothing is random.  Labels are all that sides can depend on: if a treebank has one label, it has one
side.  The model cannot know which of two linked words governs the other, only which words are
linked.
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
"""Of EM."""
UNITS = 50
"""The most frequent tags or words that are units; the others are one more."""
SIDE_PRIOR, UNIT_PRIOR = 0.5, 0.1
"""Pseudo-counts of each side of a label, and of all units together after a head."""


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
        for number, child in enumerate(children):
            if number == head and isinstance(child, Tree) and not child.preterminal:
                parts.extend(child.children)
            else:
                parts.append(child)
        return Tree(item.label, parts)

    return tree.fold(str, node)


@dataclass
class _Nodes:
    """The nodes of all trees with two children or more, and the words, children first."""

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
    """The estimate so far; ``[label, first or last]``, ``[unit]``, ``[direction, head, unit]``."""

    sides: Floats
    root: Floats
    child: Floats

    @classmethod
    def uniform(cls, labels: int, units: int) -> SideModel:
        """Where EM starts."""
        return cls(
            np.full((labels, 2), 1 / 2),
            np.full(units, 1 / units),
            np.full((2, units, units), 1 / units),
        )

    def log_prior(self) -> float:
        """Up to a constant; its sum with the log-likelihood never falls."""
        share = UNIT_PRIOR / len(self.root)
        logs = np.log(self.root).sum() + np.log(self.child).sum()
        return float(SIDE_PRIOR * np.log(self.sides).sum() + share * logs)


def head_sides(trees: Sequence[Tree]) -> dict[str, int]:
    """Estimate for each label which child is the head: 0 for the first, −1 for the last.

    ``trees``: trees with words of one system or treebank. Units are their tags; if there is only
    one tag, or none, the words.
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
    tags = Counter(tag for of_tree in leaves for _, tag in of_tree)
    column = 1 if len(tags) > 1 else 0
    frequencies = tags if column else Counter(word for of_tree in leaves for word, _ in of_tree)
    ranked = sorted(frequencies, key=lambda unit: (-frequencies[unit], unit))
    units = {unit: min(rank, UNITS) for rank, unit in enumerate(ranked)}
    labels: dict[str, int] = {}
    nodes = _Nodes()
    for tree, of_tree in zip(trees, leaves):
        left = iter(of_tree)

        def word(_: str) -> int:
            return nodes.add(0, units[next(left)[column]])  # noqa: B023 (called in this round)

        def node(item: Tree, children: list[int]) -> int:
            if len(children) == 1:
                return children[0]
            return nodes.add(labels.setdefault(item.label, len(labels)), -1, children)

        nodes.roots.append(tree.fold(word, node))
    return nodes, labels, min(len(ranked), UNITS + 1)


def em_step(nodes: _Nodes, model: SideModel) -> tuple[float, SideModel]:
    """The log-likelihood of a model, and the next one."""
    units = len(model.root)
    inside = np.zeros((len(nodes.label), units))
    words = np.array([number for number, unit in enumerate(nodes.unit) if unit >= 0])
    inside[words, np.array(nodes.unit)[words]] = 1.0
    label = np.array(nodes.label)
    parts = []  # of each group: its nodes and children, and both shares of inside
    log_likelihood = 0.0
    for key in sorted(nodes.groups):
        group = np.array(nodes.groups[key])
        first, of_first = _headed(inside, group[:, 1], group[:, 2:], model.child[1])
        last, of_last = _headed(inside, group[:, -1], group[:, 1:-1], model.child[0])
        greatest = np.maximum(of_first, of_last)
        sides = model.sides[label[group[:, 0]]]
        first *= (sides[:, 0] * np.exp(of_first - greatest))[:, None]
        last *= (sides[:, 1] * np.exp(of_last - greatest))[:, None]
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
        of_node = posterior[group[:, 0]] / np.where(inside[group[:, 0]] > 0, inside[group[:, 0]], 1)
        for side, share, head, others in (
            (0, first * of_node, group[:, 1], group[:, 2:]),
            (1, last * of_node, group[:, -1], group[:, 1:-1]),
        ):
            np.add.at(counts.sides[:, side], label[group[:, 0]], share.sum(axis=1))
            posterior[head] += share
            for other in others.T:
                table = model.child[1 - side]
                below = inside[other] @ table.T
                ratio = share / np.where(below > 0, below, 1)
                counts.child[1 - side] += table * (ratio.T @ inside[other])
                posterior[other] += (ratio @ table) * inside[other]
    return log_likelihood, SideModel(
        counts.sides / counts.sides.sum(axis=-1, keepdims=True),
        counts.root / counts.root.sum(),
        counts.child / counts.child.sum(axis=-1, keepdims=True),
    )


def _headed(inside: Floats, head: Longs, others: Longs, child: Floats) -> tuple[Floats, Floats]:
    """β(head)[h] · Π Σ_c child(c|h) β(other)[c] for each row, and the logarithm taken out of it."""
    product: Floats = inside[head].copy()
    logs = np.zeros(len(head))
    for other in others.T:
        product *= inside[other] @ child.T
        scale = product.max(axis=1)
        product /= scale[:, None]
        logs += np.log(scale)
    return product, logs
