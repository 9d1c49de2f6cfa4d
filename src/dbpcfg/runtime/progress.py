"""Progress of a long job on standard error, once it has taken two seconds."""

from __future__ import annotations

import sys
import time
from typing import TextIO

PATIENCE = 2.0
"""Seconds before the first line, and between two."""


class Progress:
    """Progress of one job, a context manager.

    On a terminal one line is overwritten, and erased when the job ends; elsewhere lines follow.

    Parameters
    ----------
    what
        What the job does, the beginning of the line.
    total
        The number of items, if known.
    quiet
        Whether to print nothing.
    to
        Where to print; standard error if not given.
    """

    def __init__(
        self, what: str, total: int | None = None, quiet: bool = False, to: TextIO | None = None
    ) -> None:
        self.what, self.total, self.quiet = what, total, quiet
        self.to = sys.stderr if to is None else to
        self._last = time.monotonic()
        self._shown = False

    def update(self, done: int) -> None:
        """Print the number of items done, unless the last line is too recent."""
        now = time.monotonic()
        if self.quiet or now - self._last < PATIENCE:
            return
        self._last = now
        of = f" of {self.total:,}" if self.total else ""
        line = f"{self.what}: {done:,}{of}"
        if self.to.isatty():
            print(f"\r{line}\x1b[K", end="", file=self.to, flush=True)
            self._shown = True
        else:
            print(line, file=self.to, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=self.to, flush=True)
