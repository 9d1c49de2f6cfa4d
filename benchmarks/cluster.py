"""What a cluster costs: local runs and runs on worker processes of the same machine, in turn.

    python benchmarks/cluster.py overhead                    # the sampler and the neural grammar
    python benchmarks/cluster.py overhead --learners gibbs em -K 30 --sentences 10000
    python benchmarks/cluster.py memory --sentences 1000000 --workers 4

Sentences are utterances of Adam in DBPCFG_DATA, of at most 20 words, or of random words if it is
not there; for memory they are of random words.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import dbpcfg
from dbpcfg.cluster import chains, connect, mapping
from dbpcfg.cluster.connection import DaskCluster
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.reading import read
from dbpcfg.induction import chains as local_chains
from dbpcfg.io.machine import peak_bytes


def sentences(number: int) -> list[list[str]]:
    data = os.environ.get("DBPCFG_DATA")
    if data is None:
        return random_sentences(number)
    preprocessed = preprocess(read(Path(data) / "adam"), Preprocessing(max_length=20))
    return list(preprocessed.encoded)[:number]


def random_sentences(number: int, words: int = 5000) -> list[list[str]]:
    chance = np.random.default_rng(1)
    lengths = chance.integers(3, 16, number)
    tokens = np.minimum(chance.zipf(1.3, int(lengths.sum())), words).astype(str).tolist()
    ends = np.cumsum(lengths).tolist()
    return [tokens[end - size : end] for end, size in zip(ends, lengths.tolist())]


class Traffic:
    """The bytes that results have, pickled."""

    def __init__(self) -> None:
        self.back = 0
        for module in (chains, mapping):
            module.results = self.counting(module.results)

    def counting(self, results: object) -> object:
        def counted(*given: object) -> list[object]:
            found = results(*given)
            self.back += len(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
            return found

        return counted


def timed(text: list[list[str]], iterations: int, **options: object) -> float:
    """Seconds per iteration of each chain, without the first block, in which kernels are compiled
    and sentences sent."""
    moments: dict[int, list[tuple[int, float]]] = {}

    def report(chain: object) -> None:
        now = chain.iteration, time.perf_counter()
        moments.setdefault(chain.settings.chain, []).append(now)

    dbpcfg.induce(text, iterations=iterations, on_progress=report, **options)
    each = [(last - first) / (end - begin) for (begin, first), *_, (end, last) in moments.values()]
    return max(each)


def overhead(arguments: argparse.Namespace) -> None:
    text, workers = sentences(arguments.sentences), arguments.workers
    print(f"{len(text):,} sentences, D = 2, {workers} cores", flush=True)
    traffic = Traffic()
    with connect(f"local:{workers}", announce=lambda line: None) as cluster:
        for learner in arguments.learners:
            for spread, number in (("chains", workers), ("sentences", 1)):
                measure(text, arguments, cluster, traffic, learner, spread, number)


def measure(
    text: list[list[str]],
    arguments: argparse.Namespace,
    cluster: DaskCluster,
    traffic: Traffic,
    learner: str,
    spread: str,
    number: int,
) -> None:
    options = {"learner": learner, "chains": number, "threads": arguments.workers}
    options |= {"D": 2, "checkpoint": 1e9, **({"K": arguments.K} if arguments.K else {})}
    if learner == "neural" and arguments.batch:
        options["batch"] = arguments.batch
    cluster.spread, traffic.back = spread, 0
    here, there, iterations = [], [], arguments.iterations
    local_chains.BLOCK_SECONDS = 0.0  # each iteration is reported
    if spread == "chains":
        once = timed(text, 6, **options)
        local_chains.BLOCK_SECONDS = 1.0  # chains side by side travel once in a block
        iterations = max(8, round(arguments.seconds / once))
    for _ in range(arguments.repeats):  # in turn, as other work on the machine comes and goes
        here.append(timed(text, iterations, **options))
        there.append(timed(text, iterations, cluster=cluster, **options))
    ratios, least, most = np.divide(there, here), min(here), min(there)
    done = arguments.repeats * iterations * number
    print(
        f"{learner}, {spread}: {number} chain(s), local {least:.3f} s per iteration, cluster "
        f"{most:.3f} s; ratio {np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f}); "
        f"{traffic.back / done / 1e3:,.0f} kB back per iteration, the end included",
        flush=True,
    )


def memory(arguments: argparse.Namespace) -> None:
    text = random_sentences(arguments.sentences)
    options = {"K": arguments.K, "chains": 1, "iterations": arguments.iterations, "trees": "last"}
    folder = Path(tempfile.mkdtemp())
    with connect(f"local:{arguments.workers}", "sentences") as cluster:
        before = cluster.client.run(peak_bytes)
        dbpcfg.induce(text, cluster=cluster, out=folder / "there", **options)
        for address, peak in cluster.client.run(peak_bytes).items():
            first = before[address] / 1e6
            print(f"{address}: {peak / 1e6:,.0f} MB at most, {first:,.0f} before", flush=True)
    del text
    # In a process of its own, from a file: without what this one holds.
    own = [sys.executable, __file__, "here"]
    for name in ("K", "sentences", "iterations"):
        own += [f"-{'-' * (name != 'K')}{name}", str(getattr(arguments, name))]
    subprocess.run([*own, "--folder", str(folder)], check=True)
    for name in ("chains/0/chain.npz", "trees.txt", "model.npz"):
        same = (folder / "here" / name).read_bytes() == (folder / "there" / name).read_bytes()
        print(name, "the same" if same else "DIFFERS", flush=True)


def here(arguments: argparse.Namespace) -> None:
    options = {"K": arguments.K, "chains": 1, "iterations": arguments.iterations, "trees": "last"}
    out = Path(arguments.folder) / "here"
    dbpcfg.induce(random_sentences(arguments.sentences), out=out, **options)
    print(f"local: {(peak_bytes() or 0) / 1e6:,.0f} MB at most, the text included", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["overhead", "memory", "here"])
    parser.add_argument("-K", type=int)
    parser.add_argument("--learners", nargs="+", default=["gibbs", "neural"])
    parser.add_argument("--seconds", type=float, default=15.0, help="of chains side by side")
    parser.add_argument("--batch", type=int, help="of the neural grammar")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--folder", help="of a run that another process compares")
    given = parser.parse_args(sys.argv[1:])
    small = given.what != "overhead"
    given.K = given.K or (4 if small else None)
    given.sentences = given.sentences or (1_000_000 if small else 4000)
    given.workers = given.workers or (4 if small else 2)
    given.iterations = given.iterations or (2 if small else 6)
    {"memory": memory, "here": here, "overhead": overhead}[given.what](given)


if __name__ == "__main__":
    main()
