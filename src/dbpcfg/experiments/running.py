"""Run one cell, or resume it.

`run_cell` is all that a worker needs, here or on another machine that has the same files: it takes
a cell and returns an outcome; any error is the reason of a failure.

Other systems than dbpcfg run in a new process, so that their peak memory can be measured. A system
that another process cannot import, because it is defined in a notebook or script, runs in this one;
its trees are the same.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from dbpcfg.corpus.preprocessing import PreprocessedCorpus
from dbpcfg.corpus.reading import Corpus
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.experiments.comparison import Comparison, SystemSummary, scored_run
from dbpcfg.experiments.corpora import digest_if_readable, digest_of, load_corpus
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.results import CellOutcome, CellRecord, CellResult, save_trees
from dbpcfg.induction.auto import AUTO
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.search import total
from dbpcfg.induction.settings import Configuration
from dbpcfg.io.files import finite
from dbpcfg.io.machine import (
    can_send_to_worker,
    defer_interrupts,
    leave_signals_to_parent,
    peak_bytes,
    worker_context,
)
from dbpcfg.io.progress import Progress
from dbpcfg.io.tables import plural
from dbpcfg.registry import Registry, added
from dbpcfg.systems.registry import SystemSpec, restore_words, sentences_for
from dbpcfg.trees.tree import Tree

ProgressCallback = Callable[[float], None]
"""Called with the share of a cell that is done, from 0 to 1."""


def no_progress(share: float) -> None:
    """Ignore progress."""


def run_cell(
    cell: Cell,
    *,
    threads: int | None = None,
    on_progress: ProgressCallback = no_progress,
    should_stop: Callable[[], bool] = lambda: False,
    score: bool = True,
    quiet: bool = True,
) -> CellOutcome:
    """Run a cell, or resume it, unless it is finished; no error is raised.

    The result does not depend on ``threads``, nor on interruptions.

    ``threads``: processors to use; None for all.
    ``on_progress``: called about once a second, if the length of the run is known.
    ``should_stop``: called about once a second; if it returns True the cell stops.
    ``score``: whether trees are scored.
    ``quiet``: whether other systems than dbpcfg show no progress.
    """
    record = CellRecord(cell)
    try:
        with record.locked():
            digest = digest_if_readable(cell.corpus)
            outcome = record.outcome(digest)
            if outcome.state == "finished":
                return outcome
            if digest is not None:
                record.write(CellOutcome("unfinished"), digest)
            outcome = _run(cell, threads, on_progress, should_stop, score, quiet)
            record.write(outcome, digest)
            return outcome
    except DbpcfgError as error:  # another process runs it, it has other settings, the disk is full
        return CellOutcome("failed", str(error))


def _run(
    cell: Cell,
    threads: int | None,
    on_progress: ProgressCallback,
    should_stop: Callable[[], bool],
    score: bool,
    quiet: bool,
) -> CellOutcome:
    try:
        digest_of(cell.corpus)  # raises an error if its files cannot be read
        if cell.is_run:
            return _run_dbpcfg(cell, threads, on_progress, should_stop)
        return CellOutcome("finished", result=_run_system(cell, threads, score, quiet))
    except Exception as error:
        return CellOutcome("failed", _reason(error))


def _reason(error: Exception) -> str:
    """The reason of a failure, on one line."""
    if isinstance(error, DbpcfgError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there was not enough memory"
    return " ".join(f"{type(error).__name__}: {error}".split())


def _run_dbpcfg(
    cell: Cell, threads: int | None, on_progress: ProgressCallback, should_stop: Callable[[], bool]
) -> CellOutcome:
    """Run dbpcfg, and score its trees if there are gold trees."""
    corpus = load_corpus(cell.corpus)
    shares = _RunProgress(on_progress)
    options: dict[str, Any] = {"threads": threads, "should_stop": should_stop}
    options |= {"on_progress": shares.on_chain, "on_plan": shares.on_plan}
    if (cell.directory / "config.toml").exists():
        run = resume(cell.directory, **options)
    else:
        text: PreprocessedCorpus | Corpus = corpus.preprocessed
        if cell.options.get("learner") == AUTO and corpus.preprocessed.origin is not None:
            text = corpus.preprocessed.origin  # the learner chooses the preprocessing too
            options |= corpus.preprocessed.preprocessing.changed()
        run = induce(text, out=cell.directory, **cell.model, **options)
    if not run.finished:
        return CellOutcome("unfinished")
    per_token = finite(run.best.mean_log_likelihood / len(run.corpus.learned.tokens))
    result = CellResult(len(run.corpus.words), per_token)
    if corpus.task is not None:
        result = replace(result, **_scores(corpus.task.score(run.trees())))
    return CellOutcome("finished", result=result)


def _run_system(cell: Cell, threads: int | None, score: bool, quiet: bool) -> CellResult:
    """Run another system, write its trees over the words as written, and score them."""
    task = load_corpus(cell.corpus).task
    if task is None:
        raise DbpcfgError(
            f"{cell.system.name} is compared by scores, and there are no gold trees: the corpus "
            "must be a treebank, or have one as gold"
        )
    settings = cell.system.full_settings(cell.options)
    sentences = sentences_for(cell.system, task.preprocessed)
    fit = _fit_in_process if can_run_elsewhere(cell) else _fit_system
    fitted = fit(cell.system, cell.seed or 0, settings, sentences, threads, quiet)
    if len(fitted.trees) != len(task):
        raise DbpcfgError(
            f"it gave {plural(len(fitted.trees), 'tree')} for {plural(len(task), 'sentence')}"
        )
    trees = restore_words(fitted.trees, task.preprocessed)
    result = CellResult(
        len(task),
        seconds=fitted.seconds,
        cpu_seconds=fitted.cpu_seconds,
        peak_bytes=fitted.peak_bytes,
        trees=save_trees(cell, trees),
    )
    if not score:
        return result
    evaluation = task.score(trees)
    run = scored_run(cell, result, evaluation)
    summary = SystemSummary(cell.system.name, [run], spec=cell.system, settings=settings)
    Comparison.from_summaries(task, [summary]).save(cell.directory)
    return replace(result, **_scores(evaluation))


def _scores(scored: Evaluation) -> dict[str, Any]:
    score = scored.score
    return {
        "precision": finite(score.precision),
        "recall": finite(score.recall),
        "f1": finite(score.f1),
        "phrase_recall": finite(scored.recall.recall),
        "signature": score.signature,
    }


class _RunProgress:
    """Turns iterations of chains into the share of the run that is done."""

    def __init__(self, on_progress: ProgressCallback) -> None:
        self.on_progress, self.whole, self.done = on_progress, 0, dict[int, int]()

    def on_plan(self, configuration: Configuration) -> None:
        """Set the total number of iterations; 0 if it is not known."""
        iterations = configuration.schedule.iterations or 0
        rungs = configuration.rungs
        self.whole = total(rungs) if rungs else iterations * configuration.chains

    def on_chain(self, chain: Chain) -> None:
        """Report the share that is done."""
        self.done[chain.settings.chain] = chain.iteration
        if self.whole:
            self.on_progress(min(1.0, sum(self.done.values()) / self.whole))


class FittedTrees(NamedTuple):
    """The trees of a system, with time and memory."""

    trees: list[Tree]
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None = None


def can_run_elsewhere(cell: Cell) -> bool:
    """Whether another process can run a cell: nothing it uses is defined in the main module."""
    only_here = {name for _, name, entry in added() if not can_send_to_worker(entry)}
    return can_send_to_worker(cell.system) and not any(
        name in cell.options.values() for name in only_here
    )


def _fit_in_process(*work: Any) -> FittedTrees:
    """Call `_fit_system` in a new process; raise an error if it crashes."""
    process, connection = start_process(_fit_main, *work)
    try:
        answer = connection.recv()
    except EOFError:
        process.join()
        raise DbpcfgError(exit_reason(process)) from None
    finally:
        process.kill()  # it has answered, or this process was interrupted
        process.join()
        connection.close()
    if isinstance(answer, FittedTrees):
        return answer
    raise DbpcfgError(answer)


def _fit_main(connection: Connection, *work: Any) -> None:
    """The main function of the new process."""
    answer: FittedTrees | str
    try:
        answer = _fit_system(*work)._replace(
            cpu_seconds=time.process_time(), peak_bytes=peak_bytes()
        )
    except Exception as error:
        answer = _reason(error)
    connection.send(answer)
    connection.close()


def _fit_system(
    spec: SystemSpec,
    seed: int,
    settings: Mapping[str, Any],
    sentences: list[Sequence[str]],
    threads: int | None,
    quiet: bool,
) -> FittedTrees:
    """Run a system on sentences.

    ``seed``: its seed; ignored by systems that draw no random numbers.
    ``sentences``: the words of each sentence, as the system gets them.
    """
    label = f"{spec.name}, seed {seed}" if spec.stochastic else spec.name
    system, cpu_start = spec.make(seed, threads, **settings), time.process_time()
    if spec.learns:
        with contextlib.suppress(Exception):  # if it fails, it fails again below
            _compile_kernels(spec, threads, settings, sentences)
    with Progress(label, quiet=quiet) as progress:
        start = time.perf_counter()
        trees = system.fit(sentences, progress).trees()
        seconds = time.perf_counter() - start
    return FittedTrees(trees, seconds, time.process_time() - cpu_start)


_SHORTEST = {"iterations": 2, "generations": 1, "em": 1}
"""Settings that make runs short while kernels are compiled."""


def _compile_kernels(
    spec: SystemSpec, threads: int | None, settings: Mapping[str, Any], sentences: list[Any]
) -> None:
    """Compile the kernels of a system, by a short run on two sentences."""
    shortened = {name: _SHORTEST.get(name, value) for name, value in settings.items()}
    short = sorted(sentences, key=lambda words: abs(len(words) - 5))[:2]
    spec.make(0, threads, **shortened).fit(short).trees()


def start_process(target: Callable[..., None], *arguments: Any) -> tuple[SpawnProcess, Connection]:
    """Start a process; its first argument is the other end of the connection."""
    connection, other_end = worker_context.Pipe()
    entries = [entry for entry in added() if can_send_to_worker(entry)]
    process = worker_context.Process(
        target=_process_main, args=(entries, target, other_end, *arguments)
    )
    try:
        with defer_interrupts():
            process.start()
        other_end.close()  # so that reading fails when the process dies
    except BaseException:  # interrupted: Python would wait for the process at exit
        if process.pid is not None:
            process.kill()
            process.join()
        raise
    return process, connection


def _process_main(
    entries: list[tuple[str, str, Any]], target: Callable[..., None], *arguments: Any
) -> None:
    """Register what the program has added, then call ``target``."""
    leave_signals_to_parent()
    for group, name, entry in entries:
        Registry.by_group[group].add(name, entry)
    target(*arguments)


def exit_reason(process: SpawnProcess) -> str:
    """Why a process has probably ended without an answer."""
    code = process.exitcode
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        memory = "; memory may have run out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{memory}"
    return f"its process ended with exit code {code}"
