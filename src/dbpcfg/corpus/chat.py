"""CHAT: the transcripts of CHILDES and TalkBank (``.cha``).

Lines begin with ``@`` (headers), ``*`` (who speaks, and what: the main line), ``%`` (annotation,
which is skipped) or a tab (continues the line before).  Everything happens between ``@Begin`` and
``@End``; text that is not like this is an error, not an empty transcript.  Several transcripts may
follow each other.

By default everyone's speech is read but the target child's, that is, speech *to* a child.  The
target child is the speaker with the role ``Target_Child`` in ``@Participants`` or ``@ID``, or
``CHI`` if no speaker has it.  Speakers are chosen by code (``MOT``), name or role (``Mother``); any
choice replaces the default, so that an empty list of excluded speakers reads everyone.

Lines that are broken can be skipped; a transcript without ``@End`` is then read to its last line.

`dbpcfg.corpus.utterance` cleans the main lines.  Utterances without words, and those of speakers
who were not chosen, are dropped and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from dbpcfg.corpus.notes import SKIP_HINT, Broken, Notes, SkippedPart
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.speakers import Speakers
from dbpcfg.corpus.utterance import clean_utterance
from dbpcfg.errors import DbpcfgError

__all__ = ["read_chat"]

_MAIN = re.compile(r"\*([^\s:*]+):(.*)", re.DOTALL)
_TARGET_ROLE, _TARGET_CODE = "Target_Child", "CHI"
_EXPECTED = "a CHAT transcript has its utterances between the lines @Begin and @End"
_CODE, _ROLE = 2, 7  # fields of @ID: language|corpus|code|age|sex|group|SES|role|education|custom


def read_chat(
    text: str,
    source: str = "<text>",
    dropped: Counter[str] | None = None,
    speakers: Speakers | None = None,
    *,
    broken: Broken = "error",
    notes: Notes | None = None,
) -> Iterator[Sentence]:
    """Read CHAT transcripts.

    ``dropped``: counts what is left out, by reason; without it, `notes` does.
    ``speakers``: whose utterances to read; by default everyone's but the target child's.
    """
    notes = Notes(Counter() if dropped is None else dropped) if notes is None else notes
    dropped = notes.dropped

    def fault(number: int, found: str, expected: str) -> None:
        error = _error(source, number, found, expected)
        if broken == "error":
            raise DbpcfgError(f"{error}; {SKIP_HINT}")
        reason = str(error).removesuffix(f"; {_EXPECTED}")
        notes.skip("broken lines", SkippedPart(source, number, number, reason))

    speakers = Speakers() if speakers is None else speakers
    participants: dict[str, dict[str, None]] = {}  # the names and roles of each code
    begun_at = ended_at = 0
    for number, line in _logical_lines(text, fault):
        keyword, _, value = line.partition(":")
        if line.split(maxsplit=1)[0] == "@Begin":
            if begun_at:
                fault(number, "a second @Begin", f"@End after line {begun_at}")
            begun_at, participants = number, {}
        elif line.split(maxsplit=1)[0] == "@End":
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
            if not speakers.take((code, *participants.get(code, ()))) or (
                speakers.by_default and _is_target(code, participants)
            ):
                dropped[f"utterances of {code}"] += 1
                continue
            words, why_empty = clean_utterance(main[2])
            if words:
                yield Sentence(words, speaker=code, source=source, line=number)
            else:
                dropped[why_empty] += 1
    if begun_at:
        fault(begun_at, "no @End after this @Begin", "one; is the file cut off?")
        ended_at = begun_at
    if not ended_at:
        raise _error(source, 1, "no @Begin", "a CHAT transcript")


def _logical_lines(text: str, fault: Callable[[int, str, str], None]) -> Iterator[tuple[int, str]]:
    """Each line, with those that continue it, and its number."""
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


def _is_target(code: str, participants: dict[str, dict[str, None]]) -> bool:
    if any(_TARGET_ROLE in names for names in participants.values()):
        return _TARGET_ROLE in participants.get(code, ())
    return code == _TARGET_CODE


def _error(source: str, number: int, found: str, expected: str) -> DbpcfgError:
    return DbpcfgError(f"{source}:{number}: found {found}, expected {expected}; {_EXPECTED}")
