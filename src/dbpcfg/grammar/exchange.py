r"""Rule tables: grammars as text, for other programs and people.

Numbers have all their digits, so a grammar is exactly the same after writing and reading, including
the numbering of categories and words. NLTK's notation loses the numbering, and words of probability
0.

**TSV** (``.tsv``): tab-separated values, one rule per line, under a header with column names::

    kind    parent  left  right  probability
    root    T       S            1.0
    binary  S       NP    VP     1.0
    word    NP      dog          0.25

``left`` and ``right`` are the children; ``left`` alone is a word, or the category of a root rule.
Columns may be in any order. Without the column ``kind``, a child is a category if the table has
rules for it, and otherwise a word; without root rules, the parent of the first rule is the root of
every tree. Lines that begin with ``#`` are comments; blank lines are ignored. Cells are not quoted:
quotation marks are part of the word.

**NLTK** (``.pcfg``, ``.nltk``): the notation of ``nltk.PCFG.fromstring``, without needing NLTK::

    %start T
    T -> S [1.0]
    S -> NP VP [1.0]
    NP -> 'dog' [0.25] | NP PP [0.75]

Only what NLTK can read is written. NLTK has no exponents, so small probabilities are long decimals,
and no escapes: words with a single quote are in double quotes, and words with both kinds cannot be
written. A category begins with a letter, a digit, ``_`` or ``/``, and may have ``^ < > -`` later.
The reader also accepts several expansions in a line, separated by ``|``, lines continued after a
backslash, and comment lines that begin with ``#``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.loading import load_text
from dbpcfg.errors import DbpcfgError, GrammarError, MissingFileError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.rules import (
    Rule,
    check_name,
    grammar_of,
    parse_probability,
    quoted,
    rule_error,
    rules_of,
    top_symbol,
)
from dbpcfg.io.files import atomic_write
from dbpcfg.io.tables import plural

# --- tab-separated values ---------------------------------------------------------------------

COLUMNS = ("kind", "parent", "left", "right", "probability")
CHILDREN_OF_KIND = {"root": 1, "binary": 2, "word": 1}

LONGEST_LINE = 100_000
LONGEST_TOKEN = LONGEST_LINE // 4

_NOT_IN_CELLS = re.compile(r"[\t\n\r\0]")


def to_tsv(grammar: Grammar, notes: list[str]) -> str:
    """Write a grammar as tab-separated values, after its notes."""
    for token in (*grammar.names, *grammar.vocabulary.words):
        if _NOT_IN_CELLS.search(token) or len(token) > LONGEST_TOKEN:
            raise GrammarError(
                f"{quoted(token)} cannot be written in a table: it contains a tab, a line break or "
                f"a NUL, or is longer than {LONGEST_TOKEN:,} characters; save the model as .npz"
            )
    lines = ("\t".join([*texts, repr(probability)]) for *texts, probability in rows_of(grammar))
    return "\n".join([*(f"# {note}" for note in notes), "\t".join(COLUMNS), *lines, ""])


def rows_of(grammar: Grammar) -> Iterator[tuple[str, str, str, str, float]]:
    """The cells of each rule."""
    for rule in rules_of(grammar):
        left, right = rule.children if len(rule.children) == 2 else (*rule.children, "")
        kind = "word" if rule.lexical else "binary" if right else "root"
        yield kind, rule.parent, left, right, rule.probability


def from_tsv(text: str, source: str) -> Grammar:
    """Read a grammar from tab-separated values."""
    lines = _cells(text, source)
    location, header = next(lines, (source, []))
    _check_header(header, location)
    positions = {name: header.index(name) for name in header}
    rows = []
    for location, cells in lines:
        if len(cells) != len(header):
            raise rule_error(
                location,
                plural(len(cells), "cell"),
                f"{len(header)}, as in the header",
                "an empty cell still has a tab; a rule has at most two children",
            )
        values = (cells[positions[name]] if name in positions else "" for name in COLUMNS)
        rows.append((location, *values))
    parents = {parent for _, _, parent, *_ in rows}
    rules, start = [], None
    for location, kind, parent, left, right, probability in rows:
        children = (left, right) if right else (left,)
        if "kind" not in positions:
            lexical = not right and left not in parents
        else:
            _check_kind(kind, children, location)
            lexical = kind == "word"
            if kind == "root":
                start = parent if start is None else start
                _check_root(parent, start, location)
        for name in (parent, *(() if lexical else children)):
            check_name(name, location)
        if not left:
            raise rule_error(location, "no left child", "a category or a word", "fill in the cell")
        number = parse_probability(probability, location)
        rules.append(Rule(parent, children, number, lexical, location))
    return grammar_of(rules, source, start)


def _cells(text: str, source: str) -> Iterator[tuple[str, list[str]]]:
    """The location and the cells of every line that is not blank or a comment."""
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LONGEST_LINE:
            raise rule_error(
                f"{source}:{number}",
                f"a line of {len(line):,} characters",
                f"at most {LONGEST_LINE:,}",
                "is it a rule table, with one rule per line?",
            )
        if line and not line.startswith("#") and not line.isspace():
            yield f"{source}:{number}", line.split("\t")


def _check_header(header: list[str], location: str) -> None:
    missing = [name for name in COLUMNS[1:] if name not in header]
    others = [name for name in header if name not in COLUMNS or header.count(name) > 1]
    if missing or others:
        found = "the column " + quoted(others[0]) if others else "no column " + quoted(missing[0])
        raise rule_error(
            location,
            found,
            f"a header with the columns {', '.join(COLUMNS)}, each once, separated by tabs",
            "only kind may be left out",
        )


def _check_kind(kind: str, children: tuple[str, ...], location: str) -> None:
    if kind not in CHILDREN_OF_KIND:
        remedy = "correct it, or leave out the whole column"
        expected = ", ".join(CHILDREN_OF_KIND)
        raise rule_error(location, f"the kind {quoted(kind)}", expected, remedy)
    if len(children) != CHILDREN_OF_KIND[kind]:
        found, expected = "two children", "only a left one, and nothing in right"
        if CHILDREN_OF_KIND[kind] == 2:
            found, expected = "one child", "both left and right"
        remedy = "correct the children or the kind"
        raise rule_error(location, f"a {kind} rule with {found}", expected, remedy)


def _check_root(parent: str, start: str, location: str) -> None:
    if parent != start:
        raise rule_error(
            location,
            f"a root rule of {quoted(parent)} after one of {quoted(start)}",
            "one top symbol",
            "give all root rules the same parent",
        )


# --- notation of NLTK -------------------------------------------------------------------------

_NAME = r"[\w/][\w/^<>-]*"
_TOKEN = re.compile(
    rf"""\s*(?: (?P<name>{_NAME}) | (?P<word>"[^"]*"|'[^']*') | (?P<arrow>->) | (?P<bar>\|)
    | \[(?P<probability>[^\]]*)\] )\s*""",
    re.VERBOSE,
)
_START = re.compile(rf"%start\s+({_NAME})")
_EXAMPLE = "a rule such as S -> NP VP [0.5] or N -> 'dog' [0.25]"


def to_nltk(grammar: Grammar, notes: list[str]) -> str:
    """Write a grammar in NLTK's notation; rules of probability 0 are left out."""
    for name in grammar.names:
        if not re.fullmatch(_NAME, name) or any(map(_depends_on_version, name)):
            raise GrammarError(
                f"NLTK cannot read the category {quoted(name)}: it allows letters, digits, _ and "
                "/, and further on also ^ < > -; rename it, or write a table (.tsv)"
            )
    rules = (
        f"{rule.parent} -> {_nltk_children(rule)} [{_decimal(rule.probability)}]"
        for rule in rules_of(grammar)
        if rule.probability > 0
    )
    start = f"%start {top_symbol(grammar.names)}"
    return "\n".join([*(f"# {note}" for note in notes), start, *rules, ""])


