"""Forward filtering and backward sampling: the distribution over stores, and store sequences.

A store of depth d is an index into a tensor over (a¹, b¹, …, aᵈ, bᵈ); the tensors of all depths are
concatenated in one vector. There is no transition matrix: each of the four fork and join cases is a
small contraction on the last axes. The empty store starts the sentence; a join at depth 0 ends it.

Every function here works with sums (the forward distribution) or, if ``best``, with maxima (the
most probable store sequence).
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, also_in_kernels, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.parsing.leftcorner.models import BOTTOM, FORK, JOIN, PRETERMINAL, TOP, Models


@also_in_kernels
def offset(depth: int, K: int) -> int:
    """Where the stores of a depth begin: after the Σ_{e < depth} K^(2e) stores of lower depth."""
    first = 0
    for e in range(depth):
        first += K ** (2 * e)
    return first


@also_in_kernels
def combine(x: float, y: float, best: bool) -> float:
    """Sum, or maximum."""
    return max(x, y) if best else x + y


@also_in_kernels
def word_moves(M: Models, o: Floats, d: int, best: bool, joined: Floats, started: Floats) -> None:
    """The weights of a forked word below each bottom sign b at depth d.

    ``joined[b, b']``: it joins b, and b' is awaited; ``started[b, a, b']``: it starts a fragment
    a/b'. Both are summed over the word's category p, with o[p] the word's probability::

        joined = F_d(1|b) P_d(p|b) o[p] J_d(1|b p) B_R,d(b'|b p)
        started  = F_d(1|b) P_d(p|b) o[p] J_d(0|b p) A_d(a|b p) B_L,d+1(b'|a p)
    """
    K = len(o)
    joined[:] = 0.0
    started[:] = 0.0
    for b in range(1 if d == 0 else K):
        for p in range(K):
            x = M.fork[d, b, 1] * M.preterminal[d, b, p] * o[p]
            if x == 0.0:
                continue
            y = x * M.join[d, b, p, 1]
            for b2 in range(K):
                joined[b, b2] = combine(joined[b, b2], y * M.bottom_right[d, b, p, b2], best)
            for a in range(K):
                y = x * M.join[d, b, p, 0] * M.top[d, b, p, a]
                if y == 0.0:
                    continue
                for b2 in range(K):
                    z = y * M.bottom_left[d, a, p, b2]
                    started[b, a, b2] = combine(started[b, a, b2], z, best)


@also_in_kernels
def fork(
    v: Floats, d: int, D: int, best: bool, joined: Floats, started: Floats, following: Floats
) -> None:
    """Add the successors of stores of depth d if the next word forks."""
    K = joined.shape[0]
    signs = 1 if d == 0 else K  # bottom signs at depth d
    here, deeper = offset(d, K), offset(d + 1, K)
    for store in range(K ** (2 * d)):
        x = v[here + store]
        if x == 0.0:
            continue
        head, b = store // signs, store % signs
        for b2 in range(signs):
            to = here + head * signs + b2
            following[to] = combine(following[to], x * joined[b, b2], best)
        if d < D:
            for a in range(K):
                for b2 in range(K):
                    to = deeper + (store * K + a) * K + b2
                    following[to] = combine(following[to], x * started[b, a, b2], best)


@also_in_kernels
def complete(v: Floats, M: Models, o: Floats, d: int, best: bool, following: Floats) -> None:
    """Add the successors of stores of depth d > 0 if the next word is the bottom sign itself.

    Fragment d is then finished, and its top sign a joins the bottom sign y of depth d − 1, or
    becomes the left child of a new top sign at depth d::

        F_d(0|b) o[b] J_d−1(1|y a) B_R,d−1(b'|y a)
        F_d(0|b) o[b] J_d−1(0|y a) A_d−1(a'|y a) B_L,d(b'|a' a)
    """
    K = len(o)
    signs = 1 if d == 1 else K  # bottom signs at depth d − 1
    here, above = offset(d, K), offset(d - 1, K)
    for fragment in range(K ** (2 * d - 1)):
        x = 0.0
        for b in range(K):
            x = combine(x, v[here + fragment * K + b] * (M.fork[d, b, 0] * o[b]), best)
        if x == 0.0:
            continue
        store, a = fragment // K, fragment % K
        head, y = store // signs, store % signs
        z = x * M.join[d - 1, y, a, 1]
        for b2 in range(signs):
            to = above + head * signs + b2
            following[to] = combine(following[to], z * M.bottom_right[d - 1, y, a, b2], best)
        for a2 in range(K):
            z = x * M.join[d - 1, y, a, 0] * M.top[d - 1, y, a, a2]
            if z == 0.0:
                continue
            for b2 in range(K):
                to = here + (store * K + a2) * K + b2
                following[to] = combine(following[to], z * M.bottom_left[d - 1, a2, a, b2], best)


@also_in_kernels
def step(v: Floats, M: Models, o: Floats, best: bool, following: Floats) -> None:
    """One word: the unnormalised distribution over stores after it, from the one before it.

    Entry 0 of ``following``, the empty store, is the mass of sentences that end here.
    """
    K, D = len(o), M.fork.shape[0] - 1
    joined, started = np.empty((K, K)), np.empty((K, K, K))
    following[:] = 0.0
    for d in range(D + 1):
        if d > 0:
            complete(v, M, o, d, best, following)
        elif v[0] == 0.0:
            continue
        word_moves(M, o, d, best, joined, started)
        fork(v, d, D, best, joined, started, following)


@kernel
def forward(words: Ints, M: Models, best: bool, v: Floats, logs: Floats) -> float:
    """v[t]: the distribution over stores after t words, t = 0 … n.

    v[t] is scaled to sum to one (or greatest entry one if ``best``); ``logs[t]`` is the logarithm
    of the scale: log P(w_t | w_1 … w_t−1), for t > 0. An empty store for t > 0 ends the sentence
    and has no successors. If no stores are left, logs[t] and all later ones are −∞. Return
    log P(sentence), or log P(best tree, sentence) if ``best``.
    """
    n = len(words)
    v[0] = 0.0
    v[0, 0] = 1.0
    logs[0] = 0.0
    previous = v[0].copy()
    for t in range(1, n + 1):
        step(previous, M, M.emission[words[t - 1]], best, v[t])
        total = 0.0
        for x in v[t]:
            total = combine(total, x, best)
        if total == 0.0:
            v[t:] = 0.0
            logs[t:] = -np.inf
            return -np.inf
        v[t] /= total
        logs[t] = np.log(total) + M.log_scale[words[t - 1]]
        previous[:] = v[t]
        previous[0] = 0.0
    return float(logs.sum() + np.log(v[n, 0]))


@also_in_kernels
def takes(weight: float, pick: Floats, best: bool) -> bool:
    """Whether to choose a candidate of this weight, until a later one replaces it.

    ``pick`` is (running sum, target): a sampled choice is the candidate at which the running sum
    reaches the target; the best one is that of greatest weight so far, kept in the running sum.
    """
    if best:
        if weight > pick[0]:
            pick[0] = weight
            return True
        return False
    if weight <= 0.0 or pick[0] >= pick[1]:
        return False
    pick[0] += weight
    return True  # a later candidate overrides it unless the target has been reached


@kernel
def backward(
    words: Ints, M: Models, best: bool, v: Floats, numbers: Stream, sentence: int, steps: Ints
) -> None:
    """Draw (or, if ``best``, find the most probable) store sequence into ``steps``.

    Given the store after word t, the store before it and the decisions at t have probability in
    proportion to v[t−1] · M · o: the paper's q_t ~ Multinom(diag(v_t) M diag(L δ_w) δ_q). Word t
    uses the random numbers of draw t.
    """
    n, D, K = len(words), M.fork.shape[0] - 1, M.fork.shape[1]
    tops, bottoms = np.zeros(D + 2, dtype=np.int64), np.zeros(D + 2, dtype=np.int64)
    depth = 0
    pick, choice = np.empty(2), np.zeros(6, dtype=np.int64)
    for t in range(n, 0, -1):
        previous, o = v[t - 1], M.emission[words[t - 1]]
        at_start = t == 1
        # Stores as numbers: below is that of fragments 1 … depth − 1, head adds the top sign.
        below = 0
        for e in range(1, depth):
            below = (below * K + tops[e]) * K + bottoms[e]
        a, b = tops[depth], bottoms[depth]
        head = below * K + a
        signs = 1 if depth == 0 else K  # bottom signs at this depth
        y_above = bottoms[depth - 1] if depth > 1 else 0

        pick[0], pick[1] = 0.0, np.inf
        for run in range(1 if best else 2):
            if run == 1:
                uniform, _ = uniform_pair(numbers, sentence, t)
                pick[1], pick[0] = uniform * pick[0], 0.0
            if depth < D:  # no fork, join: fragment depth + 1 was finished below y and joined it
                first = offset(depth + 1, K)
                for y in range(signs):
                    for c in range(K):
                        z = M.join[depth, y, c, 1] * M.bottom_right[depth, y, c, b]
                        if z == 0.0:
                            continue
                        row = first + ((head * signs + y if depth else 0) * K + c) * K
                        for x in range(K):
                            w = previous[row + x] * (M.fork[depth + 1, x, 0] * o[x]) * z
                            if takes(w, pick, best):
                                choice[:] = (0, 1, x, y, c, x)
            if depth > 0:  # no fork, no join: fragment depth was finished and lies below a
                for c in range(K):
                    z = (
                        M.join[depth - 1, y_above, c, 0]
                        * M.top[depth - 1, y_above, c, a]
                        * M.bottom_left[depth - 1, a, c, b]
                    )
                    if z == 0.0:
                        continue
                    row = offset(depth, K) + (below * K + c) * K
                    for x in range(K):
                        w = previous[row + x] * (M.fork[depth, x, 0] * o[x]) * z
                        if takes(w, pick, best):
                            choice[:] = (0, 0, x, 0, c, x)
            if depth > 0 or at_start:  # fork, join: the word joined y
                for y in range(signs):
                    mass = previous[offset(depth, K) + (head * signs + y if depth else 0)]
                    if mass == 0.0:
                        continue
                    for p in range(K):
                        w = mass * (
                            M.fork[depth, y, 1]
                            * M.preterminal[depth, y, p]
                            * o[p]
                            * M.join[depth, y, p, 1]
                            * M.bottom_right[depth, y, p, b]
                        )
                        if takes(w, pick, best):
                            choice[:] = (1, 1, p, y, 0, 0)
            if depth > 1 or (depth == 1 and at_start):  # fork, no join: the word began a/b
                mass = previous[offset(depth - 1, K) + below]
                if mass > 0.0:
                    for p in range(K):
                        w = mass * (
                            M.fork[depth - 1, y_above, 1]
                            * M.preterminal[depth - 1, y_above, p]
                            * o[p]
                            * M.join[depth - 1, y_above, p, 0]
                            * M.top[depth - 1, y_above, p, a]
                            * M.bottom_left[depth - 1, a, p, b]
                        )
                        if takes(w, pick, best):
                            choice[:] = (1, 0, p, 0, 0, 0)

        f, j, preterminal, y_before, top, bottom = choice
        step = steps[t - 1]
        step[FORK], step[JOIN], step[PRETERMINAL] = f, j, preterminal
        step[TOP] = -1 if j else a
        step[BOTTOM] = b if depth else -1
        if j:
            bottoms[depth] = y_before
            if not f:
                depth += 1
                tops[depth], bottoms[depth] = top, bottom
        elif f:
            depth -= 1
        else:
            tops[depth], bottoms[depth] = top, bottom
