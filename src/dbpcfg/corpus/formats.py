"""Which format a file has: by its name, or else by how it begins.

An extension that stands for one format decides, so that mistakes in such a file are reported as
mistakes.  ``.txt``, any other extension and standard input say nothing, and the content decides,
because treebanks come as ``.txt`` too, and brackets read as words would go unnoticed:

* CHAT begins with one of its headers, ``@UTF8`` or ``@Begin``;
* CoNLL-U with comments such as ``# sent_id = 1``, or a numbered line of many tab-separated columns;
* Penn brackets with one bracket inside another, ``(S (`` or ``( (``, or with a word in brackets
  and then another bracket or nothing, ``(N dog) (``;
* CESS brackets are Penn brackets of which the first leaves all have a word and a lemma, and tags
  such as ``da0ms0``;
* everything else is plain text.
"""

from __future__ import annotations

import os
import re
from typing import Literal, get_args

from dbpcfg.errors import DbpcfgError

__all__ = ["FORMATS", "Format", "by_content", "by_extension", "checked_format"]

Format = Literal["text", "penn", "chat", "conllu", "cess"]
FORMATS: tuple[Format, ...] = get_args(Format)

HEAD = 1 << 16
"""Characters that a format is recognised by, at most."""

_EXTENSIONS: dict[str, Format] = {
    ".mrg": "penn",
    ".parsed": "penn",
    ".trees": "penn",
    ".psd": "penn",
    ".ptb": "penn",
    ".penn": "penn",
    ".bracket": "penn",
    ".tbf": "cess",
    ".cha": "chat",
    ".conllu": "conllu",
    ".conll": "conllu",
    ".txt": "text",
}
_CHAT = re.compile(r"\s*@(?:UTF8|Begin|Font|Window|PID)\b")
_CONLLU = re.compile(
    r"""\s*(?: \#\ *(?:sent_id|text|global\.columns)\ *= | \#\ *new(?:doc|par)\b
            | (?:\#.*\n)* [0-9]\S*\t (?:[^\t\n]*\t){7} )""",
    re.VERBOSE,
)
_PENN = re.compile(
    r"""\s*\( (?: [^\s()]* \s*\( (?: [^\s()]*\s*\( | [^\s()]+\s+[^\s()] )
              | [^\s()]+\s+[^\s()]+ \s*\)\s* (?: \( | \Z ) )""",
    re.VERBOSE | re.ASCII,
)
_LEAF = re.compile(r"\(([^\s()]+(?:\s+[^\s()]+)+)\s*\)", re.ASCII)
_LEAVES = 2000
"""Characters in which leaves are looked at."""
_EAGLES = re.compile(r"[acdnpsvrz][a-z][a-z0-9]*[0-9][a-z0-9]*", re.ASCII)


def checked_format(format: str | None) -> Format | None:
    """A format that a user gave, checked to be one.

    Parameters
    ----------
    format
        Its name, or None.

    Raises
    ------
    DbpcfgError
        If there is no such format.
    """
    for known in FORMATS:
        if format == known:
            return known
    if format is None:
        return None
    raise DbpcfgError(f"there is no format {format!r}; choose {', '.join(FORMATS)}")


def by_extension(path: str) -> Format | None:
    """The format that the extension of a path stands for, before ``.gz`` if it has that."""
    path = path.lower().removesuffix(".gz")
    return _EXTENSIONS.get(os.path.splitext(path)[1])


def by_content(text: str) -> Format:
    """The format that a text seems to be in."""
    if _CHAT.match(text):
        return "chat"
    if _CONLLU.match(text):
        return "conllu"
    if not _PENN.match(text):
        return "text"
    leaves = [leaf.split() for leaf in _LEAF.findall(text, 0, _LEAVES)]
    lemmas = all(len(leaf) == 3 or leaf[-1] == "*0*" for leaf in leaves)
    return "cess" if lemmas and any(_EAGLES.fullmatch(leaf[0]) for leaf in leaves) else "penn"
