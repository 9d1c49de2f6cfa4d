"""Rule tables: a grammar as text that other programs read, and that people can write.

=========  ==================  ===============================================
``tsv``    ``.tsv``            one rule a line: `dbpcfg.grammar.exchange.tsv`
``json``   ``.json``           the same as JSON: `dbpcfg.grammar.exchange.json`
``nltk``   ``.pcfg .nltk``     NLTK's notation: `dbpcfg.grammar.exchange.nltk`
=========  ==================  ===============================================

Numbers have all their digits. A grammar that is written and read again is the same to the bit, with
the numbering of its categories and words; only NLTK's notation has no place for that, nor for words
of probability 0. `pruned` leaves out the least probable rules first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.loading import load_text
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.exchange.json import from_json, to_json
from dbpcfg.grammar.exchange.nltk import from_nltk, to_nltk
from dbpcfg.grammar.exchange.rules import check_name, is_unicode, top_symbol
from dbpcfg.grammar.exchange.tsv import from_tsv, to_tsv
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.files import written_whole


class Format(NamedTuple):
    """How grammars are written in one format, and read."""

    endings: tuple[str, ...]
    """Of files' names."""
    write: Callable[[Grammar, list[str]], str]
    """The text of a grammar, with notes."""
    read: Callable[[str, str], Grammar]
    """The grammar of a text, which messages call by the second name."""


FORMATS = {
    "tsv": Format((".tsv",), to_tsv, from_tsv),
    "json": Format((".json",), to_json, from_json),
    "nltk": Format((".pcfg", ".nltk"), to_nltk, from_nltk),
}


def format_of(path: str | Path) -> str:
    """The format of a rule table, by the ending of its name."""
    endings = {ending: name for name, format in FORMATS.items() for ending in format.endings}
    try:
        return endings[Path(path).suffix.lower()]
    except KeyError:
        raise GrammarError(
            f"{path} does not end in {', '.join(endings)}: choose a format with --as "
            f"{' or --as '.join(FORMATS)}"
        ) from None


def write_grammar(
    grammar: Grammar, path: str | Path, format: str | None = None, notes: Iterable[str] = ()
) -> None:
    """Write a rule table, whole or not at all.

    ``format``: ``"tsv"``, ``"json"`` or ``"nltk"``; by the ending of the name if not given.
    """
    text = to_text(grammar, format or format_of(path), notes)
    with written_whole(Path(path)) as file:
        file.write(text.encode())


def read_grammar(path: str | Path, format: str | None = None) -> Grammar:
    """Read the grammar of a rule table.

    ``format``: ``"tsv"``, ``"json"`` or ``"nltk"``; by the ending of the name if not given.
    """
    format = format or format_of(path)
    try:
        text = load_text(str(path), "utf-8")
    except DbpcfgError as error:
        raise GrammarError(str(error)) from None
    return from_text(text, format, str(path))


def to_text(grammar: Grammar, format: str = "tsv", notes: Iterable[str] = ()) -> str:
    """Write a grammar as the text of a rule table."""
    for name in grammar.names:
        check_name(name, "names of categories")
    for token in (*grammar.names, *grammar.vocabulary.words):
        if not token or not is_unicode(token):
            raise GrammarError(f"{token!r} cannot be written: it is empty, or no Unicode text")
    return _known(format).write(grammar, [" ".join(note.split()) for note in notes])


def from_text(text: str, format: str = "tsv", source: str = "<text>") -> Grammar:
    """Read the grammar of a rule table's text."""
    return _known(format).read(text, source)


def _known(format: str) -> Format:
    if format not in FORMATS:
        raise GrammarError(f"a format of rules is one of {', '.join(FORMATS)}, not {format!r}")
    return FORMATS[format]


@dataclass(frozen=True, slots=True)
class Pruned:
    """A grammar without its least probable rules, and what was left out."""

    grammar: Grammar
    """What is left."""
    threshold: float
    """The smallest probability of a rule that was kept."""
    rules: int
    """Rules that were possible before."""
    left_out: int
    """Rules that were left out."""
    loser: str
    """The symbol whose rules lost most of their probability."""
    lost: float
    """How much probability that was."""

    def __str__(self) -> str:
        return (
            f"Left out {self.left_out:,} of {self.rules:,} rules, those less probable than "
            f"{self.threshold:g}; the others of each symbol were scaled to sum to 1 "
            f"({self.loser} had lost most, {100 * self.lost:.2g}%)."
        )


def pruned(grammar: Grammar, threshold: float) -> Pruned:
    """Leave out rules less probable than a threshold, and words that then have none.

    The rest of each row is divided by its sum.
    """
    if not 0.0 < threshold <= 1.0:
        raise GrammarError(f"the threshold must be above 0 and at most 1, got {threshold:g}")
    K, symbols = grammar.categories, (*grammar.names, top_symbol(grammar.names))
    best = np.append(grammar.rows.max(axis=1), grammar.root.max())
    if best.min() < threshold:
        raise GrammarError(
            f"no rule of {symbols[int(best.argmin())]} has a probability of {threshold:g} or more; "
            f"the greatest threshold that leaves every symbol a rule is {best.min():g}"
        )
    rows = np.where(grammar.rows >= threshold, grammar.rows, 0.0)
    root = np.where(grammar.root >= threshold, grammar.root, 0.0)
    used = rows[:, K * K :].sum(axis=0) > 0
    if not used.any():
        raise GrammarError(
            f"no word has a probability of {threshold:g} or more; take a smaller one"
        )
    kept = np.append(rows.sum(axis=1), root.sum())
    worst = int(kept.argmin())
    words, unused = tuple(compress(grammar.vocabulary.words, used)), np.flatnonzero(~used)
    rows, root = rows / rows.sum(axis=1, keepdims=True), root / root.sum()
    rules = int((grammar.rows > 0).sum() + (grammar.root > 0).sum())
    return Pruned(
        Grammar.from_rows(root, np.delete(rows, K * K + unused, axis=1), Vocabulary(words)).named(
            grammar.names
        ),
        threshold,
        rules,
        rules - int((rows > 0).sum() + (root > 0).sum()),
        symbols[worst],
        max(0.0, 1.0 - float(kept[worst])),
    )
