"""The main line of a CHAT transcript, cleaned: what was said, as words and punctuation.

=======================================  ==========================================================
in the transcript                        in the corpus
=======================================  ==========================================================
``the [/] the``, ``<it is> [//] it's``   retraced words go: also ``[///] [/-] [/?]``; and what
                                         ``[e]`` excludes
``goed [: went]``                        the replacement; ``[:: …]``, on a real word, is ignored
``[*] [= …] [=! …] [% …] [+ …] [?] …``   any other code in square brackets goes, its words stay
``<…>``                                  only shows what a code is about
``&-um &+fr &=laughs &*MOT:yes``         fillers, fragments, events, asides: go
``xxx yyy www``, ``0is``                 untranscribed and omitted words: go
``(be)cause``, ``(.) (1.5) #``           *because*; pauses go
``woof@o``, ``hola@s:spa``, ``run$v``    the word before the marker
``ice+cream``, ``ice_cream``             one word, *ice_cream*
``no::``, ``ba^by``, ``↑yes↓``           lengthening, stress, and other signs inside words go
``. ? !``                                stay, as punctuation
``+/. +//. +. +"/. +".``                 *.*
``+..? +/? +//? +!?``                    *?*
``+...``                                 *...*
``, ; :``                                stay; ``„`` and ``‡``, and ``,,``, become *,*
``+< +" ++ +^ +,``, quotation marks      go, and so do time bullets
=======================================  ==========================================================

Contractions stay whole (*don't*), where treebanks split them.  An utterance with brackets that do
not match has no words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Utterance", "clean_utterance"]

_BULLET = re.compile(r"\x15[^\x15]*\x15")
_PAUSE = r"\([\d.:]+\)"
_TOKEN = re.compile(
    rf"""
      \[[^\[\]]*\]               # a code
    | \+[/."!?]*[.?!]            # how the utterance ends
    | \+[<"^,+≈≋]                # how it is linked to the one before
    | &[^\s\[\]<>]*              # nothing said, or nothing that counts
    | {_PAUSE}
    | [\[\]<>]
    | [,„‡]+ | ;
    | [^\s\[\]<>,;„‡]+           # a word
    """,
    re.VERBOSE,
)
_REMOVED = frozenset({"/", "//", "///", "/-", "/?", "e"})
_UNTRANSCRIBED = frozenset({"xxx", "yyy", "www", "xx", "yy"})
_SEPARATORS = frozenset(",;„‡")
_GLUED_END = re.compile(r"(.*[^.?!])([.?!]+)")
_INSIDE_WORDS = re.compile(rf"{_PAUSE}|↫[^↫]*↫|[⌈⌉⌊⌋][2-9]?")  # pauses, stutters, overlaps
_SIGNS = dict.fromkeys(
    [*range(0x20), 0x7F, *map(ord, '():^ˈˌ↑↓→↗↘⇗⇘∞≈≋≡≠∙∆∇∬⁎⁇°◉▁▔☺♋§↻∮↫“”‘‹›«»"')]
)


class Utterance(NamedTuple):
    """The words of an utterance, or none."""

    words: tuple[str, ...]
    """The words and punctuation."""
    why_empty: str = ""
    """The reason if there are none."""


def clean_utterance(line: str) -> Utterance:
    """Clean the main line of an utterance."""
    said = _said(_BULLET.sub(" ", line))
    if said is None:
        return Utterance((), "utterances with brackets that do not match")
    end = _GLUED_END.fullmatch(said[-1]) if said else None
    if end is not None and not said[-1].startswith("+"):
        said[-1:] = end[1], "+" + end[2]
    words = tuple(word for word in map(_word, said) if word)
    if any(character.isalnum() for word in words for character in word):
        return Utterance(words)
    if any(_bare(token).casefold() in _UNTRANSCRIBED for token in said):
        return Utterance((), "utterances with untranscribed words only")
    return Utterance((), "utterances without words")


def _said(line: str) -> list[str] | None:
    """The tokens left once codes have done their work, or `None` if brackets do not match."""
    said: list[str] = []
    opened: list[int] = []  # where each open scope begins in `said`
    items: list[list[int]] = [[]]  # the same for the words and closed scopes inside each
    for token in _TOKEN.findall(line):
        if token in ("[", "]") or (token == ">" and not opened):
            return None
        if token == "<":
            opened.append(len(said))
            items.append([])
        elif token == ">":
            items.pop()
            items[-1].append(opened.pop())
        elif token[0] == "[":
            code = token[1:-1].split(maxsplit=1)
            if code and code[0] in _REMOVED and items[-1]:
                del said[items[-1].pop() :]
            elif len(code) == 2 and code[0] == ":":
                said[items[-1][-1] if items[-1] else len(said) :] = _TOKEN.findall(code[1])
        else:
            if token[0] not in _SEPARATORS and not re.fullmatch(_PAUSE, token):
                items[-1].append(len(said))  # a code after a comma or pause is about what precedes
            said.append(token)
    return None if opened else said


def _word(token: str) -> str:
    """What a token says; nothing, if it says nothing."""
    if token[0] in "&0#":
        return ""
    if token[0] == "+" and token[-1] in ".?!":
        return "..." if token.endswith("...") else token[-1]
    if token[0] in _SEPARATORS:
        return ";" if token == ";" else ","
    if token in (".", "?", "!", ":", "..."):
        return token
    word = _bare(token)
    heard = any(character.isalnum() for character in word)
    return word if heard and word.casefold() not in _UNTRANSCRIBED else ""


def _bare(token: str) -> str:
    """A word without its markers."""
    word, _, _ = token.partition("@")
    word = word[:1] + word[1:].partition("$")[0]
    word = _INSIDE_WORDS.sub("", word).translate(_SIGNS)
    return word.strip("+").replace("+", "_")