def _depends_on_version(letter: str) -> bool:
    """Whether a character such as ² is part of a name only in some versions of NLTK."""
    return letter.isalnum() and not (letter.isalpha() or letter.isdecimal())


def _nltk_children(rule: Rule) -> str:
    if not rule.lexical:
        return " ".join(rule.children)
    word = rule.children[0]
    if re.search(r"[\n\r\0]", word) or ("'" in word and '"' in word):
        raise GrammarError(
            f"NLTK cannot read the word {quoted(word)}: it has both kinds of quotation marks, or "
            "a line break or a NUL; write a table (.tsv), or save the model as .npz"
        )
    return f'"{word}"' if "'" in word else f"'{word}'"


def _decimal(number: float) -> str:
    """The shortest decimal without an exponent that is this number."""
    return np.format_float_positional(number, unique=True, trim="0")


def from_nltk(text: str, source: str) -> Grammar:
    """Read a grammar in NLTK's notation."""
    start: str | None = None
    rules: list[Rule] = []
    for location, line in _joined_lines(text, source):
        if line.startswith("%"):
            match = _START.fullmatch(line)
            if match is None:
                raise rule_error(
                    location, quoted(line), "%start S", "no other directive is supported"
                )
            start = match[1]
        else:
            rules += _nltk_rules(line, location)
    return grammar_of(rules, source, start)


def _joined_lines(text: str, source: str) -> Iterator[tuple[str, str]]:
    """Lines joined with their continuation lines, and their locations."""
    first, pieces = 0, list[str]()
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not pieces:
            first = number
            if not line or line.startswith("#"):
                continue
        pieces.append(line.removesuffix("\\").rstrip())
        if not line.endswith("\\"):
            yield f"{source}:{first}", " ".join(pieces)
            pieces = []
    if pieces:
        raise rule_error(f"{source}:{first}", "a backslash at the end", "another line", "remove it")


