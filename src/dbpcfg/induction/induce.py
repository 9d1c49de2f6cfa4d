"""Induction: ``induce`` a grammar, ``resume`` a run."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

from dbpcfg.corpus.preparation import Preparation, Prepared, legible, prepare
from dbpcfg.corpus.reading import Corpus, GivenSentences, GivenTrees, read, sentences_for, trees_for
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.tokens import doubts
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.auto import AUTO, choose, possible
from dbpcfg.induction.chain import GRAMMARS_KEPT, Chain
from dbpcfg.induction.chains import ChainRunner, ChainStore, Execution, InMemory, run_chains
from dbpcfg.induction.corpus import GoldSpans, RunCorpus, fitting, gold_spans
from dbpcfg.induction.directory import (
    RunDirectory,
    check_free,
    results_are_there,
    write_results,
)
from dbpcfg.induction.learners import Learner, learner_with
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import (
    Schedule,
    Search,
    budget_of,
    is_race,
    iterations_in,
    search_for,
    total,
)
from dbpcfg.induction.settings import ChainSettings, Configuration, versions
from dbpcfg.induction.start import Start, inherited
from dbpcfg.io.machine import memory_limit, one_blas_thread, size_text
from dbpcfg.io.progress import Progress
from dbpcfg.options import (
    INDUCE,
    Chaining,
    InduceOptions,
    Reading,
    Running,
    Searching,
    sorted_out,
    with_keywords,
)
from dbpcfg.parsing.mbr import MOST_BYTES

CHAIN_BYTES = 4096
"""What a chain takes however small it is: its objects, its settings, its traces."""


@dataclass(frozen=True)
class Request:
    """What is to be learned, checked as far as that can be without the sentences."""

    settings: ChainSettings
    searching: Searching
    schedule: Schedule | None = None
    why: str = ""
    """Why this learner was chosen, if nobody did."""

    def __post_init__(self) -> None:
        budget = budget_of(self.searching.budget)
        if isinstance(budget, float):  # what a time is worth is not known yet
            each = self.searching.iterations is not None or self.schedule is not None
            is_race(self.searching, True, each)
        else:
            self.search(budget)

    def search(self, budget: int | None, sentences: int = 0) -> Search:
        """The chains that follow from it, with a budget in iterations, for so many sentences."""
        search = search_for(self.settings, self.searching, self.schedule, budget, sentences)
        if search.select == "heldout" and not self.settings.aside:
            raise DbpcfgError("select = heldout needs held-out sentences: give aside")
        return search


@dataclass(frozen=True)
class Asked:
    """What was asked for, before the text is known; what cannot be is an error at once."""

    learner: Learner | str
    options: dict[str, Any]
    """Those of the learner."""
    chaining: Chaining
    searching: Searching
    schedule: Schedule | None = None
    start: Start | None = None
    """What chains begin with, if not with grammars from the prior."""

    def __post_init__(self) -> None:
        self._request(self._learners[0])

    def prepared(self, sentences: Iterable[Sentence], preparation: Preparation) -> Prepared:
        """The sentences, prepared; forms that are known keep out of classes."""
        return prepare(sentences, preparation, () if self.start is None else self.start.words)

    @property
    def _learners(self) -> list[Any]:
        if self.learner != AUTO:
            return [self.learner]
        return possible(self.options, self.searching, self.schedule is not None)

    def _request(self, learner: Learner | str, why: str = "") -> Request:
        shared = {name: getattr(self.chaining, name) for name in Chaining.options()}
        own = learner_with(learner, self.options)
        settings = ChainSettings(**shared, learner=own, start=self.start)
        return Request(settings, self.searching, self.schedule, why)

    def of(
        self, sentences: Iterable[Sentence], preparation: Preparation, given: Iterable[str]
    ) -> tuple[Request, Preparation]:
        """What is to be learned from a text, and how it is prepared.

        ``given``: names of options of the preparation, which are kept.
        """
        if self.learner != AUTO:
            return self._request(self.learner), preparation
        choice = choose(sentences, preparation, given, self._learners)
        return self._request(choice.learner, choice.why), choice.preparation


@with_keywords(INDUCE)
def induce(
    corpus: GivenSentences | Prepared,
    K: int | None = None,
    D: int | Literal["auto", "none"] | None = "auto",
    *,
    learner: Learner | str = "auto",
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    start: Run | str | os.PathLike[str] | None = None,
    gold: GivenTrees | None = None,
    gold_sources: Sequence[str] = (),
    schedule: Schedule | None = None,
    cluster: object = None,
    quiet: bool | None = None,
    report: Callable[[Chain], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    planned: Callable[[Configuration], None] = lambda _: None,
    **options: Unpack[InduceOptions],
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
        The number of categories; if not given, 15, or 60 for the neural learner.
    D
        The memory bound: the greatest number of fragments in memory; None or ``"none"`` for no
        bound. If not given, 2, or 3 for the neural learner.
    learner
        ``"auto"``, which chooses by the text; ``"gibbs"``, ``"em"``, ``"vb"`` or ``"neural"``; or
        an object such as ``dbpcfg.Neural(rank=60)``.
    out
        A directory for the run, which can then be resumed; None for a run in memory.
    overwrite
        Whether a run that is in ``out`` is replaced.
    start
        A finished run, or its directory: chains begin with the grammar of its selected chain. Its
        K, D, learner and preparation are taken if not given; K cannot be another.
    gold
        Gold trees of the sentences, or of the whole treebank from which they were taken. They add
        F1 to the chains' traces and decide nothing.
    gold_sources
        Names for the gold trees, to be recorded; by default those of the files they were read from.
    schedule
        The rule for burn-in and length in detail, instead of ``iterations``.
    cluster
        Where chains run instead of here: ``"local:4"`` for four processes of this machine,
        ``"tcp://host:8786"`` for a Dask scheduler, the name of a TOML file that describes a batch
        system, a ``distributed.Client``, or what ``dbpcfg.cluster.connect`` returns.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook, unless ``report`` is given.
    report
        Called with a chain after each block of its iterations, about once a second.
    stopping
        Called after each block; the run stops if it returns True.
    planned
        Called with the settings of the run before it begins.
    **options

    Returns
    -------
    Run
        The run, with its chains, its model and its trees.

    Raises
    ------
    DbpcfgError
        If an option is wrong or not one of the learner's, if the run does not fit into memory, if
        there are no sentences, if gold trees do not match them, or if ``out`` is not empty or
        cannot be written to.
    """
    given = {"K": K, "D": D, **options}
    groups = (Chaining, Searching, Preparation, Reading, Running)
    (chaining, searching, preparing, reading, running), own = sorted_out(given, groups)
    begun = None
    if start is not None:
        begun, learner, own, chaining, prepared_as = inherited(
            start, learner, own, chaining, preparing
        )
        preparing = preparing if isinstance(corpus, Prepared) else prepared_as
    asked = Asked(learner, own, Chaining(**chaining), Searching(**searching), schedule, begun)
    execution = Execution(Running(**running), report, stopping, planned, connected(cluster))
    if out is not None:
        check_free(Path(out), overwrite)
    if isinstance(corpus, Prepared):
        if preparing or reading:
            raise DbpcfgError(f"{', '.join(preparing | reading)}: the corpus is prepared already")
        request, _ = asked.of(corpus.sentences, corpus.preparation, Preparation.options())
        prepared = corpus
    else:
        sentences = sentences_for("induce", _read(corpus, reading))
        sentences = sentences if isinstance(sentences, Corpus) else list(sentences)
        if isinstance(sentences, Corpus) and reading.get("skip_broken"):
            sentences = legible(sentences, Preparation(**preparing))
        request, preparation = asked.of(sentences, Preparation(**preparing), preparing)
        prepared = asked.prepared(sentences, preparation)
        for doubt in doubts(one.words for one in prepared.sentences):
            warnings.warn(doubt, stacklevel=3)  # the line that calls dbpcfg.induce
    del corpus
    prepared = fitting(prepared, request.settings.depth, bool(reading.get("skip_broken")))
    return learn(request, prepared, execution, out, overwrite, gold, gold_sources, quiet)


