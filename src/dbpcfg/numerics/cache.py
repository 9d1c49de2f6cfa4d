"""Compiled kernels on disk: one file for each kernel and each type of arguments.

A file's name has a digest of all sources that kernels are made of, of numba's version and of the
processor, so a file is never out of date, wherever the change was. Files are written under another
name first, so several processes may start on an empty folder at once; and they begin with a digest
of the rest, so a damaged one is noticed. Nothing here raises an error: if files cannot be read or
written, kernels are compiled in every process, with one line on standard error.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

import numba
from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from dbpcfg.numerics import compiling

PACKAGE = Path(__file__).resolve().parent.parent
WITH_KERNELS = ("corpus", "grammar", "induction", "numerics", "parsing", "systems")
"""The parts of the package that kernels are made of."""
_given_up = Event()
"""Set when reading or writing has failed: no cache is used from then on."""
_DIGEST = hashlib.sha256().digest_size


class KernelCache(_Cache):
    """The cache of one kernel, as numba asks for it."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.source = function.__code__.co_filename
        self.line = function.__code__.co_firstlineno

    @property
    def cache_path(self) -> str | None:
        """The folder."""
        found = folder()
        return None if found is None else str(found)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for these types, if a file has it."""
        target_context.refresh()
        found = self._read(self._path(sig, target_context.codegen()))
        loaded = None if found is None else _rebuilt(target_context, found)
        if loaded is None:
            compiling.begin(self.name)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was compiled for these types."""
        compiling.end(self.name)
        if data.lifted or data.library.has_dynamic_globals:
            return
        path = self._path(sig, data.codegen)
        if path is None:
            return
        try:
            _write(path, dumps(data._reduce()))  # type: ignore[no-untyped-call]
        except OSError as error:
            _give_up(f"cannot write {path.parent} ({error.strerror or error})")

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        place = None if _given_up.is_set() else folder()
        if place is None or not os.path.exists(self.source):
            return None
        types = [str(kind) for kind in sig]
        key = repr((self.name, self.line, types, codegen.magic_tuple(), _file(self.source)))
        return place / f"{self.name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}.nbc"

    def _read(self, path: Path | None) -> bytes | None:
        if path is None:
            return None
        try:
            stored = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _give_up(f"cannot read {path} ({error.strerror or error})")
            return None
        if hashlib.sha256(stored[_DIGEST:]).digest() != stored[:_DIGEST]:
            _warn(f"{path} is damaged; its kernel is compiled again")
            return None
        return stored[_DIGEST:]

    def enable(self) -> None:
        """Numba asks for this; it is always in use."""

    def disable(self) -> None:
        """Numba asks for this; it is always in use."""

    def flush(self) -> None:
        """Numba asks for this; files are never out of date."""


def _rebuilt(target_context: Any, payload: bytes) -> Any:
    """The kernel in a file; None if it is of another numba or Python after all."""
    rebuild: Any = CompileResult._rebuild
    try:
        return rebuild(target_context, *pickle.loads(payload))
    except Exception:
        return None


def _write(path: Path, payload: bytes) -> None:
    """Put a whole file in its place, or nothing."""
    handle, name = tempfile.mkstemp(prefix=".kernel-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(payload).digest() + payload)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@cache
def folder() -> Path | None:
    """Where kernels are kept: ``NUMBA_CACHE_DIR``, the package's own folder, or the user's cache.

    The first of them that can be written; None, and a warning, if there is none.
    """
    users: Any = AppDirs("dbpcfg", appauthor=False)  # type: ignore[no-untyped-call]
    places = [PACKAGE / "__pycache__", Path(users.user_cache_dir)]
    chosen = getattr(config, "CACHE_DIR", "")
    if chosen:
        places.insert(0, Path(chosen) / "dbpcfg")
    for place in places:
        found = place / f"kernels-{sources()}"
        try:
            found.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=found).close()
        except OSError:
            continue
        return found
    _warn(
        "no folder to keep compiled kernels in, so every run compiles them again; "
        "name one that can be written in NUMBA_CACHE_DIR"
    )
    return None


@cache
def sources() -> str:
    """A digest of all modules that kernels are made of, and of the versions that compile them."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE)
        if inside.parts[0] in WITH_KERNELS:
            digest.update(f"{inside.as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _file(path: str) -> str:
    """A digest of the file that a kernel is in: it need not be one of the package."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _give_up(reason: str) -> None:
    """Use no cache from now on."""
    _given_up.set()
    _warn(f"{reason}; compiled kernels are not kept")


@cache
def _warn(message: str) -> None:
    print(f"dbpcfg: {message}", file=sys.stderr, flush=True)
