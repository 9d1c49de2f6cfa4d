"""``induce`` and ``resume`` as a user meets them: on a terminal, in a pipe, and interrupted."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

from dbpcfg.cli import chain_progress as display
from dbpcfg.cli.chain_progress import ChainProgress, sparkline
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.corpus import load_corpus
from dbpcfg.induction.induce import induce
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree
from tests.command import COMMAND, dbpcfg, refused
from tests.induction.small import run as chain_of

RESULTS = ("chains.tsv", "model.npz", "samples.npz", "trees.txt")
CHAIN = ("trace.tsv", "chain.npz")


def sentence(tree: Tree) -> Tree:
    """A tree as a treebank has it: a capital at the start, a full stop at the end."""
    words = tree.words()
    capital = tree.replace_words([words[0].capitalize(), *words[1:]])
    return Tree("ROOT", [capital, Tree(".", ["."])])


TREES = [sentence(tree) for tree in synthetic_trees("center", sentences=30, vocabulary=4)]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    (folder / "text.txt").write_text("".join(" ".join(tree.words()) + "\n" for tree in TREES))
    (folder / "gold.mrg").write_text("".join(f"{tree}\n" for tree in TREES))
    return folder


def options(**changed) -> list[str]:
    chosen = {"categories": 3, "chains": 2, "iterations": 20, "seed": 3, **changed}
    return [f"--{name.replace('_', '-')}={value}" for name, value in chosen.items()]


def contents(run: Path) -> list[bytes]:
    """What must be the same, whatever happened on the way."""
    names = [*RESULTS, "corpus.npz", *(f"chains/{n}/{f}" for n in "01" for f in CHAIN)]
    return [(run / name).read_bytes() for name in names]


# --- from text to trees ---------------------------------------------------------------------------


def test_from_text_to_scores(files, tmp_path):
    out = tmp_path / "runs" / "first"
    done = dbpcfg("induce", files / "text.txt", "--out", out, *options())
    assert done.returncode == 0, done.stderr
    shown = done.stdout.splitlines()
    assert shown[0] == "Chains"
    assert shown[1].split()[:3] == ["chain", "iterations", "burn-in"]
    assert [row.split()[:3] for row in shown[3:5]] == [["0", "20", "10"], ["1", "20", "10"]]
    assert sum(row.endswith("*") for row in shown[3:5]) == 1
    assert "selected by mean log-likelihood" in done.stdout
    assert "R-hat" in done.stdout
    assert "30 sentences" in done.stderr
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    expected = {*RESULTS, "config.toml", "corpus.npz", ".lock"}
    assert names == expected | {f"chains/{n}/{file}" for n in "01" for file in CHAIN}

    # Words as written come back, though learning was from lower case.
    trees = list(read_trees((out / "trees.txt").read_text()))
    assert [tree.words() for tree in trees] == [tree.words() for tree in TREES]
    assert trees[0].words()[0][0].isupper()
    assert all(word == word.lower() for word in load_corpus(out / "corpus.npz").forms[0])
    scored = dbpcfg("evaluate", files / "gold.mrg", out / "trees.txt", "--format", "json")
    assert json.loads(scored.stdout)[0]["rows"][0]["sentences"] == 30

    # The same from Python.
    again = tmp_path / "again"
    words = [tree.words() for tree in TREES]
    run = induce(words, K=3, chains=2, iterations=20, seed=3, out=again, threads=1)
    assert contents(again) == contents(out)
    assert [str(tree) for tree in run.trees()] == [str(tree) for tree in trees]


def test_choosing_sentences_and_forms_and_logging_scores(files, tmp_path):
    out = tmp_path / "run"
    done = dbpcfg(
        *("induce", files / "text.txt", "--out", out, "--gold", files / "gold.mrg", "-q"),
        *options(max_length=4, rare=3, trees="last", depth="none"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # --quiet: only results
    assert done.stdout.startswith("Chains\n")
    assert "F1 is of single samples and was not used for selection" in done.stdout
    kept = [tree for tree in TREES if len(tree) <= 5]
    assert 0 < len(kept) < 30
    corpus = load_corpus(out / "corpus.npz")
    assert list(corpus.words) == [tree.words() for tree in kept]
    assert any(form.startswith("<") for form in corpus.forms.vocabulary.words)

    # The logged score of the last sample is what `evaluate` says of the trees of that chain.
    rows = [line.split("\t") for line in (out / "chains.tsv").read_text().splitlines()]
    chosen = next(row[0] for row in rows if row[-1] == "1")
    trace = (out / "chains" / chosen / "trace.tsv").read_text().splitlines()
    assert trace[0].split("\t")[-1] == "f1_not_used_for_selection"
    scored = dbpcfg(
        *("evaluate", files / "gold.mrg", out / "trees.txt"),
        *("--gold-length", "4", "--format", "json"),
    )
    f1 = json.loads(scored.stdout)[0]["rows"][0]["f1"]
    assert float(trace[20].split("\t")[-1]) == pytest.approx(f1, abs=1e-12)


def test_gold_trees_are_those_of_the_sentences_kept(files, tmp_path):
    """Also where the treebank's tags disagree on what is punctuation, and so on what is short."""
    odd = files / "odd.mrg"
    odd.write_text("".join(f"{tree}\n" for tree in TREES).replace("(. .)", "(X .)"))
    run = tmp_path / "run"
    short = [*options(), "--max-length", "4"]
    dbpcfg("induce", files / "text.txt", "--out", run, "--gold", odd, *short)
    kept = [list(words) for words in load_corpus(run / "corpus.npz").words]
    assert 0 < len(kept) < len(TREES)
    gold = match_gold(kept, read(odd).sentences, "odd", "auto")
    assert [tree.words() for tree in gold.trees] == kept
    plain = tmp_path / "plain"
    dbpcfg("induce", files / "text.txt", "--out", plain, "--gold", files / "gold.mrg", *short)
    traces = [path / "chains" / "0" / "trace.tsv" for path in (run, plain)]
    assert traces[0].read_bytes() == traces[1].read_bytes()


