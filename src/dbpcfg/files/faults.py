"""Messages for files that cannot be read, written or believed: one wording for all of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.atomic import final_name

__all__ = ["reading", "writing"]


@contextlib.contextmanager
def reading(
    path: str | os.PathLike[str], error: type[DbpcfgError] = DbpcfgError, hint: str = ""
) -> Iterator[None]:
    """Turn whatever goes wrong while a file is read into an error that begins with its name.

    Parameters
    ----------
    path
        The file.
    error
        The class of the error.
    hint
        What to do if the file is not there or not accessible.

    Raises
    ------
    DbpcfgError
        For an `OSError`, or for a `DbpcfgError` about the content.
    """
    try:
        yield
    except OSError as fault:
        advice = f"; {hint}" if hint else ""
        raise error(f"{path} cannot be read: {fault.strerror or fault}{advice}") from None
    except DbpcfgError as fault:
        raise error(f"{path}: {fault}") from None


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says of a full disk or a read-only directory into an error.

    Parameters
    ----------
    path
        The file or directory, named in the error unless the system names another.

    Raises
    ------
    DbpcfgError
        For an `OSError`.
    """
    try:
        yield
    except OSError as fault:
        name = final_name(str(fault.filename or path))
        raise DbpcfgError(
            f"{name} cannot be written: {fault.strerror or fault}; "
            "what was saved before is untouched"
        ) from None
