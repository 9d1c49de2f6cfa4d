"""A grammar as a file: an ``.npz`` archive that NumPy reads, and that is data only.

Four uncompressed entries: ``root``, ``binary`` and ``lexical`` as float64, and ``header``, UTF-8
JSON as bytes with the format's name and version and the words in order. A file from a stranger is
checked entry by entry before anything is believed: nothing is unpickled, nothing is inflated, no
size is taken from the file that the file does not have.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.files import written_whole
from dbpcfg.grammar.pcfg import Grammar

FORMAT, VERSION = "dbpcfg grammar", 1
_ARRAYS = ("root", "binary", "lexical")


def save_grammar(grammar: Grammar, path: str | Path) -> None:
    """Write a grammar; the same grammar always gives the same bytes."""
    header = {"format": FORMAT, "version": VERSION, "words": list(grammar.vocabulary.words)}
    arrays = {name: getattr(grammar, name) for name in _ARRAYS}
    encoded = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), dtype=np.uint8)
    with written_whole(Path(path)) as file:
        np.savez(file, header=encoded, **arrays)


def load_grammar(path: str | Path) -> Grammar:
    """Read a grammar, or say what is wrong with the file."""
    data = Path(path).read_bytes()  # whatever is wrong from here on is wrong with the content
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read(archive, len(data))
    except DbpcfgError as error:
        raise GrammarError(f"{path}: {error}") from None
    except Exception as error:  # zipfile has many ways to refuse a damaged archive
        raise GrammarError(f"{path}: not a grammar file, or a damaged one ({error})") from None


def _read(archive: zipfile.ZipFile, size: int) -> Grammar:
    entries = {info.filename: info for info in archive.infolist()}
    expected = {f"{name}.npy" for name in ("header", *_ARRAYS)}
    if set(entries) != expected or len(entries) != len(archive.infolist()):
        raise GrammarError(
            f"not a grammar file: expected the entries {', '.join(sorted(expected))}"
        )
    arrays = {}
    for info in entries.values():
        if info.compress_type != zipfile.ZIP_STORED:
            raise GrammarError(f"{info.filename} is compressed; grammar files are not")
        name = info.filename.removesuffix(".npy")
        if info.file_size > size:
            raise GrammarError(
                f"{info.filename} claims {info.file_size:,} bytes, more than the file"
            )
        with archive.open(info) as file:
            arrays[name] = _array(file, info, np.uint8 if name == "header" else np.float64)
    words = _words(arrays.pop("header").tobytes())
    return Grammar(vocabulary=Vocabulary(words), **arrays)


def _array(file: IO[bytes], info: zipfile.ZipInfo, dtype: Any) -> Any:
    """One array, once its own header agrees with the size that is really there."""
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("an unknown version of the npy format")
        shape, fortran, found = npy.read_array_header_1_0(file)
    except Exception as error:  # NumPy evaluates the header as a literal, with many ways to fail
        raise GrammarError(f"{info.filename} is not an array ({error})") from None
    if found != np.dtype(dtype) or fortran:
        raise GrammarError(f"{info.filename} must be a C-ordered array of {np.dtype(dtype)}")
    data = file.read()
    if len(shape) > 3 or not all(type(x) is int and abs(x) < 2**63 for x in shape):
        raise GrammarError(f"{info.filename} has a shape that no array of a grammar has")
    # Python's whole numbers do not overflow, however large a shape the file claims.
    if len(data) != found.itemsize * math.prod(shape) or any(
        not 0 <= extent <= len(data) for extent in shape
    ):
        raise GrammarError(f"{info.filename} has {len(data):,} bytes for the shape {shape}")
    return np.frombuffer(data, dtype=found).reshape(shape)


def _words(encoded: bytes) -> tuple[str, ...]:
    try:
        header = json.loads(encoded.decode())
    except (ValueError, RecursionError) as error:
        raise GrammarError(f"its header is not JSON in UTF-8 ({error})") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise GrammarError(f"its header does not say that it is a {FORMAT!r}")
    if header.get("version") is True or header.get("version") != VERSION:
        raise GrammarError(
            f"it has version {header.get('version')!r} of the format; this program reads {VERSION}"
        )
    words = header.get("words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise GrammarError("the words in its header must be a list of texts")
    try:
        "".join(words).encode()
    except UnicodeEncodeError as error:
        raise GrammarError(f"its words are not Unicode text ({error.reason})") from None
    return tuple(words)
