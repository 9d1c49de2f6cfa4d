"""Callbacks for the compilation of kernels.

They are not in ``kernels``, so that they can be added without loading numba.
"""

from __future__ import annotations

from collections.abc import Callable

on_begin: list[Callable[[str], None]] = []
"""Called with the name of a kernel before it is compiled."""
on_end: list[Callable[[str], None]] = []
"""Called with the name of a kernel after it has been compiled."""


def begin(name: str) -> None:
    """Call ``on_begin``."""
    for callback in on_begin:
        callback(name)


def end(name: str) -> None:
    """Call ``on_end``."""
    for callback in on_end:
        callback(name)
