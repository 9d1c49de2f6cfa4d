"""Induction from start to end, or from where it stopped: the one way in for programs and people."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain, Trees
from dbpcfg.induction.chains import CHECKPOINT_SECONDS, NoStore, run_chains
from dbpcfg.induction.configuration import Configuration, versions
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.gibbs import Settings
from dbpcfg.induction.gold import GoldSpans, gold_spans
from dbpcfg.induction.material import Material
from dbpcfg.induction.run import Run, RunDirectory
from dbpcfg.kernels import one_blas_thread
from dbpcfg.processes import leave_signals_to_parent
from dbpcfg.trees import Tree

Workers = Literal["threads", "processes"]


def induce(
    corpus: Iterable[Sentence | Sequence[str]],
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
    sources: Sequence[str] = (),
    gold: Sequence[Tree] | None = None,
    gold_sources: Sequence[str] = (),
    **model: Any,
) -> Run:
    """Learn a grammar of K categories within memory depth D (None: no bound) from sentences.

    ``corpus`` is what ``dbpcfg.read`` gives, or lists of words. With ``out`` the run is kept in a
    directory and can be resumed. ``iterations`` None is the paper's rule for when to stop.
    ``model`` takes the further fields of ``Settings``. The result depends on the seed, not on
    ``threads`` or ``workers``. ``gold`` trees, one for each sentence that is kept, only add scores
    to the chains' traces.
    """
    sentences = [s if isinstance(s, Sentence) else Sentence(_words(s)) for s in corpus]
    material = Material.of(prepare(sentences, preparation or Preparation()))
    configuration = Configuration(
        model=Settings(categories=K, depth=D, beta=beta, seed=seed, **model),
        schedule=schedule or Schedule(iterations=iterations),
        preparation=preparation or Preparation(),
        chains=chains,
        trees=trees,
        gold=[] if gold is None else list(gold_sources) or ["given"],
        corpus={
            "sources": list(sources),
            "sentences": len(material.forms),
            "tokens": len(material.forms.tokens),
            "forms": len(material.forms.vocabulary),
            "digest": material.digest(),
        },
        versions=versions(),
    )
    spans = None if gold is None else _gold_spans(gold, material)
    del sentences  # the words are in the material, in a tenth of the memory
    if out is None:
        done = _run(
            configuration,
            material,
            spans,
            NoStore(),
            threads,
            workers,
            checkpoint,
            report,
            stopping,
        )
        return Run(configuration, material, done)
    with RunDirectory.create(Path(out), configuration, material, spans, overwrite) as directory:
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
        directory.material,
        directory.gold,
        directory,
        threads,
        workers,
        checkpoint,
        report,
        stopping,
    )
    run = Run(directory.configuration, directory.material, chains)
    return directory.conclude(chains) if run.finished else run


def _run(
    configuration: Configuration,
    material: Material,
    gold: GoldSpans | None,
    store: RunDirectory | NoStore,
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
            material.forms,
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


def _gold_spans(gold: Sequence[Tree], material: Material) -> GoldSpans:
    if len(gold) != len(material.words):
        raise DbpcfgError(f"{len(gold):,} gold trees for {len(material.words):,} sentences")
    for sentence, tree in enumerate(gold):
        if tree.words() != material.words[sentence]:
            raise DbpcfgError(
                f"gold tree {sentence + 1} is not over the words of sentence {sentence + 1}: "
                f"{' '.join(tree.words()[:8])} … / {' '.join(material.words[sentence][:8])} …"
            )
    return gold_spans(gold, material.punctuation)


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _executor(workers: Workers, number: int) -> Executor:
    if workers == "threads":
        return ThreadPoolExecutor(number)
    if workers == "processes":
        return ProcessPoolExecutor(
            number, get_context("spawn"), initializer=leave_signals_to_parent
        )
    raise DbpcfgError(f"no workers {workers!r}; choose threads or processes")


def _words(sentence: Sequence[str]) -> tuple[str, ...]:
    if isinstance(sentence, str):
        return tuple(sentence.split())
    return tuple(sentence)
