"""Read minimal pairs: a grammatical sentence, and a similar ungrammatical one.

=============  ==================================================================================
JSON lines     as in BLiMP: ``sentence_good``, ``sentence_bad``, and ``UID``, the paradigm
tables         CSV or TSV with two columns, named by ``good`` and ``bad``
text           as in Zorro: alternating lines, the *un*grammatical sentence first
=============  ==================================================================================

If nothing else names the paradigm, it is the name of the file, without its ending.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from dbpcfg.corpus.encodings import guess_notes
from dbpcfg.corpus.loading import STDIN, display_name, files_to_read, load_text, text_lines
from dbpcfg.corpus.readers.table import (
    cell_count,
    check_names,
    kind_by_ending,
    no_column,
    table_rows,
)
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.log import note
from dbpcfg.io.tables import plural

GOOD, BAD, PARADIGM = "sentence_good", "sentence_bad", "UID"
"""What BLiMP calls the sentences and the paradigm."""
_ENDINGS = (".jsonl", ".json", ".txt", ".csv", ".tsv", ".tab")


class MinimalPair(NamedTuple):
    """Two sentences; the first should be more probable."""

    good: Sentence
    bad: Sentence
    paradigm: str = ""


PairsLike: TypeAlias = (
    str | os.PathLike[str] | Iterable[str | os.PathLike[str] | MinimalPair | tuple[str, str]]
)
"""Paths, minimal pairs, or tuples of a good and a bad sentence."""


def read_pairs(
    paths: Iterable[str | os.PathLike[str]],
    good: str | None = None,
    bad: str | None = None,
    paradigm: str | None = None,
    encoding: str | None = None,
    on_note: Callable[[str], None] = note,
) -> list[MinimalPair]:
    """Read files, directories and patterns.

    ``good``, ``bad``, ``paradigm``: columns of tables, or keys of JSON lines; BLiMP's by default.
    ``on_note``: called with a note if files are not UTF-8 and no encoding was given.
    """
    if (good is None) != (bad is None):
        raise DbpcfgError("give both --good and --bad, or neither (in Python good= and bad=)")
    names = (good or GOOD, bad or BAD, paradigm)
    all_pairs: list[MinimalPair] = []
    guessed: dict[str, str] = {}
    for path in _files(paths):
        kind = kind_by_ending(path)
        if kind is not None:
            pairs = _of_table(text_lines(path, encoding, guessed.__setitem__), path, names)
        else:
            text = load_text(path, encoding, guessed.__setitem__)
            if text.lstrip().startswith("{"):
                pairs = _of_json(text, path, names)
            elif good is not None:
                pairs = _of_table(text.splitlines(keepends=True), path, names)
            else:
                pairs = _of_text(text, path)
        read = list(pairs)
        if not read:
            raise DbpcfgError(f"{display_name(path)}: there is no pair in this file")
        all_pairs += read
    for guess in guess_notes(guessed):
        on_note(guess)
    return all_pairs


def pairs_for(
    pairs: PairsLike, good: str | None = None, bad: str | None = None, paradigm: str | None = None
) -> list[MinimalPair]:
    """Read paths as `read_pairs`, or check pairs."""
    if isinstance(pairs, str | os.PathLike):
        return read_pairs([pairs], good, bad, paradigm)
    items = list(pairs)
    paths = [item for item in items if isinstance(item, str | os.PathLike)]
    if paths and len(paths) == len(items):
        return read_pairs(paths, good, bad, paradigm)
    return [_pair(item, number) for number, item in enumerate(items, start=1)]


def _pair(pair: Any, number: int) -> MinimalPair:
    if isinstance(pair, MinimalPair):
        return pair
    if not isinstance(pair, tuple) or len(pair) != 2 or not all(map(_is_text, pair)):
        raise DbpcfgError(
            "minimal pairs are paths, or a list of tuples such as ('the dogs bark', 'the dogs "
            f"barks'), the grammatical sentence first; pair {number} is {pair!r:.60}"
        )
    good, bad = (Sentence(tuple(text.split()), line=number) for text in pair)
    return MinimalPair(good, bad)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _files(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files to read; from directories those with a known ending."""
    files: list[str] = []
    for path in [os.fspath(path) for path in paths]:
        if path != STDIN and os.path.isdir(path):
            files_inside = sorted(
                os.path.join(folder, name)
                for folder, _, names in os.walk(path)
                for name in names
                if _stem(name)[1] in _ENDINGS and not name.startswith(".")
            )
            if not files_inside:
                raise DbpcfgError(
                    f"{display_name(path)}: there are no files in this directory that end in "
                    f"{', '.join(_ENDINGS)}"
                )
            files += files_inside
        else:
            files.append(path)
    return files_to_read(files)


def _stem(path: str) -> tuple[str, str]:
    """The name of a file without its ending, and the ending, without ``.gz``."""
    name = os.path.basename(display_name(path))
    bare = name[:-3] if name.lower().endswith(".gz") else name
    stem, ending = os.path.splitext(bare)
    return stem, ending.lower()


def _of_text(text: str, path: str) -> Iterator[MinimalPair]:
    lines = [
        (number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()
    ]
    if len(lines) % 2:
        raise DbpcfgError(
            f"{display_name(path)}: found {plural(len(lines), 'line')}, expected pairs: an "
            "ungrammatical sentence, and below it the grammatical one; for a table give --good and "
            "--bad"
        )
    paradigm = _stem(path)[0]
    for (number, bad), (next_number, good) in zip(lines[::2], lines[1::2]):
        yield MinimalPair(
            _sentence(good, path, next_number), _sentence(bad, path, number), paradigm
        )


def _of_json(text: str, path: str, names: tuple[str, str, str | None]) -> Iterator[MinimalPair]:
    good, bad, paradigm = names
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        location = f"{display_name(path)}:{number}"
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            item = None
        if not isinstance(item, dict):
            raise DbpcfgError(
                f"{location}: found {line[:30]!r}, expected a JSON object in each line"
            )
        for key in (good, bad, *([paradigm] if paradigm else [])):
            if not _is_text(item.get(key)):
                keys = ", ".join(f"{name!r:.40}" for name in list(item)[:20])
                raise DbpcfgError(f"{location}: no text under {key!r}; its keys are {keys}")
        yield MinimalPair(
            _sentence(item[good], path, number),
            _sentence(item[bad], path, number),
            str(item.get(paradigm or PARADIGM, _stem(path)[0])),
        )


def _of_table(
    lines: Iterable[str], path: str, names: tuple[str, str, str | None]
) -> Iterator[MinimalPair]:
    rows = table_rows(lines, kind_by_ending(path))
    source, header = display_name(path), next(rows).cells
    check_names(header, source)
    good, bad, paradigm = names
    paradigm = paradigm or (PARADIGM if PARADIGM in header else None)
    columns = {"--good": good, "--bad": bad, **({"--paradigm": paradigm} if paradigm else {})}
    for option, name in columns.items():
        if name not in header:
            raise no_column(name, header, source, option)
    for line, _, cells, error in rows:
        if wrong := error or cell_count(cells, header):
            raise DbpcfgError(f"{source}:{line}: {wrong}")
        row = dict(zip(header, cells))
        for name in columns.values():
            if not row[name].strip():
                raise DbpcfgError(f"{source}:{line}: the cell of {name!r} is empty")
        yield MinimalPair(
            _sentence(row[good], path, line),
            _sentence(row[bad], path, line),
            row[paradigm].strip() if paradigm else _stem(path)[0],
        )


def _sentence(text: str, path: str, line: int) -> Sentence:
    return Sentence(tuple(text.split()), source=display_name(path), line=line)
