"""Measures of every word of a text or a table: one path for Python and the command line.

A `Measurement` reads sentences (``incremental``) under one grammar or several, computes the columns
that were chosen (``columns``) for each row, averages them over the grammars, and puts the values of
the words before beside them. The rows of a text come sentence by sentence, in little memory.

**Averages.** A measure that depends on which sample or which chain was selected shows it by its
standard deviation over several grammars. The mean is that of the measure itself, such as the mean
of surprisals; it is not the surprisal under the mean of the probabilities.

**Tables.** With ``text`` a row has a sentence, and the result has a row for each of its words; with
``word`` it has a word, and gets the measures of that word in its sentence. The columns of the table
come first, as they were. A measure whose name one of them has already gets ``dbpcfg_`` before it.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from itertools import tee
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec

import numpy as np

from dbpcfg.corpus.preparation import LogFrequencies
from dbpcfg.corpus.reading import GivenSentences, sentences_for
from dbpcfg.corpus.stimuli import SentenceRows, Stimuli, TableLayout, is_frame, stimuli_of
from dbpcfg.corpus.tokens import Tokens, split_tokens
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import Column as TableColumn
from dbpcfg.io.tables import Table, data_frame, html
from dbpcfg.model.columns import DEFAULT, OF_SENTENCES, OF_WORDS, choose
from dbpcfg.model.incremental import TOGETHER, IncrementalReader, MeasuredSentence
from dbpcfg.numerics.kernels import Floats

if TYPE_CHECKING:
    from dbpcfg.model.model import Model

Options = ParamSpec("Options")
CLASH = "dbpcfg_"
"""Before the name of a measure that a column of the table has already."""
SHOWN_ROWS = 20
"""Rows that a notebook shows of a text."""


class Row(dict[str, Any]):
    """A row of a result: ``row["surprisal"]`` or ``row.surprisal``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the row has no column {name!r}") from None


class MeasuredWords(list[Row]):
    """The rows of a text or a table, a list that knows its columns."""

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        super().__init__(Row(zip(columns, row, strict=True)) for row in rows)
        self.columns = tuple(columns)

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return data_frame(self.columns, [tuple(row.values()) for row in self])

    def _repr_html_(self) -> str:
        """What notebooks show: the first rows."""
        shown = [
            [x if isinstance(x, str | int | float) else str(x) for x in row.values()]
            for row in self[:SHOWN_ROWS]
        ]
        columns = [
            TableColumn(name, _kind(cells), decimals=3)
            for name, *cells in zip(self.columns, *shown)
        ]
        return html(f"{len(self):,} rows, of which the first are", [Table("", columns, shown)])


def _kind(cells: list[Any]) -> Literal["text", "count", "number"]:
    if any(isinstance(cell, str) for cell in cells):
        return "text"
    return "number" if any(isinstance(cell, float) for cell in cells) else "count"


