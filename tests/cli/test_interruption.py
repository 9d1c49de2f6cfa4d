"""Commands stopped by signals: ``induce`` and ``resume``, and others where Python drops Ctrl-C."""

import ctypes
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

from dbpcfg.corpus.readers import CorpusReader, readers
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.induction.induce import induce
from tests.cli.small import contents, options
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
        """Send a signal to all its processes, as a terminal does, and wait until it is answered."""
        os.killpg(self.process.pid, number)
        self.process.stderr.readline()
        assert "stopping after the current iteration" in self.process.stderr.readline()

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=600)
        assert "Traceback" not in err
        return self.process.returncode, out, err


PRESSED = """
import os, sys
from dbpcfg.cli import app
from dbpcfg.induction import chains

def pressed(*arguments, advance=chains.advance):
    while numbers:
        os.kill(os.getpid(), numbers.pop(0))
    return advance(*arguments)

numbers = [int(number) for number in sys.argv.pop(1).split()]
chains.advance = pressed
app.main()
"""
"""The program, which sends itself signals in the first block of a chain."""


def pressed(numbers: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PRESSED, numbers, *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "stopping after the current iteration" in done.stderr
    return done


def test_stopped_by_signals_and_resumed(corpus_folder, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    induce(corpus_folder / "text.txt", 3, chains=2, iterations=20, seed=3, out=whole)
    states = [broken / "chains" / n / "chain.npz" for n in "01"]
    blocks = ("--checkpoint", "0")  # of one iteration

    text = ("induce", corpus_folder / "text.txt", "--out", broken, *options())
    once = pressed("2", *text, *blocks)
    assert once.returncode == 130
    assert f"stopped; resume with: dbpcfg resume {broken}" in once.stderr
    assert json.loads(once.stdout.splitlines()[-1]) == {"event": "stopped", "run": str(broken)}
    assert not (broken / "trees.txt").exists()
    saved = [state.read_bytes() for state in states if state.exists()]
    assert saved

    twice = pressed("2 15", "resume", broken, *blocks)  # two signals of a kind could become one
    assert twice.returncode == 143
    assert f"stopped; resume with: dbpcfg resume {broken}" in twice.stderr
    assert [state.read_bytes() for state in states if state.exists()] == saved  # not even saved

    assert pressed("15", "resume", broken, *blocks).returncode == 143
    assert [state.read_bytes() for state in states if state.exists()] != saved

    done = dbpcfg("resume", broken, "--quiet")
    assert done.returncode == 0
    assert done.stdout.startswith("learned: from 40 sentences")
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
    text = ("induce", corpus_folder / "text.txt", "--out", out, *options(iterations=9999999))
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
    until = time.monotonic() + 600
    while (left := [n for n in workers if alive(n)]) and time.monotonic() < until:
        time.sleep(0.05)
    for worker in left:
        os.kill(worker, signal.SIGKILL)
    assert not left, "workers have outlived the process that started them"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of processes")
def test_ctrl_c_twice_ends_workers_at_once(corpus_folder, tmp_path):
    text = ("induce", corpus_folder / "text.txt", "--out", tmp_path / "run")
    slow = ("--workers", "processes", "--threads", "2", "--checkpoint", "30")
    with Running(*text, *options(iterations=9999999), *slow) as running:
        workers = children(running.process.pid)
        assert len(workers) >= 2
        running.tell(signal.SIGINT)
        os.killpg(running.process.pid, signal.SIGINT)
        code, _, said = running.end()
    assert code == 130
    assert "leaked" not in said
    assert "Warning" not in said
    until = time.monotonic() + 600
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
        *options(iterations=9999999),
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
        assert process.wait(600) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")


def press(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Deleted:
    def __del__(self) -> None:
        press()


def press_when_an_object_is_deleted() -> None:
    Deleted()


def press_when_an_object_is_gone() -> None:
    one = threading.Event()
    _reference = weakref.ref(one, press)
    del one


def press_in_a_call_from_c() -> None:
    """As when a kernel is compiled or loaded."""
    ctypes.CFUNCTYPE(None)(press)()


@pytest.mark.parametrize(
    "interrupt",
    [press_when_an_object_is_deleted, press_when_an_object_is_gone, press_in_a_call_from_c],
)
def test_ctrl_c_in_what_c_calls_is_not_lost(interrupt, command, tmp_path, monkeypatch):
    """Python prints an exception there, and forgets it."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)]

    def endless(text, source):
        yield Sentence(("a", "b"))
        interrupt()
        threading.Event().wait(600)

    monkeypatch.setattr(readers, "_added", dict(readers._added))
    readers.add("endless", CorpusReader(endless, (".endless",), lambda text: False))
    (tmp_path / "text.endless").write_text("a b\n")
    (tmp_path / "out.txt").write_text("as before\n")
    arguments = (tmp_path / "text.endless", tmp_path / "out.txt", "--overwrite")
    code, shown, said = command.run("convert", *arguments)
    assert (code, shown, said) == (130, "", "")
    assert (tmp_path / "out.txt").read_text() == "as before\n"
    assert len(list(tmp_path.iterdir())) == 2
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)] == handlers
