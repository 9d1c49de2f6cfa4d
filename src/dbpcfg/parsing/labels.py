"""Labels for the phrases of a consensus, from what each chain says of them.

Chains name their categories in their own way, and differ in them more than in their brackets. So a
phrase has a latent class: a mixture, in which each class z draws what there is to see of a phrase,
independently (Lazarsfeld and Henry 1968). To see are the label that each chain has on the phrase,
and the category that it gives to the word at the phrase's *edge*: the first word if phrases of the
language branch to the right, the last one if to the left. There stand the function words, which say
what a phrase is: *the* or *my* of a noun phrase, a particle in Japanese. Labels alone follow the
place of a phrase in the sentence more than its kind (docs/results-learners.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations
from dbpcfg.parsing.direction import Side

EDGES = 2
"""How many times the category of the word at the edge counts, where a label counts once."""
ITERATIONS, PRIOR = 60, 0.1
"""Iterations of EM, and what is added to each count."""
SAMPLE = 100_000
"""Phrases from which classes are learned, at most; all have one."""


def edge_categories(trees: Derivations, nodes: Ints, side: Side) -> Longs:
    """``[node]``: the category of the word at the edge of each node that shows what it is.

    ``nodes``: those of other trees of the same sentences.
    """
    own, starts, lengths = trees.nodes, trees.corpus.starts, trees.corpus.lengths
    words = own[:, END] - own[:, START] == 1
    sentence = np.repeat(np.arange(len(lengths)), 2 * lengths - 1)
    category = np.zeros(len(trees.corpus.tokens), dtype=np.int64)
    category[starts[sentence[words]] + own[words, START]] = own[words, CATEGORY]
    edge = nodes[:, START] if side == "right" else nodes[:, END] - 1
    found: Longs = category[starts[sentence] + edge]
    return found


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """Classes of phrases, learned from some phrases, for these and others.

    ``names``: that of each class; none if phrases keep their first label.
    ``priors``: ``[z]``: log P(z).
    ``labels``: ``[column * size + label, z]``: log P(label | z) of each column.
    """

    names: Longs
    priors: Floats
    labels: Floats

    @classmethod
    def learn(cls, labels: Ints | Longs) -> LatentClasses:
        """Learn classes from the labels of phrases, several of each.

        EM starts from the first label, so that class k is what that calls k (Dempster, Laird and
        Rubin 1977).

        ``labels``: ``[phrase, column]``, -1 where a column has none; one of a chain is a column.
        """
        first = labels[:, 0]
        names = np.unique(first[first >= 0]).astype(np.int64)
        if not len(names) or (labels.shape[1] == 1 and (first >= 0).all()):
            return cls(names[:0], np.zeros(0), np.zeros((labels.shape[1], 0)))
        some: Longs = labels[:: -(-len(labels) // SAMPLE)].astype(np.int64)
        patterns, counts = np.unique(some, axis=0, return_counts=True)
        size = int(labels.max()) + 1
        there = _indicators(patterns, size)
        weights: Floats = (patterns[:, :1] == names).astype(float)  # P(z | labels), at first
        for _ in range(ITERATIONS):
            expected = weights * counts[:, np.newaxis]
            logs, logs_of_labels = _log_probabilities(there, expected, size)
            weights = there @ logs_of_labels + logs
            weights = np.exp(weights - weights.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
        return cls(names, logs, logs_of_labels)

    def of(self, labels: Ints | Longs) -> Longs:
        """The class of each phrase; a label that was not seen before says nothing."""
        if not len(self.names) or not len(labels):
            return np.maximum(labels[:, 0], 0).astype(np.int64)
        size = len(self.labels) // labels.shape[1]
        classes = []
        for part in np.array_split(labels, -(-len(labels) // SAMPLE)):
            known: Longs = np.where(part < size, part, -1)
            there = _indicators(known, size)
            classes.append((there @ self.labels + self.priors).argmax(axis=1))
        found: Longs = self.names[np.concatenate(classes)]
        return found


def _indicators(labels: Longs, size: int) -> csr_array:
    """``[phrase, column * size + label]``: 1 where a column has this label."""
    rows, columns = np.nonzero(labels >= 0)
    at = columns * size + labels[rows, columns]
    shape = (len(labels), labels.shape[1] * size)
    return csr_array((np.ones(len(rows)), (rows, at)), shape=shape)


def _log_probabilities(there: csr_array, expected: Floats, size: int) -> tuple[Floats, Floats]:
    """log P(z), and ``[column * size + label, z]``: log P(label | z) of each column."""
    uses = (there.T @ expected).reshape(-1, size, expected.shape[1]) + PRIOR
    of_labels = np.log(uses / uses.sum(axis=1, keepdims=True)).reshape(-1, expected.shape[1])
    return np.log(expected.sum(axis=0) + PRIOR), of_labels
