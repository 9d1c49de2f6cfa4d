"""CHAT: the transcripts of CHILDES and TalkBank (``.cha``).

Lines begin with ``@`` (headers), ``*`` (who speaks, and what: the main line), ``%`` (annotation,
which is skipped) or a tab (continues the line before).  Everything happens between ``@Begin`` and
``@End``; text that is not like this is an error, not an empty transcript.  Several transcripts may
follow each other.

By default the speech of everyone but the target child is read, that is, speech *to* a child.  The
target child is the speaker with the role ``Target_Child`` in ``@Participants`` or ``@ID``, or
``CHI`` if no speaker has this role.  Speakers are chosen by code (``MOT``), name or role
(``Mother``); any choice replaces the default, so an empty list of excluded speakers reads everyone.
The age of the target child is in its ``@ID``.

Broken lines can be skipped; a transcript without ``@End`` is then read to its last line.

Utterances without words, and those of other speakers, are dropped and counted.  Main lines are
cleaned: words and punctuation stay.  Retraced, untranscribed and omitted words, fillers, fragments,
events and asides are removed and counted.

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

Contractions stay whole (*don't*), unlike in treebanks.  Utterances with brackets that do not match
are dropped.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dbpcfg.corpus.readers import CorpusReader, Malformed, Source, parse_age
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError

_BULLET = re.compile(r"\x15[^\x15]*\x15")
_PAUSE = r"\([\d.:]+\)"
_TOKEN = re.compile(
    rf"""
      \[[^\[\]]*\]               # a code
    | \+[/."!?]*[.?!]            # how the utterance ends
    | \+[<"^,+≈≋]                # how it is linked to the one before
    | &[^\s\[\]<>]*              # a filler, fragment, event or aside
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
_TERMINATOR = re.compile(r"\+.*[.?!]")
_GLUED_END = re.compile(r"(.*[^.?!])([.?!]+)")
_INSIDE_WORDS = re.compile(rf"{_PAUSE}|↫[^↫]*↫|[⌈⌉⌊⌋][2-9]?")  # pauses, stutters, overlaps
_SIGNS = dict.fromkeys(
    [*range(0x20), 0x7F, *map(ord, '():^ˈˌ↑↓→↗↘⇗⇘∞≈≋≡≠∙∆∇∬⁎⁇°◉▁▔☺♋§↻∮↫“”‘‹›«»"')]
)


_LETTERS = "A-Za-zÀ-ÖØ-öø-ÿ_'"
_PLAIN = re.compile(
    rf"(?:\s*(?![_']|(?:xxx?|yyy?|www)(?![{_LETTERS}]))[{_LETTERS}]+(?=\s|$))+\s*", re.IGNORECASE
)
"""Words only, as in most cells of tables: there is nothing to clean."""

LEFT_OUT = "retraced, unclear and omitted words, fillers and events"
"""The name under which these are counted."""


class Utterance(NamedTuple):
    """The words of an utterance, or none."""

    words: tuple[str, ...]
    """The words and punctuation."""
    why_empty: str = ""
    """The reason if there are none."""
    left_out: int = 0
    """The number of words and events that were left out."""


def clean_utterance(line: str) -> Utterance:
    """Clean the main line of an utterance."""
    if _PLAIN.fullmatch(line):
        return Utterance(tuple(map(sys.intern, line.split())))
    transcribed = _apply_codes(_BULLET.sub(" ", line))
    if transcribed is None:
        return Utterance((), "utterances with brackets that do not match")
    spoken, left_out = transcribed
    last = spoken[-1] if spoken else ""
    end = _GLUED_END.fullmatch(last) or _GLUED_END.fullmatch(_without_markers(last))
    if end is not None and not _TERMINATOR.fullmatch(last):
        spoken[-1:] = end[1], "+" + end[2]
    words = tuple(sys.intern(word) for word in map(_word, spoken) if word)
    if any(character.isalnum() for word in words for character in word):
        left_out += sum(_is_word_or_event(token) for token in spoken if not _word(token))
        return Utterance(words, left_out=left_out)
    if any(_without_markers(token).casefold() in _UNTRANSCRIBED for token in spoken):
        return Utterance((), "utterances with untranscribed words only")
    return Utterance((), "utterances without words")


def _apply_codes(line: str) -> tuple[list[str], int] | None:
    """Apply codes; return the remaining tokens and the number of removed words and events.

    None if brackets do not match.
    """
    tokens: list[str] = []
    removed = 0
    scopes: list[int] = []  # where each open scope begins in `tokens`
    spans: list[list[int]] = [[]]  # the same for the words and closed scopes inside each
    for token in _TOKEN.findall(line):
        if token in ("[", "]") or (token == ">" and not scopes):
            return None
        if token == "<":
            scopes.append(len(tokens))
            spans.append([])
        elif token == ">":
            spans.pop()
            spans[-1].append(scopes.pop())
        elif token[0] == "[":
            code = token[1:-1].split(maxsplit=1)
            if code and code[0] in _REMOVED and spans[-1]:
                start = spans[-1].pop()
                removed += sum(map(_is_word_or_event, tokens[start:]))
                del tokens[start:]
            elif len(code) == 2 and code[0] == ":":
                tokens[spans[-1][-1] if spans[-1] else len(tokens) :] = _TOKEN.findall(code[1])
        else:
            if token[0] not in _SEPARATORS and not re.fullmatch(_PAUSE, token):
                spans[-1].append(
                    len(tokens)
                )  # a code after a comma or pause is about what precedes
            tokens.append(token)
    return None if scopes else (tokens, removed)


def _is_word_or_event(token: str) -> bool:
    """Whether a token is a word or an event, and not a sign or a pause."""
    return token[0] != "+" and any(map(str.isalpha, token))


def _word(token: str) -> str:
    """The word or punctuation mark of a token; empty if it has none."""
    if token[0] in "&0#":
        return ""
    if _TERMINATOR.fullmatch(token):
        return "..." if token.endswith("...") else token[-1]
    if token[0] in _SEPARATORS:
        return ";" if token == ";" else ","
    if token in (".", "?", "!", ":", "..."):
        return token
    word = _without_markers(token)
    heard = any(character.isalnum() for character in word)
    return word if heard and word.casefold() not in _UNTRANSCRIBED else ""


def _without_markers(token: str) -> str:
    """A word without its markers."""
    word, _, _ = token.partition("@")
    word = word[:1] + word[1:].partition("$")[0]
    word = _INSIDE_WORDS.sub("", word).translate(_SIGNS)
    return word.strip("+").replace("+", "_")


_MAIN = re.compile(r"\*([^\s:*]+):(.*)", re.DOTALL)
_TARGET_ROLE, _TARGET_CODE = "Target_Child", "CHI"
_EXPECTED = "a CHAT transcript has its utterances between the lines @Begin and @End"
# The fields of @ID: language|corpus|code|age|sex|group|SES|role|education|custom
_CODE, _AGE, _ROLE = 2, 3, 7


def _read(text: str, source: Source) -> Iterator[Sentence]:
    speakers, removed = source.speakers, source.removed

    def fault(number: int, found: str, expected: str) -> None:
        wrong = Malformed(number, f"found {found}, expected {expected}", _EXPECTED)
        source.skip_or_raise(wrong, number, number, "broken lines")

    participants: dict[str, dict[str, None]] = {}  # the names and roles of each code
    ages: dict[str, float | None] = {}
    begun_at = ended_at = 0
    for number, line in _logical_lines(text, fault):
        keyword, _, value = line.partition(":")
        first = line.split(maxsplit=1)[0]
        if first == "@Begin":
            if begun_at:
                fault(number, "a second @Begin", f"@End after line {begun_at}")
            begun_at, participants, ages = number, {}, {}
        elif first == "@End":
            if not begun_at:
                fault(number, "@End", "@Begin before it")
                continue
            begun_at, ended_at = 0, number
        elif keyword == "@Participants":
            for participant in value.split(","):
                code, *names = participant.split() or [""]
                participants.setdefault(code, {}).update(dict.fromkeys(names))
        elif keyword == "@ID":
            fields = [entry.strip() for entry in value.split("|")]
            if len(fields) > _AGE:
                ages[fields[_CODE]] = parse_age(fields[_AGE])
            if len(fields) > _ROLE and fields[_ROLE]:
                participants.setdefault(fields[_CODE], {})[fields[_ROLE]] = None
        elif line[0] == "*":
            main = _MAIN.fullmatch(line)
            if main is None:
                fault(number, repr(line[:40]), "a speaker and a colon, like *MOT:")
                continue
            if not begun_at:
                fault(number, f"an utterance of {main[1]}", "@Begin before it")
                continue
            code = main[1]
            if not speakers.includes((code, *participants.get(code, ()))) or (
                speakers.is_default and _is_target(code, participants)
            ):
                removed[f"utterances of {code}"] += 1
                continue
            if source.ages and (why := source.ages.reason_to_skip(_target_age(ages, participants))):
                removed[why] += 1
                continue
            words, why_empty, left_out = clean_utterance(main[2])
            if words:
                if left_out:
                    removed[LEFT_OUT] += left_out
                yield Sentence(words, speaker=code, source=source.name, line=number)
            else:
                removed[why_empty] += 1
    if begun_at:
        fault(begun_at, "no @End after this @Begin", "one; is the file cut off?")
        ended_at = begun_at
    if not ended_at:
        found = "found no @Begin, expected a CHAT transcript"
        raise DbpcfgError(f"{source.name}:1: {found}; {_EXPECTED}")


def _logical_lines(text: str, fault: Callable[[int, str, str], None]) -> Iterator[tuple[int, str]]:
    """Each line, joined with its continuation lines, and its number."""
    start, pieces = 0, list[str]()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        if line[0] in "@*%":
            if pieces:
                yield start, " ".join(pieces)
            start, pieces = number, [line.rstrip()]
        elif line[0].isspace() and pieces:
            pieces.append(line.strip())
        else:
            fault(number, repr(line[:40]), "a line that begins with @, *, % or tab")
    if pieces:
        yield start, " ".join(pieces)


def _target_age(
    ages: dict[str, float | None], participants: dict[str, dict[str, None]]
) -> float | None:
    """The age of the target child; the first one if there are several."""
    target_ages = (age for code, age in ages.items() if _is_target(code, participants))
    return next((age for age in target_ages if age is not None), None)


def _is_target(code: str, participants: dict[str, dict[str, None]]) -> bool:
    if any(_TARGET_ROLE in names for names in participants.values()):
        return _TARGET_ROLE in participants.get(code, ())
    return code == _TARGET_CODE


CHAT = CorpusReader(
    _read,
    (".cha",),
    re.compile(r"\s*@(?:UTF8|Begin|Font|Window|PID)\b").match,
    has_speakers=True,
    has_ages=True,
)
