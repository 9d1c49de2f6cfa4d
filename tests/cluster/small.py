"""A corpus of several batches, runs over it, and clusters of this machine."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Collection
from pathlib import Path
from threading import Timer

import dbpcfg
from dbpcfg.cluster.connection import DaskCluster
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.run import Run

_words = random.Random(3)
SENTENCES = [
    [_words.choice("abcdefgh") for _ in range(_words.choice([1, 2, 3, 4, 5, 5, 5, 5, 6, 9]))]
    for _ in range(300)
]
"""Some of them are the same, and there are 32 and more different ones of a length."""
OPTIONS = {"K": 3, "chains": 2, "iterations": 12, "seed": 5}


def start(out: Path | None, **changed) -> Run:
    return dbpcfg.induce(SENTENCES, out=out, **{**OPTIONS, **changed})


def kill(pid: int) -> None:
    """Kill a process, unless it is gone already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Killer:
    """A report that kills a worker soon after some of its calls; a nanny starts another one.

    A worker is left alone until it has been there for a second: a nanny whose worker is killed
    while it starts does not try again.
    """

    def __init__(self, cluster: DaskCluster, moments: Collection[int], seed: int = 0) -> None:
        self.cluster, self.moments, self.chance = cluster, moments, random.Random(seed)
        self.seen: dict[int, float] = {}
        self.reports = self.kills = 0

    def __call__(self, chain: Chain) -> None:
        if self.reports in self.moments:
            while not (grown := self._grown()):
                time.sleep(0.1)
            self.kills += 1
            soon = self.chance.uniform(0, 0.05)
            Timer(soon, kill, (self.chance.choice(grown),)).start()
        self.reports += 1

    def _grown(self) -> list[int]:
        found = self.cluster.client.run(os.getpid, on_error="ignore").values()
        pids = sorted(pid for pid in found if isinstance(pid, int))
        now = time.monotonic()
        return [pid for pid in pids if now - self.seen.setdefault(pid, now) > 1]