def test_json_lines(files, tmp_path):
    done = dbpcfg(
        *("induce", files / "text.txt", "--out", tmp_path / "run", "--json"),
        *(*options(checkpoint=0), "--sample-beta"),
    )
    assert done.stderr == ""
    *progress, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(progress) == 40
    assert {event["event"] for event in progress} == {"progress"}
    assert progress[-1]["iteration"] == 20
    assert progress[-1]["per_token"] == pytest.approx(
        progress[-1]["log_likelihood"] / sum(len(tree) for tree in TREES)
    )
    assert last["event"] == "finished"
    assert [row["chain"] for row in last["rows"]] == [0, 1]


def test_mistakes(files, tmp_path):
    out = tmp_path / "run"
    for wrong, said in (
        (["--depth", "deep"], "--depth must be a number from 1 up, or 'none'"),
        (["--depth", "0"], "--depth must be a number from 1 up, or 'none'"),
        (["--beta", "0"], "beta must be a positive number"),
        (["--restarts", "9"], "take 180 iterations, but samples count from 10 on"),
        (["--gold", files / "text.txt"], "text.txt:1: the sentence has no tree"),
    ):
        message = refused("induce", files / "text.txt", "--out", out, *options(), *wrong)
        assert said in message
        assert not out.exists()
    out.mkdir()
    (out / "thesis.tex").touch()
    message = refused("induce", files / "text.txt", "--out", out, *options())
    assert f"dbpcfg resume {out}" in message
    assert f"{out}/config.toml cannot be read" in refused("resume", out)
    assert os.listdir(out) == ["thesis.tex"]


# --- interrupted ----------------------------------------------------------------------------------


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

    def __enter__(self) -> Running:
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


