"""Minimal pairs: how often a model prefers the grammatical sentence.

A pair counts 1 if the grammatical sentence scores higher, 0 if it scores lower, and ½ if both
score the same. There are three scores:

==================  ============================================================================
``log_probability``  log P(sentence)
``per_word``         log P(sentence) over the number of its words
``critical_word``    minus the surprisal at the first word in which the two sentences differ; where
                     one is the beginning of the other, at the end of the sentence there
==================  ============================================================================

Scores that differ by rounding errors only (10⁻¹² of their size) are the same. If all words are the
same to the model, as where only unknown words differ, the pair says nothing about it: such pairs
count ½ too, and are counted apart.

Intervals are Wilson's, of 95%.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.pairs import MinimalPair, PairsLike, pairs_for
from dbpcfg.corpus.tokens import Tokens
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.significance import wilson
from dbpcfg.io.tables import Cell, Column, Table, data_frame, html, plural
from dbpcfg.model.probabilities import sentence_probabilities
from dbpcfg.options import check_choice
from dbpcfg.parsing.parsers import prefix_parser_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from dbpcfg.model.model import Model

Score: TypeAlias = Literal["log_probability", "per_word", "critical_word"]
SCORES: dict[Score, str] = {
    "log_probability": "log P",
    "per_word": "per word",
    "critical_word": "critical word",
}
"""The scores and their headings."""
ALL = "all"
"""The last row of tables."""
_BATCH = 1024
_ROUNDING = 1e-12
_BIT = math.log(2)


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """What a model gives a sentence of a pair."""

    log_probability: float
    """In nats."""
    words: int
    surprisal: float
    """At the critical word, in bits; nan if it cannot be reached."""

    def score(self, score: Score) -> float:
        """One of its scores: the greater, the better."""
        if score == "log_probability":
            return self.log_probability
        return self.log_probability / self.words if score == "per_word" else -self.surprisal


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair under a model."""

    pair: MinimalPair
    same: bool
    """Whether the model sees no difference."""
    critical: int
    """The position of the critical word, from 0."""
    good: ScoredSentence
    bad: ScoredSentence

    def right(self, score: Score = "log_probability") -> float:
        """1 if the grammatical sentence scores higher, 0 if lower, and a half for a tie."""
        if self.same:
            return 0.5
        good, bad = self.good.score(score), self.bad.score(score)
        if good == bad or math.isnan(good) or math.isnan(bad):
            return 0.5
        size = max(abs(good), abs(bad))
        if math.isfinite(size) and abs(good - bad) <= _ROUNDING * size:
            return 0.5
        return float(good > bad)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy over some pairs."""

    pairs: int
    same: int
    """Pairs that are the same to the model; they are ties."""
    ties: int
    right: float
    """Ties are half right."""
    low: float
    """The lower end of the interval."""
    high: float

    @property
    def accuracy(self) -> float:
        """The share that is right."""
        return self.right / self.pairs


class MinimalPairs:
    """Minimal pairs under one model or several."""

    def __init__(self, results: Mapping[str, Sequence[ScoredPair]]) -> None:
        self.results = dict(results)
        """The pairs under each model, by its name."""

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.results)

    @property
    def paradigms(self) -> tuple[str, ...]:
        """The paradigms, in the order of the pairs."""
        pairs = next(iter(self.results.values()))
        return tuple(dict.fromkeys(one.pair.paradigm for one in pairs))

    def accuracy(
        self,
        score: Score = "log_probability",
        paradigm: str | None = None,
        model: str | None = None,
    ) -> Accuracy:
        """The accuracy of a model.

        Parameters
        ----------
        score
            ``"log_probability"``, ``"per_word"`` or ``"critical_word"``.
        paradigm
            The pairs of one paradigm; all if not given.
        model
            The name of the model; the first if not given.

        Returns
        -------
        Accuracy
            The share of pairs that are right, with its interval, and the number of ties.
        """
        check_choice("score", score, get_args(Score))
        scored = self.results[self.models[0] if model is None else model]
        chosen = [one for one in scored if paradigm in (None, one.pair.paradigm)]
        if not chosen:
            raise DbpcfgError(f"there is no pair of the paradigm {paradigm!r}")
        points = [one.right(score) for one in chosen]
        right = math.fsum(points)
        return Accuracy(
            len(chosen),
            sum(one.same for one in chosen),
            points.count(0.5),
            right,
            *wilson(right, len(chosen)),
        )

    def tables(self) -> list[Table]:
        """Accuracies by paradigm: of one model a table, of several a table for each score."""
        if len(self.models) == 1:
            (model,) = self.models
            groups = [(heading, model, score) for score, heading in SCORES.items()]
            return [self._table("Minimal pairs", groups)]
        return [
            self._table(
                f"Minimal pairs, by {heading}", [(model, model, score) for model in self.models]
            )
            for score, heading in SCORES.items()
        ]

    def _table(self, title: str, groups: Sequence[tuple[str, str, Score]]) -> Table:
        """A table with an accuracy and its interval for each heading, model and score."""
        several = len(self.models) > 1
        columns = [Column("paradigm"), Column("pairs", "count")]
        if not several:
            columns.append(Column("same", "count"))
        for heading, model, score in groups:
            key = model if several else score
            columns.append(Column(heading, "score", key))
            columns += [Column(end, "percent", f"{key}_{end}") for end in ("from", "to")]
            if several:
                columns.append(Column("same", "count", f"{key}_same"))
        rows: list[list[Cell]] = []
        names = [*self.paradigms, None] if len(self.paradigms) > 1 else [*self.paradigms]
        for paradigm in names:
            found = [self.accuracy(score, paradigm, model) for _, model, score in groups]
            row: list[Cell] = [ALL if paradigm is None else paradigm, found[0].pairs]
            if not several:
                row.append(found[0].same)
            for one in found:
                row += [one.accuracy, one.low, one.high, *([one.same] if several else [])]
            rows.append(row)
        notes = [
            "ties are half right; from and to: 95% interval (Wilson)",
            "same: pairs that are the same to the model, as they differ only in unknown words or "
            "in words of one class; they are ties",
        ]
        return Table(title, columns, rows, notes)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each pair under each model, with its scores: log-probabilities in nats, and surprisal at
        the critical word in bits."""
        for model, scored in self.results.items():
            for one in scored:
                good, bad = one.pair.good, one.pair.bad
                yield {
                    "model": model,
                    "paradigm": one.pair.paradigm,
                    "source": good.source,
                    "line": min(good.line, bad.line),
                    "good": " ".join(good.words),
                    "bad": " ".join(bad.words),
                    "same": int(one.same),
                    "critical_word": one.critical + 1,
                    "log_probability_good": one.good.log_probability,
                    "log_probability_bad": one.bad.log_probability,
                    "words_good": one.good.words,
                    "words_bad": one.bad.words,
                    "surprisal_good": one.good.surprisal,
                    "surprisal_bad": one.bad.surprisal,
                    **{f"right_{score}": one.right(score) for score in SCORES},
                }

    def to_frame(self) -> Any:
        """Each pair under each model as a pandas data frame."""
        rows = list(self.rows())
        return data_frame(list(rows[0]), [list(row.values()) for row in rows])

    def __len__(self) -> int:
        return len(next(iter(self.results.values())))

    def __repr__(self) -> str:
        return (
            f"<MinimalPairs: {plural(len(self), 'pair')}, {plural(len(self.paradigms), 'paradigm')}"
            f", {plural(len(self.models), 'model')}>"
        )

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return html(repr(self).strip("<>"), self.tables())


