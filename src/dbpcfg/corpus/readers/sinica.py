"""Sinica brackets: ``#1:1.[4257] S(agent:NP(Head:Nba:我)|Head:VA4:走)#。(PERIODCATEGORY)``.

One tree a line.  Before it come its number and that of its sentence; a phrase is its role, its
label and its children, ``agent:NP(…|…)``; a word is its role, tag and form, ``Head:Nba:我``.  The
tree is read without roles.

The punctuation behind the tree, after ``#``, has a tag in brackets, such as ``PERIODCATEGORY``.
These marks are the last words of the sentence.  They are in no phrase, so tree and marks are the
children of a node ``ROOT``: ``(ROOT (S (NP (Nba 我)) (VA4 走)) (PERIODCATEGORY 。))``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbpcfg.corpus.readers import CorpusReader, Malformed, Source
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import TreeSyntaxError
from dbpcfg.trees.tree import Tree

_NUMBER = re.compile(r"#\S*\s+")
_TOKEN = re.compile(r"([^()|]*)([()|]|$)")
_MARKS = re.compile(r"(?:#\s*(?:[^\s()]+\([^\s()]+\)\s*)*)?")
_MARK = re.compile(r"([^\s()]+)\(([^\s()]+)\)")
_SHOWN = 30
_LOOKS_LIKE = "a tree looks like S(agent:NP(Head:Nba:我)|Head:VA4:走)#。(PERIODCATEGORY)"


def _read(text: str, source: Source) -> Iterator[Sentence]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield Sentence.from_tree(_tree(line.strip()), source.name, number)
        except _NotATree as error:
            fault = Malformed(number, str(error), _LOOKS_LIKE)
            source.skip_or_raise(fault, number, number, "broken trees", TreeSyntaxError)


class _NotATree(Exception):
    """What is wrong with a line."""


def _tree(line: str) -> Tree:
    number = _NUMBER.match(line)
    unclosed: list[tuple[str, list[Tree]]] = []
    complete = False  # a phrase has just been closed
    for token in _TOKEN.finditer(line, number.end() if number else 0):
        text, sign = token[1].strip(), token[2]
        if complete and text:
            raise _NotATree(f"found {_named(line, token.start())}, expected '|' or ')'")
        if sign == "(":
            unclosed.append((_label(text), []))
            complete = False
            continue
        if not unclosed or not sign:
            expected = f"{len(unclosed)} more ')'" if unclosed else "a label and '('"
            raise _NotATree(f"found {_named(line, token.start(2))}, expected {expected}")
        if not complete:
            unclosed[-1][1].append(_leaf(text))
        complete = sign == ")"
        if complete:
            phrase = Tree(*unclosed.pop())
            if not unclosed:
                return Tree("ROOT", [phrase, *_marks(line[token.end() :].strip())])
            unclosed[-1][1].append(phrase)
    raise AssertionError("the last token is the end of the line")


def _label(text: str) -> str:
    label = text.rpartition(":")[2]
    if not label or len(text.split()) > 1:
        raise _NotATree(f"found the label {text[:_SHOWN]!r}, expected one such as agent:NP")
    return label


def _leaf(text: str) -> Tree:
    role, _, tag_and_word = text.partition(":")
    tag, colon, word = tag_and_word.partition(":")
    if not colon:  # no role
        tag, word = role, tag_and_word
    if not tag or not word or len(text.split()) > 1:
        raise _NotATree(f"found {text[:_SHOWN]!r}, expected a word such as Head:Nba:我")
    return Tree(tag, (word,))


def _marks(text: str) -> Iterator[Tree]:
    if not _MARKS.fullmatch(text):
        raise _NotATree(
            f"found {text[:_SHOWN]!r} after the tree, expected '#' and punctuation with its tag"
        )
    for mark in _MARK.finditer(text, 1):
        yield Tree(mark[2], (mark[1],))


def _named(line: str, start: int) -> str:
    return f"{line[start : start + _SHOWN]!r}" if start < len(line) else "the end of the line"


SINICA = CorpusReader(
    _read,
    (".parsed", ".sinica"),
    re.compile(r"\s*#[0-9]\S*\[[0-9]*\]\s*[^\s(#]+\(", re.ASCII).match,
)
