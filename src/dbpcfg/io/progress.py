"""Progress of a long job, with the time left, after two seconds.

On a terminal it is a bar that is erased when the job ends, elsewhere a line now and then. In a
notebook it is one line that changes, and is there at once. The first line comes whatever the first
update waits for. The time left is estimated from the rate since the first update, so what happened
before, such as compiling kernels, does not count.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextvars import copy_context
from threading import TIMEOUT_MAX, Lock, Timer
from typing import Any, TextIO, TypeVar

Item = TypeVar("Item")

PATIENCE = 2.0
"""Seconds before the first line, and between two."""

CELL_PATIENCE = 0.1
"""Seconds before the line in a notebook."""

BAR_SECONDS = 0.2
"""Seconds between two changes of a bar."""


class Progress:
    """Progress of one job, a context manager.

    ``name``: of the items, which messages begin with.
    ``total``: the number of items, if known.
    ``quiet``: whether nothing is shown; None shows progress on a terminal or in a notebook only.
    ``to``: a stream; if not given, the notebook or standard error.
    """

    def __init__(
        self,
        name: str,
        total: int | None = None,
        quiet: bool | None = False,
        to: TextIO | None = None,
    ) -> None:
        # It may contain a file's name, and the terminal must not obey control characters in it.
        self.name = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)
        self.total = total
        self.quiet = not interactive() if quiet is None else quiet
        self.to = sys.stderr if to is None else to
        self._given = to is not None
        self._last = time.monotonic()
        self._first: tuple[int, float] | None = None
        self._display: _Lines | None = None
        self._lock, self._ended = Lock(), False
        self._timer: Timer | None = None

    def _wait(self) -> None:
        """Show that there is something to wait for, from a thread of its own."""
        with self._lock:
            if self._display is None and not self._ended:
                self._display = self._new_display()
                self._display.show(self.name, None, self.total, None)

    def update(self, done: int) -> None:
        """Show the number of items done, unless the last update was shown just before."""
        if self.quiet:
            return
        now = time.monotonic()
        if self._first is None:
            self._first = done, now
        pause = PATIENCE if self._display is None else self._display.pause
        if now - self._last < min(pause, PATIENCE):
            return
        self._last = now
        with self._lock:
            if self._display is None:
                self._display = self._new_display()
        self._display.show(self.name, done, self.total, self._seconds_left(done, now))

    def after(self, done: int) -> Progress:
        """The progress of a part of the job that begins after this many items."""
        return _Continued(self, done)

    def _seconds_left(self, done: int, now: float) -> float | None:
        if self.total is None or self._first is None or done <= self._first[0]:
            return None
        rate = (done - self._first[0]) / max(now - self._first[1], 1e-9)
        return max(0.0, (self.total - done) / rate)

    def _new_display(self) -> _Lines:
        if self._in_cell:
            return _Cell(self.to)
        return _Bar(self.to) if self.to.isatty() else _Lines(self.to)

    @property
    def _in_cell(self) -> bool:
        return in_notebook() and not self._given

    def __enter__(self) -> Progress:
        patience = CELL_PATIENCE if self._in_cell else PATIENCE
        if not self.quiet and patience < TIMEOUT_MAX:
            self._timer = Timer(patience, copy_context().run, (self._wait,))
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        if self._display is not None:
            self._display.close()
            self._display = None


class _Continued(Progress):
    """Progress of a part of a job."""

    def __init__(self, whole: Progress, before: int) -> None:
        super().__init__(whole.name, quiet=True)
        self._whole, self._before = whole, before

    def update(self, done: int) -> None:
        self._whole.update(self._before + done)


def counted(
    items: Iterable[Item], name: str, total: int | None = None, quiet: bool | None = None
) -> Iterator[Item]:
    """Yield items and show progress."""
    with Progress(name, total, quiet) as progress:
        for number, item in enumerate(items, start=1):
            yield item
            progress.update(number)


class _Lines:
    """A new line for each update; the other displays replace the previous one."""

    pause = PATIENCE

    def __init__(self, to: TextIO) -> None:
        self.to = to

    def show(self, name: str, done: int | None, total: int | None, left: float | None) -> None:
        print(_line(name, done, total, left), file=self.to, flush=True)

    def close(self) -> None:
        pass


class _Cell(_Lines):
    """A line in the output of a notebook's cell."""

    pause = BAR_SECONDS
    handle: Any = None

    def show(self, name: str, done: int | None, total: int | None, left: float | None) -> None:
        line = {"text/plain": _line(name, done, total, left)}
        if self.handle is None:
            display = sys.modules["IPython.display"].display  # a notebook has imported it
            self.handle = display(line, raw=True, display_id=True)
        else:
            self.handle.update(line, raw=True)

    def close(self) -> None:
        if self.handle is not None:
            self.handle.update({"text/plain": "", "text/html": ""}, raw=True)  # not a blank line


class _Bar(_Lines):
    """A bar on a terminal."""

    pause = BAR_SECONDS

    def __init__(self, to: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bars

        text = TextColumn("{task.description}", markup=False)
        self.bars = Bars(
            *(text, BarColumn(bar_width=24), TextColumn("{task.fields[state]}", markup=False)),
            console=Console(file=getattr(to, "obeyed", to)),
            auto_refresh=False,
            transient=True,
        )
        self.bars.start()
        self.task = self.bars.add_task("", state="")

    def show(self, name: str, done: int | None, total: int | None, left: float | None) -> None:
        state = _line("", done, total, left)
        self.bars.update(self.task, description=name, completed=done or 0, total=total, state=state)
        self.bars.refresh()

    def close(self) -> None:
        self.bars.stop()


def interactive() -> bool:
    """Whether this is a notebook, or standard error is a terminal."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether this is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def clock(seconds: float) -> str:
    """A time in hours, minutes and seconds, such as 1:02:03 or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _line(name: str, done: int | None, total: int | None, left: float | None) -> str:
    if done is None:
        return f"{name} …"
    of = f" of {total:,}" if total else ""
    time_left = "" if left is None else f", {clock(left)} left"
    return f"{f'{name}: ' if name else ''}{done:,}{of}{time_left}"