def _nltk_rules(line: str, location: str) -> Iterator[Rule]:
    """The rules of a line: a parent, an arrow, and expansions between bars."""
    tokens = list(_tokens(line, location))
    if [kind for kind, _ in tokens[:2]] != ["name", "arrow"]:
        raise rule_error(location, quoted(line), _EXAMPLE, "put spaces around the arrow")
    expansion: list[tuple[str, str]] = []
    for kind, token in [*tokens[2:], ("bar", "|")]:
        if kind != "bar":
            expansion.append((kind, token))
            continue
        yield _nltk_rule(tokens[0][1], expansion, line, location)
        expansion = []


def _tokens(line: str, location: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        if match is None:
            raise rule_error(location, quoted(line[position:]), _EXAMPLE, "put words in quotes")
        assert match.lastgroup is not None
        yield match.lastgroup, match[match.lastgroup]
        position = match.end()


def _nltk_rule(parent: str, expansion: list[tuple[str, str]], line: str, location: str) -> Rule:
    *children, last = expansion or [("", "")]
    kinds = {kind for kind, _ in children}
    if last[0] != "probability" or not children or not kinds <= {"name", "word"}:
        remedy = "every expansion needs children, and then its probability in [ ]"
        raise rule_error(location, quoted(line), _EXAMPLE, remedy)
    if "word" in kinds and len(children) > 1:
        raise rule_error(
            location,
            f"a rule of {quoted(parent)} with a word next to other children",
            "two categories or one word",
            "give the word a category of its own",
        )
    words = tuple(token[1:-1] if kind == "word" else token for kind, token in children)
    if "" in words:
        raise rule_error(location, "an empty word", "a word", "fill it in")
    probability = parse_probability(last[1].strip(), location)
    return Rule(parent, words, probability, "word" in kinds, location)


# --- files ------------------------------------------------------------------------------------


class Format(NamedTuple):
    """A format of rule tables."""

    endings: tuple[str, ...]
    """Endings of file names."""
    write: Callable[[Grammar, list[str]], str]
    """Returns the text of a grammar, with notes."""
    read: Callable[[str, str], Grammar]
    """Parses a text; the second argument is its name for messages."""


FORMATS = {
    "tsv": Format((".tsv",), to_tsv, from_tsv),
    "nltk": Format((".pcfg", ".nltk"), to_nltk, from_nltk),
}
ENDINGS = {ending: name for name, format in FORMATS.items() for ending in format.endings}


def format_of(path: str | Path) -> str:
    """The format of a rule table, by the ending of its name."""
    try:
        return ENDINGS[Path(path).suffix.lower()]
    except KeyError:
        raise GrammarError(
            f"{path} does not end in {', '.join(ENDINGS)}: choose a format with --as "
            f"{' or --as '.join(FORMATS)}"
        ) from None


def write_grammar(
    grammar: Grammar, path: str | Path, format: str | None = None, notes: Iterable[str] = ()
) -> None:
    """Write a rule table to a file, atomically.

    ``format``: ``"tsv"`` or ``"nltk"``; by the ending of the name if not given.
    """
    text = to_text(grammar, format or format_of(path), notes)
    with atomic_write(Path(path)) as file:
        file.write(text.encode())


def read_grammar(path: str | Path, format: str | None = None) -> Grammar:
    """Read the grammar of a rule table.

    ``format``: ``"tsv"`` or ``"nltk"``; by the ending of the name if not given.
    """
    format = format or format_of(path)
    try:
        text = load_text(str(path), "utf-8")
    except MissingFileError:
        raise
    except DbpcfgError as error:
        raise GrammarError(str(error)) from None
    return from_text(text, format, str(path))


def to_text(grammar: Grammar, format: str = "tsv", notes: Iterable[str] = ()) -> str:
    """Write a grammar as the text of a rule table."""
    for name in grammar.names:
        check_name(name, "names of categories")
    for token in (*grammar.names, *grammar.vocabulary.words):
        if not token or any("\ud800" <= letter <= "\udfff" for letter in token):
            raise GrammarError(f"{token!r} cannot be written: it is empty, or not Unicode text")
    return _checked_format(format).write(grammar, [" ".join(note.split()) for note in notes])


def from_text(text: str, format: str = "tsv", source: str = "<text>") -> Grammar:
    """Read the grammar of a rule table's text."""
    return _checked_format(format).read(text, source)


def _checked_format(format: str) -> Format:
    if format not in FORMATS:
        raise GrammarError(
            f"the format of a rule table is one of {', '.join(FORMATS)}, not {format!r}"
        )
    return FORMATS[format]
