"""How the package compiles its inner loops and runs them on several threads.

Kernels are free functions over plain arrays, compiled once and cached on disk, that release the
interpreter's lock. They never start threads of their own: threads take pieces of the corpus
(``io.machine``), so a sentence's result cannot depend on how many threads there are.

Compiled kernels on disk: one file for each kernel and each type of arguments.

A file's name has a digest of the sources that the kernel is made of, of numba's version and of the
processor, so a file is never out of date, wherever the change was. Files are written under another
name first, so several processes may start on an empty folder at once; and they begin with a digest
of the rest, so a damaged one is noticed. Nothing here raises an error: if files cannot be read or
written, kernels are compiled in every process, with one line on standard error.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.serialize import dumps
from numba.extending import register_jitable
from numba.misc.appdirs import AppDirs
from numpy.typing import NDArray

from dbpcfg.numerics import compiling

PACKAGE = Path(__file__).resolve().parent.parent
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
        key = repr((self.name, self.line, types, codegen.magic_tuple(), made_of(Path(self.source))))
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
        found = place / "kernels"
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
    """A digest of the whole package: workers of a cluster must have the same."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def made_of(path: Path) -> str:
    """A digest of the file that a kernel is in and of all modules of the package it imports."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    found, waiting = set[Path](), [path]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += _imported(one)
    for one in sorted(found):
        digest.update(one.read_bytes())
    return digest.hexdigest()


@cache
def _imported(path: Path) -> list[Path]:
    names = re.findall(r"^from dbpcfg\.(\S+) import (\w+)?", path.read_text("utf-8"), re.M)
    modules = [module.replace(".", "/") for module, _ in names]
    inside = [f"{module}/{name}" for module, (_, name) in zip(modules, names, strict=True)]
    return [file for one in modules + inside if (file := PACKAGE / f"{one}.py").exists()]


def _give_up(reason: str) -> None:
    """Use no cache from now on."""
    _given_up.set()
    _warn(f"{reason}; compiled kernels are not kept")


@cache
def _warn(message: str) -> None:
    print(f"dbpcfg: {message}", file=sys.stderr, flush=True)


Function = TypeVar("Function", bound=Callable[..., object])

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]


class PartLibrary(JITCodeLibrary):
    """Code that only kernels call: each optimises its own copy, so this is not made executable.

    Saves about a third of the time of compiling.
    """

    codegen = SimpleNamespace(set_env=lambda name, env: None)
    """Numba gives an executable function its environment, and asks for nothing else here."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        finalize: Any = self._finalize_dynamic_globals
        finalize()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is none."""
        ensure: Any = self._ensure_finalized
        ensure()
        return 0


class PartCompiler(Compiler):
    """Numba's compiler for what only kernels call."""

    def _compile_core(self) -> Any:
        library: Any = PartLibrary
        state = self.state
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super()._compile_core()  # type: ignore[no-untyped-call]


class QuickCompiler(Compiler):
    """Numba's compiler with fewer passes of LLVM: what has to be fast is in vectors already.

    The setting is numba's own and for the whole process, so it is put back; one lock is held while
    anything is compiled.
    """

    def _compile_core(self) -> Any:
        settings: Any = config
        chosen = settings.OPT
        settings.OPT = type(chosen)(min(chosen, 1))
        try:
            return super()._compile_core()  # type: ignore[no-untyped-call]
        finally:
            settings.OPT = chosen


@cache
def repeated(kernel: Callable[..., None], numbers: np.dtype[Any]) -> Callable[..., None]:
    """A kernel for one call after another with arguments of the same types.

    Numba looks at the types of all arguments in each call, which for tuples of arrays takes longer
    than a small batch; here it is done in the first one, and nothing is checked later.

    ``numbers``: the only thing in which its arguments may differ in type from call to call.
    """
    compiled: Callable[..., None] | None = None

    def run(*arguments: object) -> None:
        nonlocal compiled
        if compiled is None:
            of_any_type: Any = kernel
            compiled = of_any_type.compile(tuple(map(numba.typeof, arguments)))
        compiled(*arguments)

    return run


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers; division by zero follows IEEE 754.

    For functions that Python calls. Each costs a wrapper, and compiles again all that it calls:
    what only kernels call is ``also_in_kernels``.
    """
    # no_cfunc_wrapper: nothing calls kernels from C
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**options, pipeline_class=QuickCompiler)(function)
    compiled._cache = KernelCache(function)
    return cast(Function, compiled)


def loop_kernel(function: Function) -> Function:
    """``kernel`` with all passes of LLVM, which turn plain loops over arrays into vectors."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**options)(function)
    compiled._cache = KernelCache(function)
    return cast(Function, compiled)


def also_in_kernels(function: Function, **options: bool) -> Function:
    """Let kernels call a function; from Python it is the function itself, not compiled."""
    return register_jitable(
        error_model="numpy", pipeline_class=PartCompiler, no_cfunc_wrapper=True, **options
    )(function)


def part_of_kernel(function: Function) -> Function:
    """``also_in_kernels``, put in the place of every call, so that loops can use vectors."""
    return also_in_kernels(function, forceinline=True)
