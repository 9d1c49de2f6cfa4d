"""Errors about files that cannot be read or written: one wording for all of them."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.atomic import final_name

__all__ = ["opening", "reading", "writing"]


@contextlib.contextmanager
def opening(
    path: str | os.PathLike[str], error: type[DbpcfgError] = DbpcfgError, hint: str = ""
) -> Iterator[None]:
    """Turn the system's error about a file into one that begins with its name."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as fault:
        reason = getattr(fault, "strerror", None) or fault
        advice = f"; {hint}" if hint else ""
        raise error(f"{path} cannot be read: {reason}{advice}") from None


@contextlib.contextmanager
def reading(
    path: str | os.PathLike[str], error: type[DbpcfgError] = DbpcfgError, hint: str = ""
) -> Iterator[None]:
    """Like `opening`, and put the name of the file before an error about its content.

    ``hint``: what to do if the file is not there or not accessible.
    """
    with opening(path, error, hint):
        try:
            yield
        except DbpcfgError as fault:
            raise error(f"{path}: {fault}") from None


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says of a full disk or a read-only directory into an error.

    ``path``: the file or directory, named in the error unless the system names another.
    """
    try:
        yield
    except OSError as fault:
        name = final_name(str(fault.filename or path))
        raise DbpcfgError(
            f"{name} cannot be written: {fault.strerror or fault}; "
            "what was saved before is untouched"
        ) from None