def learn(
    request: Request,
    prepared: Prepared,
    execution: Execution,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    gold: GivenTrees | None = None,
    gold_sources: Sequence[str] = (),
    quiet: bool | None = None,
) -> Run:
    """Learn what was requested from prepared sentences; see `induce`."""
    corpus, budget = RunCorpus.of(prepared), budget_of(request.searching.budget)
    if isinstance(budget, float):
        budget = iterations_in(budget, corpus.forms, request.settings, execution.running.threads)
    search = request.search(budget, len(corpus.words))
    configuration = Configuration(
        model=request.settings,
        schedule=search.schedule,
        preparation=prepared.preparation,
        chains=search.chains,
        trees=request.searching.trees or request.settings.learner.usual_trees,
        budget=search.budget,
        select=search.select,
        why=request.why,
        start={} if (start := request.settings.start) is None else start.table(),
        gold=() if gold is None else tuple(gold_sources) or _sources(gold) or ("given",),
        corpus={**_origin(prepared), **corpus.size(), "digest": corpus.digest()},
        versions=versions(),
    )
    spans = None if gold is None else _gold_spans(gold, corpus, prepared)
    check_memory(configuration, corpus)
    del prepared  # the run has the words, in a tenth of the memory
    with _shown(execution, configuration, quiet) as shown:
        if out is None:
            return _run(configuration, corpus, spans, InMemory(), shown)
        with RunDirectory.create(Path(out), configuration, corpus, spans, overwrite) as directory:
            return _run_directory(directory, shown)


