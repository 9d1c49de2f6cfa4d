"""``induce`` and ``resume`` stopped by signals."""

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

from dbpcfg.induction.induce import induce
from tests.cli.small import GOLD, contents, options
from tests.command import COMMAND, dbpcfg


class Running:
    """A command in a process group of its own, that is spoken to while it runs.

    It ends with the ``with`` block, whatever happens there.
    """

    def __init__(self, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert "progress" in self.process.stdout.readline()

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def tell(self, number: int) -> None:
        """Send a signal, and wait until it is answered."""
        self.process.send_signal(number)
        self.process.stderr.readline()
        assert "stopping after the current iteration" in self.process.stderr.readline()

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        assert "Traceback" not in err
        return self.process.returncode, out, err


def test_stopped_by_signals_and_resumed(corpus_folder, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    induce([tree.words() for tree in GOLD], 3, chains=2, iterations=1200, seed=3, out=whole)
    states = [broken / "chains" / n / "chain.npz" for n in "01"]

    text = ("induce", corpus_folder / "text.txt", "--out", broken)
    with Running(*text, "--checkpoint", "0.2", *options(iterations=1200)) as once:
        once.tell(signal.SIGINT)
        code, out, err = once.end()
    assert code == 130
    assert f"stopped; resume with: dbpcfg resume {broken}" in err
    assert json.loads(out.splitlines()[-1]) == {"event": "stopped", "run": str(broken)}
    assert not (broken / "trees.txt").exists()
    saved = [state.read_bytes() for state in states]

    with Running("resume", broken, "--threads", "1") as twice:  # blocks of a second, no checkpoint
        twice.tell(signal.SIGINT)
        twice.process.send_signal(signal.SIGINT)
        code, _, err = twice.end()
    assert code == 130
    assert f"stopped; resume with: dbpcfg resume {broken}" in err
    assert [state.read_bytes() for state in states] == saved  # at once: not even saved

    with Running("resume", broken, "--checkpoint", "0.2") as terminated:
        terminated.tell(signal.SIGTERM)
        assert terminated.end()[0] == 143
    assert [state.read_bytes() for state in states] != saved

    done = dbpcfg("resume", broken, "--quiet")
    assert done.returncode == 0
    assert done.stdout.startswith("Chains")
    assert contents(broken) == contents(whole)


def children(process: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of processes")
def test_worker_processes_neither_take_signals_nor_stay_behind(corpus_folder, tmp_path):
    out = tmp_path / "run"
    slow = ("--workers", "processes", "--threads", "2", "--checkpoint", "0.2")
    text = ("induce", corpus_folder / "text.txt", "--out", out, *options(iterations=9999))
    with Running(*text, *slow) as running:
        os.killpg(running.process.pid, signal.SIGTERM)  # as a batch system does
        ended, _, said = running.end()
        assert ended == 143
        assert f"dbpcfg resume {out}" in said
    with Running("resume", out, *slow) as running:
        workers = children(running.process.pid)
        assert len(workers) >= 2
        running.process.kill()
        running.process.wait()
    until = time.monotonic() + 20
    while (left := [n for n in workers if alive(n)]) and time.monotonic() < until:
        time.sleep(0.05)
    for worker in left:
        os.kill(worker, signal.SIGKILL)
    assert not left, "workers have outlived the process that started them"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of processes")
def test_ctrl_c_twice_ends_workers_at_once(corpus_folder, tmp_path):
    text = ("induce", corpus_folder / "text.txt", "--out", tmp_path / "run")
    slow = ("--workers", "processes", "--threads", "2", "--checkpoint", "30")
    with Running(*text, *options(iterations=99999), *slow) as running:
        workers = children(running.process.pid)
        assert len(workers) >= 2
        os.killpg(running.process.pid, signal.SIGINT)
        time.sleep(0.1)
        os.killpg(running.process.pid, signal.SIGINT)
        code, _, said = running.end()
    assert code == 130
    assert "leaked" not in said
    assert "Warning" not in said
    until = time.monotonic() + 20
    while (left := [n for n in workers if alive(n)]) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left


def test_on_a_terminal(corpus_folder, tmp_path):
    """A live table; and after the second Ctrl-C the cursor, which it hides, is back."""
    ours, theirs = pty.openpty()
    command = [
        "induce",
        corpus_folder / "text.txt",
        "--out",
        tmp_path / "run",
        *options(iterations=99999),
    ]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [*COMMAND, *map(str, command)], stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""

    def read_until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(ours, 4096)

    try:
        read_until(b"burn-in")
        assert b"tokens/s" in shown
        assert b"\x1b[?25l" in shown
        process.send_signal(signal.SIGINT)
        read_until(b"stopping after the current iteration")
        process.send_signal(signal.SIGINT)
        read_until(b"dbpcfg resume")
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")