def minimal_pairs(
    models: Model | Mapping[str, Model],
    pairs: PairsLike,
    *,
    good: str | None = None,
    bad: str | None = None,
    paradigm: str | None = None,
    tokens: Tokens | None = None,
    threads: int = 1,
    quiet: bool | None = None,
    on_note: Callable[[str], None] | None = None,
) -> MinimalPairs:
    """Test models with minimal pairs: how often the grammatical sentence is more probable.

    Parameters
    ----------
    models
        A model, or several by their names.
    pairs
        Files, directories or patterns: JSON lines as of BLiMP, text as of Zorro, tables; or tuples
        of a grammatical and an ungrammatical sentence.
    good
        The column of a table with grammatical sentences, or the key in JSON lines.
    bad
        That with ungrammatical ones.
    paradigm
        That with the paradigm; the name of the file if there is none.
    tokens
        How sentences are split into words; as the model learned if not given.
    threads
        The number of threads.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.
    on_note
        Called with a note about the text; if not given, it is a warning unless ``quiet``.

    Returns
    -------
    MinimalPairs
        Accuracies by paradigm and model, with intervals.

    Raises
    ------
    DbpcfgError
        If a file cannot be read, or a sentence is empty or too long.
    """
    read = pairs_for(pairs, good=good, bad=bad, paradigm=paradigm)
    if not read:
        raise DbpcfgError("there are no minimal pairs")
    named = models if isinstance(models, Mapping) else {"model": models}
    if not named:
        raise DbpcfgError("there is no model")
    how = (tokens, threads, quiet, on_note)
    return MinimalPairs({name: _scored(model, read, *how) for name, model in named.items()})


