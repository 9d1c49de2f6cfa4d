"""What an iteration costs, as ratios measured in one run.

Against the machine's own matrix products, a textbook implementation, the
left-corner sampler, and itself.

    python benchmarks/speed.py            # all of it, some minutes
    python benchmarks/speed.py ideal      # a part; a wrong name lists them

Sentences are those of at most 20 words of the corpora in DBPCFG_DATA (newswire in its folder
wsj-sample, child-directed speech in adam), or of random words if there is none.
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

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.induction.learners import State
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.io.tables import Column, Table
from dbpcfg.model.decoding import Decoder, in_batches
from dbpcfg.model.model import Model
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser


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


def corpus(longest: int = 20, name: str = "wsj-sample") -> Encoded:
    folder = os.environ.get("DBPCFG_DATA")
    if folder:
        return preprocess(read(Path(folder) / name), Preprocessing(max_length=longest)).encoded
    return random_text(1000, (2, longest * 6 // 5))


def random_text(sentences: int, lengths: tuple[int, int]) -> Encoded:
    rng = np.random.default_rng(0)
    numbers = rng.integers(*lengths, sentences)
    words = (rng.zipf(1.3, int(numbers.sum())) % 4000).tolist()
    vocabulary = Vocabulary(tuple(f"w{w}" for w in range(4000)))
    ends = np.cumsum(numbers)
    return Encoded.from_numbers([words[end - n : end] for n, end in zip(numbers, ends)], vocabulary)


def step(state: State, text: Encoded, settings: ChainSettings, threads: int = 1) -> State:
    """One iteration of a chain."""
    return settings.learner.step(state, text, settings, Mapper(threads))


def initial_state(text: Encoded, settings: ChainSettings) -> State:
    """A chain before its first iteration."""
    return settings.learner.first(text, settings)


def warm(text: Encoded, settings: ChainSettings, iterations: int = 2) -> State:
    """A chain that has left the prior."""
    state = initial_state(text, settings)
    for _ in range(iterations):
        state = step(state, text, settings)
    return state


def grid(text: Encoded) -> Table:
    """Everything, for corpora, K, D and threads."""
    rows = []
    corpora = {"newswire": text}
    if os.environ.get("DBPCFG_DATA"):
        corpora["child-directed"] = corpus(name="adam")
    for name, sentences in corpora.items():
        for K, D, number in ((15, 1, 1), (15, 1, 2), (15, 2, 1), (15, 2, 2), (30, 2, 2)):
            settings = ChainSettings(K, D)
            state = warm(sentences, settings)
            arguments = (state, sentences, settings, number)
            seconds = best(lambda a=arguments: step(*a), 3)
            distinct = sentences.lengths[sentences.distinct[0]]
            work, tokens = operations(distinct, K, D), len(sentences.tokens)
            share = work / matrix_speed(K) / seconds / number
            rows.append((name, K, D, number, seconds, tokens / seconds, work / 1e9, share))
    columns = [
        Column("corpus"),
        *(Column(name, "count") for name in ("K", "D", "threads")),
        Column("s/iteration", "number", decimals=4),
        Column("tokens/s", "count"),
        Column("GFLOP", "number", decimals=2),
        Column("share of products' speed", "percent"),
    ]
    note = "repeated sentences share a chart: operations are those of the distinct ones"
    return Table("Corpora", columns, rows, [note])


def ideal(text: Encoded) -> Table:
    rows = []
    for D in (1, 2):
        for K in (15, 30, 45):
            settings = ChainSettings(K, D)
            state = warm(text, settings)
            seconds = best(lambda s=state, o=settings: step(s, text, o), 9 if K < 45 else 3)
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


def precision(text: Encoded) -> Table:
    rows = []
    for K in (15, 30, 45):
        state = warm(text, ChainSettings(K, 2))
        seconds, logs = [], []
        for kind in ("double", "single"):
            settings = ChainSettings(K, 2, precision=kind)
            seconds.append(best(lambda o=settings, s=state: step(s, text, o), 5 if K < 45 else 3))
            logs.append(ChartParser(state.grammar, 2, 1, kind).log_probabilities(text))
        error = float(np.abs(logs[1] / logs[0] - 1).max())
        rows.append((K, *seconds, seconds[0] / seconds[1], f"{error:.0e}"))
    columns = [
        Column("K", "count"),
        *(Column(name, "number", decimals=4) for name in ("double", "single")),
        Column("speed-up", "number", decimals=2),
        Column("greatest relative error of a sentence's log-probability"),
    ]
    return Table("Precision (D=2, one thread, s/iteration)", columns, rows)


def parsing(text: Encoded) -> Table:
    """Ten thousand sentences, each with a word changed so that none is a repetition.

    The grammar is one that has learned something; another has fewer spans to prune.
    """
    settings = ChainSettings(15, 2)
    state = warm(text, settings, 200)
    rng = np.random.default_rng(0)
    sentences = [text[n % len(text)] for n in range(10_000)]
    for sentence in sentences:
        word = rng.integers(len(text.vocabulary))
        sentence[rng.integers(len(sentence))] = text.vocabulary.words[word]
    numbers = text.vocabulary.encode(sentences)
    model = Model(state.grammar, 2, Preprocessing(lowercase=False))
    iteration = best(lambda: step(state, numbers, settings), 3)
    rows = [("one Gibbs iteration", iteration)]

    def parse(method: str) -> None:
        decoder = Decoder(model, method)
        for batch, first in in_batches(map(Sentence, map(tuple, sentences))):
            decoder.lines([one for one in batch if one is not None], first)

    for method in ("mbr", "sample", "viterbi"):
        rows.append((f"parse --method {method}", best(lambda m=method: parse(m), 3)))
    columns = [Column("what"), Column("seconds", "number", decimals=2)]
    columns.append(Column("iterations", "number", decimals=2))
    shown = [(name, seconds, seconds / iteration) for name, seconds in rows]
    return Table("10,000 sentences, from words to brackets (K=15, D=2, one thread)", columns, shown)


def threads(text: Encoded) -> Table:
    settings = ChainSettings(15, 2)
    state = warm(text, settings)
    one, two = (best(lambda t=t: step(state, text, settings, t), 9) for t in (1, 2))
    columns = [Column(n, "number", decimals=4) for n in ("1 thread", "2 threads")]
    columns.append(Column("speed-up", "number", decimals=2))
    return Table("Threads (K=15, D=2)", columns, [(one, two, one / two)])


def growth(text: Encoded) -> Table:
    """In one thing at a time; 40,000 words of each length."""
    rows = []

    def measure(what: str, value: int, words: Encoded, K: int, D: int) -> None:
        settings = ChainSettings(K, D)
        state = warm(words, settings)
        seconds = best(lambda: step(state, words, settings), 5 if K < 45 else 2)
        same = [row for row in rows if row[0] == what]
        against = seconds / same[0][2] if same else 1.0
        rows.append((what, value, seconds, against))

    for D in (1, 2, 3, 4):
        measure("D (K=15)", D, text, 15, D)
    for K in (8, 16, 32, 64):
        measure("K (D=2)", K, text, K, 2)
    for n in (5, 10, 20, 40):
        measure("n (K=15, D=2)", n, random_text(40_000 // n, (n, n + 1)), 15, 2)
    for sentences in (1000, 4000, 16_000):
        measure("sentences (K=15, D=2)", sentences, random_text(sentences, (4, 14)), 15, 2)
    columns = [Column("growth in"), Column("value", "count")]
    columns += [Column("s/iteration", "number", decimals=4)]
    columns.append(Column("times the first", "number", decimals=2))
    return Table("Growth (one thread)", columns, rows)


def rivals(_: Encoded) -> Table:
    short = corpus(10)
    settings = ChainSettings(15, 2)
    grammar = warm(short, settings).grammar
    chart = ChartParser(grammar, 2)
    ours = best(lambda: chart.sample(short, stream(0)), 40) / len(short)
    some = range(0, len(short), max(1, len(short) // 40))
    rng = np.random.default_rng(0)

    def words(s: int) -> np.ndarray:
        return short.tokens[short.starts[s] : short.starts[s + 1]]

    with one_blas_thread():
        book = best(lambda: [textbook_sample(words(s), grammar, 2, rng) for s in some], 5) / len(
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


def memory(_: Encoded) -> Table:
    def peak(make: str, K: int, D: int) -> float:
        script = (
            "import sys; sys.path.insert(0, 'benchmarks'); import speed\n"
            f"text = {make}; settings = speed.ChainSettings({K}, {D})\n"
            "speed.step(speed.initial_state(text, settings), text, settings)\n"
            "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
        )
        found = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        return int(found.stdout.split()[1]) / 2**10

    rows = [("K=90, D=4, newswire", peak("speed.corpus()", 90, 4))]
    for sentences in (1000, 100_000, 1_000_000):
        make = f"speed.random_text({sentences}, (4, 14))"
        rows.append((f"K=15, D=2, {sentences:,} sentences", peak(make, 15, 2)))
    return Table("Peak memory, one iteration", [Column("what"), Column("MiB", "count")], rows)


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


PARTS = {
    part.__name__: part
    for part in (ideal, threads, precision, grid, growth, rivals, parsing, memory, startup)
}


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
