"""Whole runs: whatever interrupts them and however they are run, they end with the same bytes."""

from __future__ import annotations

import errno
import os
import random
import resource
import select
import signal
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import chains, execution
from dbpcfg.induction.chain import Chain, advance
from dbpcfg.induction.directory import RunDirectory
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import Schedule
from dbpcfg.model.model import unknown_mass
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.trees.brackets import read_trees
from tests.induction.small import SENTENCES, TREES, chain_bits

OPTIONS = {"K": 3, "chains": 2, "iterations": 30, "sample_beta": True, "exact": True, "seed": 5}


def start(out: Path | None, **changed) -> Run:
    return induce(SENTENCES, out=out, **{**OPTIONS, **changed})


def begin(path: Path, **changed) -> Run:
    """Start a run and stop it at once."""
    run = start(path, checkpoint=0, stopping=lambda: True, **changed)
    assert not run.finished
    return run


def written(path: Path) -> dict[str, bytes]:
    """All files of a run but its lock, so that one too many is a difference too."""
    files = (file for file in path.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("reference") / "run"
    start(path, threads=1)
    return path


# --- killed ---------------------------------------------------------------------------------------


def killed(path: Path, moment: random.Random, at_work: bool) -> bool:
    """Resume a run in another process and kill it soon, or soon after it has begun to report.

    False if it was done before.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            options = {"threads": 2, "checkpoint": 0.02}
            resume(path, report=lambda chain: os.write(writing, b"."), **options)
        finally:
            os._exit(0)
    os.close(writing)
    if at_work:
        select.select([reading], [], [], 5)
    time.sleep(moment.uniform(0, 0.15))
    os.kill(child, signal.SIGKILL)
    os.close(reading)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.slow
def test_killed_at_fifty_random_moments(tmp_path):
    options = {"iterations": 300, "restarts": 2, "restart_iterations": 15, "anneal": 60}
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    start(whole, threads=1, **options)
    begin(broken, **options)
    moment, reached, kills = random.Random(1), set(), 0
    while kills < 50:
        kills += killed(broken, moment, at_work=kills % 2 == 1)
        with RunDirectory.open(broken) as directory:
            saved = [directory.load(directory.configuration.chain(n)) for n in range(2)]
        reached.add(tuple(chain.iteration if chain else 0 for chain in saved))
    assert len(reached) >= 15
    assert resume(broken, threads=1).finished
    assert written(broken) == written(whole)


# --- threads, processes, memory -------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_make_no_difference(reference, tmp_path, threads):
    start(tmp_path / "run", threads=threads, checkpoint=0)
    assert written(tmp_path / "run") == written(reference)


def test_blas_has_one_thread_all_the_while(tmp_path):
    """Chains side by side must not lift each other's limit: with more threads, bits differ."""
    seen: set[int] = set()

    def look(chain: Chain) -> None:
        libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
        seen.update(one["num_threads"] for one in libraries)

    start(None, threads=2, checkpoint=0, report=look)
    assert seen == {1}


@pytest.mark.slow
def test_processes_make_no_difference(reference, tmp_path):
    start(tmp_path / "run", threads=2, workers="processes")
    assert written(tmp_path / "run") == written(reference)


def test_a_run_in_memory(reference, tmp_path):
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
    while not (run := resume(path, threads=1, checkpoint=0, stopping=lambda: True)).finished:
        stops += 1
        assert not (path / "trees.txt").exists()
    assert stops >= 28
    assert written(path) == written(reference)
    assert resume(path).finished
    assert written(path) == written(reference)


def test_chains_that_wait_do_not_begin_when_all_is_to_stop(tmp_path, monkeypatch):
    """One thread for three chains: the first one's block is the last one."""
    begun = []

    def slowly(chain: Chain, *arguments) -> Chain:
        begun.append(chain.settings.chain)
        time.sleep(0.3)
        return advance(chain, *arguments)

    monkeypatch.setattr(chains, "advance", slowly)
    run = start(tmp_path / "run", chains=3, threads=1, checkpoint=0, stopping=lambda: bool(begun))
    assert begun[0] == 0
    assert len(begun) <= 2  # the next one is taken up before anyone can say that it should not be
    assert [chain.iteration for chain in run.chains] == [1, len(begun) - 1, 0]
    assert not (tmp_path / "run/chains/2/chain.npz").exists()


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
    again = resume(tmp_path / "run")
    assert again.chains[0].scores == run.chains[0].scores
    with pytest.raises(DbpcfgError, match="the treebank has 39 sentences, the run 40"):
        start(None, gold=TREES[1:])
    with pytest.raises(DbpcfgError, match=r"<gold>:1 is not sentence 1 of the run: word \d+ is"):
        start(None, gold=TREES[::-1])


# --- directories ----------------------------------------------------------------------------------


def test_an_existing_run_is_kept_unless_overwritten(reference, tmp_path):
    path = tmp_path / "run"
    start(path, chains=3, seed=9, gold=TREES)
    before = written(path)
    with pytest.raises(DbpcfgError, match=f"{path} exists and is not empty; .*resume {path}"):
        start(path)
    assert written(path) == before
    (path / "notes.txt").write_text("mine")
    start(path, overwrite=True)
    assert (path / "notes.txt").read_text() == "mine"
    (path / "notes.txt").unlink()
    assert written(path) == written(reference)


@pytest.mark.parametrize("name", ["notes.txt", "config.toml"])
def test_what_is_no_run_is_never_overwritten(tmp_path, name):
    (tmp_path / name).write_text('title = "of something else"')
    with pytest.raises(DbpcfgError, match="exists and is not empty"):
        start(tmp_path)
    with pytest.raises(DbpcfgError, match="is no run, so --overwrite does not touch it"):
        start(tmp_path, overwrite=True)
    with pytest.raises(DbpcfgError, match=f"{name} is a file; --out needs a directory"):
        start(tmp_path / name, overwrite=True)
    with pytest.raises(DbpcfgError, match=r"config\.toml"):
        resume(tmp_path)
    assert os.listdir(tmp_path) == [name]
    with pytest.raises(DbpcfgError, match="none does not exist; give the directory"):
        resume(tmp_path / "none")


@pytest.mark.parametrize(
    "wrong",
    [{"K": 0}, {"D": 0}, {"beta": 0.0}, {"seed": -1}, {"chains": 0}, {"anneal": 99}, {"gold": []}],
    ids=str,
)
def test_mistakes_leave_no_directory(tmp_path, wrong):
    with pytest.raises(DbpcfgError):
        start(tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory(tmp_path):
    path = tmp_path / "run"
    begin(path)
    path.chmod(0o555)
    with pytest.raises(DbpcfgError, match="cannot be written: Permission denied"):
        start(path / "below")
    (path / "chains/0").chmod(0o555)
    path.chmod(0o755)
    with pytest.raises(DbpcfgError, match=r"chains/0/trace\.tsv cannot be written: Perm"):
        resume(path, checkpoint=0)
    (path / "chains/0").chmod(0o755)
    assert resume(path).finished


@pytest.mark.parametrize("files", range(1, 10))
def test_a_full_disk(reference, tmp_path, monkeypatch, files):
    """After some files there is no space left; what was saved is still good."""
    path = tmp_path / "run"
    left = files

    def no_space(descriptor: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(DbpcfgError, match=f"{path}.* cannot be written: No space left on"):
            start(path, threads=1, checkpoint=0)
    hidden = {file.name for file in path.rglob(".*.*")}
    if files == 1:  # the text is saved under a hidden name, the configuration is not
        assert hidden <= {".corpus.npz"}
        with pytest.raises(DbpcfgError, match=r"config\.toml"):
            resume(path)
        start(path, threads=1, checkpoint=0)
    else:
        assert not hidden
        resume(path)
    assert written(path) == written(reference)


def test_a_file_that_may_not_grow(reference, tmp_path):
    """The system refuses in the middle of a file, rather than at its end."""
    path = tmp_path / "run"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, limits[1]))
    try:
        with pytest.raises(DbpcfgError, match=r"chains/. cannot be written: File too large"):
            start(path, threads=1, checkpoint=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {name for name in written(path) if name.endswith("npz")} == {"corpus.npz"}
    resume(path)
    assert written(path) == written(reference)


def test_one_process_at_a_time(reference, tmp_path):
    path = tmp_path / "run"
    begin(path)
    with RunDirectory.open(path):
        before = written(path)
        for again in (lambda: resume(path), lambda: start(path, overwrite=True)):
            with pytest.raises(DbpcfgError, match=f"{path} is being run by another process"):
                again()
        assert written(path) == before
    resume(path)
    assert written(path) == written(reference)


def test_what_a_killed_process_left_is_removed(reference, tmp_path):
    path = tmp_path / "run"
    begin(path)
    for left in (".config.toml.0123456789abcdef", "chains/0/.chain.npz.0123456789abcdef"):
        (path / left).write_bytes(b"half")
    (path / ".notes").touch()
    resume(path)
    (path / ".notes").unlink()  # not ours
    assert written(path) == written(reference)


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("chains/1/chain.npz", lambda data: data[:-100], "not a dbpcfg chain file, or a damaged"),
        ("chains/1/chain.npz", lambda data: b"", "not a dbpcfg chain file, or a damaged one"),
        ("corpus.npz", lambda data: data[:-1], "not a dbpcfg corpus file, or a damaged one"),
        ("gold.npz", lambda data: data[:99], "not a dbpcfg gold spans file, or a damaged one"),
        ("config.toml", lambda data: data.replace(b"version = 1", b"version = 7"), "version 7"),
        ("config.toml", lambda data: data.replace(b"sha256:", b"sha256:0"), "not the text that"),
        ("config.toml", lambda data: data.replace(b"seed = 5", b"seed = 6"), "other settings"),
    ],
)
def test_damage_is_named_and_nothing_is_touched(tmp_path, name, damage, said):
    path = tmp_path / "run"
    start(path, gold=TREES, chains=2)
    good = (path / name).read_bytes()
    (path / name).write_bytes(damage(good))
    before = written(path)
    with pytest.raises(DbpcfgError, match=said) as error:
        resume(path)
    assert str(path) in str(error.value)
    assert written(path) == before
    (path / name).write_bytes(good)
    assert resume(path).finished