def _scored(
    model: Model,
    pairs: Sequence[MinimalPair],
    tokens: Tokens | None,
    threads: int,
    quiet: bool | None,
    on_note: Callable[[str], None] | None,
) -> list[ScoredPair]:
    if tokens is not None:
        model = replace(model, preprocessing=replace(model.preprocessing, tokens=tokens))
    sentences = [sentence for pair in pairs for sentence in (pair.good, pair.bad)]
    scored = list(sentence_probabilities(model, sentences, False, threads, quiet, on_note))
    look_up = cache(model.look_up)
    letters = model.preprocessing.fold_case
    numbers = [[look_up(word).number for word in one.sentence.words] for one in scored]
    words = [list(map(letters, one.sentence.words)) for one in scored]
    critical = [_first_difference(a, b) for a, b in zip(words[::2], words[1::2])]
    until = [critical[n // 2] for n in range(len(scored))]
    surprisals = _surprisals(model, numbers, until, threads)
    found = [
        ScoredSentence(one.log_probability, one.tokens, surprisal)
        for one, surprisal in zip(scored, surprisals)
    ]
    return [
        ScoredPair(pair, forms == other, at, good, bad)
        for pair, forms, other, at, good, bad in zip(
            pairs, numbers[::2], numbers[1::2], critical, found[::2], found[1::2], strict=True
        )
    ]


def _first_difference(good: Sequence[str], bad: Sequence[str]) -> int:
    """The position of the first word that differs; the end of the shorter one if none does."""
    shorter = min(len(good), len(bad))
    return next((n for n in range(shorter) if good[n] != bad[n]), shorter)


def _surprisals(
    model: Model, numbers: Sequence[Sequence[int]], until: Sequence[int], threads: int
) -> Iterable[float]:
    """The surprisal of each sentence at one of its words, or its end; in bits."""
    grammar = model.grammar_with_unknown
    parser = prefix_parser_of(grammar, model.depth)
    keys = [
        (at, *(parser.impossible if n < 0 else n for n in one[: at + 1]))
        for one, at in zip(numbers, until)
    ]
    wanted = list(dict.fromkeys(keys))
    known: dict[tuple[int, ...], float] = {}
    for first in range(0, len(wanted), _BATCH):
        batch = wanted[first : first + _BATCH]
        corpus = Encoded.from_numbers([list(key[1:]) for key in batch], grammar.vocabulary)
        for key, prefixes in zip(batch, parser.prefixes(corpus, threads), strict=True):
            known[key] = -float(prefixes.logs[key[0]]) / _BIT + 0.0
    return [known[key] for key in keys]
