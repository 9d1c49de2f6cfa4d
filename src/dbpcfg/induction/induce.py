"""Induction from start to end, or from where it stopped: the one way in for programs and people."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from dbpcfg.corpus.preparation import Preparation, Prepared, prepare
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence, as_sentences
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.chain import Chain, Trees
from dbpcfg.induction.chains import CHECKPOINT_SECONDS, NoChainStore, run_chains
from dbpcfg.induction.configuration import Configuration, versions
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.directory import RunDirectory
from dbpcfg.induction.gold import GoldSpans, gold_spans
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.model.learned import Words, words_of
from dbpcfg.runtime.processes import cores, leave_signals_to_parent
from dbpcfg.runtime.threads import one_blas_thread
from dbpcfg.trees.tree import Tree

Workers = Literal["threads", "processes"]


def induce(
    corpus: Corpus | Prepared | Iterable[Words],
    K: int = 15,
    D: int | None = 2,
    *,
    chains: int = 4,
    iterations: int | None = None,
    seed: int = 0,
    beta: float = 0.2,
    trees: Trees = "mbr",
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    workers: Workers = "threads",
    checkpoint: float = CHECKPOINT_SECONDS,
    preparation: Preparation | None = None,
    schedule: Schedule | None = None,
    report: Callable[[Chain], None] = lambda chain: None,
    stopping: Callable[[], bool] = lambda: False,
    gold: Sequence[Sentence | Tree] | Corpus | None = None,
    gold_sources: Sequence[str] = (),
    **model: Any,
) -> Run:
    """Learn a grammar of K categories within memory depth D (None: no bound) from sentences.

    ``corpus`` is what ``dbpcfg.read`` gives, or lists of words. With ``out`` the run is kept in a
    directory and can be resumed. ``iterations`` None is the paper's rule for when to stop.
    ``model`` takes the further fields of ``ChainSettings``. The result depends on the seed, not on
    ``threads`` or ``workers``. ``gold`` trees, one for each sentence that is kept, only add scores
    to the chains' traces.
    """
    prepared = _prepared(corpus, preparation)
    learned_from = RunCorpus.of(prepared)
    configuration = Configuration(
        model=ChainSettings(categories=K, depth=D, beta=beta, seed=seed, **model),
        schedule=schedule or Schedule(iterations=iterations),
        preparation=prepared.preparation,
        chains=chains,
        trees=trees,
        gold=[] if gold is None else list(gold_sources) or _sources(gold) or ["given"],
        corpus={**_origin(prepared), **learned_from.size(), "digest": learned_from.digest()},
        versions=versions(),
    )
    spans = None if gold is None else _gold_spans(gold, learned_from, prepared)
    del prepared, corpus  # the run has the words, in a tenth of the memory
    if out is None:
        done = _run(
            configuration,
            learned_from,
            spans,
            NoChainStore(),
            threads,
            workers,
            checkpoint,
            report,
            stopping,
        )
        return Run(configuration, learned_from, done)
    with RunDirectory.create(Path(out), configuration, learned_from, spans, overwrite) as directory:
        return _run_directory(directory, threads, workers, checkpoint, report, stopping)


def resume(
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    workers: Workers = "threads",
    checkpoint: float = CHECKPOINT_SECONDS,
    report: Callable[[Chain], None] = lambda chain: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Run:
    """Go on with a run where it stopped, to the result that it would have had without stopping."""
    with RunDirectory.open(Path(path)) as directory:
        return _run_directory(directory, threads, workers, checkpoint, report, stopping)


def _run_directory(
    directory: RunDirectory,
    threads: int | None,
    workers: Workers,
    checkpoint: float,
    report: Callable[[Chain], None],
    stopping: Callable[[], bool],
) -> Run:
    chains = _run(
        directory.configuration,
        directory.corpus,
        directory.gold,
        directory,
        threads,
        workers,
        checkpoint,
        report,
        stopping,
    )
    run = Run(directory.configuration, directory.corpus, chains)
    return directory.conclude(chains) if run.finished else run


def _run(
    configuration: Configuration,
    corpus: RunCorpus,
    gold: GoldSpans | None,
    store: RunDirectory | NoChainStore,
    threads: int | None,
    workers: Workers,
    checkpoint: float,
    report: Callable[[Chain], None],
    stopping: Callable[[], bool],
) -> list[Chain]:
    threads = cores() if threads is None else threads
    if threads < 1:
        raise DbpcfgError(f"there must be at least 1 thread, got {threads}")
    # Around all chains: the limits of single calls, were they the only ones, would lift each other.
    with one_blas_thread(), _executor(workers, min(threads, configuration.chains)) as executor:
        return run_chains(
            corpus.forms,
            [configuration.chain(number) for number in range(configuration.chains)],
            configuration.schedule,
            store,
            executor,
            max(1, threads // configuration.chains),
            gold,
            checkpoint,
            report,
            stopping,
        )


def _prepared(
    corpus: Corpus | Prepared | Iterable[Words], preparation: Preparation | None
) -> Prepared:
    """The corpus as it is learned from: prepared here, unless the caller has done so."""
    if isinstance(corpus, Prepared):
        if preparation is not None:
            raise DbpcfgError("the corpus is prepared already: leave preparation out")
        return corpus
    if isinstance(corpus, Corpus):
        return prepare(corpus, preparation or Preparation())
    sentences = (s if isinstance(s, Sentence) else Sentence(words_of(s)) for s in corpus)
    return prepare(sentences, preparation or Preparation())


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


def _sources(gold: Sequence[Sentence | Tree] | Corpus) -> list[str]:
    return list(gold.sources) if isinstance(gold, Corpus) else []


def _gold_spans(
    gold: Sequence[Sentence | Tree] | Corpus, corpus: RunCorpus, prepared: Prepared
) -> GoldSpans:
    treebank = as_sentences(gold, "<gold>")
    rule = prepared.preparation.punctuation
    found = match_gold(list(corpus.words), treebank, "the treebank", rule)
    return gold_spans(found.trees, corpus.punctuation)


def _executor(workers: Workers, number: int) -> Executor:
    if workers == "threads":
        return ThreadPoolExecutor(number)
    if workers == "processes":
        return ProcessPoolExecutor(
            number, get_context("spawn"), initializer=leave_signals_to_parent
        )
    raise DbpcfgError(f"no workers {workers!r}; choose threads or processes")
