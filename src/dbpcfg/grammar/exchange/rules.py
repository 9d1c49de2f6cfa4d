"""A grammar as a list of rules, and back: what every table of rules has in common.

A rule has a parent and children: two categories (``S → NP VP``) or one word (``N → dog``). Only the
top symbol T, which starts each sentence and is no category, has rules with one category
(``T → S``): these are π. A list whose first symbol is an ordinary one, as in most textbooks, is
understood as well: then that symbol is the root of every tree.

The list has its own order, and keeps that of the grammar: T has a rule for each category, if need
be of probability 0; binary rules follow by parent, and words by word. Numbering categories and
words as they first appear gives the same arrays again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import ROW_SUM_TOLERANCE, Grammar

MOST_ENTRIES = 10**8
"""Room for rules in a grammar that is read, possible ones and others: K³ + K·W numbers."""

_NUMBER = re.compile(r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SPACE = re.compile(r"\s")
_QUOTED = 40


class Rule(NamedTuple):
    """A rule of a table."""

    parent: str
    """The symbol that is expanded."""
    children: tuple[str, ...]
    """Two categories, one word, or, of T, one category."""
    probability: float
    """Its probability."""
    lexical: bool
    """Whether the one child is a word."""
    place: str = ""
    """Where it stands, as messages name it."""

    def __str__(self) -> str:
        return f"{quoted(self.parent)} → {' '.join(map(quoted, self.children))}"


def quoted(text: str) -> str:
    """A text as messages repeat it: shortened if it is long."""
    return repr(text) if len(text) <= _QUOTED else f"{text[:_QUOTED]!r}…"


def is_unicode(text: str) -> bool:
    """Whether a text can be written in UTF-8: it has no lone surrogate."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def rule_error(place: str, found: str, expected: str, remedy: str) -> GrammarError:
    """The error about a rule table: where it is, what was found and expected, and what to do."""
    return GrammarError(f"{place}: found {found}, expected {expected}; {remedy}")


def probability(text: str, place: str) -> float:
    """Read a probability."""
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0.0 <= number <= 1.0 + ROW_SUM_TOLERANCE:
        remedy = "write it as a decimal number, such as 0.25 or 2.5e-1"
        raise rule_error(place, quoted(text), "a probability from 0 to 1", remedy)
    return number


def check_name(name: str, place: str) -> None:
    """Raise an error if a category cannot be the label of a node in brackets."""
    if not name or _SPACE.search(name):
        raise rule_error(
            place,
            f"the category {quoted(name)}",
            "a name without white space",
            "is it a category at all? A rule has at most two children",
        )


def top_symbol(names: Sequence[str]) -> str:
    """A name for T that no category has."""
    candidates = chain(("T", "TOP", "ROOT"), (f"T{n}" for n in count()))
    return next(name for name in candidates if name not in names)


def rules_of(grammar: Grammar) -> Iterator[Rule]:
    """List the rules of a grammar.

    Returns all that are not impossible, and those of probability 0 that keep the numbering.
    """
    names, words = grammar.names, grammar.vocabulary.words
    top = top_symbol(names)
    for name, root in zip(names, grammar.root.tolist(), strict=True):
        yield Rule(top, (name,), root, lexical=False)
    for c, name in enumerate(names):
        binary = grammar.binary_of(c)
        for a, b in np.argwhere(binary > 0).tolist():
            yield Rule(name, (names[a], names[b]), float(binary[a, b]), lexical=False)
    for w, word in enumerate(words):
        users = np.flatnonzero(grammar.lexical[:, w]).tolist()
        for c in users or [0]:
            yield Rule(names[c], (word,), float(grammar.lexical[c, w]), lexical=True)


