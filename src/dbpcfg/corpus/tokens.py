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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from dbpcfg.corpus.sentence import by_characters
from dbpcfg.options import check_choice

Tokens: TypeAlias = Literal["space", "punctuation", "penn"]
TOKENS: tuple[Tokens, ...] = ("space", "punctuation", "penn")

_TITLES = "mr|mrs|ms|dr|st|prof|messrs|rev|gen|col|capt|lt|sgt|vs|etc"
_ABBREVIATION = re.compile(rf"(?:(?i:{_TITLES})|[^\W\d_](?:\.[^\W\d_])*)\.")
_PIECE = re.compile(r"\.{2,}|-{2,}|``|''|.", re.DOTALL)
_CLITIC = re.compile(r"(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))", re.IGNORECASE)
FEW = 200
"""Words or sentences from which on a text is judged."""
UNSPLIT = 6
"""Characters of a word that may be a sentence."""
_CLOSING = "\"'”’)]}»"
_FINAL = ".!?…。！？"


def split_tokens(text: str, tokens: Tokens = "space") -> list[str]:
    """Split a text into tokens."""
    check_choice("tokens", tokens, TOKENS)
    words = text.split()
    if tokens == "space":
        return words
    found = [token for word in words for token in _pieces(word, tokens == "penn")]
    return found if tokens == "punctuation" else [t for token in found for t in _clitics(token)]


def doubts(sentences: Iterable[Sequence[str]]) -> Iterator[str]:
    """What makes a text look as if it were not ready, and what to do about it."""
    lines = alone = marks = words = glued = 0
    example = ""
    forms: Counter[str] = Counter()
    for sentence in sentences:
        lines += 1
        alone += len(sentence) == 1 and len(sentence[0]) >= UNSPLIT
        for word in sentence:
            forms[word.lower()] += 1
    for word, number in forms.items():
        words += number
        pieces = _pieces(word, penn=False)
        if len(pieces) > 1:
            glued, example = glued + number, example or word
        marks += number * by_characters([word])[0]
    if lines >= FEW and alone > lines / 2:
        yield (
            f"{alone:,} of {lines:,} sentences are a single long word: is the text split into "
            "words? There is nothing to learn within a word. A word segmenter helps: fugashi or "
            "sudachipy for Japanese, jieba or pkuseg for Chinese, pythainlp for Thai"
        )
    if words >= FEW and glued > max(marks, words / 50):
        yield (
            f"{glued:,} of {words:,} words have punctuation attached, such as {example!r}: with "
            "--tokens punctuation it becomes words of its own, with --tokens penn English clitics "
            "do too"
        )
    if words >= FEW and len(forms) > 0.7 * words:
        yield (
            f"{len(forms):,} of {words:,} words are different: hardly any is repeated, and what "
            "occurs once teaches little. More text helps, and so may --rare 1"
        )


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
    found = _CLITIC.fullmatch(token)
    return [found[1], found[2]] if found else [token]
