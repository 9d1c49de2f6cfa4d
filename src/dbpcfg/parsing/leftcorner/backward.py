"""A store sequence, backward from the end of a sentence through the forward distribution."""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, Ints, also_in_kernels, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.parsing.leftcorner.filtering import offset
from dbpcfg.parsing.leftcorner.models import BOTTOM, FORK, JOIN, PRETERMINAL, TOP, Models


@also_in_kernels
def takes(weight: float, pick: Floats, best: bool) -> bool:
    """Whether a candidate of this weight is the choice so far.

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
    words: Ints,
    M: Models,
    best: bool,
    v: Floats,
    numbers: Stream,
    sentence: int,
    steps: Ints,
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
        before, o = v[t - 1], M.emission[words[t - 1]]
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
                            w = before[row + x] * (M.fork[depth + 1, x, 0] * o[x]) * z
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
                        w = before[row + x] * (M.fork[depth, x, 0] * o[x]) * z
                        if takes(w, pick, best):
                            choice[:] = (0, 0, x, 0, c, x)
            if depth > 0 or at_start:  # fork, join: the word joined y
                for y in range(signs):
                    mass = before[offset(depth, K) + (head * signs + y if depth else 0)]
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
                mass = before[offset(depth - 1, K) + below]
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
