"""Words of a table as the tokens of a corpus: a word with its comma is two of them.

=================  =============================================================================
``"space"``        split at white space, as lines of plain text are
``"punctuation"``  then punctuation at the ends of a word becomes tokens; full stops in a row are
                   one, and the one of an abbreviation such as ``Mr.`` or ``J.`` stays
``"penn"``         then English clitics too, as in the Penn Treebank: ``do n't``, ``dog 's``; a
                   double quote becomes an opening or a closing pair
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
"""With so many contracted forms, a single clitic by itself is an exception."""
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
    """Say whether English contracted forms are whole words in a vocabulary, split, or both.

    Returns an empty text if there are none.
    """
    whole: list[str] = []
    clitics: list[str] = []
    for word in words:
        if is_clitic(word):
            clitics.append(word)
        elif is_contraction(word):
            whole.append(word)
    if not whole and not clitics:
        return ""
    if len(clitics) <= (len(whole) >= _STRAY):
        return f"contracted forms are whole, as {whole[0]}"
    if len(whole) <= len(clitics):
        return f"contracted forms are split, with {clitics[0]} as a word"
    return f"contracted forms are partly whole, as {whole[0]}, partly split, with {clitics[0]}"


def ends_sentence(word: str) -> bool:
    """Whether a word ends a sentence: by . ! or ?, after which quotes and brackets may close."""
    bare = word.rstrip().rstrip(_CLOSING)
    return bool(bare) and bare[-1] in _FINAL and not _ABBREVIATION.fullmatch(bare.lstrip("\"'(“‘"))


def _pieces(word: str, penn: bool) -> list[str]:
    """A word without the punctuation at its ends, which becomes tokens before and after it."""
    pieces = _PIECE.findall(word)
    silent = by_characters(pieces)
    if all(silent):
        return [_quote(word, True)] if penn else [word]
    first = silent.index(False)
    last = len(pieces) - silent[::-1].index(False)
    core, after = "".join(pieces[first:last]), pieces[last:]
    if after[:1] == ["."] and _ABBREVIATION.fullmatch(core + "."):
        core, after = core + ".", after[1:]
    if first and pieces[first - 1] in ("'", "’") and _CLITIC.fullmatch("x" + "'" + core):
        first, core = first - 1, pieces[first - 1] + core  # a clitic by itself: 's
    before = pieces[:first]
    if penn:
        before, after = [_quote(p, True) for p in before], [_quote(p, False) for p in after]
    return [*before, core, *after]


def _quote(piece: str, opening: bool) -> str:
    if piece in ('"', "“", "”"):
        return "``" if piece == "“" or (opening and piece != "”") else "''"
    return piece


def _clitics(token: str) -> list[str]:
    match = _CLITIC.fullmatch(token)
    return [match[1], match[2]] if match else [token]
