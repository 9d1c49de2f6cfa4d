"""What single precision gains over double, by K and D: Gibbs iterations of both, taking turns.

    python benchmarks/precision.py [adam|wsj-sample|random] [K,K,...]

Sentences are of at most 20 words: 4,000 of child-directed speech (the folder adam of DBPCFG_DATA),
500 of newswire (wsj-sample), or 1,000 of random words. One thread, the least processor time of
some iterations of each, all from the same grammar.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from speed import corpus, random_text, step, warm

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.io.tables import Column, Table

SIZES = {"adam": 4000, "wsj-sample": 500}
CATEGORIES = (24, 28, 30, 32, 36, 40, 45, 48, 50, 56, 60, 64, 72, 80, 90, 96)
BOUNDS = (1, 2, None)
SECONDS, FEWEST = 1.5, 3
"""Iterations of each precision go on for so long, and are at least so many."""


def seconds(text: Encoded, K: int, D: int | None) -> tuple[float, float]:
    """Seconds of an iteration in double and in single precision."""
    both = ChainSettings(K, D), ChainSettings(K, D, precision="single")
    state = warm(text, both[1])
    step(state, text, both[0])
    times: list[list[float]] = [[], []]
    while sum(times[0]) < SECONDS or len(times[0]) < FEWEST:
        for kind, settings in zip(times, both):
            began = time.thread_time()
            step(state, text, settings)
            kind.append(time.thread_time() - began)
    return min(times[0]), min(times[1])


def text_of(name: str) -> Encoded:
    if name not in SIZES:
        return random_text(1000, (2, 20))
    text = corpus(name=name)
    return text.select(np.unique(np.linspace(0, len(text) - 1, SIZES[name]).astype(np.int64)))


def main(name: str, categories: list[int]) -> None:
    text, rows = text_of(name), []
    with one_blas_thread():
        for K in categories:
            row: list[float] = [K]
            for D in BOUNDS:
                double, single = seconds(text, K, D)
                row += [1000 * double, 1000 * single, double / single]
            rows.append(tuple(row))
            print(*(f"{x:.2f}" for x in row), file=sys.stderr, flush=True)
    columns = [Column("K", "count")]
    for D in BOUNDS:
        bound = f"D={'none' if D is None else D}"
        columns += [Column(f"{bound} double", "number"), Column("single", "number")]
        columns.append(Column("ratio", "number", decimals=2))
    note = f"{len(text):,} sentences, {len(text.tokens):,} tokens; one thread"
    print(Table(f"Gibbs iterations by precision, {name} (ms)", columns, rows, [note]))


if __name__ == "__main__":
    asked = sys.argv[2].split(",") if len(sys.argv) > 2 else CATEGORIES
    main(sys.argv[1] if len(sys.argv) > 1 else "random", [int(K) for K in asked])
