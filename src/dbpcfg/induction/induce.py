"""Induction from start to end, or from where it stopped: the one way in for programs and people."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from dbpcfg.corpus.preparation import Preparation, Prepared, prepare
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.brackets import as_sentence
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.chain import Chain, TreeChoice
from dbpcfg.induction.chains import ChainStore, NoChainStore, run_chains
from dbpcfg.induction.configuration import Configuration, versions
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.directory import RunDirectory
from dbpcfg.induction.execution import CHECKPOINT_SECONDS, Execution, Workers, never, no_report
from dbpcfg.induction.gold import GoldSpans, gold_spans
from dbpcfg.induction.results import write_results
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.model.learned import Words, words_of
from dbpcfg.runtime.threads import one_blas_thread
from dbpcfg.trees.tree import Tree


def induce(
    corpus: Corpus | Prepared | Iterable[Words],
    K: int = 15,
    D: int | None = 2,
    *,
    chains: int = 4,
    iterations: int | None = None,
    seed: int = 0,
    beta: float = 0.2,
    trees: TreeChoice = "mbr",
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    workers: Workers = "threads",
    checkpoint: float = CHECKPOINT_SECONDS,
    preparation: Preparation | None = None,
    schedule: Schedule | None = None,
    report: Callable[[Chain], None] = no_report,
    stopping: Callable[[], bool] = never,
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
    execution = Execution(threads, workers, checkpoint, report, stopping)
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
        return _run(configuration, learned_from, spans, NoChainStore(), execution)
    with RunDirectory.create(Path(out), configuration, learned_from, spans, overwrite) as directory:
        return _run_directory(directory, execution)


def resume(
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    workers: Workers = "threads",
    checkpoint: float = CHECKPOINT_SECONDS,
    report: Callable[[Chain], None] = no_report,
    stopping: Callable[[], bool] = never,
) -> Run:
    """Go on with a run where it stopped, to the result that it would have had without stopping."""
    execution = Execution(threads, workers, checkpoint, report, stopping)
    with RunDirectory.open(Path(path)) as directory:
        return _run_directory(directory, execution)


def _run_directory(directory: RunDirectory, execution: Execution) -> Run:
    run = _run(directory.configuration, directory.corpus, directory.gold, directory, execution)
    if run.finished:
        write_results(run, directory.path)
    return run


def _run(
    configuration: Configuration,
    corpus: RunCorpus,
    gold: GoldSpans | None,
    store: ChainStore,
    execution: Execution,
) -> Run:
    settings = [configuration.chain(number) for number in range(configuration.chains)]
    # Around all chains: the limits of single calls, were they the only ones, would lift each other.
    with one_blas_thread(), execution.executor(len(settings)) as executor:
        chains = run_chains(
            corpus.forms, settings, configuration.schedule, store, executor, execution, gold
        )
    return Run(configuration, corpus, chains)


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
    treebank = [as_sentence(item, "<gold>", number) for number, item in enumerate(gold)]
    rule = prepared.preparation.punctuation
    found = match_gold(list(corpus.words), treebank, "the treebank", rule)
    return gold_spans(found.trees, corpus.punctuation)
