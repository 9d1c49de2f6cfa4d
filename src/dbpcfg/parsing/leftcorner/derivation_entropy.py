"""The entropy of the derivations of a whole sentence, given its first words (Hale 2006).

A derivation is a sequence of decisions and words, and after t words the rest depends only on the
store q. So the entropy is that of the decisions so far, plus the expected entropy of the rest::

    H(derivation | w_1 … w_t) = H(decisions so far | w_1 … w_t) + Σ_q P(q | w_1 … w_t) R(q)

**The past.** With x[q] = P(q | w_1 … w_t) and H(q) the entropy of the derivations that lead to q,
let g[q] = x[q] (H(q) − log x[q]), so that Σ_q g[q] is the entropy of the past. A decision of
probability p from q to q' adds to both, as in a semiring (Hwa 2000)::

    x'[q'] += x[q] p        g'[q'] += g[q] p − x[q] p log p

and after the word, of probability Z, x' becomes x' / Z, and g' becomes (g' + x' log Z) / Z.

**The future.** S_d(b) is the entropy of everything below a bottom sign b at depth d, and U_d(b, c)
that of the rest below b after its left descendant c. For a store a¹/b¹ … aᵈ/bᵈ::

    R = S_d(bᵈ) + U_d−1(bᵈ⁻¹, aᵈ) + … + U_0(T, a¹)

With the models of ``models`` and η(p) = −log p, summed over the decisions that can be taken::

    U_d(b, c) = Σ_b' J(1) B_R(b') (η + S_d(b'))
              + Σ_a,b' J(0) A(a) B_L(b') (η + S_d+1(b') + U_d(b, a))
    S_d(b)    = F(0) (η + words(b)) + Σ_p F(1) P(p) (η + words(p) + U_d(b, p))

with words(p) the entropy of the words of p: for each depth, from the deepest up, one linear system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.leftcorner.models import Models
from dbpcfg.parsing.leftcorner.parser import WordByWord


class _Decisions(NamedTuple):
    """Probabilities p of decisions, and their −p log p."""

    p: Floats
    surprise: Floats


def _eta(p: Floats) -> Floats:
    """−p log p, and 0 for 0."""
    logs = np.zeros_like(p)
    np.log(p, out=logs, where=p > 0)
    return -p * logs


def _decisions(p: Floats) -> _Decisions:
    return _Decisions(p, _eta(p))


class DerivationEntropies:
    """Entropies of derivations under a grammar and its bound, exact.

    ``parser``: the incremental parser.
    """

    def __init__(self, parser: WordByWord) -> None:
        M = self.models = parser.models
        self.depth, K = parser.depth, M.fork.shape[1]
        self._signs = [1, *[K] * parser.depth]
        self._joins = [
            _decisions(M.join[d, :s, :, 1, None] * M.bottom_right[d, :s, :, :s])
            for d, s in enumerate(self._signs)
        ]
        starting = M.join[:, :, :, 0, None] * M.top
        self._starts = [
            _decisions(
                (starting[d, :s, :, :, None] * M.bottom_left[d].swapaxes(0, 1)).reshape(s, K, K * K)
            )
            for d, s in enumerate(self._signs[:-1])
        ]
        self.whole, self._rest = _future(M, self._joins, self._starts, self._signs)

    def follow(self, words: Sequence[int]) -> Floats:
        """The entropy before each word, before the end, and after it, in nats.

        There are n + 2 entries; they are NaN after a word of probability zero.

        ``words``: word numbers; −1 is a word that no category emits.
        """
        entropies = np.full(len(words) + 2, np.nan)
        entropies[0] = self.whole
        K = self.models.fork.shape[1]
        x = [np.zeros((s * K * K) if d else 1) for d, s in self._shapes()]
        x[0][0] = 1.0
        g = [np.zeros_like(part) for part in x]
        for t, word in enumerate(words, start=1):
            if word < 0:
                return entropies
            x, g = self._step(x, g, self.models.emission[word])
            Z = sum(float(part.sum()) for part in x)
            if Z == 0.0:
                return entropies
            x = [part / Z for part in x]
            g = [part / Z + x_part * np.log(Z) for part, x_part in zip(g, x, strict=True)]
            past = sum(float(part.sum()) for part in g)
            future = sum(float(a @ b) for a, b in zip(x, self._rest, strict=True))
            entropies[t] = max(past + future, 0.0)
            ended, ended_g = float(x[0][0]), float(g[0][0])
            x[0][0] = g[0][0] = 0.0
        if ended > 0.0:
            entropies[-1] = max(ended_g / ended + np.log(ended), 0.0)
        return entropies

    def _shapes(self) -> list[tuple[int, int]]:
        """Each depth, and the number of stores of the depth above."""
        K = self.models.fork.shape[1]
        return [(d, K ** (2 * (d - 1)) if d else 1) for d in range(self.depth + 1)]

    def _step(
        self, x: list[Floats], g: list[Floats], o: Floats
    ) -> tuple[list[Floats], list[Floats]]:
        """One word, with o[p] its probability: x' and g', for each depth."""
        M, D, K = self.models, self.depth, len(o)
        after, grown = [np.zeros_like(a) for a in x], [np.zeros_like(a) for a in x]
        for d, signs in enumerate(self._signs):
            forked = _decisions(M.fork[d, :signs, 1, None] * M.preterminal[d, :signs] * o)
            X, G = x[d].reshape(-1, signs), g[d].reshape(-1, signs)
            to_x, to_g = after[d].reshape(-1, signs), grown[d].reshape(-1, signs)
            if d == D:  # nothing lies on these stores, and the word can only join
                p = forked.p[:, :, None] * self._joins[d].p
                joined = _Decisions(p.sum(axis=1), _eta(p).sum(axis=1))
                to_x += X @ joined.p
                to_g += G @ joined.p + X @ joined.surprise
                break
            completed = _decisions(M.fork[d + 1, :, 0] * o)
            on_x = x[d + 1].reshape(-1, signs, K, K)
            on_g = g[d + 1].reshape(-1, signs, K, K)
            done_x = X[:, :, None] * forked.p + on_x @ completed.p
            done_g = (
                G[:, :, None] * forked.p
                + X[:, :, None] * forked.surprise
                + on_g @ completed.p
                + on_x @ completed.surprise
            )
            done_x, done_g = done_x.swapaxes(0, 1), done_g.swapaxes(0, 1)  # [y, head, c]
            joins, starts = self._joins[d], self._starts[d]
            to_x += (done_x @ joins.p).sum(axis=0)
            to_g += (done_g @ joins.p + done_x @ joins.surprise).sum(axis=0)
            started_x = done_x @ starts.p
            started_g = done_g @ starts.p + done_x @ starts.surprise
            after[d + 1] += started_x.swapaxes(0, 1).reshape(-1)
            grown[d + 1] += started_g.swapaxes(0, 1).reshape(-1)
        return after, grown


def _future(
    M: Models, joins: list[_Decisions], starts: list[_Decisions], all_signs: list[int]
) -> tuple[float, list[Floats]]:
    """The entropy before the first word, and R of the stores of each depth."""
    K = M.fork.shape[1]
    words = _eta(M.emission * np.exp(M.log_scale)[:, None]).sum(axis=0)
    S = np.zeros(K)  # of depth d + 1; below the deepest signs nothing starts
    U: list[Floats] = []
    total = 0.0
    expected: list[Floats] = []
    for d in range(len(all_signs) - 1, -1, -1):
        signs = all_signs[d]
        fork = M.fork[d, :signs]
        forked = fork[:, 1, None] * M.preterminal[d, :signs]
        u = joins[d].surprise.sum(axis=2)  # U without S_d and U_d
        climbing = np.zeros((signs, K, K))
        if d < len(starts):
            u = u + starts[d].surprise.sum(axis=2)
            p = starts[d].p.reshape(signs, K, K, K)
            u = u + (p @ S).sum(axis=2)
            climbing = p.sum(axis=3)
        # U_d(b, ·) = constant[b] + linear[b] S_d
        inverse = np.linalg.inv(np.eye(K) - climbing)
        constant = (inverse @ u[:, :, None])[:, :, 0]
        joining = joins[d].p if d else np.zeros((1, K, 1))  # T that is awaited again is the end
        linear = inverse @ joining
        s = _eta(fork[:, 0]) + fork[:, 0] * words[:signs] if d else np.zeros(1)
        s = s + (_eta(forked) + forked * words).sum(axis=1) + (forked * constant).sum(axis=1)
        matrix = np.einsum("bp,bps->bs", forked, linear)
        S = np.linalg.solve(np.eye(signs) - matrix, s)
        U.insert(0, constant + linear @ S)
        expected.insert(0, S)
        total = float(S[0])
    rest = [np.zeros(1)]
    above = np.zeros((1, 1))  # [head, y]: what is left once the bottom sign y is finished
    for d in range(1, len(all_signs)):
        # A fragment a/b on a store that ends in y: b, then what a leaves below y, then the rest.
        left = (above[:, :, None] + U[d - 1]).reshape(-1, 1)
        rest.append((left + expected[d]).reshape(-1))
        above = np.broadcast_to(left, (len(left), K))
    return total, rest