@pytest.mark.slow
def test_stopped_by_signals_and_resumed(files, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    induce([tree.words() for tree in TREES], 3, chains=2, iterations=1500, seed=3, out=whole)
    states = [broken / "chains" / n / "chain.npz" for n in "01"]

    text = ("induce", files / "text.txt", "--out", broken)
    with Running(*text, "--checkpoint", "0.2", *options(iterations=1500)) as once:
        once.tell(signal.SIGINT)
        code, out, err = once.end()
    assert code == 130
    assert f"stopped; go on with: dbpcfg resume {broken}" in err
    assert json.loads(out.splitlines()[-1]) == {"event": "stopped", "run": str(broken)}
    assert not (broken / "trees.txt").exists()
    saved = [state.read_bytes() for state in states]

    with Running("resume", broken, "--threads", "1") as twice:  # blocks of a second, no checkpoint
        twice.tell(signal.SIGINT)
        began = time.monotonic()
        twice.process.send_signal(signal.SIGINT)
        code, _, err = twice.end()
    assert code == 130
    assert time.monotonic() - began < 5
    assert f"stopped; go on with: dbpcfg resume {broken}" in err
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


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of processes")
def test_worker_processes_neither_take_signals_nor_stay_behind(files, tmp_path):
    out = tmp_path / "run"
    slow = ("--workers", "processes", "--threads", "2", "--checkpoint", "0.2")
    text = ("induce", files / "text.txt", "--out", out, *options(iterations=9999))
    for command, number, code in (
        (text, signal.SIGINT, 130),
        (("resume", out), signal.SIGTERM, 143),
    ):
        with Running(*command, *slow) as running:
            os.killpg(running.process.pid, number)  # as a terminal does, or a batch system
            ended, _, said = running.end()
            assert ended == code
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


def test_on_a_terminal(files, tmp_path):
    """A live table; and after the second Ctrl-C the cursor, which it hides, is back."""
    ours, theirs = pty.openpty()
    command = ["induce", files / "text.txt", "--out", tmp_path / "run", *options(iterations=99999)]
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


# --- what is shown --------------------------------------------------------------------------------


def test_sparkline():
    assert sparkline([1.0, 2.0, 3.0, 8.0]) == "▁▂▃█"
    assert sparkline([-5.0, -5.0]) == "▁▁"
    assert sparkline([float(n) for n in range(8)]) == "▁▂▃▄▅▆▇█"
    long = sparkline([float(n) for n in range(1000)])
    assert len(long) == 16
    assert list(long) == sorted(long)
    assert long[-1] == "█"


@pytest.fixture(scope="module")
def chains():
    return [chain_of(9), chain_of(9, chain=1)]


def shown_of(chains, kind, capsys, schedule=None) -> tuple[list[str], list[str]]:
    with ChainProgress(kind, schedule or Schedule(12), tokens=200) as shown:
        for _ in range(2):
            for chain in chains:
                shown.show(chain)
    out, err = capsys.readouterr()
    return out.splitlines(), err.splitlines()


def test_plain_lines_where_there_is_no_terminal(chains, capsys, monkeypatch):
    assert shown_of(chains, "auto", capsys) == ([], [])  # ten seconds have not passed
    monkeypatch.setattr(display, "LINE_SECONDS", -1.0)
    out, err = shown_of(chains, "auto", capsys)
    assert out == []
    assert len(err) == 1 + 2 + 2 + 2  # all chains that have reported, each time
    assert err[-1].startswith("chain 1: iteration 9 (sampling), log-likelihood -")
    assert "tokens/s" in err[-1]
    assert not any("\x1b" in line for line in err)


def test_quiet_and_json(chains, capsys, monkeypatch):
    monkeypatch.setattr(display, "LINE_SECONDS", -1.0)
    assert shown_of(chains, "quiet", capsys) == ([], [])
    out, err = shown_of(chains, "json", capsys)
    assert err == []
    events = [json.loads(line) for line in out]
    assert [event["chain"] for event in events] == [0, 1, 0, 1]
    assert events[0]["log_likelihood"] == chains[0].logs[-1]
    assert events[0]["burn_in"] == chains[0].burn_in


def test_time_left(chains, capsys, monkeypatch):
    """From 9 iterations in 3 seconds to 12, or to 20 after a burn-in of 4."""
    clock = iter([0.0, 0.0, 3.0])
    monkeypatch.setattr(display.time, "monotonic", lambda: next(clock))
    shown = ChainProgress("json", Schedule(12), tokens=200)
    shown.began[0] = (0, 0.0)
    shown.show(chains[0])
    shown.show(chains[0])
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["seconds_left"] == 1
    monkeypatch.undo()
    assert [display._clock(seconds) for seconds in (5, 65, 3600 * 12 + 61)] == [
        *("0:05", "1:05", "12:01:01")
    ]
