"""What is shown of chains while they run."""

import json
import re

import pytest

from dbpcfg.cli import chain_progress
from dbpcfg.cli.chain_progress import ChainProgress, sparkline
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.induction.chain import advance, new_chain
from dbpcfg.induction.learners.expectation import EM, VariationalBayes
from dbpcfg.induction.learners.neural import Neural
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings, Configuration
from tests.induction.small import CORPUS
from tests.induction.small import run as chain_of


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


def planned(schedule: Schedule, **more) -> Configuration:
    return Configuration(ChainSettings(), schedule, Preprocessing(), corpus={"tokens": 200}, **more)


def shown_of(chains, kind, capsys, schedule=None) -> tuple[list[str], list[str]]:
    with ChainProgress(kind) as shown:
        shown.begin(planned(schedule or Schedule(12)))
        for _ in range(2):
            for chain in chains:
                shown.show(chain)
    out, err = capsys.readouterr()
    return out.splitlines(), err.splitlines()


def test_plain_lines_where_there_is_no_terminal(chains, capsys, monkeypatch):
    assert shown_of(chains, "auto", capsys) == ([], [])  # it is too early
    monkeypatch.setattr(chain_progress, "LINE_SECONDS", -1.0)
    out, err = shown_of(chains, "auto", capsys)
    assert out == []
    assert len(err) == 1 + 2 + 2 + 2  # all chains that have reported, each time
    assert err[-1].startswith("chain 1: iteration 9 (sampling), log-likelihood -")
    assert "tokens/s" not in err[-1]  # seen at one iteration only
    assert not any("\x1b" in line for line in err)


@pytest.mark.parametrize("learner", [EM(), VariationalBayes(), Neural()], ids=lambda x: x.name)
def test_learners_without_samples_have_no_phases(learner, capsys, monkeypatch):
    monkeypatch.setattr(chain_progress, "LINE_SECONDS", -1.0)
    settings = ChainSettings(categories=3, learner=learner)
    schedule = Schedule(3, kept=1)
    for done in (2, 3):  # before the pass that counts, and after it
        chain = advance(new_chain(CORPUS, settings), CORPUS, schedule, 999, until=done)
        _, err = shown_of([chain], "auto", capsys, schedule)
        assert err[-1].startswith(f"chain 0: {learner.iteration[0]} {done}, log-likelihood -")
        out, _ = shown_of([chain], "json", capsys, schedule)
        event = json.loads(out[-1])
        assert (event["phase"], event["burn_in"]) == ("", None)


def test_json(chains, capsys, monkeypatch):
    monkeypatch.setattr(chain_progress, "LINE_SECONDS", -1.0)
    out, err = shown_of(chains, "json", capsys)
    assert err == []
    events = [json.loads(line) for line in out]
    assert [event["chain"] for event in events] == [0, 1, 0, 1]
    assert events[0]["log_likelihood"] == chains[0].logs[-1]
    assert events[0]["burn_in"] == chains[0].burn_in


def test_time_left(chains, capsys, monkeypatch):
    """From 9 iterations in 3 seconds to 12, or to 20 after a burn-in of 4."""
    clock = iter([0.0, 0.0, 3.0])
    monkeypatch.setattr(chain_progress.time, "monotonic", lambda: next(clock))
    shown = ChainProgress("json")
    shown.begin(planned(Schedule(12)))
    shown.began[0] = (0, 0.0)
    shown.show(chains[0])
    shown.show(chains[0])
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["seconds_left"] == 1
    assert ", 600 tokens/s, 0:01 left" in shown._line(shown.rows[0])
    monkeypatch.undo()
    assert [chain_progress.clock(seconds) for seconds in (5, 65, 3600 * 12 + 61)] == [
        *("0:05", "1:05", "12:01:01")
    ]


def test_what_the_time_left_does_not_count(chains, capsys, monkeypatch):
    monkeypatch.setattr(chain_progress, "LINE_SECONDS", -1.0)
    settings = ChainSettings(categories=3, learner=Neural())
    chain = new_chain(CORPUS, settings)
    for trees, some in ((False, chains), (True, [chain])):
        with ChainProgress("auto") as shown:
            shown.begin(planned(Schedule(12)))
            shown.began[0] = (0, chain_progress.time.monotonic() - 3.0)
            for one in some:
                one = advance(one, CORPUS, Schedule(12, kept=1), 999, until=9)
                shown.show(one)
            assert ((shown._caption() or "") == "then trees") == trees
        err = capsys.readouterr().err
        assert re.search(r" left, then trees$" if trees else r" left$", err, re.MULTILINE)


def test_the_time_left_of_a_long_run(chains, capsys, monkeypatch):
    """After three seconds, then every ten; however long it is."""
    now = [100.0]
    monkeypatch.setattr(chain_progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(chain_progress, "FIRST_SECONDS", 3.0)
    monkeypatch.setattr(chain_progress, "LINE_SECONDS", 10.0)
    lines = []
    with ChainProgress("auto") as shown:
        shown.begin(planned(Schedule(10**15)))
        for _ in range(16):
            now[0] += 1.0
            shown.began[0] = (0, 100.0)
            shown.show(chains[0])
            lines.append(capsys.readouterr().err.strip())
    assert [second for second, line in enumerate(lines, start=1) if line] == [4, 15]
    assert re.search(r"tokens/s, 123456790123:\d\d:\d\d left$", lines[3])


def test_a_race(capsys, monkeypatch):
    """Who leads, who was dropped, and how much of the budget is left."""
    monkeypatch.setattr(chain_progress, "LINE_SECONDS", -1.0)
    racing = [chain_of(75, chain=n) for n in range(4)]
    for chain, log in zip(racing, [-5.0, -3.0, -4.0, -6.0]):
        chain.logs = [log] * 75
    short = planned(Schedule(75), chains=4, budget=280)
    for events in ("auto", "json"):
        with ChainProgress(events) as shown:
            shown.begin(short)
            for chain in racing:
                shown.show(chain)
        out, err = capsys.readouterr()
        if events == "json":
            standing = [json.loads(line)["standing"] for line in out.splitlines()]
            assert standing == ["", "", "", "dropped"]  # what is known when each has reported
            continue
        last = err.splitlines()[-3:]
        assert last[0].startswith("chain 1: iteration 75 (leads)")
        assert last[1].startswith("chain 2: iteration 75 (sampling)")
        assert last[2].startswith("race: 300 of 280 iterations, 2 of 4 chains run")
        assert [row["standing"] for row in shown.rows.values()] == [
            "dropped",
            "leads",
            "",
            "dropped",
        ]
