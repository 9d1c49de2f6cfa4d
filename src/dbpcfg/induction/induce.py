"""Induction: ``induce`` a grammar, ``resume`` a run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from dbpcfg.corpus.arguments import GivenSentences, GivenTrees, sentences_for, trees_for
from dbpcfg.corpus.preparation import Preparation, Prepared, prepare
from dbpcfg.corpus.reading import Corpus
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.chain import Chain, TreeChoice
from dbpcfg.induction.chains import run_chains
from dbpcfg.induction.configuration import Configuration, versions
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.criteria import Criterion
from dbpcfg.induction.directory import RunDirectory, check_free
from dbpcfg.induction.execution import (
    CHECKPOINT_SECONDS,
    AnyCluster,
    ChainRunner,
    Execution,
    Workers,
    connected,
    never,
    no_plan,
    no_remark,
    no_report,
)
from dbpcfg.induction.gold import GoldSpans, gold_spans
from dbpcfg.induction.inference import (
    InferenceName,
    budget_of,
    chosen,
    is_race,
    iterations_in,
)
from dbpcfg.induction.memory import check_memory
from dbpcfg.induction.race import total
from dbpcfg.induction.results import results_are_there, write_results
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import ChainSettings, settings_for
from dbpcfg.induction.store import ChainStore, InMemory
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.io.progress import Progress


def induce(
    corpus: GivenSentences | Prepared,
    K: int | None = None,
    D: int | None = 2,
    *,
    inference: InferenceName | None = None,
    budget: int | str | None = None,
    chains: int | None = None,
    iterations: int | None = None,
    select: Criterion | None = None,
    seed: int = 0,
    beta: float = 0.2,
    trees: TreeChoice = "mbr",
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    workers: Workers = "threads",
    cluster: AnyCluster = None,
    checkpoint: float = CHECKPOINT_SECONDS,
    preparation: Preparation | None = None,
    schedule: Schedule | None = None,
    report: Callable[[Chain], None] = no_report,
    stopping: Callable[[], bool] = never,
    planned: Callable[[Configuration], None] = no_plan,
    quiet: bool | None = None,
    gold: GivenTrees | None = None,
    gold_sources: Sequence[str] = (),
    **model: Any,
) -> Run:
    """Learn a grammar from sentences.

    The result depends on the seed, not on ``threads``, ``workers``, ``cluster``
    or ``checkpoint``.

    Parameters
    ----------
    corpus
        A path to read, what ``dbpcfg.read`` returns, or sentences as lists of words or as texts; or
        a corpus that is prepared already.
    K
        The number of categories; if not given, 15, of the learner ``"neural"`` 120.
    D
        The memory bound: the greatest number of fragments in memory; None for no bound.
    inference
        ``"race"``: many chains are started, the best go on (`dbpcfg.induction.race`).
        ``"paper"``: a few chains, each to its end. If not given, a race, unless ``iterations`` or
        ``schedule`` is.
    budget
        For a race: iterations of all chains together, or a time such as ``"30min"``, which is
        turned into iterations by timing some; 1,500 if not given.
    chains
        The number of chains; in a race of those that start. If not given, as many as suit the
        budget, or four.
    iterations
        The length of each chain, of which the second half counts; None for a race, or for the
        paper's rule.
    select
        What chains are compared by (`dbpcfg.induction.criteria`).
    seed
        Of the random numbers.
    beta
        The Dirichlet parameter β of all rules.
    trees
        The trees of the run: ``"mbr"`` over the retained samples, the ``"best"`` sample or the
        ``"last"`` one.
    out
        A directory for the run, which can then be resumed; None for a run in memory.
    overwrite
        Whether a run that is in ``out`` is replaced.
    threads
        For all chains together; None for as many as there are processors.
    workers
        What runs chains side by side: ``"threads"`` or ``"processes"``.
    cluster
        Where chains run instead of here: ``"local:4"`` for four processes of this machine,
        ``"tcp://host:8786"`` for a Dask scheduler, the name of a TOML file that describes a batch
        system, a ``distributed.Client``, or what ``dbpcfg.cluster.connect`` returns.
    checkpoint
        Seconds between two checkpoints of a chain.
    preparation
        How the sentences are prepared; by default letters are changed to lower case.
    schedule
        The rule for burn-in and length in detail, instead of ``iterations``.
    report
        Called with a chain after each block of its iterations, about once a second.
    stopping
        Called after each block; the run stops if it returns True.
    planned
        Called with the settings of the run before it begins.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook, unless ``report`` is given.
    gold
        Gold trees of the sentences, or of the whole treebank from which they were taken. They add
        F1 to the chains' traces and decide nothing.
    gold_sources
        Names for the gold trees, to be recorded; by default those of the files they were read from.
    **model
        Further settings of chains, fields of ``ChainSettings``.

    Returns
    -------
    Run
        The run, with its chains, its model and its trees.

    Raises
    ------
    DbpcfgError
        If a setting cannot be, if the run does not fit into memory, if there are no sentences, if
        gold trees do not match them, or if ``out`` is not empty or cannot be written to.
    """
    execution = Execution(
        threads, workers, checkpoint, report, stopping, planned, connected(cluster)
    )
    settings = _settings(categories=K, depth=D, beta=beta, seed=seed, **model)
    asked = budget_of(budget) if isinstance(budget, str) else budget
    planned_as = partial(
        chosen, settings, inference, chains=chains, iterations=iterations, schedule=schedule
    )
    # Before anything is read; but what a time is worth is not known yet.
    if isinstance(asked, float):
        is_race(inference, True, iterations is not None or schedule is not None)
    else:
        planned_as(budget=asked, select=select)
    if out is not None:
        check_free(Path(out), overwrite)
    prepared = _prepared(corpus, preparation)
    learned_from = RunCorpus.of(prepared)
    if isinstance(asked, float):
        asked = iterations_in(asked, learned_from.forms, settings, threads)
    search = planned_as(budget=asked, select=select)
    configuration = Configuration(
        model=settings,
        schedule=search.schedule,
        preparation=prepared.preparation,
        chains=search.chains,
        trees=trees,
        budget=search.budget,
        select=search.select,
        gold=[] if gold is None else list(gold_sources) or _sources(gold) or ["given"],
        corpus={**_origin(prepared), **learned_from.size(), "digest": learned_from.digest()},
        versions=versions(),
    )
    spans = None if gold is None else _gold_spans(gold, learned_from, prepared)
    check_memory(configuration, learned_from.forms)
    del prepared, corpus  # the run has the words, in a tenth of the memory
    with _shown(execution, configuration, quiet) as shown:
        if out is None:
            return _run(configuration, learned_from, spans, InMemory(), shown)
        with RunDirectory.create(
            Path(out), configuration, learned_from, spans, overwrite
        ) as directory:
            return _run_directory(directory, shown)


def resume(
    path: str | os.PathLike[str],
    *,
    iterations: int | None = None,
    threads: int | None = None,
    workers: Workers = "threads",
    cluster: AnyCluster = None,
    checkpoint: float = CHECKPOINT_SECONDS,
    report: Callable[[Chain], None] = no_report,
    stopping: Callable[[], bool] = never,
    planned: Callable[[Configuration], None] = no_plan,
    quiet: bool | None = None,
    remark: Callable[[str], None] = no_remark,
) -> Run:
    """Resume a run where it stopped, or make it longer.

    The result is the one it would have had without stopping, or of that length from the start. A
    finished run is not changed unless ``iterations`` is given.

    Parameters
    ----------
    path
        The directory of the run.
    iterations
        A new length of each chain, of which the second half counts. Chains continue if they have
        done at most half of it; otherwise they begin again, as samples that would count were not
        kept.
    threads
        For all chains together; None for as many as there are processors.
    workers
        What runs chains side by side: ``"threads"`` or ``"processes"``.
    cluster
        Where chains run instead of here: ``"local:4"`` for four processes of this machine,
        ``"tcp://host:8786"`` for a Dask scheduler, the name of a TOML file that describes a batch
        system, a ``distributed.Client``, or what ``dbpcfg.cluster.connect`` returns.
    checkpoint
        Seconds between two checkpoints of a chain.
    report
        Called with a chain after each block of its iterations, about once a second.
    stopping
        Called after each block; the run stops if it returns True.
    planned
        Called with the settings of the run before it continues.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook, unless ``report`` is given.
    remark
        Called with a sentence if chains begin again.

    Returns
    -------
    Run
        The run.

    Raises
    ------
    DbpcfgError
        If the directory is no run, a file is damaged, another process is running it, or a chain has
        done more than ``iterations``.
    """
    execution = Execution(
        threads, workers, checkpoint, report, stopping, planned, connected(cluster)
    )
    with RunDirectory.open(Path(path)) as directory:
        again = [] if iterations is None else directory.extend(iterations)
        if again:
            remark(
                f"chains begin again ({', '.join(map(str, again))}): of {iterations:,} iterations "
                "the second half counts, and their samples of it were not all kept; chains "
                "continue if they have done at most half"
            )
        check_memory(directory.configuration, directory.corpus.forms)
        with _shown(execution, directory.configuration, quiet) as shown:
            return _run_directory(directory, shown)


@contextlib.contextmanager
def _shown(
    execution: Execution, configuration: Configuration, quiet: bool | None
) -> Iterator[Execution]:
    """Show progress while chains run, unless the caller reports it."""
    if execution.report is not no_report:
        yield execution
        return
    schedule, done = configuration.schedule, dict.fromkeys(range(configuration.chains), 0)
    ends = dict.fromkeys(done, schedule.iterations)
    whole = total(configuration.rungs) if configuration.budget else None
    with Progress("iterations", quiet=quiet) as progress:

        def report(chain: Chain) -> None:
            number = chain.settings.chain
            done[number] = chain.iteration
            if schedule.iterations is None and chain.burn_in is not None:
                ends[number] = chain.burn_in + schedule.after
            known = [end for end in ends.values() if end is not None]
            progress.total = whole or (sum(known) if len(known) == len(ends) else None)
            progress.update(sum(done.values()))

        yield replace(execution, report=report)


def _run_directory(directory: RunDirectory, execution: Execution) -> Run:
    run = _run(directory.configuration, directory.corpus, directory.gold, directory, execution)
    if run.finished and not results_are_there(run, directory.path):
        directory.check_place()
        write_results(run, directory.path)
    return run


def _run(
    configuration: Configuration,
    corpus: RunCorpus,
    gold: GoldSpans | None,
    store: ChainStore,
    execution: Execution,
) -> Run:
    execution.planned(configuration)
    racing, schedule = list(range(configuration.chains)), configuration.schedule
    chains: dict[int, Chain] = {}
    # Around all chains: the limits of single calls, were they the only ones, would lift each other.
    with one_blas_thread(), _runner(configuration, corpus, execution) as run_racing:
        for rung in configuration.rungs or (None,):
            settings = [configuration.chain(number) for number in racing]
            until = None if rung is None else rung.iterations
            found = run_racing(
                corpus.forms, settings, schedule, store, execution=execution, gold=gold, until=until
            )
            chains |= {chain.settings.chain: chain for chain in found}
            run = Run(configuration, corpus, list(chains.values()))
            left = [chain.settings.chain for chain in run.survivors]
            if rung is None or left == racing:  # the end, or it was stopped
                break
            racing = left
    return run


@contextlib.contextmanager
def _runner(
    configuration: Configuration, corpus: RunCorpus, execution: Execution
) -> Iterator[ChainRunner]:
    """What runs the chains: this process and its workers, or a cluster."""
    if execution.cluster is not None:
        with execution.cluster.runner(configuration, corpus.forms, execution) as runner:
            yield runner
        return
    with execution.executor(configuration.chains) as executor:
        yield partial(run_chains, executor=executor)


def _prepared(corpus: GivenSentences | Prepared, preparation: Preparation | None) -> Prepared:
    """The corpus as it is learned from: prepared here, unless the caller has done so."""
    if isinstance(corpus, Prepared):
        if preparation is not None:
            raise DbpcfgError("the corpus is prepared already: leave preparation out")
        return corpus
    return prepare(sentences_for("induce", corpus), preparation or Preparation())


def _settings(**given: Any) -> ChainSettings:
    known = [field.name for field in fields(ChainSettings) if field.name != "chain"]
    for name in given:
        if name not in known:
            raise DbpcfgError(f"induce has no setting {name!r}; there are {', '.join(known)}")
    try:
        return settings_for(**given)
    except TypeError as error:
        raise DbpcfgError(f"a setting of induce is of the wrong type: {error}") from None


def _origin(prepared: Prepared) -> dict[str, list[str]]:
    """Where the text came from: files, and whose speech if that was chosen."""
    corpus = prepared.origin
    if corpus is None:
        return {"sources": []}
    origin = {"sources": list(corpus.sources)}
    if corpus.speakers:
        origin["speakers"] = list(corpus.speakers)
    if corpus.exclude_speakers:
        origin["exclude_speakers"] = list(corpus.exclude_speakers)
    return origin


def _sources(gold: GivenTrees) -> list[str]:
    if isinstance(gold, str | os.PathLike):
        return [os.fspath(gold)]
    return list(gold.sources) if isinstance(gold, Corpus) else []


def _gold_spans(gold: GivenTrees, corpus: RunCorpus, prepared: Prepared) -> GoldSpans:
    treebank = trees_for("induce(gold=...)", gold, "<gold>")
    rule = prepared.preparation.punctuation
    found = match_gold(list(corpus.words), treebank, "the treebank", rule)
    return gold_spans(found.trees, corpus.punctuation)
