"""One cell: begun, resumed, or kept as it is.

`run_cell` is all that a worker needs, here or on another machine that has the same files: a cell
goes in, an outcome comes back, and whatever goes wrong in between is the reason of a failure.

A system other than a run of dbpcfg always has a new process, so its peak memory is its own and that
of Python, not that of what was run or read before.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.corpus.reading import Corpus
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.experiments.comparison import Comparison, ScoredRun, SystemSummary
from dbpcfg.experiments.corpora import digest_if_readable, digest_of, load_corpus
from dbpcfg.experiments.grid import Cell
from dbpcfg.experiments.results import CellOutcome, CellRecord, CellResult, save_trees
from dbpcfg.experiments.systems.registry import SystemSpec, restore_words, sentences_for
from dbpcfg.induction.auto import AUTO
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.search import total
from dbpcfg.induction.settings import Configuration
from dbpcfg.io.files import finite
from dbpcfg.io.machine import leave_signals_to_parent, peak_bytes
from dbpcfg.io.progress import Progress
from dbpcfg.trees.tree import Tree

Share = Callable[[float], None]
"""Called with the share of a cell that is done, from 0 to 1."""


def no_share(share: float) -> None:
    """Report nothing."""


def run_cell(
    cell: Cell,
    *,
    threads: int | None = None,
    report: Share = no_share,
    stopping: Callable[[], bool] = lambda: False,
    score: bool = True,
    quiet: bool = True,
) -> CellOutcome:
    """Run a cell, unless it is finished; resume it if it has begun.

    The result does not depend on ``threads``, nor on whether the cell was stopped or killed.

    ``threads``: processors to use; None for all.
    ``report``: called about once a second with the share of the cell that is done, where that is
    known.
    ``stopping``: called about once a second; the cell stops if it returns True, and can be resumed.
    ``score``: whether trees are scored.
    ``quiet``: whether a system other than a run of dbpcfg shows no progress.
    Returns finished, failed with a reason, or unfinished if it was stopped. No error is raised.
    """
    record = CellRecord(cell)
    try:
        with record.locked():
            digest = digest_if_readable(cell.corpus)
            found = record.found(digest)
            if found.state == "finished":
                return found
            if digest is not None:
                record.write(CellOutcome("unfinished"), digest)
            outcome = _attempted(cell, threads, report, stopping, score, quiet)
            record.write(outcome, digest)
            return outcome
    except DbpcfgError as error:  # another process runs it, it has other settings, the disk is full
        return CellOutcome("failed", str(error))


def _attempted(
    cell: Cell,
    threads: int | None,
    report: Share,
    stopping: Callable[[], bool],
    score: bool,
    quiet: bool,
) -> CellOutcome:
    try:
        digest_of(cell.corpus)  # raises an error if its files cannot be read
        if cell.is_run:
            return _learned(cell, threads, report, stopping)
        return CellOutcome("finished", result=_parsed(cell, threads, score, quiet))
    except DbpcfgError as error:
        return CellOutcome("failed", str(error))
    except MemoryError:
        return CellOutcome("failed", "there was not enough memory")
    except Exception as error:
        return CellOutcome("failed", " ".join(f"{type(error).__name__}: {error}".split()))


def _learned(
    cell: Cell, threads: int | None, report: Share, stopping: Callable[[], bool]
) -> CellOutcome:
    """A run of dbpcfg, with its trees scored if there are gold trees."""
    corpus = load_corpus(cell.corpus)
    shares = _Shares(report)
    how: dict[str, Any] = {"threads": threads, "stopping": stopping}
    how |= {"report": shares.advanced, "planned": shares.planned}
    if (cell.directory / "config.toml").exists():
        run = resume(cell.directory, **how)
    else:
        text: Prepared | Corpus = corpus.prepared
        if cell.options.get("learner") == AUTO and corpus.prepared.origin is not None:
            text = corpus.prepared.origin  # how it is prepared is chosen, too
            how |= corpus.prepared.preparation.changed()
        run = induce(text, out=cell.directory, **cell.model, **how)
    if not run.finished:
        return CellOutcome("unfinished")
    per_token = finite(run.best.mean_log_likelihood / len(run.corpus.forms.tokens))
    result = CellResult(len(run.corpus.words), per_token)
    if corpus.task is not None:
        result = replace(result, **_scores(corpus.task.score(run.trees())))
    return CellOutcome("finished", result=result)


def _parsed(cell: Cell, threads: int | None, score: bool, quiet: bool) -> CellResult:
    """The trees of another system, in words as written, and their scores."""
    task = load_corpus(cell.corpus).task
    if task is None:
        raise DbpcfgError(
            f"{cell.system.name} is compared by scores, and there are no gold trees: the corpus "
            "must be a treebank, or have one as gold"
        )
    settings = cell.system.full_settings(cell.options)
    sentences = sentences_for(cell.system, task.prepared)
    found = fit_in_process(cell.system, cell.seed or 0, settings, sentences, threads, quiet)
    if len(found.trees) != len(task):
        raise DbpcfgError(f"it gave {len(found.trees):,} trees for {len(task):,} sentences")
    trees = restore_words(found.trees, task.prepared)
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
    run = ScoredRun(cell.seed, evaluation, result)
    Comparison.of(task, [SystemSummary(cell.system, settings, [run])]).save(cell.directory)
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


class _Shares:
    """From iterations of chains to the share of the run that is done."""

    def __init__(self, report: Share) -> None:
        self.report, self.whole, self.done = report, 0, dict[int, int]()

    def planned(self, configuration: Configuration) -> None:
        """Take in how many iterations there are; 0 if that is not known."""
        each = configuration.schedule.iterations or 0
        rungs = configuration.rungs
        self.whole = total(rungs) if rungs else each * configuration.chains

    def advanced(self, chain: Chain) -> None:
        """Report the share that is done."""
        self.done[chain.settings.chain] = chain.iteration
        if self.whole:
            self.report(min(1.0, sum(self.done.values()) / self.whole))


class FittedTrees(NamedTuple):
    """The trees of a system, and what they cost."""

    trees: list[Tree]
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None


def fit_in_process(
    spec: SystemSpec,
    seed: int,
    settings: Mapping[str, Any],
    sentences: Sequence[Sequence[str]],
    threads: int | None = None,
    quiet: bool = True,
) -> FittedTrees:
    """Run a system on sentences in a new process, and wait for it.

    ``seed``: its seed; ignored by systems that draw no random numbers.
    ``sentences``: the words of each sentence, as the system gets them.
    If it fails or crashes, the error says why.
    """
    process, connection = started(_fit, spec, seed, dict(settings), sentences, threads, quiet)
    try:
        said = connection.recv()
    except EOFError:
        process.join()
        raise DbpcfgError(ending(process)) from None
    finally:
        process.kill()  # it has nothing more to say, or this process was interrupted
        process.join()
        connection.close()
    if isinstance(said, FittedTrees):
        return said
    raise DbpcfgError(said)


def _fit(
    connection: Connection,
    spec: SystemSpec,
    seed: int,
    settings: dict[str, Any],
    sentences: list[Sequence[str]],
    threads: int | None,
    quiet: bool,
) -> None:
    """Run the system: this is the new process."""
    leave_signals_to_parent()
    label = f"{spec.name}, seed {seed}" if spec.stochastic else spec.name
    said: FittedTrees | str
    try:
        system = spec.make(seed, threads, **settings)
        if spec.learns:
            with contextlib.suppress(Exception):  # if it fails, it fails again below
                _warm(spec, threads, settings, sentences)
        with Progress(label, quiet=quiet) as progress:
            start = time.perf_counter()
            trees = system.fit(sentences, progress).trees()
            seconds = time.perf_counter() - start
        said = FittedTrees(trees, seconds, time.process_time(), peak_bytes())
    except DbpcfgError as error:
        said = str(error)
    except MemoryError:
        said = "there was not enough memory"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    connection.send(said)
    connection.close()


FEW = {"iterations": 2, "generations": 1, "em": 1}
"""What settings are while kernels are compiled, of systems that have them."""


def _warm(
    spec: SystemSpec, threads: int | None, settings: Mapping[str, Any], sentences: list[Any]
) -> None:
    """Compile the kernels of a system, which happens once on a machine, on two short sentences."""
    few = {name: FEW.get(name, value) for name, value in settings.items()}
    short = sorted(sentences, key=lambda words: abs(len(words) - 5))[:2]
    spec.make(0, threads, **few).fit(short).trees()


def started(target: Callable[..., None], *arguments: Any) -> tuple[SpawnProcess, Connection]:
    """A new process, and a connection to it, which is its first argument."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *arguments))
    process.start()
    theirs.close()  # so that its own end is the only one, and its death is noticed
    return process, ours


def ending(process: SpawnProcess) -> str:
    """Why a process may have ended without an answer."""
    code = process.exitcode
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        memory = "; memory may have run out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{memory}"
    return (
        f"its process ended with exit code {code}; a program that runs systems needs "
        "`if __name__ == '__main__':`"
    )