def test_a_chain_in_the_place_of_another(reference, tmp_path):
    path = tmp_path / "run"
    start(path)
    (path / "chains/1/chain.npz").write_bytes((path / "chains/0/chain.npz").read_bytes())
    with pytest.raises(DbpcfgError, match=r"chains/1/chain\.npz: it is of a chain with other"):
        resume(path)


# --- the rest of the interface --------------------------------------------------------------------


def test_the_papers_rule_is_the_default(tmp_path):
    schedule = Schedule(least=20, window=5, after=10, most=60)
    run = start(tmp_path / "run", schedule=schedule, iterations=None)
    assert all(chain.iteration == chain.burn_in + 10 for chain in run.chains)
    assert run.configuration.schedule == schedule
    assert run.agreement().chains == 2
    assert start(None, iterations=2).configuration.schedule == Schedule(2)


def test_sentences_as_text(tmp_path):
    texts = [" ".join(words) for words in SENTENCES]
    assert start(None).trees() == induce(texts, out=None, **OPTIONS).trees()
    run = induce([text.upper() for text in texts], preparation=Preparation(max_length=3), **OPTIONS)
    assert {len(tree) for tree in run.trees()} == {3}
    assert run.trees()[0].words()[0].startswith("A")
    assert run.corpus.forms[0][0].startswith("a")


