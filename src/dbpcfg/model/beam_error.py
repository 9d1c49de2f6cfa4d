"""How far surprisals with a beam are from the exact ones, measured on a sample of the sentences.

The sample is the first sentence and every 50th after it; if that is more than 20, every 100th, and
so on, so that it is spread over a text of any length, always the same, and never large. Its
sentences are followed once more with all stores, as far as these fit into memory; if that would
take long, every second one of them is left out until it does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.io.progress import Progress
from dbpcfg.model.measures import MeasuredSentence
from dbpcfg.parsing.leftcorner.parser import Followed, WordByWord

FIRST_STEP = 50
"""One in so many sentences is in the sample of a short text: 2 %."""
MOST_SENTENCES = 20
MOST_BYTES = 2**30
"""No error is measured if the tables of all stores are larger."""
MOST_STEPS = 2 * 10**9
"""Stores followed over a word in the whole sample, at most: some 20 seconds."""


class BeamError(NamedTuple):
    """The difference between surprisals with a beam and exact ones, in bits."""

    sentences: int
    """Sentences that were compared."""
    words: int
    """Their surprisals, with those of the ends."""
    mean: float
    """The mean absolute difference."""
    greatest: float
    """The greatest absolute difference."""
    source: str
    """The file with the word at which it is greatest."""
    line: int
    """The line where its sentence begins."""
    token: int
    """The number of the word in its sentence, from 1."""


class _Sampled(NamedTuple):
    sentence: Sentence
    grammar: int
    measured: MeasuredSentence


class BeamSample:
    """Collects sentences measured with a beam, and measures some of them exactly.

    ``parsers``: the parser of each grammar, all with the same bound and beam. The sentences of the
    sample take turns with the grammars.
    """

    def __init__(self, parsers: Sequence[WordByWord]) -> None:
        self.parsers = parsers
        self.step = FIRST_STEP
        self.seen = 0
        self._kept: list[_Sampled] = []

    def add(self, sentence: Sentence, measured: Sequence[MeasuredSentence]) -> None:
        """Take note of a sentence."""
        number, self.seen = self.seen, self.seen + 1
        if number % self.step:
            return
        grammar = number // self.step % len(self.parsers)
        self._kept.append(_Sampled(sentence, grammar, measured[grammar]))
        if len(self._kept) > MOST_SENTENCES:
            del self._kept[1::2]
            self.step *= 2

    @property
    def affordable(self) -> bool:
        """Whether all stores fit into memory."""
        return self.parsers[0].exact_bytes <= MOST_BYTES

    def error(self, threads: int = 1, quiet: bool | None = True) -> BeamError | None:
        """Measure the sample exactly.

        ``quiet``: whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook.
        Returns the differences; None if there is nothing to compare, or not enough memory.
        """
        if not self._kept or not self.affordable:
            return None
        threads = max(1, min(threads, MOST_BYTES // self.parsers[0].exact_bytes))
        with Progress("exact measures of a sample", None, quiet) as progress:
            compared = [
                one for one in self._compared(self._chosen(), threads, progress) if one is not None
            ]
        if not compared:
            return None
        worst = max(compared, key=lambda one: one.greatest)  # the first of equals
        words = sum(one.words for one in compared)
        mean = math.fsum(one.words * one.mean for one in compared) / words
        return worst._replace(sentences=len(compared), words=words, mean=mean)

    def _compared(
        self, sample: list[_Sampled], threads: int, progress: Progress
    ) -> Iterator[BeamError | None]:
        """Compare each sentence, in the order of the grammars."""
        done = 0
        for grammar, parser in enumerate(self.parsers):
            ours = [one for one in sample if one.grammar == grammar]
            exact = parser.exact() if ours else parser
            for first in range(0, len(ours), threads):
                block = ours[first : first + threads]
                words = [np.array(one.measured.numbers, dtype=np.int32) for one in block]
                for one, followed in zip(block, exact.follow_all(words, threads), strict=True):
                    yield _difference(one, followed)
                done += len(block)
                progress.update(done)

    def _chosen(self) -> list[_Sampled]:
        """The sample, less what would take too long."""
        chosen = self._kept
        stores = self.parsers[0].stores
        while len(chosen) > 1 and sum(map(_length, chosen)) * stores > MOST_STEPS:
            chosen = chosen[::2]
        return chosen


def _length(one: _Sampled) -> int:
    return len(one.sentence.words)


def _difference(one: _Sampled, exact: Followed) -> BeamError | None:
    """Compare the surprisals of a sentence that are known and finite."""
    with np.errstate(invalid="ignore"):
        logs = np.abs(one.measured.followed.trace.logs - exact.trace.logs)
    known = np.flatnonzero(np.isfinite(logs))
    if not len(known):
        return None
    bits = logs[known] / math.log(2)
    worst, sentence = int(bits.argmax()), one.sentence
    place = sentence.source, sentence.line, int(known[worst]) + 1
    return BeamError(1, len(known), float(bits.mean()), float(bits[worst]), *place)
