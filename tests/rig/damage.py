"""Damage to files: of their bytes, their lines, their values, or the arrays of an archive."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 1.5, -0.0, 10**9, 2**63, 10**30, 1e308, 5e-324),
    *(float("nan"), float("inf"), -float("inf"), "", "text", "\x1b[2J", "\ud800", "0" * 500),
    *([], [[]], {}, {"a": 1}, ["a", "b"], [1, 2], [-3.0, float("nan")]),
)
"""Values in the place of others."""

TOML = ("true", "0", "-1", "1.5", "nan", "-inf", '"text"', "''", "[]", "{}", "[1, 'a']", "2.0e308")
TOML += ("1979-05-27", "9223372036854775808", '"\\u001b[2J"', "[[[[]]]]", "{a = 1}", "1e9", "")

JUNK = (*"\0\ufeff\u2028()\t\r*@%#\"'\\{]:é\U0010ffff", "\x1b[31m", "))", "((", "\n\n")
JUNK += ("nan", "-1", "1e999", "日本", "a" * 3000)
"""Pieces of text where they do not belong."""


def damaged_bytes(data: bytes, chance: Random) -> bytes:
    """Cut off, flipped, zeroed, moved, repeated or inserted bytes."""
    a, b = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    flipped = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return chance.choice(
        (
            data[:a],
            bytes(flipped),
            data[:a] + bytes(b - a) + data[b:],
            data[:a] + data[b:],
            data[:b] + data[a:],
            data[:a] + chance.randbytes(chance.randrange(1, 20)) + data[a:],
            data[b:] + data[a:b] + data[:a],
        )
    )


def damaged_text(data: bytes, chance: Random) -> bytes:
    """Text with lines dropped, repeated or exchanged, or with pieces that do not belong there."""
    text = data.decode()
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        lines, kind = text.splitlines(keepends=True) or [""], chance.randrange(5)
        a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
        if kind == 0:
            del lines[a]
        elif kind == 1:
            lines.insert(b, lines[a])
        elif kind == 2:
            lines[a], lines[b] = lines[b], lines[a]
        else:
            at = chance.randrange(len(lines[a]) + 1)
            junk = chance.choice(JUNK) if kind == 3 else ""
            rest = chance.choice((0, 0, 1, 3))
            lines[a] = lines[a][:at] + junk + lines[a][at + rest :]
        text = "".join(lines)
    return text.encode()


def damaged_json(data: bytes, chance: Random) -> bytes:
    """JSON with another value somewhere, or without one."""
    content = json.loads(data)
    holder, key = chance.choice(list(_slots(content)))
    if chance.random() < 0.15:
        del holder[key]
    else:
        holder[key] = chance.choice(ODD)
    return json.dumps(content).encode()


def _slots(content: Any) -> Iterator[tuple[Any, Any]]:
    """Each object and list in JSON, with each of its keys."""
    for key in content if isinstance(content, dict) else range(len(content)):
        yield content, key
        if isinstance(content[key], dict | list):
            yield from _slots(content[key])


def damaged_archive(data: bytes, chance: Random) -> bytes:
    """A whole archive with another array or header: nothing is amiss but what it says."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name, other = (chance.choice(sorted(entries)) for _ in range(2))
    kind = chance.randrange(6)
    if kind == 0:
        entries[name], entries[other] = entries[other], entries[name]
    elif kind == 1:
        entries.pop(name)
    elif kind == 2:
        entries[name] = damaged_bytes(entries[name], chance)
    elif kind == 3:
        header = damaged_json(np.load(io.BytesIO(entries["header.npy"])).tobytes(), chance)
        entries["header.npy"] = _npy(np.frombuffer(header, dtype=np.uint8))
    else:
        entries[name] = _npy(_damaged_array(np.load(io.BytesIO(entries[name])), chance))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


ODD_NUMBERS = {
    "f": (-1, np.nan, np.inf, 1e308, 5e-324, 1e-30),
    "i": (-1, 2**31 - 1, -(2**31)),
}


def _damaged_array(array: Any, chance: Random) -> Any:
    kind = chance.randrange(8)
    if kind == 0:
        return array[: len(array) // 2]
    if kind == 1:
        return np.concatenate([array, array])
    if kind == 2:
        with np.errstate(invalid="ignore"):  # not a number as a whole number
            return array.astype(chance.choice([np.float32, np.int64, np.uint8, np.complex128]))
    if kind == 3:
        return array[None] if chance.random() < 0.5 else array.ravel()
    if kind == 4:
        return array[::-1].copy()
    changed = array.copy()
    if changed.size:
        at = chance.randrange(changed.size)
        changed.flat[at] = chance.choice((0, 1, 2, 100, *ODD_NUMBERS.get(changed.dtype.kind, ())))
        if kind == 5:
            changed[:] = changed.flat[at]
    return changed


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


NUMBERS = ("0", "-1", "nan", "inf", "1e999", "", "x", "2", "1e-320")


def _other_value(data: bytes, chance: Random, place: bytes, values: tuple[str, ...]) -> bytes:
    """One of the places that a pattern finds, with another value."""
    at = chance.choice(list(re.finditer(place, data)))
    return data[: at.start()] + chance.choice(values).encode() + data[at.end() :]


def damaged(path: Path, chance: Random) -> bytes:
    """The content of a file, damaged in a way that suits it, or its bytes."""
    data = path.read_bytes()
    if chance.random() < 0.25:
        return damaged_bytes(data, chance)
    if path.suffix == ".npz":
        return damaged_archive(data, chance)
    if path.suffix == ".toml" and chance.random() < 0.8:
        return _other_value(data, chance, rb"(?m)(?<= = ).*$", TOML)
    if path.suffix == ".json" and chance.random() < 0.7:
        return damaged_json(data, chance)
    if path.suffix in (".tsv", ".pcfg") and chance.random() < 0.5:
        return _other_value(data, chance, rb"[0-9][-0-9.e]*", NUMBERS)
    return damaged_text(data, chance)
