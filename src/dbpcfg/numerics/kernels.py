"""Compile inner loops with numba, and keep the compiled code on disk.

Kernels are free functions over arrays that release the interpreter's lock. They do not start
threads: each thread runs kernels on its part of the corpus (``io.machine``), so the result for a
sentence does not depend on the number of threads.

There is one file on disk for each kernel and each combination of argument types. Its name contains
a digest of the kernel's sources, of numba's version and of the processor, so it is never out of
date. Files are written under another name first, so several processes may start on an empty folder;
and they begin with a checksum. Nothing here raises an error: if files cannot be read or written,
every process compiles its kernels, with a warning on standard error.

Files contain code, so they are read only if they can have been changed only by this user, by root,
and by the owner of the package, whose code runs anyway. Files written here are readable by all
users, so an administrator can compile kernels for them.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar, cast

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
_disabled = Event()
"""Set after writing has failed: the cache is not used any more."""
_DIGEST = hashlib.sha256().digest_size


class KernelCache(_Cache):
    """The cache of one kernel, with the interface that numba expects."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.source = function.__code__.co_filename
        self.line = function.__code__.co_firstlineno

    @property
    def cache_path(self) -> str | None:
        """The folder that kernels are written to."""
        folder = folders().written
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the kernel for these types, if there is a file."""
        target_context.refresh()
        content = self._read(self._file(sig, target_context.codegen()))
        kernel = None if content is None else _rebuilt(target_context, content)
        if kernel is None:
            compiling.begin(self.name)
        return kernel

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel to a file."""
        compiling.end(self.name)
        if data.lifted or data.library.has_dynamic_globals:
            return
        file, folder = self._file(sig, data.codegen), folders().written
        if file is None:
            return
        if folder is None:
            _warn(
                "there is no folder to keep compiled kernels in, so every run compiles them again; "
                "set NUMBA_CACHE_DIR to a folder that can be written to"
            )
            return
        try:
            _write(folder / file, dumps(data._reduce()))  # type: ignore[no-untyped-call]
        except OSError as error:
            _disable(f"cannot write {folder} ({error.strerror or error})")
        except Exception as error:
            _disable(f"numba {numba.__version__} cannot store kernels ({type(error).__name__})")

    def _file(self, sig: Any, codegen: Any) -> str | None:
        if _disabled.is_set() or not os.path.exists(self.source):
            return None
        types = [str(kind) for kind in sig]
        key = repr(
            (self.name, self.line, types, codegen.magic_tuple(), source_digest(Path(self.source)))
        )
        return f"{self.name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}.nbc"

    def _read(self, file: str | None) -> bytes | None:
        if file is None:
            return None
        for folder in folders().read:
            with suppress(OSError), open(folder / file, "rb") as stored:
                if reason := distrust(os.fstat(stored.fileno()), trusted_owners()):
                    _warn(f"some compiled kernels in {folder} are not used: {reason}")
                    continue
                content = stored.read()
                if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
                    return content[_DIGEST:]
                _warn(f"{folder / file} is damaged; its kernel is compiled again")
        return None

    def enable(self) -> None:
        """Part of numba's interface; the cache is always enabled."""

    def disable(self) -> None:
        """Part of numba's interface; the cache is always enabled."""

    def flush(self) -> None:
        """Part of numba's interface; files are never out of date."""


def _rebuilt(target_context: Any, payload: bytes) -> Any:
    """The kernel in a file; None, with a warning, if numba cannot load it."""
    try:
        rebuild: Any = CompileResult._rebuild
        return rebuild(target_context, *pickle.loads(payload))
    except Exception as error:
        _warn(
            f"numba {numba.__version__} cannot load compiled kernels ({type(error).__name__}); "
            "they are compiled again"
        )
        return None


def _write(path: Path, payload: bytes) -> None:
    """Write a file atomically; other users may read it unless the umask forbids that."""
    temporary = path.with_name(f".kernel-{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb", opener=lambda name, how: os.open(name, how, 0o644)) as file:
            file.write(hashlib.sha256(payload).digest() + payload)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class Folders(NamedTuple):
    """The folders of compiled kernels."""

    read: list[Path]
    """Folders to read from, in this order."""
    written: Path | None
    """The folder to write to; None if none is writable."""


