"""Files that are plainly not plain text: they are errors instead of sentences."""

from __future__ import annotations

import os
import re

from dbpcfg.errors import DbpcfgError

__all__ = ["check_plain_text"]

_SIGNS = {
    "HTML": re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S),
    "XML": re.compile(
        r"\s*<(?:\?xml\b|!DOCTYPE\b|!--|([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>.*</\1\s*>)", re.S
    ),
    "JSON": re.compile(
        r'\s*(?:\{\s*(?:"[^"\n]*"\s*:|\})|\[\s*(?:[\[{]\s*[\[{"]|"[^"\n]*"\s*[,\]]))'
    ),
    "PDF": re.compile(r"\s*%PDF-"),
    "PostScript": re.compile(r"\s*%!PS"),
    "RTF": re.compile(r"\s*\{\\rtf"),
}
_TABLES = {".csv": "a table", ".tsv": "a table"}
_LIKE_A_TREE = re.compile(r"\s*\((?!(?:I|A|OK|TV)\s)[A-Z][A-Z0-9$.|=-]*\s+[^\s()]")
_SHOWN = 30


def check_plain_text(head: str, path: str, name: str) -> None:
    """Raise an error if a file that no format was found for is not plain text either."""
    remedy = "if its lines are sentences all the same, give --input-format text (format='text')"
    ending = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    kind = _TABLES.get(ending) or next((k for k, sign in _SIGNS.items() if sign.match(head)), None)
    start = " ".join(head[: 4 * _SHOWN].split())[:_SHOWN]
    if kind is not None:
        raise DbpcfgError(
            f"{name}: found {kind} ({start!r}…), expected plain text or a treebank in a known "
            f"format; take the sentences out of it, one a line; {remedy}"
        )
    if _LIKE_A_TREE.match(head):
        raise DbpcfgError(
            f"{name}: found {start!r}…, which begins like a tree but is not one in Penn brackets, "
            "as (S (NP (D the) (N dog)) (V barks)); for trees with bare words give "
            f"--input-format penn (format='penn'); {remedy}"
        )
