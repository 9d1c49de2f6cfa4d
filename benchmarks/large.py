"""The neural learner on large text: speed by part, on one and two threads, and memory by size.

    python benchmarks/large.py parts TEXT...      # where the time of a mini-batch goes
    python benchmarks/large.py threads TEXT...    # a chain on two threads, two side by side
    python benchmarks/large.py memory TEXT... [--words 100000 1000000 10000000]

TEXT is anything that ``dbpcfg induce`` reads, such as tables of childes-db; best are 20,000
sentences or more. A network is trained for an iteration before anything is measured.

``parts``: processor time, so that other processes count little. ``threads``: seconds on the clock
for 20 mini-batches, the least of several rounds in turns; beside them the same for products of
matrices alone, which says how much of two cores there was. ``memory``: the text is repeated until
it has so many words; peak memory and processor time are those of the whole command, with one chain
of two iterations.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.learners import neural
from dbpcfg.induction.learners.neural import Network, Neural
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.parsing.lowrank import parser

PARTS: tuple[tuple[str, Any, str], ...] = (
    ("network, forward", neural, "forward"),
    ("softmax", neural, "factors_of"),
    ("chart, inside", parser, "inside"),
    ("chart, outside", parser, "outside"),
    ("normaliser of the bound", neural, "low_rank_normaliser"),
    ("derivatives by logits", neural, "slopes_of"),
    ("network, backward", neural, "backward"),
    ("step of Adam", neural, "ascend"),
)
"""Name, module and function of each part; the rest is encoding, and products around the charts."""


def encoded(given: argparse.Namespace) -> Encoded:
    """The sentences, as speech is prepared for the neural learner."""
    options = Preprocessing(no_punctuation=True, punctuation_brackets=True)
    return RunCorpus.of(preprocess(dbpcfg.read(*given.text, quiet=True), options)).forms


class Trainer:
    """A chain after its first iteration."""

    def __init__(self, corpus: Encoded, batch: int, chain: int = 0) -> None:
        self.corpus, self.learner = corpus, Neural(batch=batch)
        self.settings = ChainSettings(60, 3, precision="single", learner=self.learner, chain=chain)
        self.learned = np.arange(len(corpus))
        state = self.learner.first(corpus, self.settings)
        assert isinstance(state, neural.NetworkState)
        assert state.network is not None
        self.network = state.network
        self.network = self.train(1, 0)
        self.tokens = len(corpus.tokens) / self.learner.parts(len(corpus))
        """Tokens of an iteration, on average."""
        self.few = 20 * batch

    def train(self, threads: int = 1, iteration: int = 1, most: int | None = None) -> Network:
        """The network after one more iteration, or one over so many sentences."""
        given = self.network, self.corpus, self.learned[:most], self.settings, iteration
        return self.learner.train(*given, Mapper(threads))


def parts(given: argparse.Namespace) -> None:
    """Processor time of each part of a mini-batch, and of the measures after an iteration."""
    spent: Counter[str] = Counter()

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **more: Any) -> Any:
            began = time.thread_time()
            try:
                return function(*arguments, **more)
            finally:
                spent[name] += time.thread_time() - began

        return call

    corpus = encoded(given)
    size = f"{len(corpus):,} sentences, {len(corpus.tokens):,} tokens"
    print(f"{size}, {len(corpus.vocabulary):,} forms; K = 60, D = 3, one thread")
    print("batch\tpart\tms/mini-batch\tshare %")
    kernels = parser.specialised

    def timed_kernel(kernel: Any, dtype: Any) -> Any:
        name = f"chart, {kernel.__name__}"
        return timed(name, kernels(kernel, dtype))

    for name, module, function in PARTS:
        if not name.startswith("chart"):
            setattr(module, function, timed(name, getattr(module, function)))
    parser.specialised = functools.cache(timed_kernel)  # type: ignore[assignment]
    for batch in given.batches:
        trainer, least = Trainer(corpus, batch), float("inf")
        for _ in range(given.rounds):
            spent.clear()
            began = time.process_time()
            after = trainer.train()
            if (took := time.process_time() - began) < least:
                least, found, steps = took, dict(spent), after.steps - trainer.network.steps
        found["the rest"] = least - sum(found.values())
        for name, seconds in found.items():
            print(f"{batch}\t{name}\t{1e3 * seconds / steps:.2f}\t{100 * seconds / least:.1f}")
        print(f"{batch}\tall\t{1e3 * least / steps:.2f}\t{trainer.tokens / least:,.0f} tokens/s")
        learner, settings = trainer.learner, trainer.settings
        grammar = learner.grammar_of(after.parameters, settings, corpus.vocabulary)
        took = float("inf")
        for _ in range(given.rounds):
            began = time.process_time()
            learner.measures(grammar, corpus, settings, Mapper())
            took = min(took, time.process_time() - began)
        print(f"{batch}\tmeasures after an iteration: {took / least:.2f} of its time", flush=True)


_trainer: Trainer | None = None


def _begin(corpus: Encoded, batch: int) -> None:
    global _trainer
    one_blas_thread.hold()
    _trainer = Trainer(corpus, batch, os.getpid())


def _go(_: int) -> None:
    assert _trainer is not None
    _trainer.train(most=_trainer.few)


def _multiply(_: int) -> None:
    matrix = np.ones((500, 500), dtype=np.float32)
    for _ in range(60):
        matrix @ matrix


def threads(given: argparse.Namespace) -> None:
    """One chain on one and two threads, and two chains side by side."""
    corpus = encoded(given)
    batch, context = given.batches[0], get_context("spawn")
    with ProcessPoolExecutor(2, context, _begin, (corpus, batch)) as pool:
        trainer = Trainer(corpus, batch)
        ways: dict[str, Callable[[], Any]] = {
            "one": lambda: list(pool.map(_go, range(1))),
            "two chains": lambda: list(pool.map(_go, range(2))),
            "one thread": lambda: trainer.train(1, most=trainer.few),
            "two threads": lambda: trainer.train(2, most=trainer.few),
            "one, of matrices": lambda: list(pool.map(_multiply, range(1))),
            "two, of matrices": lambda: list(pool.map(_multiply, range(2))),
        }
        list(pool.map(_go, range(4)))  # both have begun, and compiled
        took: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(given.rounds):
            for name, way in ways.items():
                began = time.perf_counter()
                way()
                took[name].append(time.perf_counter() - began)
    least = {name: min(seconds) for name, seconds in took.items()}
    tokens = int(corpus.lengths[: trainer.few].sum())
    print("what\ttokens/s on one\ttokens/s on two\ttimes")
    alone, both = (tokens / least[name] for name in ("one", "two chains"))
    print(f"two chains, two processes\t{alone:,.0f}\t{2 * both:,.0f}\t{2 * both / alone:.2f}")
    alone, both = (tokens / least[name] for name in ("one thread", "two threads"))
    print(f"one chain, two threads\t{alone:,.0f}\t{both:,.0f}\t{both / alone:.2f}")
    ratio = 2 * least["one, of matrices"] / least["two, of matrices"]
    print(f"products of matrices, two processes\t\t\t{ratio:.2f}")


def memory(given: argparse.Namespace) -> None:
    """Peak memory and processor time of `dbpcfg induce` on text of several sizes."""
    lines = [" ".join(one.words) for one in dbpcfg.read(*given.text, quiet=True)]
    print("words\tsentences\tpeak MB\tMB/million words\tprocessor s\tMB written")
    smallest = 0.0
    for words in given.words:
        with tempfile.TemporaryDirectory() as folder:
            text, left, number = Path(folder) / "text.txt", words, 0
            with text.open("w") as file:
                for line in cycle(lines):
                    file.write(f"{line}\n")
                    left, number = left - line.count(" ") - 1, number + 1
                    if left <= 0:
                        break
            command = [sys.executable, "-m", "dbpcfg", "induce", str(text), "--learner", "neural"]
            command += ["--out", f"{folder}/run", "--chains", "1", "--iterations", "2", "-q"]
            command += ["--threads", "1", "--workers", "threads"]
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            if status:
                raise SystemExit("it failed")
            written = sum(f.stat().st_size for f in Path(folder, "run").rglob("*") if f.is_file())
        peak = used.ru_maxrss / 1024
        smallest = smallest or peak
        slope = 1e6 * (peak - smallest) / max(1, words - given.words[0])
        took = used.ru_utime + used.ru_stime
        sizes = f"{words:,}\t{number:,}\t{peak:,.0f}\t{slope:,.0f}"
        print(f"{sizes}\t{took:,.0f}\t{written / 2**20:,.0f}", flush=True)


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser()
    options.add_argument("table", choices=["parts", "threads", "memory"])
    options.add_argument("text", nargs="+")
    options.add_argument("--batches", type=int, nargs="+", default=[64])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--words", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    given = options.parse_args()
    with one_blas_thread():
        {"parts": parts, "threads": threads, "memory": memory}[given.table](given)


if __name__ == "__main__":
    main()
