"""Run systems on one corpus and score them, or resume where a comparison stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dbpcfg.comparison.data import as_data
from dbpcfg.comparison.result import Comparison
from dbpcfg.comparison.store import Job, NoResultStore, ResultDirectory, ResultStore
from dbpcfg.comparison.summary import ScoredRun, SystemSummary, compared_with_best
from dbpcfg.comparison.task import Task
from dbpcfg.comparison.worker import Outcome, run_in_process
from dbpcfg.corpus.reading import Corpus, corpus_at
from dbpcfg.corpus.sentence import PunctuationRule
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.flattening import flatten as flattened
from dbpcfg.evaluation.flattening import flattenable
from dbpcfg.io.progress import Progress, interactive
from dbpcfg.systems.registry import (
    SYSTEMS,
    SystemSettings,
    SystemSpec,
    find,
    restore_words,
    sentences_for,
)
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree


def compare(
    treebank: Corpus | Task | str | os.PathLike[str],
    systems: Iterable[str | SystemSpec] = SYSTEMS,
    *,
    runs: int = 3,
    seed: int = 0,
    settings: Mapping[str, SystemSettings] | None = None,
    out: str | os.PathLike[str] | None = None,
    lowercase: bool = True,
    max_length: int | None = None,
    punctuation: PunctuationRule = "auto",
    threads: int | None = None,
    flatten: bool = False,
    permutations: int = 10_000,
    report: Callable[[str], None] = lambda line: None,
    quiet: bool | None = None,
) -> Comparison:
    """Run systems on one corpus, each run in a process of its own, and score their trees.

    A script that calls this needs ``if __name__ == "__main__":``, because the processes import it.

    Parameters
    ----------
    treebank
        A path to a treebank, what `dbpcfg.read` returns for it, or a `Task`, which is prepared
        already.
    systems
        Names: ``"right"``, ``"left"``, ``"balanced"``, ``"random"``, ``"ccl"``, ``"upparse-prlg"``,
        ``"upparse-hmm"``, ``"dbpcfg"``; all of them if not given.
    runs
        The number of runs of systems that draw random numbers.
    seed
        The seed of the first run; the next has ``seed + 1``, and so on.
    settings
        Settings that differ from the defaults, by system: ``{"dbpcfg": {"K": 20}}``.
    out
        A directory that keeps finished runs. They are not run again in the next call.
    lowercase
        Whether systems that learn get words in lower case.
    max_length
        Leave out sentences of more words, not counting punctuation.
    punctuation
        How punctuation is recognised: ``"auto"``, ``"tags"``, ``"characters"`` or ``"both"``.
    threads
        Processors for one run; all if not given. Results do not depend on it.
    flatten
        Whether systems with labelled binary trees have another row, ``NAME-F``, with the scores of
        their trees after `dbpcfg.evaluation.flattening.flatten`. These rows are not tested.
    permutations
        The number of permutations of each test.
    report
        Called with a line about every run.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

    Returns
    -------
    Comparison
        Scores, time and memory of every system; ``print`` shows them as tables.

    Raises
    ------
    DbpcfgError
        If a sentence has no gold tree, a system or setting does not exist, or ``out`` holds
        something else. A system that fails raises no error: its row says so.
    """
    quiet = not interactive() if quiet is None else quiet
    if runs < 1:
        raise DbpcfgError(f"there must be at least 1 run, got {runs}")
    specs = _distinct(systems)
    given = settings or {}
    used = {spec.name: spec.full_settings(given.get(spec.name, {})) for spec in specs}
    task = _task(treebank, lowercase, max_length, punctuation)
    corpus = task.describe()
    store: ResultStore = (
        NoResultStore() if out is None else ResultDirectory(Path(out), corpus, task.sources)
    )
    jobs = {
        spec.name: [
            Job(spec, number, used[spec.name])
            for number in (range(seed, seed + runs) if spec.stochastic else [None])
        ]
        for spec in specs
    }
    # Load all of them before anything is run: an error should not come after an hour.
    kept = {job.name: store.load(job) for of_system in jobs.values() for job in of_system}
    summaries = []
    for spec in specs:
        scored, flat, failures = [], [], {}
        for job in jobs[spec.name]:
            outcome = kept[job.name]
            if outcome is not None:
                report(f"{job.name}: kept from before ({outcome.seconds:.1f} s)")
            else:
                outcome = _run(job, task, threads, quiet)
                if outcome.failure is None:
                    store.save(job, outcome)
                    report(f"{job.name}: {outcome.seconds:.1f} s")
            if outcome.failure is not None:
                failures[job.seed] = outcome.failure
                report(f"{job.name} failed: {outcome.failure}")
            else:
                trees = list(_read(outcome.trees))
                scored.append(_scored(job, outcome, trees, task, quiet))
                if flatten and flattenable(trees):
                    flat.append(_scored(job, outcome, flattened(trees), task, quiet))
        summaries.append(SystemSummary(spec, used[spec.name], scored, failures))
        if flat:
            summaries.append(SystemSummary(spec, used[spec.name], flat, flattened=True))
    comparison = Comparison(
        corpus,
        task.convention.signature(),
        task.category,
        summaries,
        compared_with_best([it for it in summaries if not it.flattened], permutations, seed),
    )
    store.save_comparison(as_data(comparison))
    return comparison


def _task(
    treebank: Corpus | Task | str | os.PathLike[str],
    lowercase: bool,
    max_length: int | None,
    punctuation: PunctuationRule,
) -> Task:
    if isinstance(treebank, str | os.PathLike):
        treebank = corpus_at("compare", treebank)
    if isinstance(treebank, Corpus):
        return Task.of(
            treebank, lowercase=lowercase, max_length=max_length, punctuation=punctuation
        )
    if not isinstance(treebank, Task):
        raise DbpcfgError(
            f"compare needs what dbpcfg.read returns, not {type(treebank).__name__}: "
            "dbpcfg.compare(dbpcfg.read(...))"
        )
    if (lowercase, max_length, punctuation) != (True, None, "auto"):
        raise DbpcfgError(
            "a Task is prepared already; give lowercase, max_length and punctuation to Task.of"
        )
    return treebank


def _run(job: Job, task: Task, threads: int | None, quiet: bool) -> Outcome:
    """Run a job, and give its trees the words as written."""
    sentences = sentences_for(job.spec, task.prepared)
    outcome = run_in_process(
        job.spec, job.seed or 0, job.settings, sentences, threads=threads, quiet=quiet
    )
    if outcome.failure is not None:
        return outcome
    if len(outcome.trees) != len(task):
        return Outcome(failure=f"it gave {len(outcome.trees):,} trees for {len(task):,} sentences")
    try:
        trees = restore_words(list(_read(outcome.trees)), task.prepared)
    except DbpcfgError as error:
        return Outcome(failure=str(error))
    return replace(outcome, trees=[str(tree) for tree in trees])


def _scored(
    job: Job, outcome: Outcome, trees: Sequence[Tree], task: Task, quiet: bool
) -> ScoredRun:
    with Progress(f"scoring {job.name}", len(task), quiet) as progress:
        evaluation = task.score(trees, progress)
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
    return list({spec.name: spec for spec in found}.values())
