"""A grammar as a list of rules, and back; and grammars without improbable rules.

A rule has a parent and children: two categories (``S → NP VP``) or one word (``N → dog``). Only the
top symbol T, which starts each sentence and is no category, has rules with one category
(``T → S``): these are π. A list whose first symbol is an ordinary one, as in most textbooks, is
accepted too: then that symbol is the root of every tree.

The order of the list preserves the numbering of the grammar: T has a rule for each category, even
if its probability is 0; then come binary rules by parent, and lexical rules by word. If categories
and words are numbered in order of first appearance, the arrays are the same again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, count
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import ROW_SUM_TOLERANCE, Grammar
from dbpcfg.io.tables import plural

MAX_ENTRIES = 10**8
"""The greatest size of a grammar that is read: K³ + K·W numbers."""

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
    lexical: bool
    """Whether the one child is a word."""
    location: str = ""
    """File and line, for messages."""

    def __str__(self) -> str:
        return f"{quoted(self.parent)} → {' '.join(map(quoted, self.children))}"


def quoted(text: str) -> str:
    """A text for messages: in quotes, and shortened if it is long."""
    return repr(text) if len(text) <= _QUOTED else f"{text[:_QUOTED]!r}…"


def rule_error(location: str, found: str, expected: str, remedy: str) -> GrammarError:
    """An error in a rule table."""
    return GrammarError(f"{location}: found {found}, expected {expected}; {remedy}")


def parse_probability(text: str, location: str) -> float:
    """Read a probability."""
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0.0 <= number <= 1.0 + ROW_SUM_TOLERANCE:
        remedy = "write it as a decimal number, such as 0.25 or 2.5e-1"
        raise rule_error(location, quoted(text), "a probability from 0 to 1", remedy)
    return number


def check_name(name: str, location: str) -> None:
    """Raise an error if a category cannot be the label of a node in brackets."""
    if not name or _SPACE.search(name):
        raise rule_error(
            location,
            f"the category {quoted(name)}",
            "a name without white space",
            "is it a category at all? A rule has at most two children",
        )


def top_symbol(names: Sequence[str]) -> str:
    """A name for T that no category has."""
    candidates = chain(("T", "TOP", "ROOT"), (f"T{n}" for n in count()))
    return next(name for name in candidates if name not in names)


def rules_of(grammar: Grammar) -> Iterator[Rule]:
    """The rules of a grammar, including those of probability 0 that preserve its numbering."""
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


def grammar_of(rules: Sequence[Rule], source: str, start: str | None = None) -> Grammar:
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
    C: dict[str, int] = {}
    W: dict[str, int] = {}
    locations: dict[tuple[str, tuple[str, ...], bool], str] = {}
    for rule in rules:
        _check_rule(rule, top, rows, locations)
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
    locations: dict[tuple[str, tuple[str, ...], bool], str],
) -> None:
    key = (rule.parent, rule.children, rule.lexical)
    if key in locations:
        remedy = f"the same rule is at {locations[key]}; join the two"
        raise rule_error(rule.location, f"{rule} again", "each rule once", remedy)
    locations[key] = rule.location
    if not rule.lexical:
        for child in rule.children:
            if child not in rows:
                raise _without_rules(rule.location, child)
    arity = len(rule.children)
    if arity > 2:
        parent, (first, *rest) = rule.parent, rule.children
        joined = "+".join(rest)
        raise rule_error(
            rule.location,
            f"{rule}, a rule with {arity} children",
            "two categories or one word",
            f"make it binary, as by {quoted(parent)} → {quoted(first)} {quoted(joined)} of the "
            f"same probability and a rule for {quoted(joined)} of probability 1",
        )
    if arity == 1 and not rule.lexical and rule.parent != top:
        child = rule.children[0]
        raise rule_error(
            rule.location,
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
                row[0].location,
                f"{plural(len(row), 'rule')} of {quoted(parent)} from here on, whose "
                f"probabilities sum to {total:.12g}",
                f"1, up to {ROW_SUM_TOLERANCE}",
                "is a rule missing? Write 1/3 with all its digits: 0.3333333333333333",
            )


def _check_size(source: str, categories: int, words: int) -> None:
    entries = categories**3 + categories * words
    if entries > MAX_ENTRIES:
        raise rule_error(
            source,
            f"{plural(categories, 'category', 'categories')} and {plural(words, 'word')}, which "
            f"need {entries:,} numbers",
            f"at most {MAX_ENTRIES:,}",
            "is the column for words read as categories?",
        )


def _without_rules(location: str, name: str) -> GrammarError:
    remedy = "give it rules, or check the spelling of its name"
    return rule_error(
        location, f"{quoted(name)}, which has no rules", "a category that has", remedy
    )


@dataclass(frozen=True, slots=True)
class PrunedGrammar:
    """A grammar without its least probable rules, and statistics of what was left out."""

    grammar: Grammar
    threshold: float
    """The smallest probability of a rule that was kept."""
    rules: int
    """The number of possible rules before."""
    left_out: int
    """The number of rules left out."""
    loser: str
    """The symbol that lost the most probability."""
    lost: float
    """The probability that it lost."""

    def __str__(self) -> str:
        return (
            f"Left out {self.left_out:,} of {plural(self.rules, 'rule')}, those less probable than "
            f"{self.threshold:g}; the others of each symbol were scaled to sum to 1 "
            f"({self.loser} had lost most, {100 * self.lost:.2g}%)."
        )


def pruned(grammar: Grammar, threshold: float) -> PrunedGrammar:
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
    used_words = rows[:, K * K :].sum(axis=0) > 0
    if not used_words.any():
        raise GrammarError(
            f"no word has a probability of {threshold:g} or more; take a smaller one"
        )
    kept_mass = np.append(rows.sum(axis=1), root.sum())
    worst = int(kept_mass.argmin())
    words, unused = (
        tuple(compress(grammar.vocabulary.words, used_words)),
        np.flatnonzero(~used_words),
    )
    rows, root = rows / rows.sum(axis=1, keepdims=True), root / root.sum()
    rules = int((grammar.rows > 0).sum() + (grammar.root > 0).sum())
    return PrunedGrammar(
        Grammar.from_rows(root, np.delete(rows, K * K + unused, axis=1), Vocabulary(words)).named(
            grammar.names
        ),
        threshold,
        rules,
        rules - int((rows > 0).sum() + (root > 0).sum()),
        symbols[worst],
        max(0.0, 1.0 - float(kept_mass[worst])),
    )
