"""Rule tables: a grammar as text that other programs read, and that people can write.

=========  ==================  ===============================================
``tsv``    ``.tsv``            one rule a line: `dbpcfg.grammar.exchange.tsv`
``json``   ``.json``           the same as JSON: `dbpcfg.grammar.exchange.json`
``nltk``   ``.pcfg .nltk``     NLTK's notation: `dbpcfg.grammar.exchange.nltk`
=========  ==================  ===============================================

Numbers have all their digits. A grammar that is written and read again is the same to the bit, with
the numbering of its categories and words; only NLTK's notation has no place for that, nor for words
of probability 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias, cast

from dbpcfg.corpus.loading import load_text
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.files.atomic import written_whole
from dbpcfg.grammar.exchange.json import from_json, to_json
from dbpcfg.grammar.exchange.nltk import from_nltk, to_nltk
from dbpcfg.grammar.exchange.rules import check_name, is_unicode
from dbpcfg.grammar.exchange.tsv import from_tsv, to_tsv
from dbpcfg.grammar.pcfg import Grammar

__all__ = ["ENDINGS", "RuleFormat", "format_of", "from_text", "read_grammar", "to_text", "write"]

RuleFormat: TypeAlias = Literal["tsv", "json", "nltk"]

ENDINGS: dict[str, RuleFormat] = {
    ".tsv": "tsv",
    ".json": "json",
    ".pcfg": "nltk",
    ".nltk": "nltk",
}

_WRITERS = {"tsv": to_tsv, "json": to_json, "nltk": to_nltk}
_READERS = {"tsv": from_tsv, "json": from_json, "nltk": from_nltk}


def format_of(path: str | Path) -> RuleFormat:
    """The format of a rule table, by the ending of its name."""
    try:
        return ENDINGS[Path(path).suffix.lower()]
    except KeyError:
        raise GrammarError(
            f"{path}: found no ending of a format of rules, expected "
            f"{', '.join(ENDINGS)}; rename it, or say which format is meant"
        ) from None


def write(
    grammar: Grammar,
    path: str | Path,
    format: RuleFormat | None = None,
    notes: Iterable[str] = (),
) -> None:
    """Write a rule table, whole or not at all.

    ``format``: ``"tsv"``, ``"json"`` or ``"nltk"``; by the ending of the name if not given.
    """
    text = to_text(grammar, format or format_of(path), notes)
    with written_whole(Path(path)) as file:
        file.write(text.encode())


def read_grammar(path: str | Path, format: RuleFormat | None = None) -> Grammar:
    """Read the grammar of a rule table.

    ``format``: ``"tsv"``, ``"json"`` or ``"nltk"``; by the ending of the name if not given.
    """
    format = format or format_of(path)
    try:
        text = load_text(str(path), "utf-8")
    except DbpcfgError as error:
        raise GrammarError(str(error)) from None
    return from_text(text, format, str(path))


def to_text(grammar: Grammar, format: RuleFormat = "tsv", notes: Iterable[str] = ()) -> str:
    """Write a grammar as the text of a rule table."""
    for name in grammar.names:
        check_name(name, "names of categories")
    for token in (*grammar.names, *grammar.vocabulary.words):
        if not token or not is_unicode(token):
            raise GrammarError(f"{token!r} cannot be written: it is empty, or no Unicode text")
    return _WRITERS[_known(format)](grammar, [" ".join(note.split()) for note in notes])


def from_text(text: str, format: RuleFormat = "tsv", source: str = "<text>") -> Grammar:
    """Read the grammar of a rule table's text."""
    return _READERS[_known(format)](text, source)


def _known(format: str) -> RuleFormat:
    if format not in _READERS:
        raise GrammarError(f"a format of rules is one of {', '.join(_READERS)}, not {format!r}")
    return cast(RuleFormat, format)
