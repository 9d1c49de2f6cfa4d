"""A model that reads sentences word by word, and how far a beam is from the exact measures.

`IncrementalReader.read` gives a `MeasuredSentence` for each sentence: all that columns of surprisal
(``columns``) are computed from.

**The error of a beam** is measured on a sample of the sentences: the first one and every 50th after
it; if that is more than 20, every 100th, and so on, so that it is spread over a text of any length,
always the same, and never large. They are followed once more with all stores, as far as these fit
into memory; if that would take long, every second one is left out until it does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbpcfg.corpus.preparation import LogFrequencies
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import SentenceRows
from dbpcfg.errors import GrammarError
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.leftcorner.derivation_entropy import DerivationEntropies
from dbpcfg.parsing.leftcorner.models import Fragment
from dbpcfg.parsing.leftcorner.parser import WordByWord
from dbpcfg.parsing.leftcorner.tracing import Trace

if TYPE_CHECKING:
    from dbpcfg.model.model import Model, WordForm

EMPTY = "-"
"""How a store without fragments is written."""
BIT = math.log(2)
"""In nats."""
BATCH = 32
"""Sentences that are parsed at once, for each thread."""
REMEMBERED = 2**16
"""Words of which the form is not looked up again."""


class IncrementalReader:
    """A model's grammar, ready to read sentences word by word.

    ``depth``: the memory bound; the model's if not given.
    ``beam``: the number of stores kept at each word; 0 for all; None for all unless they are too
    many.
    """

    def __init__(self, model: Model, depth: int | None = None, beam: int | None = None) -> None:
        depth = model.depth if depth is None else depth
        if depth is None:
            raise GrammarError(
                "word-by-word measures need a memory bound, and this model has none: "
                "choose one with --depth, such as --depth 2 (in Python, depth=2)"
            )
        self.model = model
        self.parser = WordByWord(model.grammar_with_unknown, depth, beam)

    @cached_property
    def derivations(self) -> DerivationEntropies:
        """What computes the entropy of derivations; an error with a beam."""
        return DerivationEntropies(self.parser)

    def store(self, number: int) -> str:
        """A store in words, such as ``S/VP NP/N``; nothing for an unknown one."""
        if number <= 0:
            return EMPTY if number == 0 else ""
        names = self.model.grammar.names
        return " ".join(str(Fragment(names[a], names[b])) for a, b in self.parser.fragments(number))

    def read(
        self,
        given: Iterable[SentenceRows],
        threads: int = 1,
        frequencies: LogFrequencies | None = None,
    ) -> Iterator[MeasuredSentence]:
        """Read sentences, in order; results do not depend on ``threads``."""
        look_up = lru_cache(REMEMBERED)(self.model.look_up)
        numbered = enumerate(given, start=1)
        while batch := list(islice(numbered, 1 if threads == 1 else BATCH * threads)):
            forms = [[look_up(word) for word in rows.sentence.words] for _, rows in batch]
            words = [np.array([form.number for form in one], dtype=np.int32) for one in forms]
            followed = self.parser.follow_all(words, threads)
            for (number, rows), one, (trace, entropies) in zip(batch, forms, followed, strict=True):
                yield MeasuredSentence(self, number, rows, one, trace, entropies / BIT, frequencies)


@dataclass(frozen=True, eq=False)
class MeasuredSentence:
    """A sentence under one grammar: what columns are computed from.

    Arrays have an entry for each token and a last one for the sentence's end.
    """

    reader: IncrementalReader
    number: int
    """Among the sentences of the text, from 1."""
    rows: SentenceRows
    """The sentence, and which of its tokens are a row together."""
    forms: list[WordForm]
    """What the model sees in place of each word."""
    trace: Trace
    """What the incremental parser knew, in nats."""
    entropies: Floats
    """Of what comes next, before each token; in bits."""
    frequencies: LogFrequencies | None = None
    """The frequencies of words in a corpus, if there is one."""

    @property
    def sentence(self) -> Sentence:
        """The sentence."""
        return self.rows.sentence

    @property
    def tokens(self) -> int:
        """The number of tokens, with the end."""
        return len(self.forms) + 1

    @cached_property
    def surprisal(self) -> Floats:
        """In bits."""
        surprisal: Floats = -self.trace.logs / BIT
        return surprisal

    @cached_property
    def derivation_entropies(self) -> Floats:
        """Before each token, and after the end; in bits."""
        numbers = [form.number for form in self.forms]
        return self.reader.derivations.follow(numbers) / BIT

    def stores(self) -> list[str]:
        """The most probable store before each token."""
        return [self.reader.store(number) for number in self.trace.best.tolist()]


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


class BeamSample:
    """Collects sentences measured with a beam, and measures some of them exactly.

    ``readers``: one for each grammar, all with the same bound and beam. The sentences of the sample
    take turns with the grammars.
    """

    def __init__(self, readers: Sequence[IncrementalReader]) -> None:
        self.readers, self.parser = readers, readers[0].parser
        self.step, self.seen = FIRST_STEP, 0
        self.kept: list[MeasuredSentence] = []

    def add(self, measured: Sequence[MeasuredSentence]) -> None:
        """Take note of a sentence, measured under each grammar."""
        number, self.seen = self.seen, self.seen + 1
        if number % self.step:
            return
        self.kept.append(measured[number // self.step % len(self.readers)])
        if len(self.kept) > MOST_SENTENCES:
            del self.kept[1::2]
            self.step *= 2

    @property
    def affordable(self) -> bool:
        """Whether all stores fit into memory."""
        return self.parser.exact_bytes <= MOST_BYTES

    def error(self, threads: int = 1, quiet: bool | None = True) -> BeamError | None:
        """The differences; None if there is nothing to compare, or not enough memory.

        ``quiet``: whether no progress is shown; if None, it is on a terminal or in a notebook.
        """
        if not self.kept or not self.affordable:
            return None
        threads = max(1, min(threads, MOST_BYTES // self.parser.exact_bytes))
        with Progress("exact measures of a sample", None, quiet) as progress:
            compared = [one for one in self._compared(threads, progress) if one is not None]
        if not compared:
            return None
        worst = max(compared, key=lambda one: one.greatest)  # the first of equals
        words = sum(one.words for one in compared)
        mean = math.fsum(one.words * one.mean for one in compared) / words
        return worst._replace(sentences=len(compared), words=words, mean=mean)

    def _compared(self, threads: int, progress: Progress) -> Iterator[BeamError | None]:
        """Compare each sentence, in the order of the grammars."""
        sample, done = self._affordable_sample(), 0
        for reader in self.readers:
            ours = [one for one in sample if one.reader is reader]
            exact = reader.parser.exact() if ours else reader.parser
            for first in range(0, len(ours), threads):
                block = ours[first : first + threads]
                words = [
                    np.array([form.number for form in one.forms], dtype=np.int32) for one in block
                ]
                for one, followed in zip(block, exact.follow_all(words, threads), strict=True):
                    yield _difference(one, followed.trace)
                done += len(block)
                progress.update(done)

    def _affordable_sample(self) -> list[MeasuredSentence]:
        """The sample, less what would take too long."""
        chosen = self.kept
        while len(chosen) > 1 and (
            sum(len(one.forms) for one in chosen) * self.parser.stores > MOST_STEPS
        ):
            chosen = chosen[::2]
        return chosen


def _difference(one: MeasuredSentence, exact: Trace) -> BeamError | None:
    """Compare the surprisals of a sentence that are known and finite."""
    with np.errstate(invalid="ignore"):
        logs = np.abs(one.trace.logs - exact.logs)
    known = np.flatnonzero(np.isfinite(logs))
    if not len(known):
        return None
    bits = logs[known] / BIT
    worst, sentence = int(bits.argmax()), one.sentence
    place = sentence.source, sentence.line, int(known[worst]) + 1
    return BeamError(1, len(known), float(bits.mean()), float(bits[worst]), *place)