def test_reports(tmp_path):
    heard: list[tuple[int, int]] = []
    start(
        tmp_path / "run",
        checkpoint=0,
        threads=1,
        report=lambda chain: heard.append((chain.settings.chain, chain.iteration)),
    )
    for number in (0, 1):
        assert [iteration for chain, iteration in heard if chain == number] == list(range(1, 31))
    heard.clear()
    resume(
        tmp_path / "run",
        report=lambda chain: heard.append((chain.settings.chain, chain.iteration)),
    )
    assert heard == [(0, 30), (1, 30)]


def test_what_cannot_be():
    with pytest.raises(DbpcfgError, match="at least 1 thread, got 0"):
        start(None, threads=0)
    with pytest.raises(DbpcfgError, match="workers must be threads or processes, got 'elves'"):
        start(None, workers="elves")
    with pytest.raises(DbpcfgError, match="trees must be mbr, best or last, got 'all'"):
        start(None, trees="all")


@pytest.mark.slow
def test_a_worker_that_dies(tmp_path, monkeypatch):
    path = tmp_path / "run"
    monkeypatch.setattr(execution, "leave_signals_to_parent", os.abort)
    with pytest.raises(DbpcfgError, match="a worker process has ended"):
        start(path, workers="processes")
    begin(tmp_path / "other", workers="processes")  # when the run is stopping, that is no error
    assert resume(path).finished


def test_unknown_words_have_the_beta_of_the_best_sample():
    run = next(
        run
        for run in (start(None, chains=1, seed=seed) for seed in range(9))
        if run.best.best.iteration < run.best.iteration
    )
    best = run.best.best
    counts = Derivations(best.nodes, run.corpus.forms).counts(3).rows.sum(axis=1)
    betas, words = run.best.betas, len(run.corpus.forms.vocabulary)
    expected = unknown_mass(counts, betas[best.iteration - 1], 9 + words)
    assert run.model.unknown.tolist() == expected.tolist()
    assert betas[best.iteration - 1] != betas[-1]
