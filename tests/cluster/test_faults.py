"""Workers that are lost, come, or differ; a scheduler that is gone; Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import dbpcfg
from dbpcfg.cluster import calls, connect, messages
from dbpcfg.cluster import shards as remote_shards
from dbpcfg.cluster.calls import ClusterLostError
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.induction import chains
from tests.cluster.small import SENTENCES, Killer, start
from tests.command import COMMAND
from tests.induction.small import written

LOCAL = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}


@pytest.fixture
def one_iteration(monkeypatch):
    """Blocks are one iteration long."""
    monkeypatch.setattr(chains, "BLOCK_SECONDS", 0.0)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "run"
    start(path, iterations=30)
    return written(path)


@pytest.fixture
def fetches(monkeypatch) -> list[int]:
    """Trees of shards are fetched often: the grammars that a lost shard would need are too many."""
    found, fetch = [], remote_shards.ShardedTrees.fetch
    monkeypatch.setattr(remote_shards, "PAST_BYTES", 2000)
    monkeypatch.setattr(
        remote_shards.ShardedTrees, "fetch", lambda self: found.append(1) or fetch(self)
    )
    return found


@pytest.mark.parametrize(("spread", "checkpoint"), [("chains", 0.5), ("shards", 1000)])
def test_workers_that_are_killed(
    cluster_of, reference, tmp_path, one_iteration, spread, checkpoint, fetches
):
    cluster = cluster_of(2, spread)
    options = {"iterations": 30, "checkpoint": checkpoint}
    killer = Killer(cluster, [3, 25, 45])
    run = start(tmp_path / "run", cluster=cluster, report=killer, **options)
    assert run.finished
    assert killer.kills == 3
    assert (len(fetches) > 4) == (spread == "shards")
    assert written(tmp_path / "run") == reference


@pytest.mark.slow
@pytest.mark.skipif(
    "DBPCFG_MANY_FAULTS" not in os.environ,
    reason="set DBPCFG_MANY_FAULTS=1: restarting 20 workers takes minutes on a busy machine",
)
@pytest.mark.parametrize("spread", ["chains", "shards"])
def test_a_worker_killed_in_each_of_twenty_iterations(
    cluster_of, reference, tmp_path, one_iteration, spread
):
    cluster = cluster_of(4, spread)
    killer = Killer(cluster, range(4, 44, 2), seed=1)
    start(tmp_path / "run", cluster=cluster, report=killer, iterations=30, checkpoint=1)
    assert killer.kills == 20
    assert written(tmp_path / "run") == reference


def test_all_workers_killed_at_once(cluster_of, reference, tmp_path, one_iteration):
    """Whatever they had been sent is lost with them."""
    for spread in ("chains", "shards"):
        cluster, reports = cluster_of(2, spread), iter(range(1000))

        def report(chain, cluster=cluster, reports=reports) -> None:
            if next(reports) == 20:
                for pid in cluster.client.run(os.getpid).values():
                    os.kill(pid, signal.SIGKILL)

        path = tmp_path / spread
        start(path, cluster=cluster, report=report, iterations=30)
        assert written(path) == reference


@pytest.mark.slow
def test_workers_that_are_added(reference, tmp_path, monkeypatch, one_iteration):
    from distributed import Client, LocalCluster

    parted = []
    parts = remote_shards.parts
    monkeypatch.setattr(
        remote_shards, "parts", lambda *given: parted.append(given[2]) or parts(*given)
    )
    with LocalCluster(n_workers=1, **LOCAL) as workers, Client(workers) as client:

        def report(chain) -> None:
            if chain.iteration == 5 and len(client.scheduler_info()["workers"]) == 1:
                workers.scale(3)
                client.wait_for_workers(3)

        with connect(client, "shards") as cluster:
            options = {"iterations": 30, "checkpoint": 0.1, "report": report}
            start(tmp_path / "run", cluster=cluster, **options)
    assert parted == [1, 3]
    assert written(tmp_path / "run") == reference


def test_errors_are_those_of_the_local_run(cluster_of):
    def impossible(**more) -> str:
        with pytest.raises(UnparsableError) as caught:
            start(None, beta=1e-12, exact=True, **more)
        return str(caught.value)

    here = impossible()
    assert "too small for the exact step" in here
    assert impossible(cluster=cluster_of(2, "chains")) == here
    assert impossible(cluster=cluster_of(2, "shards")) == here


# --- the scheduler --------------------------------------------------------------------------------


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler and two workers in processes of their own; its address and its process."""
    from distributed import Client

    address_file, running = tmp_path / "address", []

    def begin(module: str, *arguments: str) -> subprocess.Popen:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        running.append(subprocess.Popen([*command, "--no-dashboard"], **quiet))
        return running[-1]

    local = ["--host", "127.0.0.1", "--scheduler-file", str(address_file)]
    main = begin("dask_scheduler", *local, "--port", "0")
    while not address_file.exists():
        time.sleep(0.1)
    begin("dask_worker", *local, "--nthreads", "1", "--nworkers", "2", "--death-timeout", "60")
    try:
        with Client(scheduler_file=str(address_file)) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, main
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


