r"""A grammar in the notation of ``nltk.PCFG.fromstring``, without NLTK.

::

    %start T
    T -> S [1.0]
    S -> NP VP [1.0]
    NP -> 'dog' [0.25] | NP PP [0.75]

What can be written is what NLTK can read. It knows no exponents, so small probabilities are long
decimals. It knows no escapes: a word stands in double quotes if it has a single one, and a word
with both kinds cannot be written. A category begins with a letter, a digit, ``_`` or ``/``, and may
have ``^ < > -`` further on.

What is read may also have several expansions in a line, divided by ``|``, lines continued after a
backslash, and comments from ``#`` at the beginning of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange.rules import (
    Rule,
    grammar_of,
    probability,
    quoted,
    rule_error,
    rules_of,
    top_symbol,
)
from dbpcfg.grammar.pcfg import Grammar

_NAME = r"[\w/][\w/^<>-]*"
_TOKEN = re.compile(
    rf"""\s*(?: (?P<name>{_NAME}) | (?P<word>"[^"]*"|'[^']*') | (?P<arrow>->) | (?P<bar>\|)
    | \[(?P<chance>[^\]]*)\] )\s*""",
    re.VERBOSE,
)
_START = re.compile(rf"%start\s+({_NAME})")
_LOOKS_LIKE = "a rule such as S -> NP VP [0.5] or N -> 'dog' [0.25]"


def to_nltk(grammar: Grammar, notes: list[str]) -> str:
    """Write a grammar in NLTK's notation; rules of probability 0 are left out."""
    for name in grammar.names:
        if not re.fullmatch(_NAME, name) or any(map(_doubtful, name)):
            raise GrammarError(
                f"NLTK cannot read the category {quoted(name)}: it allows letters, digits, _ and "
                "/, and further on also ^ < > -; rename it, or write a table (tsv, json)"
            )
    rules = (
        f"{rule.parent} -> {_child_text(rule)} [{_decimal(rule.probability)}]"
        for rule in rules_of(grammar)
        if rule.probability > 0
    )
    start = f"%start {top_symbol(grammar.names)}"
    return "\n".join([*(f"# {note}" for note in notes), start, *rules, ""])


def _doubtful(letter: str) -> bool:
    """Whether a character such as ² is part of a name only to some versions of NLTK."""
    return letter.isalnum() and not (letter.isalpha() or letter.isdecimal())


def _child_text(rule: Rule) -> str:
    if not rule.lexical:
        return " ".join(rule.children)
    word = rule.children[0]
    if re.search(r"[\n\r\0]", word) or ("'" in word and '"' in word):
        raise GrammarError(
            f"NLTK cannot read the word {quoted(word)}: it has both kinds of quotation marks, or "
            "a line break or a NUL; write a table (tsv, json)"
        )
    return f'"{word}"' if "'" in word else f"'{word}'"


def _decimal(number: float) -> str:
    """The shortest decimal without an exponent that is this number."""
    return np.format_float_positional(number, unique=True, trim="0")


def from_nltk(text: str, source: str) -> Grammar:
    """Read a grammar in NLTK's notation."""
    start: str | None = None
    rules: list[Rule] = []
    for place, line in _lines(text, source):
        if line.startswith("%"):
            found = _START.fullmatch(line)
            if found is None:
                raise rule_error(place, quoted(line), "%start S", "no other directive is known")
            start = found[1]
        else:
            rules += _rules(line, place)
    return grammar_of(rules, source, start)


def _lines(text: str, source: str) -> Iterator[tuple[str, str]]:
    """Lines with what follows them after a backslash, and the place where they begin."""
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


def _rules(line: str, place: str) -> Iterator[Rule]:
    """The rules of a line: a parent, an arrow, and expansions between bars."""
    tokens = list(_tokens(line, place))
    if [kind for kind, _ in tokens[:2]] != ["name", "arrow"]:
        remedy = "put blanks around the arrow"
        raise rule_error(place, quoted(line), f"{_LOOKS_LIKE}", remedy)
    expansion: list[tuple[str, str]] = []
    for kind, token in [*tokens[2:], ("bar", "|")]:
        if kind != "bar":
            expansion.append((kind, token))
            continue
        yield _rule(tokens[0][1], expansion, line, place)
        expansion = []


def _tokens(line: str, place: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            raise rule_error(place, f"{quoted(line[at:])}", _LOOKS_LIKE, "put words in quotes")
        assert match.lastgroup is not None
        yield match.lastgroup, match[match.lastgroup]
        at = match.end()


def _rule(parent: str, expansion: list[tuple[str, str]], line: str, place: str) -> Rule:
    *children, last = expansion or [("", "")]
    kinds = {kind for kind, _ in children}
    if last[0] != "chance" or not children or not kinds <= {"name", "word"}:
        remedy = "every expansion needs children, and then its probability in [ ]"
        raise rule_error(place, quoted(line), _LOOKS_LIKE, remedy)
    if "word" in kinds and len(children) > 1:
        raise rule_error(
            place,
            f"a rule of {quoted(parent)} with a word next to other children",
            "two categories or one word",
            "give the word a category of its own",
        )
    words = tuple(token[1:-1] if kind == "word" else token for kind, token in children)
    if "" in words:
        raise rule_error(place, "an empty word", "a word", "fill it in")
    return Rule(parent, words, probability(last[1].strip(), place), "word" in kinds, place)