def grammar_of(
    rules: Sequence[Rule],
    source: str,
    start: str | None = None,
    categories: Iterable[str] = (),
    words: Iterable[str] = (),
) -> Grammar:
    """Make a grammar from a list of rules.

    ``start``: the top symbol, or the root of every tree; the parent of the first rule if not given.
    """
    if not rules:
        raise rule_error(source, "no rules", "at least T → S and S → word", "is it the right file?")
    start = rules[0].parent if start is None else start
    rows: dict[str, list[Rule]] = {}
    for rule in rules:
        rows.setdefault(rule.parent, []).append(rule)
    if start not in rows:
        raise _without_rules(source, start)
    top = start if _is_top(start, rules, rows) else None
    C: dict[str, int] = {name: c for c, name in enumerate(categories)}
    W: dict[str, int] = {word: w for w, word in enumerate(words)}
    seen: dict[tuple[str, tuple[str, ...], bool], str] = {}
    for rule in rules:
        _check_rule(rule, top, rows, seen)
        if rule.lexical:
            W.setdefault(rule.children[0], len(W))
        for name in (rule.parent, *(() if rule.lexical else rule.children)):
            if name != top:
                C.setdefault(name, len(C))
    for name in C:
        if name not in rows:
            raise _without_rules(source, name)
    _check_sums(rows)
    _check_size(source, len(C), len(W))
    root, lexical = np.zeros(len(C)), np.zeros((len(C), len(W)))
    binary = np.zeros((len(C), len(C), len(C)))
    if top is None:
        root[C[start]] = 1.0
    for rule in rules:
        if rule.lexical:
            lexical[C[rule.parent], W[rule.children[0]]] = rule.probability
        elif rule.parent == top:
            root[C[rule.children[0]]] = rule.probability
        else:
            a, b = rule.children
            binary[C[rule.parent], C[a], C[b]] = rule.probability
    try:
        return Grammar(root, binary, lexical, Vocabulary(tuple(W))).named(C)
    except GrammarError as error:
        raise GrammarError(f"{source}: {error}") from None


def _is_top(start: str, rules: Sequence[Rule], rows: dict[str, list[Rule]]) -> bool:
    """Whether a symbol is T: all its rules have one category, and it is no child."""
    return all(len(rule.children) == 1 and not rule.lexical for rule in rows[start]) and not any(
        start in rule.children for rule in rules if not rule.lexical
    )


def _check_rule(
    rule: Rule,
    top: str | None,
    rows: dict[str, list[Rule]],
    seen: dict[tuple[str, tuple[str, ...], bool], str],
) -> None:
    key = (rule.parent, rule.children, rule.lexical)
    if key in seen:
        where = f"the same rule is at {seen[key]}"
        raise rule_error(rule.place, f"{rule} again", "each rule once", f"{where}; join the two")
    seen[key] = rule.place
    if not rule.lexical:
        for child in rule.children:
            if child not in rows:
                raise _without_rules(rule.place, child)
    arity = len(rule.children)
    if arity > 2:
        parent, (first, *rest) = rule.parent, rule.children
        new = "+".join(rest)
        raise rule_error(
            rule.place,
            f"{rule}, a rule with {arity} children",
            "two categories or one word",
            f"make it binary, as by {quoted(parent)} → {quoted(first)} {quoted(new)} of the same "
            f"probability and a rule for {quoted(new)} of probability 1",
        )
    if arity == 1 and not rule.lexical and rule.parent != top:
        child = rule.children[0]
        raise rule_error(
            rule.place,
            f"{rule}, where {quoted(child)} has rules itself",
            "two categories or one word",
            f"put the children of {quoted(child)} in its place, each with the product of the two "
            "probabilities; if it is a word, say so (in a table by the column kind); if "
            f"{quoted(rule.parent)} is the top symbol, put its rules first",
        )


def _check_sums(rows: dict[str, list[Rule]]) -> None:
    for parent, row in rows.items():
        total = math.fsum(rule.probability for rule in row)
        if abs(total - 1.0) > ROW_SUM_TOLERANCE:
            raise rule_error(
                row[0].place,
                f"{len(row):,} rule{'s' * (len(row) > 1)} of {quoted(parent)} from here on, whose "
                f"probabilities sum to {total:.12g}",
                f"1, up to {ROW_SUM_TOLERANCE}",
                "is a rule missing? Write 1/3 with all its digits: 0.3333333333333333",
            )


def _check_size(source: str, categories: int, words: int) -> None:
    entries = categories**3 + categories * words
    if entries > MOST_ENTRIES:
        raise rule_error(
            source,
            f"{categories:,} categories and {words:,} words, which need {entries:,} numbers",
            f"at most {MOST_ENTRIES:,}",
            "is the column for words read as categories?",
        )


def _without_rules(place: str, name: str) -> GrammarError:
    remedy = "give it rules, or check the spelling of its name"
    return rule_error(place, f"{quoted(name)}, which has no rules", "a category that has", remedy)
