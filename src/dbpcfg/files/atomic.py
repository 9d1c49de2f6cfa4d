"""Files written whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_TEMPORARY = re.compile(r"\.([^/\\]{1,100})\.[0-9a-f]{16}$")


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
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
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def is_temporary(name: str) -> bool:
    """Whether ``written_whole`` gives such a name to a file that it has not finished."""
    return _TEMPORARY.fullmatch(name) is not None


def final_name(path: str) -> str:
    """The path that a file gets once it is finished; any other path as it is."""
    return _TEMPORARY.sub(r"\1", path)
