"""One cell: begun, resumed, or kept as it is.

``run_cell`` is all that a worker needs, here or on another machine that has the same files: a cell
goes in, an outcome comes back, and whatever goes wrong in between is the reason of a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbpcfg.comparison.compare import compare
from dbpcfg.comparison.data import finite
from dbpcfg.comparison.task import Task
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.chains import never
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.search import total
from dbpcfg.induction.settings import Configuration
from dbpcfg.sweep.cells import GridCell
from dbpcfg.sweep.corpora import digest_of_files, load_corpus
from dbpcfg.sweep.record import CellOutcome, CellRecord, CellResult

Share = Callable[[float], None]
"""Called with the share of a cell that is done, from 0 to 1."""


def no_share(share: float) -> None:
    """Report nothing."""


def run_cell(
    cell: GridCell,
    *,
    threads: int | None = None,
    report: Share = no_share,
    stopping: Callable[[], bool] = never,
) -> CellOutcome:
    """Run a cell, unless it is finished; resume it if it has begun.

    The result does not depend on ``threads``, nor on whether the cell was stopped or killed.

    ``threads``: processors to use; None for all.
    ``report``: called about once a second with the share of the cell that is done, where that is
    known.
    ``stopping``: called about once a second; the cell stops if it returns True, and can be resumed.
    Returns finished, failed with a reason, or unfinished if it was stopped. No error is raised.
    """
    record = CellRecord(cell)
    try:
        with record.locked():
            return _run(cell, record, threads, report, stopping)
    except DbpcfgError as error:  # another process runs it, it has other settings, the disk is full
        return CellOutcome("failed", str(error))


def _run(
    cell: GridCell,
    record: CellRecord,
    threads: int | None,
    report: Share,
    stopping: Callable[[], bool],
) -> CellOutcome:
    digest: str | None = None
    try:
        digest = digest_of_files(cell.corpus)
    except DbpcfgError as error:
        found = record.found(None)
        if found.state != "finished":
            found = CellOutcome("failed", str(error))
            record.write(found, None)
        return found
    found = record.found(digest)
    if found.state == "finished":
        return found
    record.write(CellOutcome("unfinished"), digest)
    try:
        outcome = (
            _learned(cell, threads, report, stopping) if cell.own else _compared(cell, threads)
        )
    except DbpcfgError as error:
        outcome = CellOutcome("failed", str(error))
    except MemoryError:
        outcome = CellOutcome("failed", "there was not enough memory")
    except Exception as error:
        outcome = CellOutcome("failed", " ".join(f"{type(error).__name__}: {error}".split()))
    record.write(outcome, digest)
    return outcome


def _learned(
    cell: GridCell, threads: int | None, report: Share, stopping: Callable[[], bool]
) -> CellOutcome:
    """A run of dbpcfg, with its trees scored if there are gold trees."""
    corpus = load_corpus(cell.corpus)
    shares = _Shares(report)
    how: dict[str, Any] = {"threads": threads, "stopping": stopping}
    how |= {"report": shares.advanced, "planned": shares.planned}
    if (cell.directory / "config.toml").exists():
        run = resume(cell.directory, **how)
    else:
        model: dict[str, Any] = {"K": cell.K, "D": cell.D, "beta": cell.beta, "seed": cell.seed}
        run = induce(corpus.prepared, **model, out=cell.directory, **cell.options, **how)
    if not run.finished:
        return CellOutcome("unfinished")
    per_token = finite(run.best.mean_log_likelihood / len(run.corpus.forms.tokens))
    if corpus.task is None:
        return CellOutcome("finished", result=CellResult(len(run.corpus.words), per_token))
    scored = corpus.task.score(run.trees())
    return CellOutcome("finished", result=_result(corpus.task, scored, per_token))


def _compared(cell: GridCell, threads: int | None) -> CellOutcome:
    """A run of another system, as `dbpcfg.compare` runs and scores it."""
    task = load_corpus(cell.corpus).task
    if task is None:
        return CellOutcome(
            "failed",
            f"{cell.system} is compared by scores, and there are no gold trees: the corpus must be "
            "a treebank, or have one as gold",
        )
    comparison = compare(
        task,
        [cell.system],
        runs=1,
        seed=cell.seed or 0,
        settings={cell.system: cell.options},
        out=cell.directory,
        threads=threads,
        quiet=True,
    )
    (summary,) = comparison.summaries
    for reason in summary.failures.values():
        return CellOutcome("failed", reason)
    return CellOutcome("finished", result=_result(task, summary.runs[0].evaluation, None))


def _result(task: Task, scored: Evaluation, per_token: float | None) -> CellResult:
    score = scored.score
    return CellResult(
        sentences=len(task),
        per_token=per_token,
        precision=finite(score.precision),
        recall=finite(score.recall),
        f1=finite(score.f1),
        phrase_recall=finite(scored.recall.recall),
        signature=score.signature,
    )


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
