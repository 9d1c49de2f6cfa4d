"""Whole runs: whatever interrupts them and however they are run, they end with the same bytes."""

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import chains
from dbpcfg.induction.chain import Chain, advance, trees_of
from dbpcfg.induction.directory import RESULTS, STAMP, RunDirectory
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.learners import Learner
from dbpcfg.induction.learners.neural import Neural
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import Schedule
from dbpcfg.model.model import unknown_mass
from dbpcfg.trees.brackets import read_trees
from tests.induction.small import SENTENCES, TREES, begin, chain_bits, start, written

# --- workers --------------------------------------------------------------------------------------


def blas_threads() -> set[int]:
    import scipy.linalg.blas  # noqa: F401

    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.mark.skipif(blas_threads() == {1}, reason="BLAS has one thread here anyway")
def test_worker_processes_have_one_blas_thread_as_plain_runs_do():
    """Sums of several threads have other last bits."""
    execution = chains.Execution(threads=1, workers="processes")
    with execution.executor(1) as workers:
        assert workers.submit(blas_threads).result() == {1}


# --- killed ---------------------------------------------------------------------------------------


def killed(path: Path, moment: random.Random, at_work: bool) -> None:
    """Resume a run in another process and kill it soon; or it kills itself at a later report."""
    reports = moment.randint(2, 4)  # at the second, one chain is saved
    child = os.fork()
    if not child:

        def report(chain: Chain) -> None:
            nonlocal reports
            reports -= 1
            if at_work and not reports:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            resume(path, threads=2, checkpoint=0, on_progress=report)
        finally:
            os._exit(0)
    if not at_work:
        time.sleep(moment.uniform(0, 0.15))
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_killed_at_a_dozen_moments(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    start(whole, threads=1, iterations=300)
    begin(broken, iterations=300)
    moment, reached = random.Random(1), set()
    for number in range(12):
        killed(broken, moment, at_work=number % 2 == 1)
        with RunDirectory.open(broken) as directory:
            saved = [directory.load(directory.configuration.chain(n)) for n in range(2)]
        reached.add(tuple(chain.iteration if chain else 0 for chain in saved))
    assert len(reached) >= 4
    assert resume(broken, threads=1).finished
    assert written(broken) == written(whole)


# --- threads, processes, memory -------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_make_no_difference(reference, tmp_path, threads):
    start(tmp_path / "run", threads=threads, checkpoint=0)
    assert written(tmp_path / "run") == written(reference)


def test_blas_has_one_thread_all_the_while():
    """Chains side by side must not lift each other's limit: with more threads, bits differ."""
    seen: set[int] = set()

    def look(chain: Chain) -> None:
        libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
        seen.update(one["num_threads"] for one in libraries)

    start(None, threads=2, checkpoint=0, on_progress=look)
    assert seen == {1}


@pytest.mark.slow
def test_processes_make_no_difference(reference, tmp_path):
    start(tmp_path / "run", threads=2, workers="processes")
    assert written(tmp_path / "run") == written(reference)


@pytest.mark.slow
def test_a_worker_that_dies(tmp_path, monkeypatch):
    path = tmp_path / "run"
    monkeypatch.setattr(chains, "init_worker", os.abort)
    with pytest.raises(DbpcfgError, match="a worker process has died"):
        start(path, workers="processes")
    begin(tmp_path / "other", workers="processes")  # when the run is stopping, that is no error
    assert resume(path).finished


def test_a_run_in_memory(reference):
    run = start(None)
    with RunDirectory.open(reference) as directory:
        kept = [directory.load(chain.settings) for chain in run.chains]
    assert [chain_bits(chain) for chain in run.chains] == [chain_bits(chain) for chain in kept]
    assert "".join(f"{tree}\n" for tree in run.trees()) == (reference / "trees.txt").read_text()
    assert run.grammar is run.best.best.grammar
    means = [chain.mean_log_likelihood for chain in run.chains]
    assert run.best.settings.chain == means.index(max(means))


def test_stopped_after_every_block(reference, tmp_path):
    path = tmp_path / "run"
    run = begin(path, threads=1)
    assert run.chains[0].iteration == 1
    stops = 0
    while not (run := resume(path, threads=1, checkpoint=0, should_stop=lambda: True)).finished:
        stops += 1
        assert not (path / "trees.txt").exists()
    assert stops >= 28
    assert written(path) == written(reference)


def test_chains_that_wait_do_not_begin_when_all_is_to_stop(tmp_path, monkeypatch):
    """One thread for three chains: the first one's block is the last one."""
    begun, reported = [], threading.Event()

    def slowly(chain: Chain, *arguments) -> Chain:
        begun.append(chain.settings.chain)
        if len(begun) > 1:
            reported.wait(600)  # those that wait were told to stop before
        return advance(chain, *arguments)

    monkeypatch.setattr(chains, "advance", slowly)
    how = {"should_stop": lambda: bool(begun), "on_progress": lambda chain: reported.set()}
    run = start(tmp_path / "run", chains=3, threads=1, checkpoint=0, **how)
    assert begun[0] == 0
    assert len(begun) <= 2  # the next one is taken up before anyone can say that it should not be
    assert [chain.iteration for chain in run.chains] == [1, len(begun) - 1, 0]
    assert not (tmp_path / "run/chains/2/chain.npz").exists()


# --- made longer ----------------------------------------------------------------------------------

EXTENDED = {"exact": False, "gold": TREES, "threads": 1}


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("long") / "run"
    start(path, iterations=40, **EXTENDED)
    return written(path)


@pytest.mark.parametrize(("first", "again"), [(12, False), (20, False), (21, True), (39, True)])
def test_a_finished_run_is_made_longer(first, again, long, tmp_path):
    path, remarks = tmp_path / "run", []
    start(path, iterations=first, **EXTENDED)
    assert resume(path, iterations=40, on_note=remarks.append).finished
    assert written(path) == long
    assert len(remarks) == again
    if again:
        assert "chains begin again (0, 1): of 40 iterations the second half" in remarks[0]


def test_the_paper_s_rule_is_made_longer_too(tmp_path):
    path, wanted = tmp_path / "run", tmp_path / "wanted"
    start(path, schedule=Schedule(minimum=7, window=3, after=4, maximum=15), iterations=None)
    start(wanted, schedule=Schedule(40, 7, 3, 4, 15), iterations=None)
    resume(path, iterations=40)
    assert written(path) == written(wanted)


def test_a_longer_run_that_is_interrupted_is_resumed_but_none_is_made_shorter(long, tmp_path):
    path = tmp_path / "run"
    start(path, iterations=12, **EXTENDED)
    asked = iter([False, False, True])
    part = resume(path, iterations=40, checkpoint=0, should_stop=lambda: next(asked, True))
    assert not part.finished
    assert resume(path).finished
    assert written(path) == long
    with pytest.raises(DbpcfgError, match="has done 40 iterations: 39 would be fewer"):
        resume(path, iterations=39)
    assert written(path) == long


def stamps(path: Path) -> dict[str, int]:
    return {str(file): os.stat(file).st_mtime_ns for file in [path, *path.rglob("*")]}


def test_resuming_a_finished_run_changes_and_computes_nothing(long, tmp_path, monkeypatch):
    path = tmp_path / "run"
    start(path, iterations=40, **EXTENDED)
    for file in path.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    before = stamps(path)
    monkeypatch.delattr(Run, "trees")  # what takes the longest
    for options in ({}, {"iterations": 40}):
        assert resume(path, **options).finished
        assert stamps(path) == before
        assert written(path) == long


@pytest.mark.parametrize("damaged", [*RESULTS, STAMP])
@pytest.mark.parametrize("content", [None, b"", b"\xff damaged"])
def test_resuming_a_finished_run_mends_results(long, tmp_path, damaged, content):
    path = tmp_path / "run"
    for name, data in long.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    (path / damaged).unlink()
    if content is not None:
        (path / damaged).write_bytes(content)
    resume(path)
    assert written(path) == long


def test_results_that_are_asked_for_differently_are_written_again(tmp_path):
    path, wanted = tmp_path / "run", tmp_path / "wanted"
    start(path, trees="mbr")
    start(wanted, trees="last")
    (path / "config.toml").write_bytes((wanted / "config.toml").read_bytes())
    resume(path)
    assert written(path) == written(wanted)


# --- what comes out -------------------------------------------------------------------------------


def test_what_is_written(reference):
    trees = list(read_trees((reference / "trees.txt").read_text()))
    assert [tree.words() for tree in trees] == SENTENCES
    lines = (reference / "chains" / "1" / "trace.tsv").read_text().splitlines()
    assert lines[0].split("\t")[:3] == ["iteration", "log_likelihood", "per_token"]
    assert [line.split("\t")[0] for line in lines[1:]] == [str(n + 1) for n in range(30)]
    assert [line.split("\t")[-1] for line in lines[1:]] == ["0"] * 15 + ["1"] * 15
    selected = [line.split("\t")[-1] for line in (reference / "chains.tsv").open()]
    assert sorted(selected) == ["0\n", "1\n", "selected\n"]


def test_trees_by_method_and_gold(tmp_path):
    methods = {}
    for method in ("mbr", "best", "last"):
        run = start(None, trees=method, gold=TREES)
        methods[method] = [str(tree) for tree in run.trees()]
        assert list(run.chains[0].scores) == [10, 20, 30]
    assert len({tuple(trees) for trees in methods.values()}) == 3
    run = start(tmp_path / "run", gold=TREES, trees="last")
    trace = (tmp_path / "run/chains/0/trace.tsv").read_text().splitlines()
    assert trace[0].endswith("\tretained\tf1_not_used_for_selection")
    assert trace[10].endswith(f"\t{run.chains[0].scores[10]}")
    assert trace[11].endswith("\t0\t")
    assert resume(tmp_path / "run").chains[0].scores == run.chains[0].scores
    with pytest.raises(DbpcfgError, match="the treebank has 39 sentences, the run 40"):
        start(None, gold=TREES[1:])
    with pytest.raises(DbpcfgError, match=r"<gold>:1 is not sentence 1 of the run: word \d+ is"):
        start(None, gold=TREES[::-1])


def test_reports(tmp_path):
    heard: list[tuple[int, int]] = []

    def report(chain: Chain) -> None:
        heard.append((chain.settings.chain, chain.iteration))

    start(tmp_path / "run", checkpoint=0, threads=1, on_progress=report)
    for number in (0, 1):
        assert [iteration for chain, iteration in heard if chain == number] == list(range(1, 31))
    heard.clear()
    resume(tmp_path / "run", on_progress=report)
    assert heard == [(0, 30), (1, 30)]


def test_unknown_words_have_the_beta_of_the_best_sample():
    run = next(
        run
        for run in (start(None, chains=1, seed=seed) for seed in range(9))
        if run.best.best.iteration < run.best.iteration
    )
    best = run.best.best
    counts = trees_of(run.best, run.corpus.forms, "best").counts(3).rows.sum(axis=1)
    betas, words = run.best.betas, len(run.corpus.forms.vocabulary)
    expected = unknown_mass(counts, betas[best.iteration - 1], 9 + words)
    assert run.model.unknown.tolist() == expected.tolist()
    assert betas[best.iteration - 1] != betas[-1]


# --- trees of large text --------------------------------------------------------------------------


def test_trees_in_brackets_are_the_trees(monkeypatch):
    run = induce(SENTENCES, learner="neural", K=4, iterations=2, chains=2, quiet=True)
    monkeypatch.setattr("dbpcfg.induction.run.BLOCK", 7)
    assert list(run.bracketed_trees()) == list(map(str, run.trees()))


def test_no_spans_are_counted_and_trees_made_once_if_there_is_one_sample(monkeypatch):
    calls = []
    monkeypatch.setattr(
        Neural, "trees_of", lambda *given: calls.append(given) or Learner.trees_of(*given)
    )
    run = induce(SENTENCES, learner="neural", K=4, iterations=3, chains=1, quiet=True)
    assert run.chains[0].spans.counts.nbytes == 0
    assert not calls
    assert len(run.trees()) == len(SENTENCES)
    assert run.model.depth == 2
    assert len(calls) == 1
    assert calls[0][2] == 2  # the last of three iterations, from 0
