"""From sentences to rows of a table: tokens are measured under each grammar, put together into the
rows that they belong to, averaged over grammars, and followed by the values of the words before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, tee
from typing import Any, NamedTuple

import numpy as np

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import StimulusSentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.model.averages import mean_and_sd
from dbpcfg.model.columns import DERIVATION, FREQUENCY, ColumnChoice, MeasureColumn, combined
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.model.measures import (
    END,
    MeasuredSentence,
    WordMeasures,
    follow_with,
    incremental_parser,
)
from dbpcfg.parsing.leftcorner.derivation_entropy import DerivationEntropies


class SentenceRows(NamedTuple):
    """A sentence, and which of its tokens are a row together."""

    sentence: Sentence
    ranges: list[tuple[int, int]]
    """The first token of each row, and the one after its last; the end is a token too."""
    texts: list[str]
    """The text of each row."""

    @classmethod
    def of_tokens(cls, sentence: Sentence, end: bool = True) -> SentenceRows:
        """Each token, and the end if wanted, in a row of its own."""
        texts = [*sentence.words, END] if end else list(sentence.words)
        return cls(sentence, [(t, t + 1) for t in range(len(texts))], texts)

    @classmethod
    def of_words(cls, placed: StimulusSentence) -> SentenceRows:
        """A row for each row of a table of words."""
        ranges, last = [], 0
        for _, some in groupby(placed.rows):
            ranges.append((last, last + len(list(some))))
            last = ranges[-1][1]
        return cls(placed.sentence, ranges, list(placed.texts))


class Tabulated(NamedTuple):
    """A sentence, measured."""

    sentence: Sentence
    """The sentence."""
    rows: list[tuple[Any, ...]]
    """The cells of each row, as `Tabulator.names` has them."""
    measured: list[MeasuredSentence]
    """The sentence under each grammar."""


class Tabulator:
    """Measures sentences under one grammar, or the average of several.

    ``default``: the names of the columns if none are chosen.
    ``averaged``: whether means and standard deviations over the grammars are computed; there is
    only one grammar if not.
    ``depth``: the memory bound; the models' if not given.
    ``beam``: the number of stores kept at each word; 0 for all; None for all unless they are too
    many.
    """

    def __init__(
        self,
        models: Sequence[LearnedGrammar],
        choice: ColumnChoice,
        default: Sequence[str] = WordMeasures._fields,
        *,
        averaged: bool = False,
        depth: int | None = None,
        beam: int | None = None,
    ) -> None:
        if choice.spillover < 0:
            raise DbpcfgError(f"spillover must be a number of words, got {choice.spillover}")
        self.models, self.averaged = models, averaged
        self.parsers = [incremental_parser(model, depth, beam) for model in models]
        self.columns = choice.columns(default, self.parsers[0].depth, averaged)
        self.frequency, self.spillover = choice.frequency, choice.spillover
        self.prefix = choice.prefix
        self._plain = not averaged and (
            [column.name for column in self.columns] == list(WordMeasures._fields)
            and not self.spillover
        )
        wanted = any(column.name in DERIVATION for column in self.columns)
        self.entropies = [DerivationEntropies(p) for p in self.parsers] if wanted else []

    @property
    def beam(self) -> int:
        """The number of stores kept at each word; 0 for all."""
        return self.parsers[0].beam

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        found = []
        for column in self.columns:
            sd = self.averaged and column.measured
            found += [column.name, f"{column.name}_sd"] if sd else [column.name]
        back = range(1, self.spillover + 1)
        found += [f"{c.name}_{lag}" for c in self.columns if c.lagged for lag in back]
        return tuple(self.prefix + name for name in found)

    def tabulate(self, given: Iterable[SentenceRows], threads: int = 1) -> Iterator[Tabulated]:
        """Measure sentences.

        ``threads``: the number of threads; results do not depend on it.
        """
        ours, *others = tee(given, len(self.models) + 1)
        streams = [
            follow_with(parser, model, (one.sentence for one in some), threads)
            for parser, model, some in zip(self.parsers, self.models, others, strict=True)
        ]
        for measured in zip(*streams):
            one = next(ours)
            yield Tabulated(one.sentence, self._rows(one, measured), list(measured))

    def _rows(
        self, one: SentenceRows, measured: tuple[MeasuredSentence, ...]
    ) -> list[tuple[Any, ...]]:
        if self._plain and len(one.ranges) >= len(one.sentence.words):  # tokens are rows
            return list(measured[0].rows[: len(one.ranges)])
        columns: list[Sequence[Any]] = []
        lags: list[Sequence[Any]] = []
        tokens = [
            self._derivations(n, some) | _token_values(some) for n, some in enumerate(measured)
        ]
        for column in self.columns:
            if column.combination == "row" or column.name == FREQUENCY:
                cells = self._of_row(column, one)
                columns.append(cells)
            elif column.measured and self.averaged:
                mean, sd = mean_and_sd([_combined(column, some, one) for some in tokens])
                cells = mean.tolist()
                columns += [cells, sd.tolist()]
            else:
                cells = _combined(column, tokens[0], one)
                columns.append(cells)
            if column.lagged:
                lags += [_lagged(cells, lag) for lag in range(1, self.spillover + 1)]
        return list(zip(*columns, *lags, strict=True))

    def _derivations(self, number: int, measured: MeasuredSentence) -> dict[str, list[Any]]:
        """The columns of Hale's measure, if they are wanted."""
        if not self.entropies:
            return {}
        bits = self.entropies[number].follow(measured.numbers) / math.log(2)
        return dict(zip(DERIVATION, (bits[:-1].tolist(), (bits[:-1] - bits[1:]).tolist())))

    def _of_row(self, column: MeasureColumn, one: SentenceRows) -> list[Any]:
        """A column that does not depend on the grammar."""
        words = one.sentence.words
        if column.name == "position":
            return list(range(1, len(one.ranges) + 1))
        if column.name == "length":
            return [
                sum(map(len, text.split())) if first < len(words) else math.nan
                for text, (first, _) in zip(one.texts, one.ranges, strict=True)
            ]
        assert self.frequency is not None
        frequency = self.frequency
        return [
            min((frequency.of(word) for word in words[first:last]), default=math.nan)
            for first, last in one.ranges
        ]


def _combined(column: MeasureColumn, tokens: dict[str, list[Any]], one: SentenceRows) -> list[Any]:
    values = tokens[column.name]
    return [combined(column, values[first:last]) for first, last in one.ranges]


def _lagged(cells: Sequence[float], lag: int) -> list[float]:
    return ([math.nan] * lag + list(cells))[: len(cells)]


def _token_values(one: MeasuredSentence) -> dict[str, list[Any]]:
    """The columns of a sentence, an entry for each token and the end."""
    found: dict[str, list[Any]] = dict(
        zip(WordMeasures._fields, map(list, zip(*one.rows)), strict=True)
    )
    trace, unknown = one.followed.trace, math.nan
    after = np.vstack([trace.depths[1:], np.full(trace.depths.shape[1], unknown)])
    found["depth_after"] = [*found["depth"][1:], unknown]
    for d in range(1, trace.depths.shape[1]):
        found[f"storage_d{d}"] = after[:, d:].sum(axis=1).tolist()
        found[f"integration_d{d}"] = trace.closed[:, d].tolist()
    ends: list[float] = [unknown] * len(one.rows)
    ends[-2] = one.rows[-1].surprisal
    found["end_surprisal"] = ends
    return found
