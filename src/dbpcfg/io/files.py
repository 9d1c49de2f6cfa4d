"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import secrets
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from dbpcfg.errors import DbpcfgError, MissingFileError
from dbpcfg.version import __version__

_TEMPORARY = re.compile(r"\.([^/\\]{1,100})\.[0-9a-f]{16}$")


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name only once it is complete and on disk.

    Until then, and after an error, a file that had the name before is untouched.

    ``path``: the file to write; a link keeps pointing where it points.
    """
    path = path.resolve()  # a link keeps pointing where it points
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_directory(path.parent)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _sync_directory(path: Path) -> None:
    """Put the names in a directory on disk, where the system can do so."""
    with suppress(OSError):  # not on Windows, nor on all file systems
        directory = os.open(path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def is_temporary(name: str) -> bool:
    """Whether ``atomic_write`` gives such a name to a file that it has not finished."""
    return _TEMPORARY.fullmatch(name) is not None


def final_name(path: str) -> str:
    """The path that a file gets once it is finished; any other path as it is."""
    return _TEMPORARY.sub(r"\1", path)


@contextlib.contextmanager
def os_errors(
    path: str | os.PathLike[str], error: type[DbpcfgError] = DbpcfgError, hint: str = ""
) -> Iterator[None]:
    """Turn an error of the operating system about a file into one that begins with its name."""
    try:
        yield
    except DbpcfgError:
        raise
    except (OSError, EOFError, zlib.error) as fault:
        reason = getattr(fault, "strerror", None) or fault
        advice = f"; {hint}" if hint else ""
        kind = MissingFileError if isinstance(fault, FileNotFoundError) else error
        raise kind(f"{path} cannot be read: {reason}{advice}") from None


@contextlib.contextmanager
def read_errors(
    path: str | os.PathLike[str], error: type[DbpcfgError] = DbpcfgError, hint: str = ""
) -> Iterator[None]:
    """Like `os_errors`, and also put the name of the file before an error about its content.

    ``hint``: what to do if the file is not there or not accessible.
    """
    with os_errors(path, error, hint):
        try:
            yield
        except DbpcfgError as fault:
            kind = MissingFileError if isinstance(fault, MissingFileError) else error
            raise kind(f"{path}: {fault}") from None


@contextlib.contextmanager
def write_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the operating system while writing, as on a full disk, into one of ours.

    ``path``: the file or directory, named in the error unless the system names another.
    """
    try:
        yield
    except DbpcfgError:
        raise
    except OSError as fault:
        name = final_name(str(fault.filename or path))
        raise DbpcfgError(
            f"{name} cannot be written: {fault.strerror or fault}; "
            "what was saved before is untouched"
        ) from None


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    with os_errors(path):
        data = path.read_bytes()
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise DbpcfgError(f"{path} is not TOML: {error}") from None


VERSION = 1


def write_json(path: Path, kind: str, content: Mapping[str, Any]) -> None:
    """Write a JSON file with a header, whole."""
    head = {"format": kind, "version": VERSION, "dbpcfg": __version__}
    with atomic_write(path) as file:
        text = json.dumps({**head, **content}, indent=2, ensure_ascii=False)
        file.write(f"{text}\n".encode("utf-8", "surrogatepass"))


def read_json(path: Path, kind: str) -> dict[str, Any]:
    """Read a JSON file with a header.

    ``kind``: the name of the format that it must have.
    """
    try:
        with read_errors(path):
            content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, DbpcfgError):
            raise
        raise DbpcfgError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != kind:
        raise DbpcfgError(f"{path} is not a {kind}")
    if content.get("version") != VERSION:
        raise DbpcfgError(
            f"{path} is of version {content.get('version')!r}; this program reads version {VERSION}"
        )
    return content


def finite(value: float) -> float | None:
    """The number, or None for one that JSON cannot hold."""
    return value if math.isfinite(value) else None
