"""A corpus of several batches, runs over it, and clusters of this machine."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import dbpcfg
from dbpcfg.cluster.connection import DaskCluster
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


def written(path: Path) -> dict[str, bytes]:
    """All files of a run but its lock, so that one too many is a difference too."""
    files = (file for file in path.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def kill_one(cluster: DaskCluster, which: int) -> None:
    """Kill a worker process; its nanny starts another one."""
    try:
        pids = sorted(cluster.client.run(os.getpid, on_error="ignore").values())
        os.kill(pids[which % len(pids)], signal.SIGKILL)
    except (OSError, IndexError, ZeroDivisionError):  # it has been killed already
        pass
