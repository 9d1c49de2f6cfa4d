"""Features of word types, the probability of classes, and steps for hyperparameters.

**Features**: what each type occurs with, and how often.

==========  ======================================================================================
context     the left and the right neighbour of each token: one of the |F| most frequent types, or
            NULL for any other; nothing at the edge of a sentence.  2(|F| + 1) features: left
            neighbours, left NULL, right neighbours, right NULL.
deps        the class of each token's head, or ROOT, for the token's type; and, as dependencies are
            undirected here, the class of the token for the type of its head.  One feature for each
            class of the previous generation, and ROOT.
==========  ======================================================================================

Types are numbered by first occurrence, which also ranks equally frequent types.

**Probability** of classes and features with θ and φ integrated out: Pólya urns. K urns have balls
of V colours. Of n_vc balls of colour v drawn from urn c, in any fixed order,

    log p(n | x) = Σ_c [ Σ_v L(n_vc, x) − L(n_c, Vx) ],      L(m, x) = Σ_{t<m} log(t + x)

With the features of set f as colours and classes as urns this is log p(features | z, β_f); with
classes as colours and one urn it is log p(z | α).

**Metropolis–Hastings steps** for α and each β_f, given the classes. x' ~ Normal(x, (x/10)²) is
accepted with probability min(1, r),

    r = (p(z, features | x') / p(z, features | x))^τ · N(x; x', (x'/10)²) / N(x'; x, (x/10)²)

The prior is flat between `MINIMUM` and `MAXIMUM`: over all positive numbers the posterior would be
improper, as the likelihood tends to a constant when x grows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural
from dbpcfg.numerics.elementary import log
from dbpcfg.numerics.kernels import Floats, Longs, also_in_kernels, kernel
from dbpcfg.numerics.philox import Stream, compiled_uniform_pair
from dbpcfg.systems.registry import check_sentences


class Text(NamedTuple):
    """Sentences as numbers of types."""

    vocabulary: dict[str, int]
    """The number of each type, by first occurrence."""
    tokens: Longs
    """The types of all tokens, sentence after sentence."""
    lengths: Longs
    """The length of each sentence."""


class Features(NamedTuple):
    """The nonzero counts n_ifv, type by type.

    In set f, type i has the entries ``pointers[f, i]`` to ``pointers[f, i + 1]`` of ``ids`` and
    ``counts``.
    """

    pointers: Longs
    """``[f, i]``: the first entry of type i in set f."""
    ids: Longs
    """The features, numbered over all sets."""
    counts: Longs
    """How often each occurs."""
    firsts: Longs
    """``[f]``: the first feature of set f; at the end the number of all features."""


def number_types(sentences: Sequence[Sequence[str]]) -> Text:
    """Number the types of sentences; raise an error if there are none, or one is empty."""
    check_sentences(sentences)
    if not sentences:
        raise DbpcfgError("there are no sentences to learn from; give at least one")
    vocabulary: dict[str, int] = {}
    tokens = [vocabulary.setdefault(word, len(vocabulary)) for line in sentences for word in line]
    lengths = [len(sentence) for sentence in sentences]
    return Text(vocabulary, np.array(tokens, dtype=np.int64), np.array(lengths, dtype=np.int64))


def context_features(text: Text, words: int = 100, faithful: bool = False) -> Features:
    """The neighbours of each type.

    ``words``: the number |F| of types that are features; all if there are fewer.
    ``faithful``: whether the most frequent type counts as NULL, as in the published program.
    """
    tokens, types = text.tokens, len(text.vocabulary)
    frequency = np.bincount(tokens, minlength=types)
    frequent = np.argsort(-frequency, kind="stable")[:words]
    null = len(frequent)
    feature = np.full(types, null, dtype=np.int64)
    feature[frequent] = np.arange(null)
    if faithful:
        feature[frequent[:1]] = null
    follows_a_word = np.ones(len(tokens), dtype=np.bool_)  # tokens that do not begin a sentence
    follows_a_word[np.cumsum(text.lengths) - text.lengths] = False
    right_positions = np.flatnonzero(follows_a_word)
    left_positions = right_positions - 1
    owners = np.concatenate([tokens[right_positions], tokens[left_positions]])
    neighbours = np.concatenate(
        [feature[tokens[left_positions]], feature[tokens[right_positions]] + null + 1]
    )
    return _counted(owners, neighbours, types, 2 * (null + 1))


def dependency_features(
    text: Text, heads: Sequence[ArrayLike], tags: Sequence[ArrayLike], classes: int
) -> Features:
    """The classes of the head and the dependents of each type.

    ``heads``: for each sentence the position of each token's head, from 0; −1 for the root.
    ``tags``: for each sentence the class of each token in the previous generation.
    ``classes``: the number of these classes, if not all of them occur.
    """
    positions, classes_of = _joined("heads", heads, text), _joined("tags", tags, text)
    lengths = np.repeat(text.lengths, text.lengths)
    if ((positions < -1) | (positions >= lengths)).any():
        worst = int(np.flatnonzero((positions < -1) | (positions >= lengths))[0])
        sentence = int(np.searchsorted(np.cumsum(text.lengths), worst, side="right"))
        raise DbpcfgError(
            f"sentence {sentence + 1} of {plural(int(text.lengths[sentence]), 'word')} has the "
            f"head {positions[worst]}; heads are positions from 0, or -1 for the root"
        )
    if (classes_of < 0).any():
        raise DbpcfgError(f"tags must be classes from 0, found {classes_of.min()}")
    root = max(classes, int(classes_of.max()) + 1)
    starts = np.repeat(np.cumsum(text.lengths) - text.lengths, text.lengths)
    dependents = np.flatnonzero(positions >= 0)
    head = (starts + positions)[dependents]
    head_classes = np.full(len(text.tokens), root, dtype=np.int64)
    head_classes[dependents] = classes_of[head]
    owners = np.concatenate([text.tokens, text.tokens[head]])
    related = np.concatenate([head_classes, classes_of[dependents]])
    return _counted(owners, related, len(text.vocabulary), root + 1)


def join_features(*sets: Features) -> Features:
    """Join several sets of features."""
    entries = np.cumsum([0, *(len(features.ids) for features in sets)])
    firsts = np.cumsum([0, *(features.firsts[-1] for features in sets)])
    return Features(
        np.concatenate([features.pointers + entry for features, entry in zip(sets, entries)]),
        np.concatenate([features.ids + first for features, first in zip(sets, firsts)]),
        np.concatenate([features.counts for features in sets]),
        firsts,
    )


def _counted(owners: Longs, features: Longs, types: int, size: int) -> Features:
    """Count how often each type occurs with each feature of one set."""
    pairs, counts = np.unique(owners * size + features, return_counts=True)
    pointers = np.searchsorted(pairs, np.arange(types + 1) * size)[np.newaxis]
    return Features(pointers, pairs % size, counts, np.array([0, size], dtype=np.int64))


def _joined(name: str, parts: Sequence[ArrayLike], text: Text) -> Longs:
    """The numbers of all sentences in one array; raise an error unless there is one per token."""
    arrays = [np.asarray(part) for part in parts]
    if len(arrays) != len(text.lengths):
        raise DbpcfgError(f"{plural(len(text.lengths), 'sentence')}, but {name} of {len(arrays)}")
    for number, (array, length) in enumerate(zip(arrays, text.lengths), start=1):
        if array.shape != (length,) or array.dtype.kind not in "iu":
            raise DbpcfgError(
                f"sentence {number} has {plural(int(length), 'word')}; its {name} must be as many "
                f"whole numbers, not {array.dtype} of shape {array.shape}"
            )
    return np.concatenate(arrays).astype(np.int64)


class ClassCounts(NamedTuple):
    """Counts of types, features and tokens for each class."""

    types: Longs
    """``[c]``: N_c, the number of types."""
    features: Longs
    """``[v, c]``: tokens of each feature, numbered over all sets."""
    tokens: Longs
    """``[f, c]``: tokens of all features of a set."""


@also_in_kernels
def running_logs(x: float, size: int) -> Floats:
    """L(m, x) for m = 0, …, size."""
    table = np.empty(size + 1)
    for m in range(size):
        table[m + 1] = log(m + x)
    table[0] = 0.0
    for m in range(size):
        table[m + 1] += table[m]
    return table


@kernel
def log_polya(n: Longs, x: float) -> float:
    """log p(n | x); n is ``[v, c]``."""
    V, K = n.shape
    totals = np.zeros(K, dtype=np.int64)
    greatest = 0
    for v in range(V):
        for c in range(K):
            totals[c] += n[v, c]
            greatest = max(greatest, n[v, c])
    of_one, of_all = running_logs(x, greatest), running_logs(V * x, totals.max())
    total = 0.0
    for v in range(V):
        for c in range(K):
            total += of_one[n[v, c]]
    for c in range(K):
        total -= of_all[totals[c]]
    return total


def count_classes(features: Features, z: Longs, classes: int) -> ClassCounts:
    """Count types, features and tokens for each class."""
    sets, firsts = len(features.pointers), features.firsts
    counts = np.zeros((firsts[-1], classes), dtype=np.int64)
    for pointers in features.pointers:
        entries = slice(pointers[0], pointers[-1])
        owners = np.repeat(np.arange(len(z)), np.diff(pointers))
        np.add.at(counts, (features.ids[entries], z[owners]), features.counts[entries])
    tokens = [counts[firsts[f] : firsts[f + 1]].sum(axis=0) for f in range(sets)]
    return ClassCounts(np.bincount(z, minlength=classes), counts, np.array(tokens))


def log_posterior(features: Features, counts: ClassCounts, j: int, x: float) -> float:
    """The term of hyperparameter j, α if 0 and else β of set j − 1, at the value x."""
    if j == 0:
        return log_polya(counts.types[:, np.newaxis], x)
    return log_polya(counts.features[features.firsts[j - 1] : features.firsts[j]], x)


MINIMUM, MAXIMUM = 1e-6, 1e3
"""The range of hyperparameters."""
ROUNDS = 5
"""Steps of each hyperparameter at a time."""
WIDTH = 0.1
"""The standard deviation of a proposal, relative to the value."""


def step(
    x: Floats,
    log_density: Callable[[int, float], float],
    tau: float,
    numbers: Stream,
    faithful: bool = False,
) -> None:
    """Make `ROUNDS` steps of each hyperparameter.

    ``log_density``: returns the term of hyperparameter j in the log posterior, at a value.
    ``numbers``: the random numbers; item is j, draws are from 1.
    ``faithful``: whether to follow the published program (see the package).
    """
    terms = [log_density(j, x[j]) for j in range(len(x))]
    start = sum(terms)
    for number in range(ROUNDS):
        for j in range(len(x)):
            proposed = x[j] * (1 + WIDTH * _normal(numbers, j, 2 * number + 1))
            if not MINIMUM <= proposed <= MAXIMUM:
                continue
            term = log_density(j, proposed)
            gain = sum(terms) - terms[j] + term - start if faithful else term - terms[j]
            proposal_ratio = _log_normal(x[j], proposed) - _log_normal(proposed, x[j])
            log_r = tau * (gain + proposal_ratio) if faithful else tau * gain + proposal_ratio
            if math.log(compiled_uniform_pair(numbers, j, 2 * number + 2)[0]) < log_r:
                x[j], terms[j] = proposed, term


def _normal(numbers: Stream, item: int, draw: int) -> float:
    """A standard normal number (Box and Muller)."""
    u, v = compiled_uniform_pair(numbers, item, draw)
    return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)


def _log_normal(x: float, mean: float) -> float:
    """log N(x; mean, (mean/10)²) without its constant."""
    return -0.5 * ((x - mean) / (WIDTH * mean)) ** 2 - math.log(mean)


def faithful_log_posterior(
    features: Features, counts: ClassCounts, z: Longs, j: int, x: float
) -> float:
    """The program's term of hyperparameter j, α if 0 and else β of set j − 1, at the value x."""
    if j == 0:
        return _faithful_classes(counts.types, x)
    return _faithful_features(features, counts, z, j - 1, x)


