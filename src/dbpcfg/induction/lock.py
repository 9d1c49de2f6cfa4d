"""One process at a time in a run's directory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import is_temporary, writing


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from running the same run at the same time."""
    try:
        import fcntl
    except ImportError:  # not on this system: do without
        yield
        return
    with contextlib.ExitStack() as stack:
        with writing(path):
            file = stack.enter_context(open(path / ".lock", "a"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DbpcfgError(f"{path} is being run by another process") from None
        except OSError:  # not on this file system: do without
            yield
            return
        with writing(path):  # what processes have left that were killed while they wrote
            for left in [*path.glob(".*"), *path.glob("chains/*/.*")]:
                if is_temporary(left.name):
                    left.unlink()
        yield
