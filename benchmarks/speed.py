"""What an iteration costs, as ratios measured in one run.

Against the machine's own matrix products, a textbook implementation, the
left-corner sampler, and itself.

    python benchmarks/speed.py            # all of it, some minutes
    python benchmarks/speed.py ideal      # a part: ideal, threads, growth, rivals, memory, startup

Sentences are those of at most 20 words of the corpus in DBPCFG_DATA (its folder wsj-sample), or of
random words and the same lengths as newswire has if there is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from textbook import sample as textbook_sample

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.reading import read
from dbpcfg.induction.gibbs import Settings, State, start, step
from dbpcfg.kernels import one_blas_thread
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from dbpcfg.philox import stream
from dbpcfg.tables import Column, Table


def best(function: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest of some calls: noise only ever adds."""
    function()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


@numba.njit(cache=True)
def _products(a: np.ndarray, b: np.ndarray, c: np.ndarray, times: int) -> None:
    for _ in range(times):
        np.dot(a, b, c)


def matrix_speed(K: int) -> float:
    """Floating-point operations per second of a (24 × K²) · (K² × K) product, one thread."""
    rng = np.random.default_rng(0)
    a, b, c = rng.random((24, K * K)), rng.random((K * K, K)), np.empty((24, K))
    with one_blas_thread():
        return 2 * 24 * K**3 * 100 / best(lambda: _products(a, b, c, 100), 9)


def operations(lengths: np.ndarray, K: int, D: int) -> float:
    """Floating-point operations of the inside pass, with the shortcuts for (L,1) and (R,D)."""
    total = 0
    for n in lengths.tolist():
        spans = (n - 1) * (n - 2) // 2  # of two words or more that start after the first word
        splits = sum(w - 1 for i in range(1, n) for w in range(2, n - i + 1))
        left_spine = (n - 1) * K**3 + n * (n - 1) // 2 * K**2
        deepest = spans * K**2 + n * K**3
        total += 2 * (left_spine + deepest + (2 * D - 2) * (spans * K**3 + splits * K**2))
    return total


def corpus(longest: int = 20) -> Encoded:
    folder = os.environ.get("DBPCFG_DATA")
    if folder:
        text = read(Path(folder) / "wsj-sample")
        return prepare(text, Preparation(max_length=longest)).encoded
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, longest * 6 // 5, 1000)
    words = [[f"w{w}" for w in rng.zipf(1.3, n) % 4000] for n in lengths]
    return Encoded.from_sentences(words)


def warm(text: Encoded, settings: Settings) -> State:
    """A chain that has left the prior."""
    state = start(text, settings)
    for _ in range(2):
        state = step(state, text, settings)
    return state


def ideal(text: Encoded) -> Table:
    rows = []
    for D in (1, 2):
        for K in (15, 30, 45):
            settings = Settings(K, D)
            state = warm(text, settings)
            seconds = best(lambda s=state, o=settings: step(s, text, o), 5 if K < 45 else 3)
            speed, work = matrix_speed(K), operations(text.lengths, K, D)
            rows.append(
                (
                    *(K, D, seconds, len(text.tokens) / seconds, work / 1e9, speed / 1e9),
                    *(work / speed / seconds, seconds * speed / work),
                )
            )
    columns = [
        *(Column(name, "count") for name in ("K", "D")),
        Column("s/iteration", "number", decimals=4),
        Column("tokens/s", "count"),
        Column("GFLOP", "number", decimals=2),
        Column("GFLOP/s of products", "count"),
        Column("share", "percent"),
        Column("times the ideal", "number", decimals=2),
    ]
    note = "one thread; the ideal is the inside pass's operations at the speed of matrix products"
    return Table("One Gibbs iteration", columns, rows, [note])


def threads(text: Encoded) -> Table:
    settings = Settings(15, 2)
    state = warm(text, settings)
    one, two = (best(lambda t=t: step(state, text, settings, t)) for t in (1, 2))
    columns = [Column(n, "number", decimals=4) for n in ("1 thread", "2 threads")]
    columns.append(Column("speed-up", "number", decimals=2))
    return Table("Threads (K=15, D=2)", columns, [(one, two, one / two)])


def growth(text: Encoded) -> Table:
    rows = []
    for D in (1, 2, 4):
        settings = Settings(15, D)
        state = warm(text, settings)
        rows.append((D, best(lambda s=state, o=settings: step(s, text, o))))
    base = rows[1][1]
    columns = [Column("D", "count"), Column("s/iteration", "number", decimals=4)]
    columns.append(Column("times D=2", "number", decimals=2))
    return Table("Depth (K=15)", columns, [(D, s, s / base) for D, s in rows])


def rivals(_: Encoded) -> Table:
    short = corpus(10)
    settings = Settings(15, 2)
    grammar = warm(short, settings).grammar
    chart = ChartParser(grammar, 2)
    ours = best(lambda: chart.sample(short, stream(0))) / len(short)
    some = range(0, len(short), max(1, len(short) // 40))
    rng = np.random.default_rng(0)

    def words(s: int) -> np.ndarray:
        return short.tokens[short.starts[s] : short.starts[s + 1]]

    with one_blas_thread():
        book = best(lambda: [textbook_sample(words(s), grammar, 2, rng) for s in some], 2) / len(
            some
        )
    few = short.vocabulary.encode([short[s] for s in some])
    leftcorner = LeftCornerParser(grammar, 2)
    theirs = best(lambda: leftcorner.sample(few, stream(0)), 1) / len(few)
    columns = [Column("sampler"), Column("ms/sentence", "number", decimals=3)]
    columns.append(Column("times ours", "number"))
    rows = [("chart", ours), ("textbook NumPy", book), ("left-corner", theirs)]
    shown = [(name, 1e3 * seconds, seconds / ours) for name, seconds in rows]
    return Table("Samplers (K=15, D=2, at most 10 words, one thread)", columns, shown)


def memory(text: Encoded) -> Table:
    script = (
        "import resource, sys; sys.path.insert(0, 'benchmarks'); import speed\n"
        "text = speed.corpus(); settings = speed.Settings(90, 4)\n"
        "speed.step(speed.start(text, settings), text, settings)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return Table(
        "Peak memory (K=90, D=4, one iteration)",
        [Column("GiB", "number", decimals=2)],
        [(float(found.stdout),)],
    )


def startup(_: Encoded) -> Table:
    def run(*arguments: str, **environment: str) -> float:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "dbpcfg", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
            check=True,
        )
        return time.perf_counter() - began

    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("a b\nb a b\n" * 50)

        def induce(name: str) -> float:
            return run(
                *("induce", str(text), "--out", f"{folder}/{name}", "-K", "3", "--iterations", "2"),
                NUMBA_CACHE_DIR=f"{folder}/cache",
            )

        rows = [
            ("dbpcfg --help", min(run("--help") for _ in range(5))),
            ("first run: compiles", induce("a")),
            ("second run", min(induce("b"), induce("c"))),
        ]
    return Table("Start-up", [Column("what"), Column("seconds", "number", decimals=2)], rows)


PARTS = {p.__name__: p for p in (ideal, threads, growth, rivals, memory, startup)}


def main() -> None:
    asked = sys.argv[1:] or list(PARTS)
    unknown = [name for name in asked if name not in PARTS]
    if unknown:
        sys.exit(f"no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    text = corpus()
    print(f"{len(text):,} sentences, {len(text.tokens):,} tokens, {len(text.vocabulary):,} forms\n")
    for name in asked:
        print(PARTS[name](text), flush=True)
        print()


if __name__ == "__main__":
    main()
