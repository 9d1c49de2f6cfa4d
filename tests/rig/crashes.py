"""What a directory is like before, during and after each call that changes it.

A process that ends at such a moment leaves the directory as it is then. So one run is enough: the
states are recorded as it goes, and each can be put elsewhere and resumed.
"""

import builtins
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

State = dict[str, bytes | None]
"""The content of each file, and None for each folder, by its path in the directory."""

CALLS = ("replace", "rename", "mkdir", "rmdir", "unlink", "remove", "link", "symlink", "truncate")
"""Calls that change directories; files are changed by ``open`` and by what it returns."""

TEMPORARY = re.compile(r"(^|/)\.[^/]*\.[0-9a-f]{16}$")
"""Names of files that are written before they replace others."""

LONG = 500
"""Bytes of a write that is cut off in the middle too."""


def state_of(directory: Path) -> State:
    """What is in a directory now; empty if it does not exist."""
    found = sorted(directory.rglob("*"))
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in found
    }


def put(state: State, directory: Path) -> None:
    """Make a directory of a state."""
    directory.mkdir()
    for name, content in state.items():
        if content is None:
            (directory / name).mkdir()
        else:
            (directory / name).write_bytes(content)


class Recorder:
    """Records the states of a directory; to be made with pytest's ``monkeypatch``."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.moments: list[str] = []
        """What was about to happen, happening or done in each recorded state."""
        self.states: list[State] = []
        self.synced: set[int] = set()  # files whose content is on disk, by inode
        self._open, self._fsync = builtins.open, os.fsync
        for module in (builtins, io):
            patch.setattr(module, "open", self._opened)
        patch.setattr(os, "fsync", self._sync)
        for name in CALLS:
            patch.setattr(os, name, self._watched(name, getattr(os, name)))

    @property
    def telling(self) -> dict[str, State]:
        """States to resume from, by their moments.

        Most differ only in what has been written of a temporary file, which nothing reads. Of such
        states there are three: the first, the middle and the last one.
        """
        alike: dict[tuple, dict[tuple, tuple[str, State]]] = {}
        for number, (moment, state) in enumerate(zip(self.moments, self.states, strict=True)):
            lasting = tuple(item for item in state.items() if not TEMPORARY.search(item[0]))
            same = alike.setdefault(lasting, {})
            same.setdefault(tuple(state.items()), (f"{number}: {moment}", state))
        return {
            moment: state
            for same in map(list, map(dict.values, alike.values()))
            for moment, state in (same[0], same[len(same) // 2], same[-1])
        }

    def record(self, moment: str) -> None:
        state = state_of(self.directory)
        if moment.startswith("before") and self.states:
            # Otherwise something changes the directory that is not watched.
            last = [s for s, m in zip(self.states, self.moments) if not m.startswith("lost")][-1]
            assert state == last, f"changed unseen {moment}"
        self.moments.append(moment)
        self.states.append(state)

    def inside(self, path: object) -> bool:
        named = isinstance(path, str | os.PathLike)
        return named and Path(path).absolute().is_relative_to(self.directory)

    @contextmanager
    def around(self, what: str) -> Iterator[None]:
        self.record(f"before {what}")
        yield
        self.record(f"after {what}")

    def _opened(self, file, mode="r", *rest, **options):
        if not self.inside(file) or not set(mode) & set("wax+"):
            return self._open(file, mode, *rest, **options)
        with self.around(f"open {Path(file).name}"):
            raw = _Raw(file, mode.replace("b", "").replace("t", ""))
            raw.recorder = self
        buffered = io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding="utf-8")

    def _watched(self, name, real):
        def call(path, *rest, **options):
            if not any(map(self.inside, (path, *rest))):
                return real(path, *rest, **options)
            with self.around(f"{name} {Path(path).name}"):
                result = real(path, *rest, **options)
            if name in ("replace", "rename"):
                self._lose(Path(rest[0]))
            return result

        return call

    def _sync(self, number):
        self._fsync(number)
        self.synced.add(os.fstat(number).st_ino)

    def _lose(self, path: Path) -> None:
        """The state after a power cut, if a file has its name before its content is on disk."""
        if os.stat(path).st_ino not in self.synced:
            name = str(path.absolute().relative_to(self.directory))
            self.moments.append(f"lost {path.name}")
            self.states.append({**state_of(self.directory), name: b""})


class _Raw(io.FileIO):
    """A file that can be cut off in the middle of a write."""

    recorder: Recorder

    def write(self, data) -> int:
        view = memoryview(data).cast("B")
        self.recorder.synced.discard(os.fstat(self.fileno()).st_ino)
        with self.recorder.around(f"write {len(view)} bytes to {Path(self.name).name}"):
            if len(view) < LONG:
                return super().write(view)
            done = super().write(view[: len(view) // 2])
            self.recorder.record(f"amid write to {Path(self.name).name}")
            return done + super().write(view[done:])

    def truncate(self, size=None) -> int:
        with self.recorder.around(f"truncate {Path(self.name).name}"):
            return super().truncate(size)
