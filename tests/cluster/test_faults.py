"""Workers that are lost, come, or differ; a scheduler that is gone; Ctrl-C."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from dbpcfg.cluster import calls, connect, connection, mapping, messages
from dbpcfg.cluster import chains as chains_there
from dbpcfg.cluster.calls import ClusterLostError
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.induction import chains
from dbpcfg.induction.mapping import InBatches
from tests.cluster.small import SENTENCES, Killer, start, threads
from tests.command import COMMAND, dbpcfg, printed
from tests.induction.small import written


@pytest.fixture
def one_iteration(monkeypatch):
    """Blocks are one iteration long."""
    monkeypatch.setattr(chains, "BLOCK_SECONDS", 0.0)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "run"
    start(path, iterations=30)
    return written(path)


@pytest.mark.parametrize(
    ("learner", "spread"), [("gibbs", "chains"), ("gibbs", "sentences"), ("em", "sentences")]
)
def test_workers_that_are_killed(cluster_of, tmp_path, one_iteration, learner, spread):
    """One, and later all at once: whatever they had been sent is lost with them."""
    options = {"iterations": 30, "learner": learner}
    start(tmp_path / "here", **options)
    cluster = cluster_of(2, spread)
    killer = Killer(cluster, {3: 1, 30: 2})
    run = start(tmp_path / "run", cluster=cluster, on_progress=killer, checkpoint=0.5, **options)
    assert run.finished
    assert killer.kills == 3
    assert written(tmp_path / "run") == written(tmp_path / "here")


def test_workers_come_and_go(reference, tmp_path, monkeypatch, one_iteration):
    """There is one at the start, then there are three, and two at the end."""
    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.0)
    divided = []
    divide = InBatches.__call__
    monkeypatch.setattr(
        InBatches, "__call__", lambda *given: divided.append(given[2]) or divide(*given)
    )
    with threads(1) as client, connect(client, "sentences") as cluster:

        def report(chain) -> None:
            there = len(client.cluster.workers)
            if chain.settings.chain == 0 and chain.iteration in (5, 20):
                client.cluster.scale({5: 3, 20: 2}[chain.iteration])
                if there == 1:
                    client.wait_for_workers(3)

        start(tmp_path / "run", cluster=cluster, iterations=30, on_progress=report)
    assert divided[0] == 1
    assert divided[-1] == 3
    assert written(tmp_path / "run") == reference


def test_no_workers_are_left(monkeypatch, one_iteration):
    monkeypatch.setattr(calls, "LOOK_SECONDS", 0.2)

    def abandon(chain) -> None:
        monkeypatch.setattr(calls, "ABANDONED_SECONDS", 0.0)
        client.cluster.scale(0)
        while client.scheduler_info(n_workers=-1)["workers"]:
            time.sleep(0.01)

    with (
        threads(1) as client,
        connect(client, "sentences") as cluster,
        pytest.raises(ClusterLostError, match="no workers any more"),
    ):
        start(None, cluster=cluster, on_progress=abandon)


def test_errors_are_those_of_the_local_run(cluster_of):
    def impossible(**more) -> str:
        with pytest.raises(UnparsableError) as caught:
            start(None, beta=1e-12, exact=True, **more)
        return str(caught.value)

    here = impossible()
    assert "too small for the exact step" in here
    assert impossible(cluster=cluster_of(2, "chains")) == here
    assert impossible(cluster=cluster_of(2, "sentences")) == here


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


def induce(text, out, iterations: int, *more: str) -> list[str]:
    options = ["--learner", "gibbs", "-K", "3", "--chains", "2", "--seed", "5"]
    return ["induce", str(text), *options, f"--iterations={iterations}", "--out", str(out), *more]


LONG, SHORT = 2000, 200
"""Iterations: more than there are until a signal arrives; and enough to lose a scheduler."""


def test_ctrl_c_stops_a_run_that_can_be_resumed(text, tmp_path):
    path = tmp_path / "run"
    command = induce(text, path, LONG, "--cluster", "local:2", "--checkpoint", "1000", "--json")
    run = subprocess.Popen(
        [*COMMAND, *command], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.stdout is not None
    row = json.loads(run.stdout.readline())
    assert row["event"] == "progress"
    assert (row["workers"], row["parts"]) == (2, 0)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    rest = run.stdout.read()
    assert run.wait(600) in (0, 130)
    assert ('"stopped"' in rest) == (run.returncode == 130)
    assert (path / "chains/0/chain.npz").exists()
    printed("resume", path)
    printed(*induce(text, tmp_path / "here", LONG))
    assert written(path) == written(tmp_path / "here")


@pytest.fixture(scope="module")
def command_reference(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "run"
    printed(*induce(text, path, SHORT))
    return written(path)


CLUSTER = """
from distributed import LocalCluster
local = {"host": "127.0.0.1", "dashboard_address": None}
workers = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", **local)
print(workers.scheduler_address, flush=True)
input()
"""


@pytest.fixture
def scheduler():
    """A scheduler with two workers in another process; its address and its process."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", CLUSTER], text=True, **pipes) as process:
        yield process.stdout.readline().strip(), process
        process.kill()


@pytest.mark.parametrize("spread", ["chains", "sentences"])
def test_the_scheduler_is_gone(
    scheduler, text, command_reference, tmp_path, one_iteration, monkeypatch, spread
):
    address, process = scheduler
    path, count, results = tmp_path / "run", itertools.count(), calls.results

    def then_killed(*given):
        if next(count) == 50:
            process.kill()
        return results(*given)

    monkeypatch.setattr(chains_there, "results", then_killed)
    monkeypatch.setattr(mapping, "results", then_killed)
    there = ("--cluster", address, "--spread", spread, "--checkpoint", "0.05")
    stopped = dbpcfg(*induce(text, path, SHORT, *there))
    assert stopped.returncode == 130
    assert "dbpcfg: the connection to the scheduler is lost" in stopped.stderr
    assert f"resume with: dbpcfg resume {path}" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    printed("resume", path)
    assert written(path) == command_reference
