"""Run systems on one corpus and score them, or resume where a comparison stopped."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbpcfg.corpus.arguments import read_path
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import PunctuationRule
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.flattening import flatten as flattened
from dbpcfg.evaluation.flattening import flattenable
from dbpcfg.experiments.comparison import Comparison, SystemSummary, scored_run
from dbpcfg.experiments.corpora import CellCorpus, Task
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.results import (
    CellOutcome,
    CellResult,
    is_results,
    read_outcomes,
    saved_trees,
)
from dbpcfg.experiments.running import run_cell
from dbpcfg.experiments.scores import ScoredRun
from dbpcfg.io.files import read_errors
from dbpcfg.io.progress import Progress, interactive
from dbpcfg.systems.registry import SystemSettings, SystemSpec, find
from dbpcfg.systems.registry import systems as known_systems
from dbpcfg.trees.tree import Tree


def compare(
    treebank: Corpus | Task | str | os.PathLike[str],
    systems: Iterable[str | SystemSpec] | None = None,
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
    on_note: Callable[[str], None] = lambda line: None,
    quiet: bool | None = None,
) -> Comparison:
    """Run systems on one corpus, each run in a process of its own, and score their trees.

    A system that is defined in a notebook or in the script itself runs in this process.

    Parameters
    ----------
    treebank
        A path to a treebank, what `dbpcfg.read` returns for it, or a `Task`, which is prepared
        already.
    systems
        Names: ``"right"``, ``"left"``, ``"balanced"``, ``"random"``, ``"ccl"``, ``"upparse-prlg"``,
        ``"upparse-hmm"``, ``"bmmm-dmv"``, ``"uhhmm"``, ``"dbpcfg"``; all of them if not given.
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
    on_note
        Called with a message about every run.
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
    specs = _distinct(known_systems.names() if systems is None else systems)
    changed = settings or {}
    full_settings = {spec.name: spec.full_settings(changed.get(spec.name, {})) for spec in specs}
    task = _task(treebank, lowercase, max_length, punctuation)
    if out is not None:
        _check_directory(Path(out))
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory()) if out is None else out
        cells = _cells(task, specs, full_settings, range(seed, seed + runs), Path(directory))
        outcomes = read_outcomes(cells)
        summaries = []
        for spec in specs:
            scored, flat, failures = [], [], {}
            for cell in (cell for cell in cells if cell.system is spec):
                result, failure = _result(cell, outcomes[cell.number], threads, quiet, on_note)
                if result is None:
                    failures[cell.seed] = failure
                    continue
                trees = saved_trees(cell, result.trees)
                scored.append(_scored(cell, result, trees, task, quiet))
                if flatten and flattenable(trees):
                    flat.append(_scored(cell, result, flattened(trees), task, quiet))
            system: dict[str, Any] = {"spec": spec, "settings": full_settings[spec.name]}
            summaries.append(SystemSummary(spec.name, scored, failures, **system))
            if flat:
                summaries.append(SystemSummary(f"{spec.name}-F", flat, **system, flattened=True))
        comparison = Comparison.from_summaries(task, summaries, permutations, seed)
        comparison.save(Path(directory))
    return comparison


def _check_directory(out: Path) -> None:
    """Raise an error if a directory holds something other than a comparison."""
    with read_errors(out):
        if out.exists() and not is_results(out) and (out.is_file() or any(out.glob("[!.]*"))):
            raise DbpcfgError(
                f"{out} exists and is not a comparison; choose another --out for the results"
            )


def _cells(
    task: Task,
    specs: Sequence[SystemSpec],
    settings: Mapping[str, Mapping[str, Any]],
    seeds: Sequence[int],
    out: Path,
) -> list[Cell]:
    corpus = CellCorpus.from_task(task)
    pairs = [(spec, seed) for spec in specs for seed in (seeds if spec.stochastic else [None])]
    return [
        Cell(number, str(out), corpus, spec, seed=seed, options=settings[spec.name])
        for number, (spec, seed) in enumerate(pairs, start=1)
    ]


def _result(
    cell: Cell,
    outcome: CellOutcome,
    threads: int | None,
    quiet: bool,
    on_note: Callable[[str], None],
) -> tuple[CellResult | None, str]:
    """Return the result of a cell, or why it failed; run it unless it has finished."""
    finished_before = outcome.state == "finished"
    if not finished_before:
        outcome = run_cell(cell, threads=threads, score=False, quiet=quiet)
    if outcome.result is None:
        on_note(f"{cell.name} failed: {outcome.reason}")
    else:
        seconds = f"{outcome.result.seconds or 0.0:.1f} s"
        on_note(
            f"{cell.name}: kept from before ({seconds})"
            if finished_before
            else f"{cell.name}: {seconds}"
        )
    return outcome.result, outcome.reason


def _scored(
    cell: Cell, result: CellResult, trees: Sequence[Tree], task: Task, quiet: bool
) -> ScoredRun:
    with Progress(f"scoring {cell.name}", len(task), quiet) as progress:
        return scored_run(cell, result, task.score(trees, progress))


def _task(
    treebank: Corpus | Task | str | os.PathLike[str],
    lowercase: bool,
    max_length: int | None,
    punctuation: PunctuationRule,
) -> Task:
    if isinstance(treebank, str | os.PathLike):
        treebank = read_path("compare", treebank)
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


def _distinct(systems: Iterable[str | SystemSpec]) -> list[SystemSpec]:
    """Look up systems that are given by name, and drop repetitions."""
    specs = [system if isinstance(system, SystemSpec) else find(system) for system in systems]
    if not specs:
        raise DbpcfgError("there is no system to compare; name some, or leave the choice out")
    return list({spec.name: spec for spec in specs}.values())