@kernel
def _faithful_classes(types: Longs, alpha: float) -> float:
    """Σ_i log (m_i + α) / (i + Kα), i from 1; type i is the m_i-th of its class."""
    K, N = len(types), types.sum()
    of_one, of_all = running_logs(alpha, types.max() + 1), running_logs(K * alpha, N + 1)
    total = -float(of_all[N + 1] - of_all[1])
    for c in range(K):
        total += of_one[types[c] + 1] - of_one[1]
    return total


@kernel
def _faithful_features(
    features: Features, counts: ClassCounts, z: Longs, f: int, beta: float
) -> float:
    """Σ_i log p(features of i in f | types up to and including i)."""
    first, size = features.firsts[f], features.firsts[f + 1] - features.firsts[f]
    K = len(counts.types)
    n, totals = np.zeros((size, K), dtype=np.int64), np.zeros(K, dtype=np.int64)
    greatest = counts.features[first : first + size].max()
    of_one = running_logs(beta, 2 * greatest)
    of_all = running_logs(size * beta, 2 * counts.tokens[f].max())
    total = 0.0
    for i in range(len(z)):
        c = z[i]
        tokens = 0
        for entry in range(features.pointers[f, i], features.pointers[f, i + 1]):
            v, number = features.ids[entry] - first, features.counts[entry]
            tokens += number
            n[v, c] += number
            total += of_one[n[v, c] + number] - of_one[n[v, c]]
        totals[c] += tokens
        total -= of_all[totals[c] + tokens] - of_all[totals[c]]
    return total