class Measurement:
    """A text or a table to be measured; its arguments are those of `Model.surprisal`.

    ``columns`` are chosen, ``names`` are those of the whole result, and ``blocks`` measures.
    """

    together = TOGETHER
    """The number of sentences that are read at once: 1 if each is to be answered at once."""

    def __init__(
        self,
        model: Model,
        sentences: Any,
        *,
        text: str | None = None,
        word: str | None = None,
        by: Sequence[str] = (),
        order: str | None = None,
        boundary: str | None = None,
        tokens: Tokens | None = None,
        keep: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        average: Literal["chain"] | Sequence[Model] | None = None,
        hale: bool = False,
        frequency: GivenSentences | None = None,
        spillover: int = 0,
        prefix: str = "",
        depth: int | None = None,
        end: bool = True,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> None:
        """Measure every word: surprisal, entropies, memory depth, forks and joins.

        Parameters
        ----------
        sentences
            Lists of words, texts that are split at white space, sentences as read, or a path; with
            ``text`` or ``word`` a table: a data frame of pandas or polars, a list of dicts, or the
            path of a CSV or TSV file.
        text
            The column of a table that has a sentence in each row.
        word
            The column of a table that has a word in each row.
        by
            Columns that are the same for all words of a text, or that name each row.
        order
            The column with the position of each word in its text.
        boundary
            ``"punctuation"``, or a column that is true at the end of each sentence.
        tokens
            How text and cells are split: at white space (``"space"``), also from
            ``"punctuation"``, or as in the Penn Treebank (``"penn"``); as the text that the model
            was learned from, if not given.
        keep
            The columns of the table that the result has too; all if not given.
        columns
            The columns of measures; ``"default"``, ``"all"``, ``"storage"``, ``"integration"`` and
            ``"stores"`` stand for several.
        average
            ``"chain"``: means and standard deviations over ``samples``; or models to average over,
            such as ``run.models``, each with its samples.
        hale
            Whether there are columns for the entropy of derivations.
        frequency
            A corpus in which the frequency of words is counted, for a column.
        spillover
            How many words back the values of the columns are repeated.
        prefix
            Prefix for the names of the measures. A name that a column of the table has already
            gets ``dbpcfg_`` before it.
        depth
            The memory bound; the model's if not given. Without a bound there are no columns of
            memory.
        end
            Whether there is a row for the end of each sentence.
        threads
            The number of threads.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        MeasuredWords or data frame
            A list with a row for every word of every sentence, such as ``row.surprisal`` or
            ``row["surprisal"]``; its ``to_frame()`` is a data frame. Of a table, the table with
            columns for the measures: a data frame if it is one.

        Raises
        ------
        DbpcfgError
            If a column needs a memory bound and there is none, or all stores and they are too many,
            if a sentence is empty or has more than 1,000 words, or a table or column is not as it
            must be.
        """
        if spillover < 0:
            raise DbpcfgError(f"spillover must be a number of words, got {spillover}")
        preparation = model.preparation
        if tokens is not None:
            preparation = replace(preparation, tokens=tokens)
        self.table: Stimuli | None = None
        self.kept: tuple[str, ...] = ()
        default: tuple[str, ...] = DEFAULT
        if text is not None or word is not None:
            layout = TableLayout(text, word, by, order, boundary, preparation)
            self.table, default = stimuli_of(sentences), OF_WORDS if text is None else OF_SENTENCES
        elif by or order or boundary or keep:
            raise DbpcfgError(
                "--by, --order, --boundary and --keep are for tables: name the column of "
                "sentences with --text, or that of words with --word (in Python text=, word=)"
            )
        self.given, self.threads, self.quiet = sentences, threads, quiet
        self._model, self._words, self._glued, self._example = model, 0, 0, ""
        self.averaged, self.spillover = average is not None, spillover
        models = [model]
        if average is not None:
            models = each_grammar([model] if average == "chain" else list(average))
        self.frequencies: LogFrequencies | None = None
        if frequency is not None:
            counted_in = sentences_for("frequency", frequency)
            self.frequencies = LogFrequencies(counted_in, model.preparation.lowercase)
        options = ["frequency"] * (frequency is not None) + ["hale"] * hale
        bound = model.depth if depth is None else depth
        self.columns = choose(columns, default, bound, options, self.averaged)
        needs = {need for column in self.columns.values() for need in column.needs}
        self.readers = [IncrementalReader(one, depth, needs) for one in models]
        measures = [prefix + name for name in self._measures()]
        self._given: Iterable[SentenceRows]
        if self.table is None:
            self.names = tuple(measures)
            read = sentences_for("surprisal", sentences)
            self._total = len(read) if isinstance(read, Sized) else None
            seen = map(preparation.seen, read)
            self._given = (SentenceRows.of_tokens(one, end) for one in seen)
        else:
            self.kept = _kept(self.table, keep)
            self.names = (*self.kept, *_without_clashes(self.table, self.kept, measures))
            self._given = layout.sentences(self.table, end)
            self._total = len(self._given)

    def _measures(self) -> list[str]:
        """The names of measures, without a prefix."""
        found = []
        for name, column in self.columns.items():
            averaged = self.averaged and column.average == "mean"
            found += [name, f"{name}_sd"] if averaged else [name]
        for name, column in self.columns.items():
            if column.lagged:
                found += [f"{name}_{lag}" for lag in range(1, self.spillover + 1)]
        return found

    def sentences(self) -> Iterator[tuple[MeasuredSentence, ...]]:
        """Measure the sentences: each under every grammar."""
        streams = [
            reader.read(given, self.threads, self.frequencies, self.together)
            for reader, given in zip(self.readers, tee(self._given, len(self.readers)), strict=True)
        ]
        found = zip(*streams, strict=True)
        for measured in counted(found, "sentences measured", self._total, self.quiet):
            self._words += len(measured[0].forms)
            for word, form in zip(measured[0].sentence.words, measured[0].forms, strict=True):
                if form.kind != "word" and self._is_glued(word):
                    self._glued, self._example = self._glued + 1, self._example or word
            yield measured

    def _is_glued(self, word: str) -> bool:
        pieces = split_tokens(word, "punctuation")
        return len(pieces) > 1 and any(self._model.look_up(p).kind == "word" for p in pieces)

    def doubts(self) -> Iterator[str]:
        """What makes sentences that were measured look as if they were not ready."""
        if self._glued > self._words / 50:
            yield (
                f"{self._glued:,} of {self._words:,} words are not known because punctuation is "
                f"attached to them, such as {self._example!r}: set it apart with "
                "--tokens punctuation (in Python tokens='punctuation')"
            )

    def blocks(
        self, watch: Callable[[Sequence[MeasuredSentence]], None] = lambda measured: None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of the result: of a text sentence by sentence, of a table all at once.

        ``watch``: called with each sentence.
        """
        if self.table is None:
            for measured in self.sentences():
                watch(measured)
                yield self._rows(measured)
            return
        kept = [self.table.names.index(name) for name in self.kept]
        yield [
            (*(self.table.rows[number][k] for k in kept), *cells)
            for number, cells in self._table_rows(watch)
        ]

    def result(self) -> Any:
        """The result as a list of rows, or as a data frame if one was given."""
        if self.table is None or not is_frame(self.given):
            return MeasuredWords(self.names, (row for block in self.blocks() for row in block))
        found = self._table_rows()
        numbers = [number for number, _ in found]
        names = self.names[len(self.kept) :]
        columns = {name: [row[n] for _, row in found] for n, name in enumerate(names)}
        own = [name for name in self.given.columns if str(name) in self.kept]
        if not hasattr(self.given, "iloc"):  # polars
            return self.given.select(own)[numbers].hstack(type(self.given)(columns))
        chosen = self.given[own].iloc[numbers]
        same = numbers == list(range(len(self.given)))
        return (chosen.copy() if same else chosen.reset_index(drop=True)).assign(**columns)

    def _table_rows(
        self, watch: Callable[[Sequence[MeasuredSentence]], None] = lambda measured: None
    ) -> list[tuple[int, tuple[Any, ...]]]:
        """The measures of each row of the result, with the row of the table, in its order."""
        found: list[tuple[int, tuple[Any, ...]]] = []
        for measured in self.sentences():
            watch(measured)
            found += zip(measured[0].rows.numbers, self._rows(measured), strict=True)
        return sorted(found, key=lambda row: row[0])

    def _rows(self, measured: Sequence[MeasuredSentence]) -> list[tuple[Any, ...]]:
        """The measures of each row of a sentence."""
        columns: list[list[Any]] = []
        lags: list[list[Any]] = []
        for column in self.columns.values():
            if self.averaged and column.average == "mean":
                mean, sd = _mean_and_sd([column.cells(one) for one in measured])
                cells = mean.tolist()
                columns += [cells, sd.tolist()]
            else:
                cells = column.cells(measured[0])
                columns.append(cells)
            if column.lagged:
                back = range(1, self.spillover + 1)
                lags += [([math.nan] * lag + cells)[: len(cells)] for lag in back]
        return list(zip(*columns, *lags, strict=True))


def _result_of(
    measurement: Callable[Concatenate[Model, Options], Measurement],
) -> Callable[Concatenate[Model, Options], MeasuredWords | Any]:
    def surprisal(
        model: Model, /, *sentences: Options.args, **options: Options.kwargs
    ) -> MeasuredWords | Any:
        measured = measurement(model, *sentences, **options)
        result = measured.result()
        for doubt in measured.doubts() if not measured.quiet else ():
            warnings.warn(doubt, stacklevel=2)
        return result

    surprisal.__doc__ = Measurement.__init__.__doc__
    surprisal.__qualname__ = "Model.surprisal"
    model, *others = inspect.signature(measurement).parameters.values()
    surprisal.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [model.replace(name="self"), *others], return_annotation="MeasuredWords | Any"
    )
    return surprisal


surprisal = _result_of(Measurement)
"""`Model.surprisal`: the result of a `Measurement` with the same arguments."""


def each_grammar(models: Iterable[Model]) -> list[Model]:
    """A model for each of the kept grammars of several models."""
    found: list[Model] = []
    for model in models:
        if not model.samples:
            raise GrammarError(
                "an average needs several grammars of a chain, and this model has only one: give "
                "the directory of a run (in Python, load it with samples=True)"
            )
        found += [replace(model, grammar=sample, samples=()) for sample in model.samples]
    return found


def _mean_and_sd(values: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """``[row]``: means over grammars, and standard deviations with n − 1.

    These are not a number if n is 1, or a value is infinite.
    """
    table = np.array(values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        mean = table.mean(axis=0)
        rest = np.square(table - mean).sum(axis=0)
    sd = np.sqrt(rest / (len(table) - 1)) if len(table) > 1 else np.full(len(mean), np.nan)
    return mean, sd


def _kept(table: Stimuli, keep: Sequence[str] | None) -> tuple[str, ...]:
    """The columns of a table that the result has too; all if not given."""
    kept = table.names if keep is None else tuple(dict.fromkeys(keep))
    for name in kept:
        table.number(name, "--keep")
    return kept


def _without_clashes(table: Stimuli, kept: Sequence[str], measures: list[str]) -> list[str]:
    """The names of measures, other than those of the table's columns."""
    found = [CLASH + name if name in kept else name for name in measures]
    for name in found:
        if name in kept:
            raise DbpcfgError(
                f"{table.source} has the columns {name.removeprefix(CLASH)!r} and {name!r}: give "
                "the measures other names with --prefix, such as --prefix m_, or leave a column "
                "out with --keep or --columns (in Python prefix=, keep=, columns=)"
            )
    return found
