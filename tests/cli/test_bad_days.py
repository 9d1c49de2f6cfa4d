"""Full and closed standard output, and Ctrl-C twice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.small import options
from tests.cli.test_interruption import Running, alive, children
from tests.command import COMMAND


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("dbpcfg: ")
    return done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("arguments", ["--version", "convert - -"])
def test_a_full_standard_output(arguments):
    command = [*COMMAND, *arguments.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, input="a b\n", timeout=100
        )
    assert "standard output cannot be written: No space left on device" in one_line(done)


def test_a_closed_standard_output(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a b\n")
    done = subprocess.run(
        f"{' '.join(COMMAND)} convert {text} - >&-", shell=True, stderr=subprocess.PIPE, text=True
    )
    assert "standard output is closed" in one_line(done)
    assert text.read_text() == "a b\n"


@pytest.mark.slow
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
    until = time.monotonic() + 1
    while (left := [n for n in workers if alive(n)]) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left
