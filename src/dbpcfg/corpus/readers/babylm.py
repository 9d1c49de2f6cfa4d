"""The files of BabyLM: plain text with headings, and speakers in the part from CHILDES.

``= = = The title = = =`` is the heading of an article or book; it is removed and counted.  A line
``*MOT:`` and what was said is an utterance, cleaned as the main lines of CHAT are
(`dbpcfg.corpus.readers.chat`); speakers are chosen by code, and by default everyone but ``CHI`` is
read.  In the part from Switchboard the speakers are ``A:`` and ``B:``, before a tab.  All other
lines are plain text: one sentence per line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dbpcfg.corpus.readers import CorpusReader, Source
from dbpcfg.corpus.readers.chat import LEFT_OUT, clean_utterance
from dbpcfg.corpus.readers.text import lines_of, split_words
from dbpcfg.corpus.sentence import Sentence

_HEADING = re.compile(r"= = = .*\S = = =")
_SPOKEN = re.compile(r"\*([A-Z][A-Z0-9]*):(?:\s+(.*))?|([AB]):\t(.*)")
_RECOGNISED = re.compile(
    r"(?:\A|\n)= = = [^\n]*\S = = =[ \t]*(?:\r?\n|\Z)|\A\s*(?:\*[A-Z][A-Z0-9]{1,6}:[ \t]|[AB]:\t)"
)
_TARGET = "CHI"


def _read_lines(lines: Iterable[str], source: Source) -> Iterator[Sentence]:
    speakers, removed = source.speakers, source.removed
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if not line:
            removed["blank lines"] += 1
        elif _HEADING.fullmatch(line):
            removed["headings"] += 1
        elif spoken := _SPOKEN.fullmatch(line):
            code = spoken[1] or spoken[3]
            if not speakers.includes([code]) or (speakers.is_default and code == _TARGET):
                removed[f"utterances of {code}"] += 1
                continue
            words, why_empty, left_out = clean_utterance(spoken[2] or spoken[4] or "")
            if left_out:
                removed[LEFT_OUT] += left_out
            if words:
                yield Sentence(words, speaker=code, source=source.name, line=number)
            else:
                removed[why_empty] += 1
        elif speakers.include is not None:
            removed["lines without a speaker"] += 1
        else:
            words = split_words(line, f"{source.name}:{number}")
            yield Sentence(words, source=source.name, line=number)


def _read(text: str, source: Source) -> Iterator[Sentence]:
    return _read_lines(lines_of(text), source)


BABYLM = CorpusReader(_read, recognises=_RECOGNISED.search, has_speakers=True)
