"""A grammar as tab-separated values: a rule in each line, under a header that names the columns.

::

    kind    parent  left  right  probability
    root    T       S            1.0
    binary  S       NP    VP     1.0
    word    NP      dog          0.25

``left`` and ``right`` are the children; ``left`` alone is a word, or the category of a root rule.
Columns may stand in any order. Without the column ``kind``, a child is a category if the table has
rules for it, and otherwise a word; without root rules, the parent of the first rule is the root of
every tree. Lines that begin with ``#`` are comments, and blank lines are nothing. Cells are taken
as they are: quotation marks are part of the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange.rules import (
    Rule,
    check_name,
    grammar_of,
    probability,
    quoted,
    rule_error,
    rules_of,
)
from dbpcfg.grammar.pcfg import Grammar

COLUMNS = ("kind", "parent", "left", "right", "probability")
KINDS = {"root": 1, "binary": 2, "word": 1}
"""What a rule can be, and how many children it then has."""

LONGEST_LINE = 100_000
LONGEST_TOKEN = LONGEST_LINE // 4

_NOT_IN_CELLS = re.compile(r"[\t\n\r\0]")


def to_tsv(grammar: Grammar, notes: list[str]) -> str:
    """Write a grammar as tab-separated values, after its notes."""
    for token in (*grammar.names, *grammar.vocabulary.words):
        if _NOT_IN_CELLS.search(token) or len(token) > LONGEST_TOKEN:
            raise GrammarError(
                f"{quoted(token)} cannot stand between tabs: it has a tab, a line break or a NUL, "
                f"or more than {LONGEST_TOKEN:,} characters; write the grammar as JSON"
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
    place, header = next(lines, (source, []))
    _check_header(header, place)
    at = {name: header.index(name) for name in header}
    rows = []
    for place, cells in lines:
        if len(cells) != len(header):
            raise rule_error(
                place,
                f"{len(cells)} cells",
                f"{len(header)}, as in the header",
                "an empty cell still has a tab; a rule has at most two children",
            )
        rows.append((place, *(cells[at[name]] if name in at else "" for name in COLUMNS)))
    parents = {parent for _, _, parent, *_ in rows}
    rules, start = [], None
    for place, kind, parent, left, right, chance in rows:
        children = (left, right) if right else (left,)
        if "kind" not in at:
            lexical = not right and left not in parents
        else:
            _check_kind(kind, children, place)
            lexical = kind == "word"
            if kind == "root":
                start = parent if start is None else start
                _check_root(parent, start, place)
        for name in (parent, *(() if lexical else children)):
            check_name(name, place)
        if not left:
            raise rule_error(place, "no left child", "a category or a word", "fill in the cell")
        rules.append(Rule(parent, children, probability(chance, place), lexical, place))
    return grammar_of(rules, source, start)


def _cells(text: str, source: str) -> Iterator[tuple[str, list[str]]]:
    """The cells of every line that is not blank or a comment, and its place."""
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LONGEST_LINE:
            raise rule_error(
                f"{source}:{number}",
                f"a line of {len(line):,} characters",
                f"at most {LONGEST_LINE:,}",
                "is it a rule table, with one rule a line?",
            )
        if line and not line.startswith("#") and not line.isspace():
            yield f"{source}:{number}", line.split("\t")


def _check_header(header: list[str], place: str) -> None:
    missing = [name for name in COLUMNS[1:] if name not in header]
    others = [name for name in header if name not in COLUMNS or header.count(name) > 1]
    if missing or others:
        found = "the column " + quoted(others[0]) if others else "no column " + quoted(missing[0])
        raise rule_error(
            place,
            found,
            f"a header with the columns {', '.join(COLUMNS)}, each once, with tabs between",
            "only kind may be left out",
        )


def _check_kind(kind: str, children: tuple[str, ...], place: str) -> None:
    if kind not in KINDS:
        remedy = "correct it, or leave out the whole column"
        raise rule_error(place, f"the kind {quoted(kind)}", ", ".join(KINDS), remedy)
    if len(children) != KINDS[kind]:
        found, needed = "two children", "only a left one, and nothing in right"
        if KINDS[kind] == 2:
            found, needed = "one child", "both left and right"
        remedy = "correct the children or the kind"
        raise rule_error(place, f"a {kind} rule with {found}", needed, remedy)


def _check_root(parent: str, start: str, place: str) -> None:
    if parent != start:
        raise rule_error(
            place,
            f"a root rule of {quoted(parent)} after one of {quoted(start)}",
            "one top symbol",
            "give all root rules the same parent",
        )
