"""Encodings of text: UTF-8, another that is given, or Latin-1 where a file can be nothing else.

Old treebanks are often in Latin-1 (ISO-8859-1) or its extension Windows-1252. If no encoding is
given, a file that is not UTF-8 is read so if its bytes look like it: bytes above 127 are letters
that stand alone or in pairs among ASCII letters, or marks where such marks can be. Asian encodings
and Cyrillic code pages have long runs of these bytes, other European ones have letters where
Latin-1 has signs, and a damaged file in UTF-8 has whole characters of UTF-8. Those are errors that
name the first byte that is not UTF-8, the option, and a likely encoding.
"""

from __future__ import annotations

import codecs
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import BinaryIO

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural

UTF8 = "utf-8"
WESTERN = "windows-1252"
"""What is read in Latin-1 is decoded by this, which has all its characters and more."""
STDIN_NAME = "<stdin>"

_HIGH = bytes(range(128, 256))
_CONTROLS = bytes(range(128, 160))  # of ISO-8859-1; letters and quotes in Windows' encodings
_UNDEFINED = bytes([0x81, 0x8D, 0x8F, 0x90, 0x9D])  # in Windows-1252
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_LETTERS = "A-Za-zÀ-ÖØ-öø-ÿŠšŽžŒœŸ"
_WORD = re.compile(r"[^\x00-@\[-`{-\x7f\u00a0\u00ad«»“”‘’„–—…·´º°ª¡¿]+")
"""A word, with signs that are attached to it where no word has one."""
_STRANGE = re.compile(
    rf"..*[^{_LETTERS}²³®™]|[^{_LETTERS}]."  # a sign in it
    "|(?![Þþ].$)[^\x00-\x7f]{2,}$"  # no letter of ASCII, but for Icelandic þá
    "|[çðþßÿÇÐÞŸ]$"  # no word of one letter
    "|.*[^\x00-\x7f]{4}"
    "|.*[a-z][À-ÖØ-ÞŠŽŒŸ]"
)
_MISPLACED = re.compile(rf"[{_LETTERS}][«»“”„º°ª¡¿](?=[{_LETTERS}])|[{_LETTERS}][¡¿]")
_MANY = 20
"""At most one character in so many may be one of UTF-8, and one word in so many half be strange."""
_SAMPLE = 1 << 21
"""Bytes before and after the first wrong one that are looked at."""
_NAMES_SHOWN = 2


def check_encoding(encoding: str | None) -> str | None:
    """The normalised name of a text encoding, or an error if it does not exist."""
    if encoding is None:
        return None
    try:
        codec = codecs.lookup(encoding)
        "".encode(encoding)  # fails for codecs such as hex, which do not encode text
    except (LookupError, ValueError):
        raise DbpcfgError(
            f"there is no encoding {encoding!r}; common ones are utf-8, iso-8859-1, windows-1252, "
            "utf-16, big5, gb18030, euc-jp, koi8-r"
        ) from None
    return codec.name


def western(data: bytes, wrong: int = 0) -> str | None:
    """The name of Latin-1 or Windows-1252 if bytes that are not UTF-8 look like it; else None.

    ``wrong``: where the first byte is that is not UTF-8.
    """
    if len(data.translate(None, _UNDEFINED)) < len(data):
        return None
    sample = data[max(0, wrong - _SAMPLE) : wrong + _SAMPLE]
    text = sample.decode(WESTERN)
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    strange = sum(_STRANGE.match(word) is not None for word in words)
    strange += len(_MISPLACED.findall(text))
    if _MANY * _utf8_bytes(sample) >= _count_high(sample) or _MANY * strange > 2 * len(words):
        return None
    return WESTERN if len(data.translate(None, _CONTROLS)) < len(data) else "iso-8859-1"


def western_stream(file: BinaryIO) -> str | None:
    """The same of a file that need not fit into memory, from its beginning."""
    decoder, before = codecs.getincrementaldecoder(UTF8)(), b""
    while block := file.read(_SAMPLE):
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            return western(before + block + file.read(_SAMPLE), len(before))
        before = block
    return western(before)  # it is cut off


def guess_notes(guessed: Mapping[str, str]) -> list[str]:
    """What to say of files that are read in an encoding that nobody gave.

    ``guessed``: the encodings by the files' names.
    """
    names = defaultdict(list)
    for name, encoding in guessed.items():
        names[encoding].append(name)
    return [
        f"{_named(names[encoding])} not UTF-8, so read as {full_name(encoding)}; if letters are "
        "wrong, name the encoding with --encoding (in Python encoding=)"
        for encoding in names
    ]


def _named(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    more = ", …" * (len(names) > _NAMES_SHOWN)
    return f"{plural(len(names), 'file')} ({', '.join(names[:_NAMES_SHOWN])}{more}) are"


def full_name(encoding: str) -> str:
    """What people call one of the two encodings that are guessed."""
    return "Windows-1252" if encoding == WESTERN else "Latin-1"


def _utf8_bytes(data: bytes) -> int:
    """The bytes of characters that are UTF-8 and not ASCII."""
    return sum(map(len, _UTF8_CHARACTER.findall(data)))


def _count_high(data: bytes) -> int:
    return len(data) - len(data.translate(None, _HIGH))


def not_utf8_error(
    name: str, line: int, byte: int, sample: bytes = b"", *, fixed: bool = False
) -> DbpcfgError:
    """The error about a byte that is not UTF-8.

    ``fixed``: whether the user chose UTF-8, so that the file has to be converted.
    """
    found = f"{name}:{line}: found the byte 0x{byte:02x}, which is not UTF-8"
    if 2 * _utf8_bytes(sample) >= max(1, _count_high(sample)):
        return DbpcfgError(
            f"{found}, among characters that are: the file is damaged there, or cut off; "
            "correct it, or get it again"
        )
    likely = _likely_encoding(sample or bytes([byte]))
    option = f"give its encoding, perhaps --encoding {likely} (in Python encoding={likely!r}), or "
    return DbpcfgError(f"{found}; {'' if fixed else option}{convert_hint(likely.upper(), name)}")


def decoding_error(name: str, line: int, encoding: str) -> DbpcfgError:
    """The error about bytes that are not in the encoding that was given."""
    return DbpcfgError(f"{name}:{line}: found bytes that are not {encoding}; is --encoding right?")


def _likely_encoding(data: bytes) -> str:
    if 10 * _count_high(data) > 3 * len(data) and len(data) > 20:  # most letters are not ASCII
        for encoding in ("big5", "gb18030", "euc-jp", "shift-jis", "euc-kr"):
            try:
                text = data[: len(data) // 2 * 2].decode(encoding)
            except UnicodeDecodeError:
                continue
            if 10 * sum(character > "\u3000" for character in text) > 3 * len(text):
                return encoding
        return "windows-1251"
    return WESTERN if len(data.translate(None, _CONTROLS)) < len(data) else "iso-8859-1"


def convert_hint(encoding: str, name: str) -> str:
    """How to convert a file to UTF-8."""
    file = "FILE" if name == STDIN_NAME else os.path.basename(name)
    return f"convert it with `iconv -f {encoding} -t UTF-8 {file} > NEW`"