def _read(corpus: GivenSentences, options: dict[str, Any]) -> GivenSentences:
    """Read files in another way than by default; anything else is left as it is."""
    if not options:
        return corpus
    if not isinstance(corpus, str | os.PathLike):
        raise DbpcfgError(f"{', '.join(options)}: only for a corpus that is given as a path")
    return read(corpus, **Reading(**options).how())


def connected(cluster: Any) -> Any:
    """A cluster that is connected to already; `dbpcfg.induce` connects, this layer does not."""
    if cluster is not None and not hasattr(cluster, "runner"):
        raise DbpcfgError(
            f"{cluster!r} is not a cluster: give what dbpcfg.cluster.connect returns, or call "
            "dbpcfg.induce, which connects"
        )
    return cluster


def resume(
    path: str | os.PathLike[str],
    *,
    iterations: int | None = None,
    budget: int | None = None,
    threads: int | None = None,
    workers: Literal["threads", "processes"] = "threads",
    cluster: object = None,
    spread: Literal["chains", "shards"] | None = None,
    checkpoint: float = 30.0,
    quiet: bool | None = None,
    report: Callable[[Chain], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    planned: Callable[[Configuration], None] = lambda _: None,
    remark: Callable[[str], None] = lambda _: None,
) -> Run:
    """Resume a run where it stopped, or make it longer.

    The result is the one it would have had without stopping, or of that length from the start. A
    finished run is not changed unless ``iterations`` or ``budget`` is given.

    Parameters
    ----------
    path
        The directory of the run.
    iterations
        A new length of each chain, of which the second half counts. Chains continue if they have
        done at most half of it; otherwise they begin again, as samples that would count were not
        kept.
    budget
        A new budget of a race, in iterations. More chains start unless their number was given, and
        survivors begin again if they have done more than half of their new length.
    threads
        For all chains together; None for as many as there are processors.
    workers
        What runs chains side by side: ``"threads"`` or ``"processes"``.
    cluster
        Where chains run instead of here: ``"local:4"`` for four processes of this machine,
        ``"tcp://host:8786"`` for a Dask scheduler, the name of a TOML file that describes a batch
        system, a ``distributed.Client``, or what ``dbpcfg.cluster.connect`` returns.
    spread
        On a cluster: ``"chains"`` side by side, or the sentences of each chain in ``"shards"``; if
        not given, by the size of the run.
    checkpoint
        Seconds between two checkpoints of a chain.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook, unless ``report`` is given.
    report
        Called with a chain after each block of its iterations, about once a second.
    stopping
        Called after each block; the run stops if it returns True.
    planned
        Called with the settings of the run before it continues.
    remark
        Called with a sentence if chains begin again.

    Returns
    -------
    Run
        The run.

    Raises
    ------
    DbpcfgError
        If the directory is not a run, a file is damaged, another process is running it, or a chain
        has done more than ``iterations``.
    """
    running = Running(threads, workers, None, spread, checkpoint)
    execution = Execution(running, report, stopping, planned, connected(cluster))
    with RunDirectory.open(Path(path)) as directory:
        longer = iterations is not None or budget is not None
        again = directory.extend(iterations, budget) if longer else []
        if again:
            length = directory.configuration.schedule.iterations
            remark(
                f"chains begin again ({', '.join(map(str, again))}): of {length:,} iterations the "
                f"second half is kept, and some of its samples are gone; chains continue if they "
                f"have done at most half"
            )
        check_memory(directory.configuration, directory.corpus)
        with _shown(execution, directory.configuration, quiet) as shown:
            return _run_directory(directory, shown)


@contextlib.contextmanager
def _shown(
    execution: Execution, configuration: Configuration, quiet: bool | None
) -> Iterator[Execution]:
    """Show progress while chains run, unless the caller reports it."""
    if execution.report is not None:
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


def _sources(gold: GivenTrees) -> tuple[str, ...]:
    if isinstance(gold, str | os.PathLike):
        return (os.fspath(gold),)
    return tuple(gold.sources) if isinstance(gold, Corpus) else ()


def _gold_spans(gold: GivenTrees, corpus: RunCorpus, prepared: Prepared) -> GoldSpans:
    treebank = trees_for("induce(gold=...)", gold, "<gold>")
    rule = prepared.preparation.punctuation
    found = match_gold(list(corpus.words), treebank, "the treebank", rule)
    return gold_spans(found.trees, corpus.punctuation)


def needed_bytes(configuration: Configuration, corpus: RunCorpus) -> int:
    """The memory that a run needs: what every run of these settings holds at once, so at least."""
    settings, schedule, forms = configuration.model, configuration.schedule, corpus.forms
    grammar, work = settings.learner.needed_bytes(settings, forms)
    samples = schedule.latest_burn_in + schedule.retained
    kept = min(GRAMMARS_KEPT // 2, schedule.retained)
    nodes = 12 * (2 * len(forms.tokens) - len(forms))
    spans = 4 * settings.categories * int((forms.lengths * (forms.lengths + 1) // 2).sum())
    chain = min(2, samples) * grammar + nodes + CHAIN_BYTES
    counted = kept * grammar + (spans if spans <= MOST_BYTES else 0)
    rungs = configuration.rungs
    survivors = rungs[-1].chains if rungs else configuration.chains
    return configuration.chains * chain + survivors * counted + work


def check_memory(configuration: Configuration, corpus: RunCorpus) -> None:
    """Raise an error, with the estimate, if a run cannot fit into memory."""
    settings = configuration.model
    needed, there = needed_bytes(configuration, corpus), memory_limit()
    if there is not None and needed > there:
        raise DbpcfgError(
            f"this run would need {size_text(needed)} of memory, and there are "
            f"{size_text(there)} ({settings.categories:,} categories, depth "
            f"{'none' if settings.depth is None else f'{settings.depth:,}'}, "
            f"{configuration.chains:,} chains): choose smaller numbers"
        )
