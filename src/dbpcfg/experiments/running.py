"""One cell: begun, resumed, or kept as it is.

`run_cell` is all that a worker needs, here or on another machine that has the same files: a cell
goes in, an outcome comes back, and whatever goes wrong in between is the reason of a failure.

A system other than a run of dbpcfg has a new process, so its peak memory is its own and that of
Python, not that of what was run or read before. One that another process cannot import, as it is
defined in a notebook or in the script itself, runs in this one; its trees are the same.
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

Share = Callable[[float], None]
"""Called with the share of a cell that is done, from 0 to 1."""


def no_share(share: float) -> None:
    """Report nothing."""


def run_cell(
    cell: Cell,
    *,
    threads: int | None = None,
    on_progress: Share = no_share,
    should_stop: Callable[[], bool] = lambda: False,
    score: bool = True,
    quiet: bool = True,
) -> CellOutcome:
    """Run a cell, unless it is finished; resume it if it has begun.

    The result does not depend on ``threads``, nor on whether the cell was stopped or killed.

    ``threads``: processors to use; None for all.
    ``on_progress``: called about once a second with the share of the cell that is done, if known.
    ``should_stop``: called about once a second; if it returns True the cell stops, to be resumed.
    ``score``: whether trees are scored.
    ``quiet``: whether a system other than a run of dbpcfg shows no progress.
    Returns finished, failed with a reason, or unfinished if it was stopped. No error is raised.
    """
    record = CellRecord(cell)
    try:
        with record.locked():
            digest = digest_if_readable(cell.corpus)
            found = record.outcome(digest)
            if found.state == "finished":
                return found
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
    on_progress: Share,
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
    """Why a cell failed, in a line."""
    if isinstance(error, DbpcfgError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there was not enough memory"
    return " ".join(f"{type(error).__name__}: {error}".split())


def _run_dbpcfg(
    cell: Cell, threads: int | None, on_progress: Share, should_stop: Callable[[], bool]
) -> CellOutcome:
    """A run of dbpcfg, with its trees scored if there are gold trees."""
    corpus = load_corpus(cell.corpus)
    shares = _RunProgress(on_progress)
    how: dict[str, Any] = {"threads": threads, "should_stop": should_stop}
    how |= {"on_progress": shares.advanced, "on_plan": shares.on_plan}
    if (cell.directory / "config.toml").exists():
        run = resume(cell.directory, **how)
    else:
        text: PreprocessedCorpus | Corpus = corpus.preprocessed
        if cell.options.get("learner") == AUTO and corpus.preprocessed.origin is not None:
            text = corpus.preprocessed.origin  # how it is prepared is chosen, too
            how |= corpus.preprocessed.preprocessing.changed()
        run = induce(text, out=cell.directory, **cell.model, **how)
    if not run.finished:
        return CellOutcome("unfinished")
    per_token = finite(run.best.mean_log_likelihood / len(run.corpus.learned.tokens))
    result = CellResult(len(run.corpus.words), per_token)
    if corpus.task is not None:
        result = replace(result, **_scores(corpus.task.score(run.trees())))
    return CellOutcome("finished", result=result)


def _run_system(cell: Cell, threads: int | None, score: bool, quiet: bool) -> CellResult:
    """The trees of another system, in words as written, and their scores."""
    task = load_corpus(cell.corpus).task
    if task is None:
        raise DbpcfgError(
            f"{cell.system.name} is compared by scores, and there are no gold trees: the corpus "
            "must be a treebank, or have one as gold"
        )
    settings = cell.system.full_settings(cell.options)
    sentences = sentences_for(cell.system, task.preprocessed)
    fit = _fit_in_process if can_run_elsewhere(cell) else _fit_system
    found = fit(cell.system, cell.seed or 0, settings, sentences, threads, quiet)
    if len(found.trees) != len(task):
        raise DbpcfgError(
            f"it gave {plural(len(found.trees), 'tree')} for {plural(len(task), 'sentence')}"
        )
    trees = restore_words(found.trees, task.preprocessed)
    result = CellResult(
        len(task),
        seconds=found.seconds,
        cpu_seconds=found.cpu_seconds,
        peak_bytes=found.peak_bytes,
        trees=save_trees(cell, trees),
    )
    if not score:
        return result
    evaluation = task.score(trees)
    run = scored_run(cell, result, evaluation)
    summary = SystemSummary(cell.system.name, [run], spec=cell.system, settings=settings)
    Comparison.of(task, [summary]).save(cell.directory)
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
    """From iterations of chains to the share of the run that is done."""

    def __init__(self, on_progress: Share) -> None:
        self.on_progress, self.whole, self.done = on_progress, 0, dict[int, int]()

    def on_plan(self, configuration: Configuration) -> None:
        """Take in how many iterations there are; 0 if that is not known."""
        each = configuration.schedule.iterations or 0
        rungs = configuration.rungs
        self.whole = total(rungs) if rungs else each * configuration.chains

    def advanced(self, chain: Chain) -> None:
        """Report the share that is done."""
        self.done[chain.settings.chain] = chain.iteration
        if self.whole:
            self.on_progress(min(1.0, sum(self.done.values()) / self.whole))


class FittedTrees(NamedTuple):
    """The trees of a system, and what they cost."""

    trees: list[Tree]
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None = None


def can_run_elsewhere(cell: Cell) -> bool:
    """Whether another process can run a cell: what it names is not defined in the main module."""
    here = {name for _, name, entry in added() if not can_send_to_worker(entry)}
    return can_send_to_worker(cell.system) and not any(
        name in cell.options.values() for name in here
    )


def _fit_in_process(*work: Any) -> FittedTrees:
    """The same as `_fit_system`, in a new process. If that crashes, the error says why."""
    process, connection = start_process(_fit_main, *work)
    try:
        answer = connection.recv()
    except EOFError:
        process.join()
        raise DbpcfgError(exit_reason(process)) from None
    finally:
        process.kill()  # it has nothing more to say, or this process was interrupted
        process.join()
        connection.close()
    if isinstance(answer, FittedTrees):
        return answer
    raise DbpcfgError(answer)


def _fit_main(connection: Connection, *work: Any) -> None:
    """Run a system: this is the new process."""
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
    system, before = spec.make(seed, threads, **settings), time.process_time()
    if spec.learns:
        with contextlib.suppress(Exception):  # if it fails, it fails again below
            _compile_kernels(spec, threads, settings, sentences)
    with Progress(label, quiet=quiet) as progress:
        start = time.perf_counter()
        trees = system.fit(sentences, progress).trees()
        seconds = time.perf_counter() - start
    return FittedTrees(trees, seconds, time.process_time() - before)


_SHORTEST = {"iterations": 2, "generations": 1, "em": 1}
"""What settings are while kernels are compiled, of systems that have them."""


def _compile_kernels(
    spec: SystemSpec, threads: int | None, settings: Mapping[str, Any], sentences: list[Any]
) -> None:
    """Compile the kernels of a system, which happens once on a machine, on two short sentences."""
    few = {name: _SHORTEST.get(name, value) for name, value in settings.items()}
    short = sorted(sentences, key=lambda words: abs(len(words) - 5))[:2]
    spec.make(0, threads, **few).fit(short).trees()


def start_process(target: Callable[..., None], *arguments: Any) -> tuple[SpawnProcess, Connection]:
    """A new process, and a connection to it, which is its first argument."""
    ours, theirs = worker_context.Pipe()
    known = [one for one in added() if can_send_to_worker(one)]
    process = worker_context.Process(target=_process_main, args=(known, target, theirs, *arguments))
    try:
        with defer_interrupts():
            process.start()
        theirs.close()  # so that its own end is the only one, and its death is noticed
    except BaseException:  # interrupted: nobody else knows the process, and Python waits for it
        if process.pid is not None:
            process.kill()
            process.join()
        raise
    return process, ours


def _process_main(
    known: list[tuple[str, str, Any]], target: Callable[..., None], *arguments: Any
) -> None:
    """Begin a new process, which knows what the program has added."""
    leave_signals_to_parent()
    for group, name, entry in known:
        Registry.by_group[group].add(name, entry)
    target(*arguments)


def exit_reason(process: SpawnProcess) -> str:
    """Why a process may have ended without an answer."""
    code = process.exitcode
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        memory = "; memory may have run out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{memory}"
    return f"its process ended with exit code {code}"
