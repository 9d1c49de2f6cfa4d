"""What each part of `dbpcfg.numerics.simd` is worth against plain numba and BLAS.

Trees are sampled for a corpus with one part at a time replaced by plain code. Every variant has a
process of its own; they take turns, and what is shown is the median, over rounds, of a variant's
processor time over that of the package as it is in the same round.

    python benchmarks/simd.py [ROUNDS]

Sentences are of random words, at most 20, with the lengths of newswire.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median

import numba
import numpy as np

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.pcfg import draw_from_prior
from dbpcfg.io.tables import Column, Table
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart import batches, inside, layout, trees
from dbpcfg.parsing.chart.parser import ChartParser

SENTENCES, WORDS = 300, 4000
CELLS = [(K, D) for K in (15, 30, 45) for D in (1, 2)]
SAME = "as it is"

plain = numba.njit(nogil=True, error_model="numpy")


@plain
def loops(A, a0, a_row, a_column, B, b0, b_row, C, c0, c_row, rows, columns, inner):
    a, b, c = A.reshape(-1), B.reshape(-1), C.reshape(-1)
    for i in range(rows):
        to = c0 + i * c_row
        for j in range(columns):
            c[to + j] = 0.0
        for k in range(inner):
            x, at = a[a0 + i * a_row + k * a_column], b0 + k * b_row
            for j in range(columns):
                c[to + j] += x * b[at + j]


@plain
def blas(A, a0, a_row, a_column, B, b0, b_row, C, c0, c_row, rows, columns, inner):
    a, b, c = A.reshape(-1), B.reshape(-1), C.reshape(-1)
    right = b[b0 : b0 + inner * columns].reshape(inner, columns)
    result = c[c0 : c0 + rows * columns].reshape(rows, columns)
    left = a[a0 : a0 + rows * inner]
    if a_column == 1:
        np.dot(left.reshape(rows, inner), right, result)
    else:
        np.dot(left.reshape(inner, rows).T, right, result)


@plain
def product_by_loops(A, first, last, B, C):
    inner, columns = B.shape
    for i in range(first, last):
        for j in range(columns):
            C[i, j] = 0.0
        for k in range(inner):
            for j in range(columns):
                C[i, j] += A[i, k] * B[k, j]


@plain
def product_by_blas(A, first, last, B, C):
    if last > first:
        np.dot(A[first:last], B, C[first:last])


@plain
def copy_by_loop(A, a0, C, c0, columns, least, most):
    a, c = A.reshape(-1), C.reshape(-1)
    reached, fair = False, True
    for j in range(columns):
        x = a[a0 + j]
        c[c0 + j] = x
        reached |= x >= least
        fair &= x <= most
    return reached and fair


def empty(like, *shape):
    return np.empty(shape, like.dtype)


def whole(B):
    return B


VARIANTS: dict[str, dict[str, Callable[..., object]]] = {
    SAME: {},
    "product: loops": {"product": product_by_loops, "in_panels": whole},
    "product: np.dot": {"product": product_by_blas, "in_panels": whole},
    "in_panels: no panels": {"in_panels": whole},
    "small_product: loops": {"small_product": loops},
    "small_product: np.dot": {"small_product": blas},
    "copy_cell: loop": {"copy_cell": copy_by_loop},
    "aligned: np.empty": {"aligned": empty},
}


def corpus() -> Encoded:
    rng = np.random.default_rng(0)
    lengths = np.minimum(20, 1 + rng.binomial(24, 0.6, SENTENCES))
    words = (rng.zipf(1.3, int(lengths.sum())) % WORDS).tolist()
    sentences = [words[end - n : end] for n, end in zip(lengths, np.cumsum(lengths))]
    return Encoded.from_numbers(sentences, Vocabulary(tuple(f"w{w}" for w in range(WORDS))))


def work(variant: str) -> None:
    """Answer each line ``K D`` with the seconds of a pass and a digest of its trees."""
    for name, function in VARIANTS[variant].items():
        for module in (inside, trees, batches, layout):  # before anything is compiled
            if hasattr(module, name):
                setattr(module, name, function)
    text, parsers = corpus(), {}
    for K, D in CELLS:
        parsers[K, D] = ChartParser(draw_from_prior(K, text.vocabulary, 0.2, 0), D)
        parsers[K, D].sample(text, stream(0))
    for line in sys.stdin:
        K, D = map(int, line.split())
        times = []
        for _ in range(135 // K):  # noise only ever adds
            began = time.thread_time()
            drawn, logs = parsers[K, D].sample(text, stream(0))
            times.append(time.thread_time() - began)
        digest = hashlib.sha256(drawn.nodes.tobytes() + logs.tobytes()).hexdigest()
        print(min(times), digest, flush=True)


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workers = {
            name: subprocess.Popen(
                [sys.executable, __file__, "--work", name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "NUMBA_CACHE_DIR": f"{folder}/{number}"},
            )
            for number, name in enumerate(VARIANTS)
        }

        def ask(name: str, K: int, D: int) -> tuple[float, str]:
            worker = workers[name]
            print(K, D, file=worker.stdin, flush=True)
            seconds, digest = worker.stdout.readline().split()
            return float(seconds), digest

        ratios = {name: {cell: [] for cell in CELLS} for name in VARIANTS}
        same = dict.fromkeys(VARIANTS, True)
        for _ in range(rounds):
            for cell in CELLS:
                before, expected = ask(SAME, *cell)
                for name in VARIANTS:
                    seconds, digest = ask(name, *cell)
                    ratios[name][cell].append(seconds / before)
                    same[name] &= digest == expected
        for worker in workers.values():
            worker.stdin.close()
            worker.wait()
    columns = [Column("part: replaced by")]
    columns += [Column(f"K={K} D={D}", "number", decimals=2) for K, D in CELLS]
    columns.append(Column("same bits"))
    rows = [
        (name, *(median(ratios[name][cell]) for cell in CELLS), "yes" if same[name] else "no")
        for name in VARIANTS
    ]
    note = f"medians of {rounds} rounds; the first row shows the noise"
    print(Table("Time of a sampling pass, times that of the package", columns, rows, [note]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
