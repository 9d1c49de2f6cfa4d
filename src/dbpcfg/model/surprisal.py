"""Measures of every word of a text or a table: one path for Python and the command line.

A `Measurement` reads sentences word by word under one grammar or several, computes the columns that
were chosen (``columns``) for each row, averages them over the grammars, and puts the values of
previous words beside them. The rows of a text are computed sentence by sentence, in little memory.

Columns are computed from a `MeasuredSentence`. Most of it follows from the chart
(``parsing.prefixes``); stores and the entropy of derivations come from the left-corner parser, and
only if a column needs them.

**Averages.** A measure that depends on which sample or which chain was selected shows it by its
standard deviation over several grammars. The mean is that of the measure itself, such as the mean
of surprisals; it is not the surprisal under the mean of the probabilities.

**Tables.** With ``text`` a row has a sentence, and the result has a row for each of its words; with
``word`` it has a word, and gets the measures of that word in its sentence. The columns of the table
come first, unchanged. A measure whose name is that of one of them gets ``dbpcfg_`` before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dbpcfg.corpus.arguments import SentencesLike, load_sentences
from dbpcfg.corpus.checks import check_text
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preprocessing import LogFrequencies
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import SentenceRows, Stimuli, TableLayout, is_frame, stimuli_of
from dbpcfg.corpus.tokens import Tokens
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.io.log import log_warning, warn
from dbpcfg.io.machine import parallel_ranges
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import Column as TableColumn
from dbpcfg.io.tables import Table, data_frame, html, plural
from dbpcfg.model.columns import DEFAULT, OF_SENTENCES, OF_WORDS, choose
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
BATCH_SIZE = 256
"""Sentences that are read at once."""
CACHED_WORDS = 2**16
"""Words whose forms are remembered."""
CLASH = "dbpcfg_"
"""Before the name of a measure that is also that of a column of the table."""
SHOWN_ROWS = 20
"""Rows of a text that a notebook shows."""
_BIT = math.log(2)
"""In nats."""


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
        rows = [
            [x if isinstance(x, str | int | float) else str(x) for x in row.values()]
            for row in self[:SHOWN_ROWS]
        ]
        columns = [
            TableColumn(name, _kind(cells), decimals=3) for name, *cells in zip(self.columns, *rows)
        ]
        title = f"{plural(len(self), 'row')}, of which the first are"
        return html(title, [Table("", columns, rows)])


def _kind(cells: list[Any]) -> Literal["text", "count", "number"]:
    if any(isinstance(cell, str) for cell in cells):
        return "text"
    return "number" if any(isinstance(cell, float) for cell in cells) else "count"


class IncrementalReader:
    """A model's grammar, ready to read sentences word by word.

    ``needs``: what columns need besides the chart: ``"entropies"`` of next words, ``"stores"``,
    ``"derivations"``. These are computed on all threads, anything else on demand.
    """

    def __init__(self, model: Model, needs: Collection[str] = ()) -> None:
        self.model, self.needs = model, needs
        self.parser = prefix_parser_of(model.grammar_with_unknown, model.depth)
        self._look_up = lru_cache(CACHED_WORDS)(model.look_up)
        if "stores" in needs:
            _ = self.stores  # if there are too many, raises an error before anything is read
        if "derivations" in needs:
            _ = self.derivations

    @cached_property
    def stores(self) -> WordByWord:
        """The left-corner parser with all stores."""
        if self.model.depth is None:
            raise GrammarError(
                "stores need a memory bound, and this model has none: choose one with --depth, "
                "such as --depth 2 (in Python, depth=2)"
            )
        return WordByWord(self.model.grammar_with_unknown, self.model.depth)

    @cached_property
    def derivations(self) -> DerivationEntropies:
        """The entropies of derivations."""
        return DerivationEntropies(self.stores)

    def store(self, number: int) -> str:
        """A store in words, such as ``S/VP NP/N``; nothing for an unknown one."""
        if number <= 0:
            return EMPTY if number == 0 else ""
        names = self.model.grammar.names
        return " ".join(str(Fragment(names[a], names[b])) for a, b in self.stores.fragments(number))

    def read(
        self,
        batch: Sequence[tuple[int, SentenceRows]],
        threads: int = 1,
        frequencies: LogFrequencies | None = None,
    ) -> list[MeasuredSentence]:
        """Read sentences, each with its number in the text; ``threads`` do not change results."""
        forms = []
        for _, rows in batch:
            _check_length(rows.sentence)
            forms.append([self._look_up(word) for word in rows.sentence.words])
        impossible = self.parser.impossible
        numbers = [[impossible if w.number < 0 else w.number for w in words] for words in forms]
        corpus = Encoded.from_numbers(numbers, self.model.grammar_with_unknown.vocabulary)
        prefixes = self.parser.prefixes(corpus, threads)
        measured = [
            MeasuredSentence(self, number, rows, words, one, frequencies)
            for (number, rows), words, one in zip(batch, forms, prefixes, strict=True)
        ]
        if self.needs:
            parallel_ranges(partial(self._compute, measured), len(measured), threads)
        return measured

    def _compute(self, measured: Sequence[MeasuredSentence], first: int, last: int) -> None:
        """Compute what columns need of some sentences."""
        for one in measured[first:last]:
            if "entropies" in self.needs:
                _ = one.entropies
            if "stores" in self.needs:
                _ = one.trace
            if "derivations" in self.needs:
                _ = one.derivation_entropies


def _check_length(sentence: Sentence) -> None:
    if len(sentence.words) > MAX_WORDS:
        raise DbpcfgError(
            f"{sentence.location}: a sentence of {len(sentence.words):,} words, which is more than "
            f"{MAX_WORDS:,}; split the text into sentences first"
        )


@dataclass(frozen=True, eq=False)
class MeasuredSentence:
    """A sentence under one grammar, from which columns are computed.

    Arrays have an entry for each token and a last one for the sentence's end.
    """

    reader: IncrementalReader
    number: int
    """Among the sentences of the text, from 1."""
    rows: SentenceRows
    """The sentence, and which of its tokens are a row together."""
    forms: list[WordForm]
    """The forms of the words, as the model sees them."""
    prefixes: Prefixes
    """Measures of each prefix, from the chart; in nats."""
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
        surprisal: Floats = -self.prefixes.logs / _BIT
        return surprisal

    @cached_property
    def entropies(self) -> Floats:
        """The entropy of the next word or the end, before each token; in bits."""
        entropies: Floats = self.reader.parser.entropies(self.prefixes) / _BIT
        return entropies

    @cached_property
    def trace(self) -> Trace:
        """The left-corner parser's probabilities of all stores; in nats."""
        words = [form.number for form in self.forms]
        return self.reader.stores.follow(np.array(words, dtype=np.int32))

    @property
    def store_entropies(self) -> Floats:
        """The entropy of the store before each token; in bits."""
        entropies: Floats = self.trace.entropy / _BIT
        return entropies

    @cached_property
    def derivation_entropies(self) -> Floats:
        """Before each token, and after the end; in bits."""
        numbers = [form.number for form in self.forms]
        return self.reader.derivations.follow(numbers) / _BIT

    def stores(self) -> list[str]:
        """The most probable store before each token."""
        return [self.reader.store(number) for number in self.trace.best.tolist()]


