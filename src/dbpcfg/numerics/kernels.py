"""How the package compiles its inner loops and runs them on several threads.

Kernels are free functions over plain arrays, compiled once and cached on disk, that release the
interpreter's lock. They never start threads of their own: threads take pieces of the corpus
(``io.machine``), so a sentence's result cannot depend on how many threads there are.

Compiled kernels on disk: one file for each kernel and each type of arguments.

A file's name contains a digest of the kernel's sources, of numba's version and of the processor, so
a file is never out of date. Files are written under another name first, so several processes may
start on an empty folder at once; and they begin with a digest of the rest, so damage is noticed.
Nothing here raises an error: if files cannot be read or written, kernels are compiled in every
process, with a warning on standard error.

Files contain code, so a file is only read if nobody else could have changed it than this user,
root, and the owner of the package, whose code runs anyway. What is written here can be read by all
users: an administrator can compile for them.
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
"""Set when writing has failed: no cache is used from then on."""
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
        folder = folders().written
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for these types, if it is in a file."""
        target_context.refresh()
        content = self._read(self._file(sig, target_context.codegen()))
        kernel = None if content is None else _rebuilt(target_context, content)
        if kernel is None:
            compiling.begin(self.name)
        return kernel

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a kernel that was compiled for these types."""
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
        """Numba asks for this; it is always in use."""

    def disable(self) -> None:
        """Numba asks for this; it is always in use."""

    def flush(self) -> None:
        """Numba asks for this; files are never out of date."""


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
    """Write a file, whole or not at all; others may read it unless the umask forbids it."""
    temporary = path.with_name(f".kernel-{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb", opener=lambda name, how: os.open(name, how, 0o644)) as file:
            file.write(hashlib.sha256(payload).digest() + payload)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class Folders(NamedTuple):
    """Where compiled kernels are."""

    read: list[Path]
    """Those that kernels are read from, in this order."""
    written: Path | None
    """The one that they are written to, the last of them; None if none is writable."""


@cache
def folders() -> Folders:
    """``NUMBA_CACHE_DIR``, the package's own folder, the user's cache.

    Up to the first that can be written, and only those that are trusted.
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
    """Users whose compiled kernels are run; None where files have no owners."""
    if not hasattr(os, "geteuid"):
        return None
    return frozenset({os.geteuid(), 0, PACKAGE.stat().st_uid})


def distrust(status: os.stat_result, owners: frozenset[int] | None) -> str:
    """Why a file or folder is not used; empty if it is.

    ``owners``: users that are trusted; None for all.
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
    """A digest of the whole package: workers of a cluster must have the same."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def source_digest(path: Path) -> str:
    """A digest of a kernel's file and of all modules of the package that it imports.

    It does not depend on where they are installed.
    """
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
    """Use no cache from now on."""
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
    """Code that only kernels call: each optimises its own copy, so this is not made executable.

    This saves about a third of the compile time.
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
    """Numba's compiler with fewer passes of LLVM: inner loops are vectors already.

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
    """A kernel for many calls with arguments of the same types.

    Numba inspects the types of all arguments in each call, which for tuples of arrays takes longer
    than a small batch. Here only the first call does so, and later ones check nothing.

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

    For functions that Python calls. Each needs a wrapper, and compiles all that it calls again;
    use ``also_in_kernels`` for functions that only kernels call.
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
    """Let kernels call a function; called from Python, it is not compiled."""
    return register_jitable(
        error_model="numpy", pipeline_class=PartCompiler, no_cfunc_wrapper=True, **options
    )(function)


def part_of_kernel(function: Function) -> Function:
    """``also_in_kernels``, always inlined, so that loops around it can use vectors."""
    return also_in_kernels(function, forceinline=True)
