"""A corpus of several batches, runs over it, and clusters of this machine."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

import dbpcfg
from dbpcfg.cluster.connection import DaskCluster
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.run import Run

if TYPE_CHECKING:
    from distributed import Client, Nanny

_words = random.Random(3)
SENTENCES = [
    [_words.choice("abcdefgh") for _ in range(_words.choice([1, 2, 3, 4, 5, 5, 5, 5, 6, 9]))]
    for _ in range(300)
]
"""Some of them are the same, and there are 32 and more different ones of a length."""
OPTIONS = {"learner": "gibbs", "K": 3, "chains": 2, "iterations": 12, "seed": 5}


def start(out: Path | None, **changed) -> Run:
    return dbpcfg.induce(SENTENCES, out=out, **{**OPTIONS, **changed})


@contextlib.contextmanager
def threads(workers: int) -> "Iterator[Client]":
    """A client of workers that are threads of this process, which start at once."""
    from distributed import Client, LocalCluster

    local = {"host": "127.0.0.1", "dashboard_address": None, "threads_per_worker": 1}
    with (
        LocalCluster(n_workers=workers, processes=False, protocol="tcp", **local) as cluster,
        Client(cluster) as client,
    ):
        yield client


def kill(pid: int) -> None:
    """Kill a process, unless it is gone already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def running_worker(dask_worker: "Nanny") -> int | None:
    """The process of a nanny's worker, if it has started."""
    worker = dask_worker.process
    return worker.pid if worker is not None and worker.status.name == "running" else None


class Killer:
    """A callback that kills workers soon after some of its calls; a nanny starts others.

    A worker is left alone until its nanny has started it: one whose worker is killed before does
    not try again.
    """

    def __init__(self, cluster: DaskCluster, moments: dict[int, int]) -> None:
        self.cluster, self.moments, self.chance = cluster, moments, random.Random(0)
        self.reports = self.kills = 0

    def __call__(self, chain: Chain) -> None:
        if number := self.moments.get(self.reports):
            while len(running := self._running()) < number:
                time.sleep(0.1)
            soon = self.chance.uniform(0, 0.05)
            for pid in self.chance.sample(running, number):
                self.kills += 1
                Timer(soon, kill, (pid,)).start()
        self.reports += 1

    def _running(self) -> list[int]:
        found = self.cluster.client.run(running_worker, nanny=True, on_error="ignore").values()
        return sorted(pid for pid in found if isinstance(pid, int))
