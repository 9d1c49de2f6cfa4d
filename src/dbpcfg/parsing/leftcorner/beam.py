"""The most probable stores only, where all of them are too many.

A beam is a list of stores, by their numbers in ascending order (as ``filtering`` numbers them:
shallow ones first), and their probabilities. A word changes at most the last two fragments of a
store, so what becomes of the beam is a few dense blocks: ``out[s, a, b]`` is the probability of the
store ``blocks[s]`` with one more fragment a/b on it. Read in order, the blocks' entries are again
in ascending order of their numbers, and of the greatest B of them the next beam is made.

What is dropped is gone, and the rest is scaled up to one again. So with S_t the probability of word
t under the beam, and lost_t the share of it that was then dropped, Π_t S_t (1 − lost_t) ≤ P(words).
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.leftcorner.filtering import offset, word_moves
from dbpcfg.parsing.leftcorner.models import Models
from dbpcfg.parsing.leftcorner.tracing import Trace, note_word, observe

LARGEST_NUMBER = 2**62
"""Stores have numbers below this one, so that they fit into 64 bits."""


@also_in_kernels
def below(number: int, d: int, firsts: Longs, K: int) -> int:
    """The store without its last fragment; ``firsts[d]`` is the first store of depth d."""
    parent: int = firsts[d - 1] + (number - firsts[d]) // (K * K)
    return parent


@also_in_kernels
def blocks_after(numbers: Longs, firsts: Longs, K: int) -> Longs:
    """Stores on which the next word can put a fragment: those of the beam, less 0, 1 or 2.

    A fork may begin a fragment on a store; the word may replace its last one, or its last two by
    one. Ascending, each once.
    """
    D = len(firsts) - 2
    found = np.empty(3 * len(numbers), dtype=np.int64)
    count, d = 0, 0
    for number in numbers:
        while number >= firsts[d + 1]:
            d += 1
        rest = number
        for less in range(min(d, 2) + 1):
            if less > 0:
                rest = below(rest, d - less + 1, firsts, K)
            if d - less < D:
                found[count] = rest
                count += 1
    return np.unique(found[:count])


@also_in_kernels
def expand(
    numbers: Longs, x: Floats, M: Models, o: Floats, firsts: Longs, blocks: Longs, out: Floats
) -> float:
    """One word: fill ``out`` and return the probability of sentences that end here.

    The four fork and join cases of ``filtering.fork`` and ``filtering.complete``, the stores that
    differ in their last fragment only at one go.
    """
    K, D = len(o), M.fork.shape[0] - 1
    joined, begun = np.empty((D + 1, K, K)), np.empty((D + 1, K, K, K))
    for d in range(D + 1):
        word_moves(M, o, d, False, joined[d], begun[d])
    out[:] = 0.0
    finished = np.empty(K)
    ended = 0.0
    i, d = 0, 0
    while i < len(numbers):
        while numbers[i] >= firsts[d + 1]:
            d += 1
        if d == 0:  # no word has been read
            ended += x[i] * joined[0, 0, 0]
            out[0] += x[i] * begun[0, 0]
            i += 1
            continue
        parent = below(numbers[i], d, firsts, K)
        here = np.searchsorted(blocks, parent)
        last = firsts[d] + (parent - firsts[d - 1] + 1) * K * K  # of stores on this parent, plus 1
        finished[:] = 0.0
        while i < len(numbers) and numbers[i] < last:
            fragment = (numbers[i] - firsts[d]) % (K * K)
            a, b = fragment // K, fragment % K
            finished[a] += x[i] * (M.fork[d, b, 0] * o[b])
            for b2 in range(K):
                out[here, a, b2] += x[i] * joined[d, b, b2]
            if d < D:
                s = np.searchsorted(blocks, numbers[i])
                for a2 in range(K):
                    for b2 in range(K):
                        out[s, a2, b2] += x[i] * begun[d, b, a2, b2]
            i += 1
        y, top, above = 0, 0, 0
        if d > 1:
            fragment = (parent - firsts[d - 1]) % (K * K)
            top, y = fragment // K, fragment % K
            above = int(np.searchsorted(blocks, below(parent, d - 1, firsts, K)))
        for a in range(K):
            if finished[a] == 0.0:
                continue
            z = finished[a] * M.join[d - 1, y, a, 1]
            if d == 1:
                ended += z * M.bottom_right[0, 0, a, 0]
            else:
                for b2 in range(K):
                    out[above, top, b2] += z * M.bottom_right[d - 1, y, a, b2]
            for a2 in range(K):
                z = finished[a] * M.join[d - 1, y, a, 0] * M.top[d - 1, y, a, a2]
                if z > 0.0:
                    for b2 in range(K):
                        out[here, a2, b2] += z * M.bottom_left[d - 1, a2, a, b2]
    return ended


@also_in_kernels
def least_kept(out: Floats, beam: int) -> tuple[float, int]:
    """The least probability that stays in the beam, and how many entries of just that one do."""
    values = np.empty(out.size)
    count = 0
    for x in out.flat:
        if x > 0.0:
            values[count] = x
            count += 1
    if count <= beam:
        return 0.0, 0
    least = np.partition(values[:count], count - beam)[count - beam]
    greater = 0
    for x in values[:count]:
        greater += x > least
    return least, beam - greater


@also_in_kernels
def prune(
    out: Floats, beam: int, blocks: Longs, firsts: Longs, K: int
) -> tuple[Longs, Floats, float]:
    """The next beam, and the probability dropped. Among equals the lower numbers stay."""
    least, equals = least_kept(out, beam)
    numbers, x = np.empty(min(beam, out.size), np.int64), np.empty(min(beam, out.size))
    count, d, dropped = 0, 0, 0.0
    for s in range(len(blocks)):
        while blocks[s] >= firsts[d + 1]:
            d += 1
        number = firsts[d + 1] + (blocks[s] - firsts[d]) * K * K
        for y in out[s].flat:
            if y > least or (y == least and y > 0.0 and equals > 0):
                equals -= y == least
                numbers[count], x[count] = number, y
                count += 1
            else:
                dropped += y
            number += 1
    return numbers[:count], x[:count], dropped


@kernel
def follow_beam(words: Ints, M: Models, beam: int, trace: Trace) -> None:
    """Follow a sentence with the ``beam`` most probable stores, as ``follow`` does with all.

    The empty store, the end of the sentence, always stays. If nothing is left after something was
    dropped, the probability of the word is unknown: not a number.
    """
    n, K, D = len(words), M.fork.shape[1], M.fork.shape[0] - 1
    firsts = np.array([offset(d, K) for d in range(D + 2)])
    near = np.empty((D + 1, K, K, K))
    numbers, x, ended = np.zeros(1, dtype=np.int64), np.ones(1), 0.0
    nothing = -np.inf
    for t in range(n + 1):
        awaited = observe(numbers, x, ended, M, trace, t, near)
        if t == n:
            trace.logs[t], trace.lost[t] = np.log(ended) if ended > 0.0 else nothing, 0.0
            return
        word = words[t]
        possible = word >= 0 and M.log_scale[word] > -np.inf
        total = 0.0
        if possible:
            blocks = blocks_after(numbers, firsts, K)
            out = np.empty((len(blocks), K, K))
            ended = expand(numbers, x, M, M.emission[word], firsts, blocks, out)
            total = ended + out.sum()
        if total == 0.0:
            trace.logs[t], trace.lost[t] = nothing if possible else -np.inf, 0.0
            return
        note_word(near, awaited, M, word, total, trace, t)
        numbers, x, dropped = prune(out, beam, blocks, firsts, K)
        trace.lost[t] = dropped / total
        if dropped > 0.0:
            nothing = np.nan
        kept = ended + x.sum()
        x /= kept
        ended /= kept
