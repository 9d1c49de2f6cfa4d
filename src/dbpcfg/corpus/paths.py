"""The files to read: a list, from paths to files, folders, patterns and ``-``.

A folder stands for the files in it, and in the folders below, whose extension is known, sorted by
path; hidden ones are left out.  If they are of several formats, one has to be chosen.  A pattern
such as ``wsj_00*.mrg`` is one that names no file as it stands, with ``*``, ``?`` or ``[`` in it.
Nothing may be read twice.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator

from dbpcfg.corpus.formats import Format, by_extension
from dbpcfg.corpus.loading import STDIN, name_of
from dbpcfg.errors import DbpcfgError
from dbpcfg.files.faults import opening

__all__ = ["expand"]


def expand(paths: Iterable[str | os.PathLike[str]], format: Format | None = None) -> list[str]:
    """List the files to read."""
    files: dict[str, str] = {}  # the file, and what it is on disk
    for path in paths:
        for file in _files(os.fspath(path), format):
            place = STDIN if file == STDIN else os.path.realpath(file)
            if place in files:
                again = "" if files[place] == file else f" (as {name_of(files[place])} too)"
                raise DbpcfgError(f"{name_of(file)}: given twice{again}; give each file once")
            files[place] = file
    if not files:
        raise DbpcfgError("there is nothing to read; give a file, a folder or - for standard input")
    return list(files.values())


def _files(path: str, format: Format | None) -> list[str]:
    name = name_of(path)
    if not path or "\0" in path:
        raise DbpcfgError(f"{name!r} is not a path; give a file, a folder or -")
    with opening(name):
        if path == STDIN:
            return [path]
        if os.path.isdir(path):
            return _in_folder(path, format)
        if os.path.lexists(path) or not any(sign in path for sign in "*?["):
            return [path]  # what is not there is found out when it is opened
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise DbpcfgError(f"{name}: nothing matches this pattern; is the path right?")
        return [file for match in found for file in _files(match, format)]


def _in_folder(folder: str, format: Format | None) -> list[str]:
    found = [(file, by_extension(file)) for file in sorted(_walk(folder))]
    found = [(file, known) for file, known in found if known and format in (None, *known)]
    counts = Counter(format or known[0] for _, known in found)
    if not counts:
        wanted = f" {format}" if format else ""
        raise DbpcfgError(
            f"{name_of(folder)}: there are no{wanted} files in this folder, to go by their "
            f"extensions; name the files instead, as in {os.path.join(name_of(folder), '*')}"
        )
    if len(counts) > 1:
        listed = ", ".join(f"{count} {known}" for known, count in counts.most_common())
        raise DbpcfgError(
            f"{name_of(folder)}: found files of several formats in this folder ({listed}); "
            "choose one with format= (--input-format), or name the files"
        )
    return [file for file, _ in found]


def _walk(folder: str) -> Iterator[str]:
    seen = {os.path.realpath(folder)}  # links may lead round in a circle
    for place, folders, files in os.walk(folder, onerror=_raise, followlinks=True):
        for name in list(folders):
            target = os.path.realpath(os.path.join(place, name))
            if name.startswith(".") or target in seen:
                folders.remove(name)
            seen.add(target)
        yield from (os.path.join(place, name) for name in files if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error