@cache
def folders() -> Folders:
    """The trusted ones of ``NUMBA_CACHE_DIR``, the package's folder and the user's cache folder.

    The search stops at the first folder that is writable.
    """
    users: Any = AppDirs("dbpcfg", appauthor=False)  # type: ignore[no-untyped-call]
    candidates = [PACKAGE / "__pycache__", Path(users.user_cache_dir)]
    chosen = getattr(config, "CACHE_DIR", "")
    if chosen:
        candidates.insert(0, Path(chosen) / "dbpcfg")
    read: list[Path] = []
    for folder in (path / "kernels" for path in candidates):
        with suppress(OSError):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        try:
            reason = distrust(folder.stat(), trusted_owners())
        except OSError:  # it does not exist
            continue
        if reason:
            _warn(f"compiled kernels in {folder} are not used: {reason}")
            continue
        read.append(folder)
        with suppress(OSError):
            tempfile.TemporaryFile(dir=folder).close()
            return Folders(read, folder)
    return Folders(read, None)


@cache
def trusted_owners() -> frozenset[int] | None:
    """Users whose compiled kernels are trusted; None where files have no owners."""
    if not hasattr(os, "geteuid"):
        return None
    return frozenset({os.geteuid(), 0, PACKAGE.stat().st_uid})


def distrust(status: os.stat_result, owners: frozenset[int] | None) -> str:
    """Why a file or folder is not trusted; empty if it is.

    ``owners``: trusted users; None for all.
    """
    if owners is None:
        return ""
    if status.st_uid not in owners:
        return "another user owns them"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users can change them (chmod go-w to use them)"
    return ""


@cache
def sources() -> str:
    """A digest of the whole package, which must be the same on all workers of a cluster."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def source_digest(path: Path) -> str:
    """A digest of a kernel's file and of all modules of the package that it imports."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    files, to_visit = set[Path](), [path]
    while to_visit:
        file = to_visit.pop()
        if file not in files:
            files.add(file)
            to_visit += _imported(file)
    for content in sorted(file.read_bytes() for file in files):
        digest.update(content)
    return digest.hexdigest()


@cache
def _imported(path: Path) -> list[Path]:
    names = re.findall(r"^from dbpcfg\.(\S+) import (\w+)?", path.read_text("utf-8"), re.M)
    modules = [module.replace(".", "/") for module, _ in names]
    inside = [f"{module}/{name}" for module, (_, name) in zip(modules, names, strict=True)]
    return [file for one in modules + inside if (file := PACKAGE / f"{one}.py").exists()]


def _disable(reason: str) -> None:
    """Stop using the cache."""
    _disabled.set()
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
    """Code of functions that only kernels call, which is never made executable.

    Each kernel optimises its own copy. This saves about a third of the compile time.
    """

    codegen = SimpleNamespace(set_env=lambda name, env: None)
    """The only method that numba calls: it sets the environment of an executable function."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        finalize: Any = self._finalize_dynamic_globals
        finalize()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as there is no pointer."""
        ensure: Any = self._ensure_finalized
        ensure()
        return 0


class PartCompiler(Compiler):
    """Numba's compiler for functions that only kernels call."""

    def _compile_core(self) -> Any:
        library: Any = PartLibrary
        state = self.state
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super()._compile_core()  # type: ignore[no-untyped-call]


class QuickCompiler(Compiler):
    """Numba's compiler with fewer passes of LLVM, as inner loops are vectors already.

    The setting is global in numba, so it is restored; numba holds a lock while it compiles.
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
def specialised(kernel: Callable[..., None], dtype: np.dtype[Any]) -> Callable[..., None]:
    """A kernel that checks the types of its arguments only in the first call.

    Numba inspects the types of all arguments in each call, which for tuples of arrays takes longer
    than a small batch.

    ``dtype``: the type of numbers; other types must be the same in all calls.
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
    """Compile a function of arrays and numbers that Python calls; IEEE 754 for division by zero.

    A kernel compiles everything it calls once more; use ``also_in_kernels`` for functions that only
    kernels call.
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
    """Make a function callable from kernels; called from Python, it is not compiled."""
    return register_jitable(
        error_model="numpy", pipeline_class=PartCompiler, no_cfunc_wrapper=True, **options
    )(function)


def part_of_kernel(function: Function) -> Function:
    """``also_in_kernels``, always inlined, so that loops around it can be vectorised."""
    return also_in_kernels(function, forceinline=True)
