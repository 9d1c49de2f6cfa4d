"""Arrays and a JSON header in one ``.npz`` file that NumPy reads, and that is data only.

Entries are uncompressed: ``header`` is UTF-8 JSON as bytes, with the name and version of what the
file holds; the others are arrays. A file may come from anywhere, so each entry is checked before it
is used: nothing is unpickled, nothing is inflated, no size is taken from the file that the file
does not have.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import atomic_write

MAX_EMPTY = 2**20
"""The greatest extent of an array that has no numbers."""


class ArchiveError(DbpcfgError):
    """A file that does not hold what it should."""


def write_archive(
    path: Path, kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write an archive, whole; the same content always gives the same bytes."""
    text = json.dumps({"format": kind, "version": version, **header}, ensure_ascii=False)
    with atomic_write(path) as file:
        np.savez(file, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)


def read_archive(
    path: Path, kind: str, layouts: Mapping[int, Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read an archive, of a format that may have several versions, each with arrays of its own.

    ``kind``: the name of the format that it must have.
    ``layouts``: for each version the types of its arrays by name: exactly these must be there.
    """
    data = path.read_bytes()  # errors from here on are about the content
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            version = _version(archive, kind, layouts)
            dtypes = {"header": np.uint8, **layouts[version]}
            arrays = _arrays(archive, len(data), kind, dtypes)
    except ArchiveError:
        raise
    except Exception as error:  # zipfile has many errors for a damaged archive
        raise ArchiveError(f"not a {kind} file, or a damaged one ({error!s:.200})") from None
    return _header(arrays.pop("header").tobytes(), kind, version), arrays


def _version(archive: zipfile.ZipFile, kind: str, layouts: Mapping[int, Mapping[str, Any]]) -> int:
    """The version whose entries an archive has."""
    present = sorted(info.filename for info in archive.infolist())
    entries = {
        version: sorted(f"{name}.npy" for name in ("header", *dtypes))
        for version, dtypes in layouts.items()
    }
    for version, names in entries.items():
        if present == names:
            return version
    expected = ", or ".join(", ".join(names) for names in entries.values())
    raise ArchiveError(f"not a {kind} file: expected the entries {expected}")


def _arrays(
    archive: zipfile.ZipFile, size: int, kind: str, dtypes: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    arrays = {}
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED:
            raise ArchiveError(f"{info.filename} is compressed; {kind} files are not")
        if info.file_size > size:
            raise ArchiveError(
                f"{info.filename} claims {info.file_size:,} bytes, more than there are"
            )
        name = info.filename.removesuffix(".npy")
        with archive.open(info) as file:
            arrays[name] = _array(file, info, np.dtype(dtypes[name]))
    return arrays


def _array(file: IO[bytes], info: zipfile.ZipInfo, dtype: np.dtype[Any]) -> NDArray[Any]:
    """One array, once its own header agrees with the size that is really there."""
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("an unknown version of the npy format")
        shape, fortran, actual = npy.read_array_header_1_0(file)
    except Exception as error:  # NumPy evaluates the header as a literal, with many ways to fail
        raise ArchiveError(f"{info.filename} is not an array ({error!s:.200})") from None
    if actual != dtype or fortran:
        raise ArchiveError(f"{info.filename} must be a C-ordered array of {dtype}")
    data = file.read()
    if not 1 <= len(shape) <= 4 or not all(type(x) is int and abs(x) < 2**63 for x in shape):
        raise ArchiveError(f"{info.filename} has a shape that no such array has")
    # Python's whole numbers do not overflow, however large a shape the file claims; an array
    # without numbers may have any moderate shape.
    if len(data) != actual.itemsize * math.prod(shape) or any(
        not 0 <= extent <= max(len(data), MAX_EMPTY) for extent in shape
    ):
        raise ArchiveError(f"{info.filename} has {len(data):,} bytes for the shape {shape}")
    # A copy can be written to, so kernels meet the same kind of array as before it was saved.
    return np.frombuffer(data, dtype=actual).reshape(shape).copy()


def _header(encoded: bytes, kind: str, version: int) -> dict[str, Any]:
    try:
        header = json.loads(encoded.decode())
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"its header is not JSON in UTF-8 ({error})") from None
    if not isinstance(header, dict) or header.get("format") != kind:
        raise ArchiveError(f"its header does not say that it is a {kind!r}")
    actual = header.get("version")
    if actual is True or actual != version:
        raise ArchiveError(
            f"it has version {actual!r} of the format; this program reads version {version}"
        )
    return header


def text_list(header: dict[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts from a header, such as the words of a vocabulary."""
    texts = header.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ArchiveError(f"the {name} in its header must be a list of texts")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise ArchiveError(f"its {name} are not Unicode text ({error.reason})") from None
    return tuple(texts)
