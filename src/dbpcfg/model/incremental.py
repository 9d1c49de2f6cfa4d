"""A model that reads sentences word by word.

`IncrementalReader.read` gives a `MeasuredSentence` for each sentence: all that columns of surprisal
(``columns``) are computed from. Most of it follows from the chart (``parsing.prefixes``); stores
and the entropy of derivations are the left-corner parser's, which is asked for them only if a
column needs them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preparation import LogFrequencies
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import SentenceRows
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.io.machine import in_pieces
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.leftcorner.derivation_entropy import DerivationEntropies
from dbpcfg.parsing.leftcorner.models import Fragment
from dbpcfg.parsing.leftcorner.parser import WordByWord
from dbpcfg.parsing.leftcorner.tracing import Trace
from dbpcfg.parsing.parsers import prefix_parser_of
from dbpcfg.parsing.prefixes import Prefixes

if TYPE_CHECKING:
    from dbpcfg.model.model import Model, WordForm

EMPTY = "-"
"""How a store without fragments is written."""
BIT = math.log(2)
"""In nats."""
TOGETHER = 256
"""Sentences that are read at once."""
REMEMBERED = 2**16
"""Words of which the form is not looked up again."""


class IncrementalReader:
    """A model's grammar, ready to read sentences word by word.

    ``depth``: the memory bound; the model's if not given.
    ``needs``: what columns are computed from beside the chart: ``"entropies"`` of next words,
    ``"stores"``, ``"derivations"``. It is computed on all threads, and anything else when it is
    asked for.
    """

    def __init__(self, model: Model, depth: int | None = None, needs: Collection[str] = ()) -> None:
        self.model, self.needs = model, needs
        self.depth = model.depth if depth is None else depth
        self.parser = prefix_parser_of(model.grammar_with_unknown, self.depth)
        if "stores" in needs:
            _ = self.stores  # an error if there are too many comes before anything is read
        if "derivations" in needs:
            _ = self.derivations

    @cached_property
    def stores(self) -> WordByWord:
        """What follows all stores."""
        if self.depth is None:
            raise GrammarError(
                "stores need a memory bound, and this model has none: choose one with --depth, "
                "such as --depth 2 (in Python, depth=2)"
            )
        return WordByWord(self.model.grammar_with_unknown, self.depth)

    @cached_property
    def derivations(self) -> DerivationEntropies:
        """What computes the entropy of derivations."""
        return DerivationEntropies(self.stores)

    def store(self, number: int) -> str:
        """A store in words, such as ``S/VP NP/N``; nothing for an unknown one."""
        if number <= 0:
            return EMPTY if number == 0 else ""
        names = self.model.grammar.names
        return " ".join(str(Fragment(names[a], names[b])) for a, b in self.stores.fragments(number))

    def read(
        self,
        given: Iterable[SentenceRows],
        threads: int = 1,
        frequencies: LogFrequencies | None = None,
        together: int = TOGETHER,
    ) -> Iterator[MeasuredSentence]:
        """Read sentences, in order; results do not depend on ``threads``.

        ``together``: the number of sentences that are read at once.
        """
        look_up = lru_cache(REMEMBERED)(self.model.look_up)
        numbered = enumerate(given, start=1)
        while batch := list(islice(numbered, together)):
            forms = []
            for _, rows in batch:
                _check_length(rows.sentence)
                forms.append([look_up(word) for word in rows.sentence.words])
            found = self._prefixes(forms, threads)
            read = [
                MeasuredSentence(self, number, rows, seen, prefixes, frequencies)
                for (number, rows), seen, prefixes in zip(batch, forms, found, strict=True)
            ]
            if self.needs:
                in_pieces(partial(_compute, read, self.needs), len(read), threads)
            yield from read

    def _prefixes(self, forms: Sequence[Sequence[WordForm]], threads: int) -> list[Prefixes]:
        none = self.parser.impossible
        numbers = [[none if form.number < 0 else form.number for form in one] for one in forms]
        vocabulary = self.model.grammar_with_unknown.vocabulary
        return self.parser.prefixes(Encoded.from_numbers(numbers, vocabulary), threads)


def _compute(
    read: Sequence[MeasuredSentence], needs: Collection[str], first: int, last: int
) -> None:
    """Compute what the columns of some sentences need, which they then have."""
    for one in read[first:last]:
        if "entropies" in needs:
            _ = one.entropies
        if "stores" in needs:
            _ = one.trace
        if "derivations" in needs:
            _ = one.derivation_entropies


def _check_length(sentence: Sentence) -> None:
    if len(sentence.words) > MAX_WORDS:
        raise DbpcfgError(
            f"{sentence.place}: a sentence of {len(sentence.words):,} words, which is more than "
            f"{MAX_WORDS:,}; split the text into sentences first"
        )


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
    prefixes: Prefixes
    """What is known at each word, from the chart; in nats."""
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
        surprisal: Floats = -self.prefixes.logs / BIT
        return surprisal

    @cached_property
    def entropies(self) -> Floats:
        """Of what comes next, before each token; in bits."""
        entropies: Floats = self.reader.parser.entropies(self.prefixes) / BIT
        return entropies

    @cached_property
    def trace(self) -> Trace:
        """What the left-corner parser knew, with all stores; in nats."""
        words = [form.number for form in self.forms]
        return self.reader.stores.follow(np.array(words, dtype=np.int32))

    @cached_property
    def derivation_entropies(self) -> Floats:
        """Before each token, and after the end; in bits."""
        numbers = [form.number for form in self.forms]
        return self.reader.derivations.follow(numbers) / BIT

    def stores(self) -> list[str]:
        """The most probable store before each token."""
        return [self.reader.store(number) for number in self.trace.best.tolist()]
