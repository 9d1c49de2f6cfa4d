"""What a cluster costs: local runs and runs on worker processes of the same machine, in turn.

    python benchmarks/cluster.py overhead            # K = 30, D = 2, newswire ten times over
    python benchmarks/cluster.py overhead -K 15 --times 1 --workers 2 --iterations 4
    python benchmarks/cluster.py memory --sentences 1000000 --workers 4

Sentences are those of at most 20 words of newswire in DBPCFG_DATA, or of random words if it is not
there; for memory they are of random words.
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
from dbpcfg.cluster import calls, connect
from dbpcfg.cluster.connection import DaskCluster
from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.reading import read
from dbpcfg.induction import chains as local_chains
from dbpcfg.io.machine import peak_bytes


def sentences(times: int) -> list[list[str]]:
    data = os.environ.get("DBPCFG_DATA")
    if data is None:
        return random_sentences(2000) * times
    prepared = prepare(read(Path(data) / "wsj-sample"), Preparation(max_length=20))
    return [list(forms) for forms in prepared.forms] * times


def random_sentences(number: int, words: int = 5000) -> list[list[str]]:
    chance = np.random.default_rng(1)
    lengths = chance.integers(3, 16, number)
    tokens = np.minimum(chance.zipf(1.3, int(lengths.sum())), words).astype(str).tolist()
    ends = np.cumsum(lengths).tolist()
    return [tokens[end - size : end] for end, size in zip(ends, lengths.tolist())]


class Traffic:
    """The bytes that answers have, pickled."""

    def __init__(self) -> None:
        self.back = self.answers = 0
        result = calls.Call.result

        def counted(call: calls.Call) -> object:
            answer = result(call)
            self.back += len(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
            self.answers += 1
            return answer

        calls.Call.result = counted


def timed(text: list[list[str]], iterations: int, **options: object) -> tuple[float, float]:
    """Seconds per iteration of each chain, and of the last iteration with what comes at the end.

    Without the first iteration, in which kernels are compiled and sentences sent.
    """
    moments: dict[int, list[float]] = {}

    def report(chain: object) -> None:
        moments.setdefault(chain.settings.chain, []).append(time.perf_counter())

    dbpcfg.induce(text, iterations=iterations, report=report, **options)
    begins, most, ends = (max(times[n] for times in moments.values()) for n in (0, -2, -1))
    return (most - begins) / (iterations - 2), ends - most


def overhead(arguments: argparse.Namespace) -> None:
    text, workers = sentences(arguments.times), arguments.workers
    local_chains.BLOCK_SECONDS = 0.0  # every iteration is reported
    print(f"{len(text):,} sentences, K = {arguments.K}, D = 2, {workers} cores", flush=True)
    with connect(f"local:{workers}") as cluster:
        for spread, chains in (("chains", workers), ("shards", 1)):
            measure(text, arguments, cluster, spread, chains)


def measure(
    text: list[list[str]],
    arguments: argparse.Namespace,
    cluster: DaskCluster,
    spread: str,
    chains: int,
) -> None:
    options = {"K": arguments.K, "chains": chains, "threads": arguments.workers}
    options["checkpoint"] = 1e9
    cluster.spread, traffic = spread, Traffic()
    here, there = [], []
    for _ in range(arguments.repeats):  # in turn, as other work on the machine comes and goes
        here.append(timed(text, arguments.iterations, **options))
        there.append(timed(text, arguments.iterations, cluster=cluster, **options))
    (least, end), (most, last) = np.min(here, axis=0), np.min(there, axis=0)
    done = arguments.repeats * arguments.iterations * chains
    print(
        f"{spread}: {chains} chain(s), local {least:.2f} s per iteration, cluster {most:.2f} s, "
        f"overhead {100 * (most / least - 1):+.1f} %; the last iteration {end:.2f} and {last:.2f}; "
        f"{traffic.back / done / 1e3:,.0f} kB back per iteration, the end included; all: "
        f"{np.round(here, 2).tolist()} {np.round(there, 2).tolist()}",
        flush=True,
    )


def memory(arguments: argparse.Namespace) -> None:
    text = random_sentences(arguments.sentences)
    options = {"K": arguments.K, "chains": 1, "iterations": arguments.iterations, "trees": "last"}
    folder = Path(tempfile.mkdtemp())
    with connect(f"local:{arguments.workers}", "shards") as cluster:
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
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--folder", help="of a run that another process compares")
    given = parser.parse_args(sys.argv[1:])
    small = given.what != "overhead"
    given.K = given.K or (4 if small else 30)
    given.workers = given.workers or (4 if small else 2)
    given.iterations = given.iterations or (2 if small else 6)
    {"memory": memory, "here": here, "overhead": overhead}[given.what](given)


if __name__ == "__main__":
    main()
