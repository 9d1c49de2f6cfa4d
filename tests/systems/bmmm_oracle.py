"""BMMM by brute force: the probability of classes and features, one token after another."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from dbpcfg.systems.bmmm.model import Features


def dense(features: Features) -> list[np.ndarray]:
    """n_ifv as one matrix ``[i, v]`` for each set f."""
    types = features.pointers.shape[1] - 1
    matrices = []
    for f, pointers in enumerate(features.pointers):
        first, last = features.firsts[f : f + 2]
        matrix = np.zeros((types, last - first), dtype=int)
        for i in range(types):
            for entry in range(pointers[i], pointers[i + 1]):
                matrix[i, features.ids[entry] - first] += features.counts[entry]
        matrices.append(matrix)
    return matrices


def log_joint(
    matrices: Sequence[np.ndarray],
    z: Sequence[int],
    classes: int,
    alpha: float,
    betas: Sequence[float],
    own_first: bool = False,
) -> float:
    """log p(z, features): every type and every feature token given those before it.

    ``own_first`` adds a type's counts before it is scored, as the published program does.
    """
    total = 0.0
    types = np.zeros(classes, dtype=int)
    seen = [np.zeros((classes, matrix.shape[1]), dtype=int) for matrix in matrices]
    for i, c in enumerate(z):
        types[c] += own_first
        total += math.log((types[c] + alpha) / (i + own_first + classes * alpha))
        types[c] += not own_first
        for matrix, counts, beta in zip(matrices, seen, betas):
            before = counts[c] + own_first * matrix[i]
            done = 0
            for v, number in enumerate(matrix[i]):
                for token in range(number):
                    mass = before.sum() + done + matrix.shape[1] * beta
                    total += math.log((before[v] + token + beta) / mass)
                    done += 1
            counts[c] += matrix[i]
    return total


def posterior(
    matrices: Sequence[np.ndarray], classes: int, alpha: float, betas: Sequence[float]
) -> dict[tuple[int, ...], float]:
    """p(z | features) of every z."""
    states = list(itertools.product(range(classes), repeat=len(matrices[0])))
    logs = np.array([log_joint(matrices, z, classes, alpha, betas) for z in states])
    p = np.exp(logs - logs.max())
    return dict(zip(states, p / p.sum()))


def conditional(
    matrices: Sequence[np.ndarray],
    z: Sequence[int],
    i: int,
    classes: int,
    alpha: float,
    betas: Sequence[float],
) -> np.ndarray:
    """p(z_i | all other classes, features), from joint probabilities."""
    others = [[*z[:i], c, *z[i + 1 :]] for c in range(classes)]
    logs = np.array([log_joint(matrices, one, classes, alpha, betas) for one in others])
    p = np.exp(logs - logs.max())
    return p / p.sum()
