"""The directory of a comparison, which keeps finished runs.

====================  =========================================================================
``task.json``         the corpus of all runs in the directory, by its digest
``ccl.trees``         the trees of a system, one a line, in the words as written
``ccl.json``          its settings, time and memory; written last, when the trees are there
``random-3.trees``    the same for a system that draws random numbers, with the seed 3
``comparison.json``   the result of the last comparison
====================  =========================================================================

Each file is written whole, so a comparison can be stopped at any moment and resumed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dbpcfg.comparison.worker import Outcome
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import read_json, write_json, writing, written_whole
from dbpcfg.systems.registry import SystemSpec

TASK, RUN, COMPARISON = "dbpcfg comparison task", "dbpcfg comparison run", "dbpcfg comparison"
_MEASURED = ("seconds", "cpu_seconds", "peak_bytes")
_OPTIONS = ("lowercase", "max_length", "punctuation")


@dataclass(frozen=True)
class Job:
    """One run of one system."""

    spec: SystemSpec
    seed: int | None
    """None for a system that draws no random numbers."""
    settings: Mapping[str, Any]
    """All of them, defaults included."""

    @property
    def name(self) -> str:
        """The name of its files."""
        return self.spec.name if self.seed is None else f"{self.spec.name}-{self.seed}"


class ResultStore(Protocol):
    """Where finished runs are kept."""

    def load(self, job: Job) -> Outcome | None:
        """The outcome of a job, or None if it has not finished."""

    def save(self, job: Job, outcome: Outcome) -> None:
        """Keep the outcome of a finished job."""

    def save_comparison(self, comparison: dict[str, Any]) -> None:
        """Keep the result of the comparison."""


class NoResultStore:
    """Keeps nothing."""

    def load(self, job: Job) -> Outcome | None:
        """None: every job has to be run."""
        return None

    def save(self, job: Job, outcome: Outcome) -> None:
        """Do nothing."""

    def save_comparison(self, comparison: dict[str, Any]) -> None:
        """Do nothing."""


class ResultDirectory:
    """A directory of results on one corpus (a ``ResultStore``).

    ``path``: the directory; it is made if it does not exist.
    """

    def __init__(self, path: Path, task: Mapping[str, Any], sources: tuple[str, ...] = ()) -> None:
        self.path, self.task = path, dict(task)
        with writing(path):
            if (path / "task.json").exists():
                _check_task(path, self.task)
                return
            if path.exists() and (not path.is_dir() or any(path.glob("[!.]*"))):
                raise DbpcfgError(
                    f"{path} exists and is not a comparison; choose another --out for the results"
                )
            path.mkdir(parents=True, exist_ok=True)
            write_json(path / "task.json", TASK, {"corpus": self.task, "sources": sources})

    def load(self, job: Job) -> Outcome | None:
        """The outcome of a job, or None if it has not finished."""
        path = self.path / f"{job.name}.json"
        if not path.exists():
            return None
        again = f"delete {path} to run it again, or choose another --out"
        record = read_json(path, RUN)
        if record.get("corpus") != self.task["digest"]:
            raise DbpcfgError(f"{path} is of another corpus; {again}")
        _check_settings(path, record.get("settings"), job.settings, again)
        trees = self._trees(job)
        measured: dict[str, Any] = {name: record.get(name) for name in _MEASURED}
        numbers = [measured["seconds"], measured["cpu_seconds"], measured["peak_bytes"] or 0]
        sound = all(type(number) in (int, float) for number in numbers)
        if not sound or record.get("trees") != _digest(trees):
            raise DbpcfgError(f"{path} and {job.name}.trees do not belong together; {again}")
        lines = trees.decode("utf-8", "surrogatepass").removesuffix("\n").split("\n")
        return Outcome(lines, **measured, version=str(record.get("dbpcfg")))

    def save(self, job: Job, outcome: Outcome) -> None:
        """Write the trees, then the record, which makes the job finished."""
        trees = "".join(f"{tree}\n" for tree in outcome.trees).encode("utf-8", "surrogatepass")
        record = {
            "system": job.spec.name,
            "seed": job.seed,
            "settings": dict(job.settings),
            **{name: getattr(outcome, name) for name in _MEASURED},
            "corpus": self.task["digest"],
            "trees": _digest(trees),
        }
        with writing(self.path):
            with written_whole(self.path / f"{job.name}.trees") as file:
                file.write(trees)
            write_json(self.path / f"{job.name}.json", RUN, record)

    def save_comparison(self, comparison: dict[str, Any]) -> None:
        """Write the result of the comparison."""
        with writing(self.path):
            write_json(self.path / "comparison.json", COMPARISON, comparison)

    def _trees(self, job: Job) -> bytes:
        try:
            return (self.path / f"{job.name}.trees").read_bytes()
        except OSError:
            return b""


def _check_task(path: Path, task: dict[str, Any]) -> None:
    before = read_json(path / "task.json", TASK).get("corpus")
    if before == task:
        return
    before = before if isinstance(before, dict) else {}
    for key in _OPTIONS:
        if before.get(key) != task[key]:
            option = key.replace("_", "-")
            raise DbpcfgError(
                f"{path} holds results with --{option} {_shown(before.get(key))}, not "
                f"{_shown(task[key])}; give the same option, or choose another --out"
            )
    raise DbpcfgError(
        f"{path} holds results on another corpus ({before.get('sentences')} sentences, "
        f"{before.get('digest')}) than this one ({task['sentences']} sentences, {task['digest']}); "
        "choose another --out"
    )


def _check_settings(path: Path, before: Any, now: Mapping[str, Any], again: str) -> None:
    before = before if isinstance(before, dict) else {}
    differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if differing:
        was = ", ".join(f"{name} = {_shown(before.get(name))}" for name in differing)
        wanted = ", ".join(f"{name} = {_shown(now.get(name))}" for name in differing)
        raise DbpcfgError(f"{path} was run with {was}, not {wanted}; give the same, or {again}")


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
