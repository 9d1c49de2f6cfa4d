"""A comparison from start to end, or from where it stopped: the one way in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dbpcfg.comparison.data import as_data
from dbpcfg.comparison.store import Job, NoResultStore, ResultDirectory, ResultStore
from dbpcfg.comparison.summary import Comparison, ScoredRun, SystemSummary, compared_with_best
from dbpcfg.comparison.task import Task
from dbpcfg.comparison.worker import Outcome, run_in_process
from dbpcfg.errors import DbpcfgError
from dbpcfg.runtime.progress import Progress
from dbpcfg.systems.registry import SYSTEMS, SystemSettings, SystemSpec, find
from dbpcfg.systems.words import as_written, seen_by
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree


def compare(
    task: Task,
    systems: Iterable[str | SystemSpec] = SYSTEMS,
    *,
    runs: int = 3,
    seed: int = 0,
    settings: Mapping[str, SystemSettings] | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    permutations: int = 10_000,
    say: Callable[[str], None] = lambda line: None,
    quiet: bool = True,
) -> Comparison:
    """Run systems on one corpus, each in a process of its own, and score their trees.

    Systems that draw random numbers run with the seeds ``seed``, ``seed + 1``, …, ``runs`` times.
    ``settings`` are other settings of systems, by name. What is finished is kept in the directory
    ``out`` and not run again. ``say`` is told of every run; progress, unless ``quiet``, is shown.
    """
    if runs < 1:
        raise DbpcfgError(f"there must be at least 1 run, got {runs}")
    kinds = _distinct(systems)
    changed = settings or {}
    chosen = {kind.name: kind.chosen(changed.get(kind.name, {})) for kind in kinds}
    corpus = task.describe()
    store: ResultStore = (
        NoResultStore() if out is None else ResultDirectory(Path(out), corpus, task.sources)
    )
    jobs = {
        kind.name: [
            Job(kind, number, chosen[kind.name])
            for number in (range(seed, seed + runs) if kind.stochastic else [None])
        ]
        for kind in kinds
    }
    # All of them before anything is run: a refusal should not come after an hour.
    kept = {job.name: store.load(job) for of_kind in jobs.values() for job in of_kind}
    summaries = []
    for kind in kinds:
        scored, failures = [], {}
        for job in jobs[kind.name]:
            outcome = kept[job.name]
            if outcome is not None:
                say(f"{job.name}: kept from before ({outcome.seconds:.1f} s)")
            else:
                outcome = _run(job, task, threads, quiet)
                if outcome.failure is None:
                    store.save(job, outcome)
                    say(f"{job.name}: {outcome.seconds:.1f} s")
            if outcome.failure is not None:
                failures[job.seed] = outcome.failure
                say(f"{job.name} failed: {outcome.failure}")
            else:
                scored.append(_scored(job, outcome, task, quiet))
        summaries.append(SystemSummary(kind, chosen[kind.name], scored, failures))
    compared = Comparison(
        corpus,
        task.convention.signature(),
        task.category,
        summaries,
        compared_with_best(summaries, permutations, seed),
    )
    store.conclude(as_data(compared))
    return compared


def _run(job: Job, task: Task, threads: int | None, quiet: bool) -> Outcome:
    """Run a job, and give its trees the words as written."""
    sentences = seen_by(job.kind, task.prepared)
    outcome = run_in_process(
        job.kind, job.seed or 0, job.settings, sentences, threads=threads, quiet=quiet
    )
    if outcome.failure is not None:
        return outcome
    if len(outcome.trees) != len(task):
        return Outcome(failure=f"it gave {len(outcome.trees):,} trees for {len(task):,} sentences")
    try:
        trees = as_written(list(_read(outcome.trees)), task.prepared)
    except DbpcfgError as error:
        return Outcome(failure=str(error))
    return replace(outcome, trees=[str(tree) for tree in trees])


def _scored(job: Job, outcome: Outcome, task: Task, quiet: bool) -> ScoredRun:
    with Progress(f"scoring {job.name}", len(task), quiet) as progress:
        evaluation = task.score(list(_read(outcome.trees)), progress)
    return ScoredRun(
        job.seed,
        evaluation,
        outcome.seconds,
        outcome.cpu_seconds,
        outcome.peak_bytes,
        outcome.version,
    )


def _read(lines: Sequence[str]) -> Iterable[Tree]:
    return read_trees("\n".join(lines), "<trees of a system>")


def _distinct(systems: Iterable[str | SystemSpec]) -> list[SystemSpec]:
    """Systems by name or themselves, each of them once."""
    found = [system if isinstance(system, SystemSpec) else find(system) for system in systems]
    if not found:
        raise DbpcfgError("there is no system to compare; name some, or leave the choice out")
    return list({kind.name: kind for kind in found}.values())
