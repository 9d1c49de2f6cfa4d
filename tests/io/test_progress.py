"""Progress: a bar on a terminal, a line in a notebook, lines elsewhere, and the time left."""

import io
import queue
import sys
import types

import pytest

import dbpcfg
from dbpcfg.io import progress as module
from dbpcfg.io.progress import Progress, clock, counted
from tests.induction.small import SENTENCES, TREES


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch):
    """A clock that the test moves."""
    time = types.SimpleNamespace(value=0.0)
    monkeypatch.setattr(module, "PATIENCE", 2.0)
    monkeypatch.setattr(module, "CELL_PATIENCE", 3600.0)
    monkeypatch.setattr(module, "time", types.SimpleNamespace(monotonic=lambda: time.value))
    return time


def work(progress: Progress, now, seconds: float, items: int) -> None:
    with progress:
        for done in range(1, items + 1):
            now.value += seconds
            progress.update(done)


def test_lines_have_the_time_left(now):
    out = io.StringIO()
    work(Progress("sentences", 100, to=out), now, 1.5, 9)
    lines = out.getvalue().splitlines()
    assert lines == [
        "sentences: 2 of 100, 2:27 left",
        "sentences: 4 of 100, 2:24 left",
        "sentences: 6 of 100, 2:21 left",
        "sentences: 8 of 100, 2:18 left",
    ]


def test_the_time_left_does_not_count_what_came_before_the_first_item(now):
    out = io.StringIO()
    progress = Progress("sentences", 11, to=out)
    now.value = 60  # kernels were compiled
    progress.update(1)
    now.value += 5
    progress.update(2)
    assert out.getvalue().splitlines()[-1] == "sentences: 2 of 11, 0:45 left"
    work(Progress("sentences", to=out), now, 3, 2)
    assert out.getvalue().splitlines()[-1] == "sentences: 2"  # without a total


def test_nothing_is_shown_in_the_first_two_seconds_or_if_quiet(now):
    out = Terminal()
    work(Progress("sentences", 10, to=out), now, 0.15, 10)
    work(Progress("sentences", 10, quiet=True, to=out), now, 5, 10)
    assert out.getvalue() == ""


def test_a_bar_on_a_terminal_is_erased(now, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    work(Progress("words [bold]", 10, to=out), now, 1, 8)
    shown = out.getvalue()
    assert "words [bold]" in shown
    assert "━" in shown
    assert "8 of 10, 0:02 left" in shown
    assert shown.rstrip("\n").endswith("\x1b[2K")  # the line is empty again
    assert "\x1b[?25h" in shown  # and the cursor is back


@pytest.fixture
def notebook(monkeypatch):
    """A notebook's kernel: its shell, and what it is told to display."""
    events: queue.Queue[tuple[str, str]] = queue.Queue()

    def show(data, raw, display_id):
        events.put(("display", data["text/plain"]))
        update = lambda data, raw: events.put(("update", data["text/plain"]))  # noqa: E731
        return types.SimpleNamespace(update=update)

    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    display = types.ModuleType("IPython.display")
    display.display = show
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shell, events


def test_a_line_in_a_notebook(now, notebook):
    shell, events = notebook
    work(Progress("sentences", 4, quiet=None), now, 2.5, 3)
    assert list(events.queue) == [
        ("display", "sentences: 1 of 4"),
        ("update", "sentences: 2 of 4, 0:05 left"),
        ("update", "sentences: 3 of 4, 0:02 left"),
        ("update", ""),
    ]
    shell.kernel = None  # the shell of a terminal
    assert not module.in_notebook()


def test_a_notebook_has_a_line_while_the_first_update_is_waited_for(notebook):
    _, events = notebook
    with Progress("sentences", 4, quiet=None):
        assert events.get(timeout=300) == ("display", "sentences …")
    assert list(events.queue) == [("update", "")]


def test_a_notebook_has_no_line_of_what_takes_no_time_or_is_quiet(now, notebook, monkeypatch):
    _, events = notebook
    with Progress("sentences", 4, quiet=None) as progress:
        progress.update(1)
        assert progress._timer is not None
    progress._timer.join(300)
    monkeypatch.setattr(module, "CELL_PATIENCE", 0.0)
    with Progress("sentences", 4, quiet=True) as progress:
        assert progress._timer is None
    assert not events.queue


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_there_is_a_line_before_the_first_update_if_it_takes_long(kind, now, monkeypatch):
    """Which comes from a thread of its own, once the patience of two seconds is over."""
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    out = kind()
    with Progress("preparing", to=out) as progress:
        progress._timer.join(300)
        assert "preparing" in out.getvalue()
    monkeypatch.setattr(module, "PATIENCE", 3600.0)
    out = kind()
    with Progress("preparing", to=out) as progress:
        assert progress._timer.is_alive()
    progress._timer.join(300)
    assert out.getvalue() == ""


def test_python_calls_are_silent_unless_somebody_watches(monkeypatch, capsys):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    calls = {
        "iterations": lambda **q: dbpcfg.induce(SENTENCES, K=2, chains=1, iterations=3, **q),
        "sentences scored": lambda **q: dbpcfg.evaluate(TREES, TREES, **q),
    }
    run = calls["iterations"]()
    model = run.model
    calls |= {
        "sentences parsed": lambda **q: model.parse(SENTENCES, **q),
        "sentences measured": lambda **q: model.surprisal(SENTENCES, **q),
        "sentences": lambda **q: model.probability(SENTENCES, **q),
        "generated sentences": lambda **q: model.generate(3, **q),
    }
    for call in calls.values():
        call()
    assert capsys.readouterr() == ("", "")
    for what, call in calls.items():
        call(quiet=False)
        out, err = capsys.readouterr()
        assert not out
        assert f"{what}: " in err, what
    monkeypatch.setattr(module, "interactive", lambda: True)
    for what, call in calls.items():
        call()
        assert f"{what}: " in capsys.readouterr().err, what
        call(quiet=True)
        assert capsys.readouterr() == ("", "")


def test_own_reports_take_the_place_of_progress(monkeypatch, capsys):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    seen = []
    dbpcfg.induce(SENTENCES, K=2, chains=1, iterations=3, on_progress=seen.append, quiet=False)
    dbpcfg.evaluate(TREES, TREES, progress=seen.append, quiet=False)
    assert len(seen) > len(TREES)
    assert capsys.readouterr().err == ""


def test_items_pass_through_unchanged():
    assert list(counted(iter("abc"), "letters")) == ["a", "b", "c"]
    assert [clock(seconds) for seconds in (5, 65, 3600 * 12 + 61)] == ["0:05", "1:05", "12:01:01"]