@pytest.mark.parametrize("spread", ["chains", "shards"])
def test_the_scheduler_is_gone(scheduler, reference, tmp_path, one_iteration, spread):
    address, process = scheduler
    path, options = tmp_path / "run", {"iterations": 30, "checkpoint": 0.05}

    def report(chain) -> None:
        if chain.iteration == 12:
            process.kill()

    with (
        pytest.raises(ClusterLostError, match="connection to the scheduler is lost"),
        connect(address, spread) as cluster,
    ):
        start(path, cluster=cluster, report=report, **options)
    run = dbpcfg.resume(path)
    assert run.finished
    assert written(path) == reference


@pytest.mark.slow
def test_no_workers_are_left(cluster_of, monkeypatch):
    monkeypatch.setattr(calls, "ABANDONED_SECONDS", 0.0)
    monkeypatch.setattr(calls, "_LOOK_SECONDS", 0.2)
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, **LOCAL) as workers,
        Client(workers) as client,
        connect(client, "shards") as cluster,
        pytest.raises(ClusterLostError, match="no workers any more"),
    ):
        start(None, cluster=cluster, report=lambda chain: workers.scale(0))


# --- what does not fit ----------------------------------------------------------------------------


def test_other_versions_are_refused(cluster_of, monkeypatch):
    client = cluster_of(2).client
    monkeypatch.setattr(messages, "__version__", "9.9")
    with (
        pytest.raises(DbpcfgError, match=r"has dbpcfg .*, this process has 9\.9: results would"),
        connect(client),
    ):
        pass


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in SENTENCES))
    return path


def induce(text, out, *more: str) -> list[str]:
    options = ["-K", "3", "--chains", "2", "--seed", "5", "--out", str(out)]
    return [*COMMAND, "induce", str(text), *options, *more]


def test_ctrl_c_stops_a_run_that_can_be_resumed(text, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    length = ["--iterations", "400"]
    command = induce(text, there, *length, "--cluster", "local:2", "--checkpoint", "1000")
    run = subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.stdout is not None
    row = json.loads(run.stdout.readline())
    assert row["event"] == "progress"
    assert (row["workers"], row["shards"]) == (2, 0)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    rest = run.stdout.read()
    assert run.wait(30) in (0, 130)
    assert ('"stopped"' in rest) == (run.returncode == 130)
    assert (there / "chains/0/chain.npz").exists()
    subprocess.run([*COMMAND, "resume", str(there), "-q"], check=True, capture_output=True)
    subprocess.run(induce(text, here, *length, "-q"), check=True, capture_output=True)
    same, found = written(here), written(there)
    assert found == same


@pytest.mark.slow
def test_the_command_when_the_scheduler_is_gone(scheduler, text, tmp_path):
    address, process = scheduler
    out = tmp_path / "run"
    command = induce(text, out, "--iterations", "100000", "--cluster", address, "--json")
    run = subprocess.Popen(
        [*command, "--checkpoint", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    for _ in range(4):
        run.stdout.readline()
    process.kill()
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "dbpcfg: the connection to the scheduler is lost" in errors
    assert f"resume with: dbpcfg resume {out}" in errors
    assert "Traceback" not in errors
