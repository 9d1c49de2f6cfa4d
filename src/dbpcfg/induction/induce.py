"""Induction: ``induce`` a grammar, ``resume`` a run.

`learn` and `continue_run` do the work, for the functions and for the commands of these names.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

from dbpcfg.corpus.arguments import SentencesLike, TreesLike, load_sentences, load_trees
from dbpcfg.corpus.checks import TextCheck
from dbpcfg.corpus.preprocessing import PreprocessedCorpus, Preprocessing, drop_malformed
from dbpcfg.corpus.reading import Corpus, read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import GRAMMARS_KEPT, Chain, trees_of
from dbpcfg.induction.chains import ChainRunner, ChainStore, Execution, InMemory, run_chains
from dbpcfg.induction.corpus import GoldSpans, RunCorpus, gold_spans
from dbpcfg.induction.directory import RunDirectory, results_are_there, write_results
from dbpcfg.induction.learners import Learner
from dbpcfg.induction.mapping import Counting
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import Schedule, budget_of, iterations_in, total
from dbpcfg.induction.settings import Configuration, versions
from dbpcfg.io.log import note
from dbpcfg.io.machine import format_bytes, memory_limit, one_blas_thread
from dbpcfg.io.progress import Progress
from dbpcfg.io.tables import plural
from dbpcfg.model.model import Model
from dbpcfg.options import (
    INDUCE,
    ExecutionKeywords,
    ExecutionOptions,
    InduceOptions,
    ModelOptions,
    ReadingOptions,
    SearchOptions,
    split_by_group,
    with_keywords,
)
from dbpcfg.parsing.mbr import MAX_BYTES

CHAIN_BYTES = 4096
"""What a chain takes however small it is: its objects, its settings, its traces."""


@with_keywords(INDUCE)
def induce(
    corpus: SentencesLike | PreprocessedCorpus,
    K: int | None = None,
    D: int | Literal["auto", "none"] | None = "auto",
    *,
    learner: Learner | str = "auto",
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    start: Run | Model | str | os.PathLike[str] | None = None,
    gold: TreesLike | None = None,
    gold_sources: Sequence[str] = (),
    schedule: Schedule | None = None,
    cluster: object = None,
    quiet: bool | None = None,
    on_progress: Callable[[Chain], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_plan: Callable[[Configuration], None] = lambda _: None,
    on_note: Callable[[str], None] = note,
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
        A finished run, its directory, a model or its file: chains begin with the grammar of the
        selected chain. Its K, D, learner and preprocessing are taken if not given; K cannot be
        another.
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
        notebook, unless ``on_progress`` is given.
    on_progress
        Called with a chain after each block of its iterations, about once a second.
    should_stop
        Called after each block; the run stops if it returns True.
    on_plan
        Called with the settings of the run before it begins.
    on_note
        Called with what may be worth knowing: the size of the text, and why a learner was chosen;
        if not given, it is logged.
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
    groups = (ModelOptions, SearchOptions, Preprocessing, ReadingOptions, ExecutionOptions)
    (model, search, preprocessing, reading, running), own = split_by_group(
        {"K": K, "D": D, **options}, groups
    )
    if isinstance(corpus, PreprocessedCorpus) and (preprocessing or reading):
        raise DbpcfgError(f"{', '.join(preprocessing | reading)}: the corpus is prepared already")
    plan = InductionPlan(
        learner,
        own,
        ModelOptions(**model),
        SearchOptions(**search),
        preprocessing,
        ReadingOptions(**reading),
        schedule=schedule,
        start=start,
        out=out,
        overwrite=overwrite,
    )
    execution = Execution(
        **running,
        cluster=cluster,
        quiet=quiet,
        on_progress=on_progress,
        should_stop=should_stop,
        on_plan=on_plan,
        on_note=on_note,
    )
    return learn(plan, _sentences(corpus, plan), execution, gold, gold_sources)


def _sentences(
    given: SentencesLike | PreprocessedCorpus, plan: InductionPlan
) -> Iterable[Sentence] | PreprocessedCorpus:
    """Read a path as planned, or check sentences."""
    if isinstance(given, PreprocessedCorpus):
        return given
    reading, bracketed = plan.reading, plan.preprocessing.get("brackets") == "text"
    if not reading.changed():
        return load_sentences("induce", given, bracketed)
    if not isinstance(given, str | os.PathLike):
        names = ", ".join(reading.options()[name].keyword for name in reading.changed())
        raise DbpcfgError(f"{names}: only for a corpus that is given as a path")
    corpus = read(given, **reading.how(), bracketed=bracketed)
    skip = reading.skip_broken
    return drop_malformed(corpus, Preprocessing(**plan.preprocessing)) if skip else corpus


def learn(
    plan: InductionPlan,
    corpus: Iterable[Sentence] | PreprocessedCorpus,
    execution: Execution,
    gold: TreesLike | None = None,
    gold_sources: Sequence[str] = (),
) -> Run:
    """Learn a grammar from a text as planned; see `induce`."""
    is_prepared = isinstance(corpus, PreprocessedCorpus)
    with execution.phase("preparing the text") as progress:
        text, lessons, settings, chains, why = plan.preprocess(corpus, progress)
    execution.on_note(text.summary())
    if plan.learned is not None:
        execution.on_note(plan.learned.known(text.encoded.vocabulary))
    if not is_prepared and (warning := TextCheck().update(text.sentences)):
        execution.on_warning(warning)
    execution.on_note(why)
    if lessons is not None and lessons.note:
        execution.on_note(f"note: {lessons.note}")
    del corpus
    words = replace(RunCorpus.of(text), lessons=lessons)
    spans = None if gold is None else _gold_spans(gold, words, text)
    sources = () if gold is None else tuple(gold_sources) or _sources(gold) or ("given",)
    preprocessing, origin = text.preprocessing, _origin(text)
    del text  # the run has its words, in a tenth of the memory
    with execution.connected() as execution:
        budget = budget_of(plan.search.budget)
        if isinstance(budget, float):
            iterations = iterations_in(budget, words.learned, settings)
            budget = execution.budget(iterations, plan.search.chains)
        configuration = replace(
            plan.configuration(settings, budget, len(words.learned), preprocessing, chains),
            why=why,
            start={} if plan.learned is None else plan.learned.table(),
            gold=sources,
            corpus={**origin, **words.size(), "digest": words.digest()},
            versions=versions(),
        )
        check_memory(configuration, words)
        execution.on_plan(configuration)
        if plan.out is None:
            return _run(configuration, words, spans, InMemory(), execution)
        out = Path(plan.out), configuration, words, spans, plan.overwrite
        with RunDirectory.create(*out) as directory:
            return _run_directory(directory, execution)


@with_keywords((ExecutionOptions,))
def resume(
    path: str | os.PathLike[str],
    *,
    iterations: int | None = None,
    budget: int | None = None,
    cluster: object = None,
    quiet: bool | None = None,
    on_progress: Callable[[Chain], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_plan: Callable[[Configuration], None] = lambda _: None,
    on_note: Callable[[str], None] = note,
    **options: Unpack[ExecutionKeywords],
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
    cluster
        Where chains run instead of here: ``"local:4"`` for four processes of this machine,
        ``"tcp://host:8786"`` for a Dask scheduler, the name of a TOML file that describes a batch
        system, a ``distributed.Client``, or what ``dbpcfg.cluster.connect`` returns.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook, unless ``on_progress`` is given.
    on_progress
        Called with a chain after each block of its iterations, about once a second.
    should_stop
        Called after each block; the run stops if it returns True.
    on_plan
        Called with the settings of the run before it continues.
    on_note
        Called with a sentence if chains begin again; if not given, it is logged.
    **options

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
    for name in sorted(options.keys() - ExecutionOptions.options().keys()):
        raise TypeError(f"resume() has no option {name!r}")
    execution = Execution(
        **options,
        cluster=cluster,
        quiet=quiet,
        on_progress=on_progress,
        should_stop=should_stop,
        on_plan=on_plan,
        on_note=on_note,
    )
    return continue_run(path, execution, iterations, budget)


def continue_run(
    path: str | os.PathLike[str],
    execution: Execution,
    iterations: int | None = None,
    budget: int | None = None,
) -> Run:
    """Resume a run, or make it longer; see `resume`."""
    with RunDirectory.open(Path(path)) as directory:
        longer = iterations is not None or budget is not None
        again = directory.extend(iterations, budget) if longer else []
        if again:
            length = directory.configuration.schedule.iterations
            execution.on_note(
                f"chains begin again ({', '.join(map(str, again))}): of {length:,} iterations the "
                f"second half is kept, and some of its samples are gone; chains continue if they "
                f"have done at most half"
            )
        check_memory(directory.configuration, directory.corpus)
        with execution.connected() as execution:
            execution.on_plan(directory.configuration)
            return _run_directory(directory, execution)


def _run_directory(directory: RunDirectory, execution: Execution) -> Run:
    run = _run(directory.configuration, directory.corpus, directory.gold, directory, execution)
    if run.finished and not results_are_there(directory.path):
        _find_trees(run, execution)
        directory.check_not_moved()
        write_results(run, directory.path)
    return run


def _find_trees(run: Run, execution: Execution) -> None:
    """The trees of all chains, with progress, on all threads; chains keep them."""
    forms, chains = run.corpus.forms, run.survivors
    with execution.phase("trees", len(forms) * len(chains)) as progress:
        for number, chain in enumerate(chains):
            work = Counting(execution.all_threads, progress.after(number * len(forms)))
            trees_of(chain, forms, run.configuration.trees, work)


def _run(
    configuration: Configuration,
    corpus: RunCorpus,
    gold: GoldSpans | None,
    store: ChainStore,
    execution: Execution,
) -> Run:
    racing, schedule = list(range(configuration.chains)), configuration.schedule
    chains: dict[int, Chain] = {}
    scored = gold if gold is None or corpus.lessons is None else replace(gold, text=corpus.forms)
    with (
        # Around all chains: limits of single calls, were they the only ones, would lift each other.
        one_blas_thread(),
        _progress_bar(execution, configuration) as execution,
        _runner(configuration, corpus, execution) as run_racing,
    ):
        for rung in configuration.rungs or (None,):
            settings = [configuration.chain(number) for number in racing]
            until = None if rung is None else rung.iterations
            advanced = run_racing(
                corpus.learned,
                settings,
                schedule,
                store,
                execution=execution,
                gold=scored,
                until=until,
            )
            chains |= {chain.settings.chain: chain for chain in advanced}
            run = Run(configuration, corpus, list(chains.values()))
            left = [chain.settings.chain for chain in run.survivors]
            if rung is None or left == racing:  # the end, or it was stopped
                break
            racing = left
    return run


@contextlib.contextmanager
def _progress_bar(execution: Execution, configuration: Configuration) -> Iterator[Execution]:
    """Show progress while chains run, unless the caller does."""
    if execution.on_progress is not None:
        yield execution
        return
    schedule, done = configuration.schedule, dict.fromkeys(range(configuration.chains), 0)
    ends = dict.fromkeys(done, schedule.iterations)
    whole = total(configuration.rungs) if configuration.budget else None
    with Progress("iterations", quiet=execution.hides_progress) as progress:

        def on_progress(chain: Chain) -> None:
            number = chain.settings.chain
            done[number] = chain.iteration
            if schedule.iterations is None and chain.burn_in is not None:
                ends[number] = chain.burn_in + schedule.after
            known = [end for end in ends.values() if end is not None]
            progress.total = whole or (sum(known) if len(known) == len(ends) else None)
            progress.update(sum(done.values()))

        yield replace(execution, on_progress=on_progress)


@contextlib.contextmanager
def _runner(
    configuration: Configuration, corpus: RunCorpus, execution: Execution
) -> Iterator[ChainRunner]:
    """The function that runs chains, in this process and its workers or on a cluster."""
    if execution.cluster is not None:
        with execution.cluster.runner(configuration, corpus.learned, execution) as runner:
            yield runner
        return
    with execution.executor(configuration.chains, configuration.model.learner) as executor:
        yield partial(run_chains, executor=executor)


def _origin(text: PreprocessedCorpus) -> dict[str, Any]:
    """Where the text is from: files, and what was chosen of them."""
    corpus = text.origin
    if corpus is None:
        return {"sources": []}
    names = {"speakers": corpus.speakers, "exclude_speakers": corpus.exclude_speakers}
    chosen: dict[str, Any] = {name: list(given) for name, given in names.items()}
    chosen |= {"age": corpus.age, "text": corpus.text}
    return {
        "sources": list(corpus.sources),
        **{name: value for name, value in chosen.items() if value},
    }


def _sources(gold: TreesLike) -> tuple[str, ...]:
    if isinstance(gold, str | os.PathLike):
        return (os.fspath(gold),)
    return tuple(gold.sources) if isinstance(gold, Corpus) else ()


def _gold_spans(gold: TreesLike, corpus: RunCorpus, text: PreprocessedCorpus) -> GoldSpans:
    from dbpcfg.evaluation.goldtrees import match_gold

    treebank = load_trees("induce(gold=...)", gold, "<gold>")
    rule = text.preprocessing.punctuation
    matched = match_gold(list(corpus.words), treebank, "the treebank", rule)
    return gold_spans(matched.trees, corpus.punctuation)


def needed_bytes(configuration: Configuration, corpus: RunCorpus) -> int:
    """The memory that a run needs: what every run of these settings holds at once, so at least."""
    settings, schedule, forms = configuration.model, configuration.schedule, corpus.learned
    grammar, work = settings.learner.needed_bytes(settings, forms)
    samples = schedule.latest_burn_in + schedule.retained
    kept = min(GRAMMARS_KEPT // 2, schedule.retained)
    nodes = 12 * (2 * len(forms.tokens) - len(forms))
    spans = 4 * settings.categories * int((forms.lengths * (forms.lengths + 1) // 2).sum())
    chain = min(2, samples) * grammar + CHAIN_BYTES
    is_counted = settings.learner.samples and spans <= MAX_BYTES
    counted = kept * grammar + spans * is_counted
    rungs = configuration.rungs
    survivors = rungs[-1].chains if rungs else configuration.chains
    return configuration.chains * chain + survivors * counted + nodes + work


def check_memory(configuration: Configuration, corpus: RunCorpus) -> None:
    """Raise an error, with the estimate, if a run cannot fit into memory."""
    settings = configuration.model
    needed, there = needed_bytes(configuration, corpus), memory_limit()
    if there is not None and needed > there:
        raise DbpcfgError(
            f"this run would need {format_bytes(needed)} of memory, and there are "
            f"{format_bytes(there)} ({plural(settings.categories, 'category', 'categories')}, "
            f"depth {'none' if settings.depth is None else f'{settings.depth:,}'}, "
            f"{plural(configuration.chains, 'chain')}): choose smaller numbers"
        )