class Measurement:
    """A text or a table to be measured; see `Model.surprisal` for the arguments.

    ``on_note``: called with a note about the text, before anything of it is measured; if not given,
    it is logged, and a warning unless ``quiet``.
    ``on_sentence``: called with each sentence, measured under every grammar.
    ``batch_size``: the number of sentences that are read at once; 1 gives each result at once.
    """

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
        frequency: SentencesLike | None = None,
        spillover: int = 0,
        prefix: str = "",
        depth: int | None = None,
        end: bool = True,
        threads: int = 1,
        quiet: bool | None = None,
        on_note: Callable[[str], None] | None = None,
        on_sentence: Callable[[Sequence[MeasuredSentence]], None] = lambda measured: None,
        batch_size: int = BATCH_SIZE,
    ) -> None:
        if spillover < 0:
            raise DbpcfgError(f"spillover must be a number of words, got {spillover}")
        self.given, self.spillover, self.threads, self.quiet = sentences, spillover, threads, quiet
        self.on_note = on_note or (log_warning if quiet else warn)
        self.on_sentence = on_sentence
        self.batch_size, self.averaged = batch_size, average is not None
        self._model = model
        preprocessing = model.preprocessing
        if tokens is not None:
            preprocessing = replace(preprocessing, tokens=tokens)
        default: tuple[str, ...] = DEFAULT
        self.table: Stimuli | None = None
        if text is not None or word is not None:
            layout = TableLayout(text, word, by, order, boundary, preprocessing)
            self.table, default = stimuli_of(sentences), OF_WORDS if text is None else OF_SENTENCES
        elif by or order or boundary or keep:
            raise DbpcfgError(
                "--by, --order, --boundary and --keep are for tables: name the column of "
                "sentences with --text, or that of words with --word (in Python text=, word=)"
            )
        models = [model]
        if average is not None:
            models = _each_sample([model] if average == "chain" else list(average))
        if depth is not None:
            models = [replace(one, depth=depth) for one in models]
        self.frequencies: LogFrequencies | None = None
        if frequency is not None:
            corpus = load_sentences("frequency", frequency)
            self.frequencies = LogFrequencies(corpus, model.preprocessing.lowercase)
        options = ["frequency"] * (frequency is not None) + ["hale"] * hale
        bound = model.depth if depth is None else depth
        self.columns = choose(columns, default, bound, options, self.averaged)
        needs = {need for column in self.columns.values() for need in column.needs}
        self.readers = [IncrementalReader(one, needs) for one in models]
        measures = [prefix + name for name in self._measures()]
        self.kept: tuple[str, ...] = ()
        self._rows: Iterable[SentenceRows]
        if self.table is None:
            self.names = tuple(measures)
            texts = load_sentences("surprisal", sentences, sentence=True)
            self._total = len(texts) if isinstance(texts, Sized) else None
            seen = map(preprocessing.apply, texts)
            self._rows = (SentenceRows.of_tokens(one, end) for one in seen)
        else:
            self.kept = _kept(self.table, keep)
            self.names = (*self.kept, *_without_clashes(self.table, self.kept, measures))
            self._rows = layout.sentences(self.table, end)
            self._total = len(self._rows)

    def _measures(self) -> list[str]:
        """The names of measures, without a prefix."""
        names = []
        for name, column in self.columns.items():
            averaged = self.averaged and column.average == "mean"
            names += [name, f"{name}_sd"] if averaged else [name]
        for name, column in self.columns.items():
            if column.lagged:
                names += [f"{name}_{lag}" for lag in range(1, self.spillover + 1)]
        return names

    def sentences(self) -> Iterator[tuple[MeasuredSentence, ...]]:
        """Measure the sentences, each under every grammar, with progress."""
        return counted(self._sentences(), "sentences measured", self._total, self.quiet)

    def _sentences(self) -> Iterator[tuple[MeasuredSentence, ...]]:
        kind, size = self._model.kind_of, self.batch_size
        rows = check_text(self._rows, kind, self.on_note, size, attrgetter("sentence"))
        numbered = enumerate(rows, start=1)
        while batch := list(islice(numbered, size)):
            results = [one.read(batch, self.threads, self.frequencies) for one in self.readers]
            for measured in zip(*results, strict=True):
                self.on_sentence(measured)
                yield measured

    def blocks(self) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of the result: of a text sentence by sentence, of a table all at once."""
        if self.table is None:
            yield from map(self._cells, self.sentences())
            return
        kept = [self.table.names.index(name) for name in self.kept]
        yield [
            (*(self.table.rows[number][k] for k in kept), *cells)
            for number, cells in self._table_rows()
        ]

    def result(self) -> Any:
        """The result as a list of rows, or as a data frame if one was given."""
        frame = self.given
        if self.table is None or not is_frame(frame):
            return MeasuredWords(self.names, (row for block in self.blocks() for row in block))
        rows = self._table_rows()
        numbers = [number for number, _ in rows]
        names = self.names[len(self.kept) :]
        columns = {name: [cells[n] for _, cells in rows] for n, name in enumerate(names)}
        kept = [name for name in frame.columns if str(name) in self.kept]
        if not hasattr(frame, "iloc"):  # polars
            return frame.select(kept)[numbers].hstack(type(frame)(columns))
        table = frame[kept].iloc[numbers]
        same = numbers == list(range(len(frame)))
        return (table.copy() if same else table.reset_index(drop=True)).assign(**columns)

    def _table_rows(self) -> list[tuple[int, tuple[Any, ...]]]:
        """The measures of each row of the result, with the row of the table, in its order."""
        rows: list[tuple[int, tuple[Any, ...]]] = []
        for measured in self.sentences():
            rows += zip(measured[0].rows.numbers, self._cells(measured), strict=True)
        return sorted(rows, key=lambda row: row[0])

    def _cells(self, measured: Sequence[MeasuredSentence]) -> list[tuple[Any, ...]]:
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


def _each_sample(models: Iterable[Model]) -> list[Model]:
    """A model for each of the kept grammars of several models."""
    samples: list[Model] = []
    for model in models:
        if not model.samples:
            raise GrammarError(
                "an average needs several grammars of a chain, and this model has only one: give "
                "the directory of a run (in Python, load it with samples=True)"
            )
        samples += [replace(model, grammar=sample, samples=()) for sample in model.samples]
    return samples


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
    names = [CLASH + name if name in kept else name for name in measures]
    for name in names:
        if name in kept:
            raise DbpcfgError(
                f"{table.source} has the columns {name.removeprefix(CLASH)!r} and {name!r}: give "
                "the measures other names with --prefix, such as --prefix m_, or leave a column "
                "out with --keep or --columns (in Python prefix=, keep=, columns=)"
            )
    return names
