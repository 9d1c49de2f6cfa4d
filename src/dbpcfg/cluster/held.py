"""What a worker holds between calls, by run and by name; lost when the worker is."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any

from dbpcfg.runtime.threads import one_blas_thread

_held: dict[str, dict[Hashable, Any]] = {}
_over: set[str] = set()
"""Runs that are over: a call of one that was still under way leaves nothing behind."""
_lock = RLock()
_limits: list[Any] = []


def holdings(run: str) -> dict[Hashable, Any]:
    """What this worker holds of a run."""
    with _lock:
        if not _limits:  # as long as the process lives: calls would lift each other's limit
            _limits.append(one_blas_thread())
            _limits[0].__enter__()
        return {} if run in _over else _held.setdefault(run, {})


def once(run: str, name: Hashable, make: Callable[[], Any]) -> Any:
    """Something of a run, made when it is first asked for."""
    held = holdings(run)
    with _lock:
        if name not in held:
            held[name] = make()
        return held[name]


def forget(run: str) -> None:
    """Drop all that is held of a run, for good."""
    with _lock:
        _over.add(run)
        _held.pop(run, None)


def address() -> str:
    """The address of the worker that runs this call."""
    from distributed import get_worker

    return str(get_worker().address)
