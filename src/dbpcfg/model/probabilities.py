"""The probability of a text under a model: log-probability, bits per word and perplexity.

A model generates whole sentences: P(sentence) includes the sentence's end. With N tokens in S
sentences::

    log P          Σ_s log P(s), in nats
    bits per word  −log₂ P / N
    perplexity     exp(−log P / N)             the end of a sentence is paid for by its words
    with ends      exp(−log P / (N + S))       ends count as tokens, as in many programs

One sentence of probability zero makes the perplexity infinite; such sentences are counted, and the
others are summed separately.

**Unknown words** are all one word to the model, and rare ones are their classes: the probability is
that of the text as the model sees it. Compare perplexities only of models that see the same words.

**Over a chain**, P(s) is the mean of the probabilities under several of its grammars: the posterior
predictive probability of a sentence, as far as the chain has explored the posterior.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from dbpcfg.corpus.arguments import SentencesLike
from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import Column, Table
from dbpcfg.model.decoding import batches_for
from dbpcfg.parsing.parser import Parser
from dbpcfg.parsing.parsers import parser_of

if TYPE_CHECKING:
    from dbpcfg.model.model import Model, WordForm

_BIT = math.log(2)


@dataclass(frozen=True, slots=True)
class SentenceProbability:
    """The log-probability of a sentence, in nats, and counts of words that the model lacks."""

    sentence: Sentence
    log_probability: float
    unknown: int
    """Words that are unknown to the model."""
    classes: int
    """Words that the model sees as classes, such as the class of numbers."""

    @property
    def tokens(self) -> int:
        """The number of its words."""
        return len(self.sentence.words)

    @property
    def bits_per_word(self) -> float:
        """−log₂ P over the number of words."""
        return -self.log_probability / self.tokens / _BIT


@dataclass(slots=True)
class TextProbability:
    """Sums over the sentences of a text."""

    sentences: int = 0
    tokens: int = 0
    unknown: int = 0
    classes: int = 0
    impossible: int = 0
    """Sentences of probability zero."""
    log_probability: float = 0.0

    def add(self, sentence: SentenceProbability) -> None:
        """Add a sentence to the sums."""
        self.sentences += 1
        self.tokens += sentence.tokens
        self.unknown += sentence.unknown
        self.classes += sentence.classes
        self.impossible += sentence.log_probability == -math.inf
        self.log_probability += sentence.log_probability

    @property
    def bits_per_word(self) -> float:
        """−log₂ P / N; nan without words."""
        return -self.log_probability / self.tokens / _BIT if self.tokens else math.nan

    @property
    def perplexity(self) -> float:
        """exp(−log P / N)."""
        return _exp(-self.log_probability, self.tokens)

    @property
    def perplexity_with_ends(self) -> float:
        """exp(−log P / (N + S))."""
        return _exp(-self.log_probability, self.tokens + self.sentences)

    def table(self) -> Table:
        """The sums as a table of one row."""
        return probability_table(self, None)

    def to_frame(self) -> Any:
        """The sums as a pandas data frame of one row."""
        return self.table().to_frame()

    def _repr_html_(self) -> str:
        return self.table().html()


def totals(sentences: Iterable[SentenceProbability]) -> tuple[TextProbability, TextProbability]:
    """Sum the probabilities of sentences: of all, and of those of probability above zero."""
    everything, possible = TextProbability(), TextProbability()
    for sentence in sentences:
        everything.add(sentence)
        if sentence.log_probability > -math.inf:
            possible.add(sentence)
    return everything, possible


def sentence_probabilities(
    model: Model,
    sentences: SentencesLike,
    chain: bool = False,
    threads: int = 1,
    quiet: bool | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Iterator[SentenceProbability]:
    """The probability of each sentence; see `Model.probability` for the parameters.

    ``on_note``: see `batches_for`.
    """
    if chain and not model.samples:
        raise DbpcfgError(
            "there are no other grammars of the chain; a run has some, which "
            "dbpcfg.load(run, samples=True) reads"
        )
    grammars = (
        [model.with_unknown(g) for g in model.samples] if chain else [model.grammar_with_unknown]
    )
    parsers = [parser_of(grammar, model.depth, threads) for grammar in grammars]
    look_up, words = cache(model.look_up), grammars[0].vocabulary
    batches = batches_for(model, "probability", sentences, "sentences", quiet, on_note)
    return (one for batch in batches for one in _batch(look_up, parsers, words, *batch))


def _batch(
    look_up: Callable[[str], WordForm],
    parsers: Sequence[Parser],
    vocabulary: Vocabulary,
    batch: Sequence[Sentence],
    first: int,
) -> Iterator[SentenceProbability]:
    for number, sentence in enumerate(batch, start=first + 1):
        if len(sentence.words) > MAX_WORDS:
            raise DbpcfgError(
                f"sentence {number} has {len(sentence.words):,} words, which is more than "
                f"{MAX_WORDS:,}; split the text into sentences first"
            )
    seen = [[look_up(word) for word in sentence.words] for sentence in batch]
    known = [all(word.number >= 0 for word in words) for words in seen]
    numbers = [[word.number for word in words] for words in compress(seen, known)]
    corpus = Encoded.from_numbers(numbers, vocabulary)
    logs = [parser.log_probabilities(corpus) for parser in parsers]
    means = iter((np.logaddexp.reduce(logs, axis=0) - math.log(len(parsers))).tolist())
    for sentence, forms, all_known in zip(batch, seen, known):
        kinds = [form.kind for form in forms]
        yield SentenceProbability(
            sentence,
            next(means) if all_known else -math.inf,
            kinds.count("unknown"),
            kinds.count("class"),
        )


def probability_table(
    everything: TextProbability, possible: TextProbability | None, grammars: int = 1
) -> Table:
    """The sums as a table.

    ``possible``: those over sentences of probability above zero, a second row if there are others;
    None for no such row.
    """
    columns = [
        Column("text"),
        Column("sentences", "count"),
        Column("tokens", "count"),
        Column("unknown %", "percent", "unknown"),
        Column("log P", "number", "log_probability"),
        Column("bits/word", "number", "bits_per_word", decimals=3),
        Column("perplexity", "number"),
        Column("with ends", "number", "perplexity_with_ends"),
    ]
    rows = [("all", everything)]
    if possible is not None and everything.impossible:
        rows.append(("possible", possible))
    notes = [
        "log P in nats; perplexity is exp(-log P / tokens)",
        "with ends: exp(-log P / (tokens + sentences))",
    ]
    if grammars > 1:
        notes.append(f"P(sentence) is the mean under {grammars} grammars of the chain")
    if everything.impossible:
        notes.append(f"sentences of probability zero: {everything.impossible:,}")
    if everything.unknown or everything.classes:
        notes.append(
            f"unknown words: {everything.unknown:,}, seen as classes: {everything.classes:,}; "
            "P is of the text as the model sees it"
        )
    return Table(
        "Probability",
        columns,
        [
            (
                *(name, one.sentences, one.tokens, one.unknown / max(1, one.tokens)),
                *(one.log_probability, one.bits_per_word),
                *(one.perplexity, one.perplexity_with_ends),
            )
            for name, one in rows
        ],
        notes,
    )


def _exp(nats: float, tokens: int) -> float:
    if not tokens:
        return math.nan
    return math.exp(nats / tokens) if nats / tokens < 700 else math.inf
