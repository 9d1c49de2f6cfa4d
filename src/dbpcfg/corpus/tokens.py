"""Split text into tokens.

=================  =============================================================================
``"space"``        at white space
``"punctuation"``  also punctuation at the ends of words; several full stops are one token, and that
                   of an abbreviation such as ``Mr.`` or ``J.`` is not split
``"penn"``         also English clitics, as in the Penn Treebank: ``do n't``, ``dog 's``; double
                   quotes become opening and closing pairs
=================  =============================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from dbpcfg.corpus.sentence import by_characters
from dbpcfg.options import check_choice

Tokens: TypeAlias = Literal["space", "punctuation", "penn"]
TOKENS: tuple[Tokens, ...] = ("space", "punctuation", "penn")

_TITLES = "mr|mrs|ms|dr|st|prof|messrs|rev|gen|col|capt|lt|sgt|vs|etc"
_ABBREVIATION = re.compile(rf"(?:(?i:{_TITLES})|[^\W\d_](?:\.[^\W\d_])*)\.")
_PIECE = re.compile(r"\.{2,}|-{2,}|``|''|.", re.DOTALL)
_CLITIC = re.compile(r"(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))", re.IGNORECASE)
_ALONE = re.compile(r"n['’]t|['’](?:s|re|ve|ll|d|m)", re.IGNORECASE)
_STRAY = 10
"""With so many contractions, a single separate clitic is an exception."""
_CLOSING = "\"'”’)]}»"
_FINAL = ".!?…。！？"


def split_tokens(text: str, tokens: Tokens = "space") -> list[str]:
    """Split a text into tokens."""
    check_choice("tokens", tokens, TOKENS)
    words = text.split()
    if tokens == "space":
        return words
    pieces = [piece for word in words for piece in _pieces(word, tokens == "penn")]
    return pieces if tokens == "punctuation" else [t for piece in pieces for t in _clitics(piece)]


def is_clitic(token: str) -> bool:
    """Whether a token is an English clitic, such as *'s*, *n't* or *'ll*."""
    return _ALONE.fullmatch(token) is not None


def is_contraction(token: str) -> bool:
    """Whether a token is a word with its clitic, such as *that's* or *don't*."""
    return _CLITIC.fullmatch(token) is not None


def describe_contractions(words: Iterable[str]) -> str:
    """Describe whether English contractions are whole, split or both; empty if there are none."""
    contractions: list[str] = []
    clitics: list[str] = []
    for word in words:
        if is_clitic(word):
            clitics.append(word)
        elif is_contraction(word):
            contractions.append(word)
    if not contractions and not clitics:
        return ""
    if len(clitics) <= (len(contractions) >= _STRAY):
        return f"contracted forms are whole, as {contractions[0]}"
    if len(contractions) <= len(clitics):
        return f"contracted forms are split, with {clitics[0]} as a word"
    return (
        f"contracted forms are partly whole, as {contractions[0]}, partly split, with {clitics[0]}"
    )


def ends_sentence(word: str) -> bool:
    """Whether a word ends a sentence: with . ! or ?, and possibly closing quotes and brackets."""
    bare = word.rstrip().rstrip(_CLOSING)
    return bool(bare) and bare[-1] in _FINAL and not _ABBREVIATION.fullmatch(bare.lstrip("\"'(“‘"))


def _pieces(word: str, penn: bool) -> list[str]:
    """A word and the punctuation at its ends as tokens."""
    pieces = _PIECE.findall(word)
    silent = by_characters(pieces)
    if all(silent):
        return [_quote(word, True)] if penn else [word]
    first = silent.index(False)
    last = len(pieces) - silent[::-1].index(False)
    core, closing = "".join(pieces[first:last]), pieces[last:]
    if closing[:1] == ["."] and _ABBREVIATION.fullmatch(core + "."):
        core, closing = core + ".", closing[1:]
    if first and pieces[first - 1] in ("'", "’") and _CLITIC.fullmatch("x" + "'" + core):
        first, core = first - 1, pieces[first - 1] + core  # a clitic by itself: 's
    opening = pieces[:first]
    if penn:
        opening, closing = [_quote(p, True) for p in opening], [_quote(p, False) for p in closing]
    return [*opening, core, *closing]


def _quote(piece: str, opening: bool) -> str:
    if piece in ('"', "“", "”"):
        return "``" if piece == "“" or (opening and piece != "”") else "''"
    return piece


def _clitics(token: str) -> list[str]:
    match = _CLITIC.fullmatch(token)
    return [match[1], match[2]] if match else [token]
