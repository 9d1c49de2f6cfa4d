"""Which format a file has: by its name, or else by how it begins.

An extension that stands for one format decides, so that mistakes in such a file are reported as
mistakes; among the formats that share an extension, as ``.xml``, the content does.  ``.txt``, any
other extension and standard input say nothing, and the content decides, because treebanks come as
``.txt`` too, and brackets read as words would go unnoticed:

* CHAT begins with one of its headers, ``@UTF8`` or ``@Begin``;
* CoNLL-U with comments such as ``# sent_id = 1``, or a numbered line of many tab-separated columns;
* Penn brackets with one bracket inside another, ``(S (`` or ``( (``, or with a word in brackets
  and then another bracket or nothing, ``(N dog) (``;
* CESS brackets are Penn brackets of which the first leaves all have a word and a lemma, and tags
  such as ``da0ms0``;
* Sinica brackets begin with the number of a tree and its label, ``#1:1.[4257] NP(``;
* NEGRA export with its headers, ``#FORMAT`` or ``#BOT``, or a sentence, ``#BOS``;
* XML is an Alpino file with an element ``<alpino_ds>``, and TIGER-XML with a ``<graph root=…>``;
* everything else is plain text.
"""

from __future__ import annotations

import os
import re
from typing import Literal, get_args

from dbpcfg.errors import DbpcfgError

Format = Literal["text", "penn", "chat", "conllu", "cess", "sinica", "alpino", "export", "tigerxml"]
FORMATS: tuple[Format, ...] = get_args(Format)

HEAD = 1 << 16
"""Characters that a format is recognised by, at most."""

_EXTENSIONS: dict[str, tuple[Format, ...]] = {
    ".mrg": ("penn",),
    ".parsed": ("penn", "sinica"),
    ".trees": ("penn",),
    ".psd": ("penn",),
    ".ptb": ("penn",),
    ".penn": ("penn",),
    ".bracket": ("penn",),
    ".tbf": ("cess",),
    ".sinica": ("sinica",),
    ".export": ("export",),
    ".negra": ("export",),
    ".xml": ("alpino", "tigerxml"),
    ".tig": ("tigerxml",),
    ".cha": ("chat",),
    ".conllu": ("conllu",),
    ".conll": ("conllu",),
    ".txt": ("text",),
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
_SINICA = re.compile(r"\s*#[0-9]\S*\[[0-9]*\]\s*[^\s(#]+\(", re.ASCII)
_EXPORT = re.compile(r"(?:\s*%%.*\n)*\s*\#(?:FORMAT|BOT|BOS)[ \t]+[A-Z0-9]")
_XML = {
    "alpino": re.compile(r"<alpino_ds[\s>]"),
    "tigerxml": re.compile(r"<graph\s[^<>]*\broot\s*=|<(?:edgelabel|terminals)[\s>]"),
}
_LEAF = re.compile(r"\(([^\s()]+(?:\s+[^\s()]+)+)\s*\)", re.ASCII)
_LEAVES = 2000
"""Characters in which leaves are looked at."""
_EAGLES = re.compile(r"[acdnpsvrz][a-z][a-z0-9]*[0-9][a-z0-9]*", re.ASCII)


def checked_format(format: str | None) -> Format | None:
    """A format that a user gave, checked to be one."""
    for known in FORMATS:
        if format == known:
            return known
    if format is None:
        return None
    raise DbpcfgError(f"there is no format {format!r}; choose {', '.join(FORMATS)}")


def by_extension(path: str) -> tuple[Format, ...]:
    """The formats that the extension of a path stands for, before ``.gz`` if it has that."""
    path = path.lower().removesuffix(".gz")
    return _EXTENSIONS.get(os.path.splitext(path)[1], ())


def recognised(path: str, text: str) -> Format:
    """The format of a file, by its extension or else by its content."""
    known = by_extension(path)
    if len(known) == 1 and known != ("text",):
        return known[0]
    found = by_content(text)
    return known[0] if "penn" in known and found not in known else found


def by_content(text: str) -> Format:
    """The format that a text seems to be in."""
    if _CHAT.match(text):
        return "chat"
    if _CONLLU.match(text):
        return "conllu"
    if _SINICA.match(text):
        return "sinica"
    if _EXPORT.match(text):
        return "export"
    if text[:HEAD].lstrip().startswith("<"):
        for format in ("alpino", "tigerxml"):
            if _XML[format].search(text, 0, HEAD):
                return format
    if not _PENN.match(text):
        return "text"
    leaves = [leaf.split() for leaf in _LEAF.findall(text, 0, _LEAVES)]
    lemmas = all(len(leaf) == 3 or leaf[-1] == "*0*" for leaf in leaves)
    return "cess" if lemmas and any(_EAGLES.fullmatch(leaf[0]) for leaf in leaves) else "penn"
