"""Measures for reading experiments: one row for every word of a text, and for every sentence's end.

The columns, with their formulas, are explained in ``docs/surprisal.md``. In short, *before* a word
means given the words of the sentence before it:

==============================  ================================================================
``source, line``                where the sentence stands
``sentence, token``             its number in the whole text, and the word's in the sentence, from 1
``word``                        the word as written; ``</s>`` is the end of the sentence
``form, kind``                  what the model sees; word, class, unknown or end
``surprisal``                   −log₂ P(word), before it
``next_word_entropy``           of what comes next, a word or the end, before it
``next_word_entropy_reduction`` by how much that is less after it; can be negative
``end_probability``             that the sentence ends here, before it
``depth``                       expected number of fragments in memory, before it
``store, store_probability``    the most probable state of memory, before it
``store_entropy``               of the state of memory, before it
``fork, join``                  probability of a fork and of a join at the word, given it too
``lost``                        share of the probability that the beam dropped after the word
==============================  ================================================================

Entropies are in bits. What is not known, as after a word of probability zero, is not a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TextIO

import numpy as np

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.io.tables import Column, Table, data_frame, html, line
from dbpcfg.model.learned import LearnedGrammar, WordForm, WordKind, Words, words_of
from dbpcfg.parsing.leftcorner.models import Fragment
from dbpcfg.parsing.leftcorner.parser import Followed, WordByWord

END = "</s>"
"""How the end of a sentence is written."""
EMPTY = "-"
"""How a store without fragments is written."""
BATCH = 32
"""Sentences that are parsed at once, for each thread."""
REMEMBERED = 2**16
"""Words of which the form is not looked up again."""
SHOWN_ROWS = 20
"""Rows that a notebook shows of a text."""


class WordMeasures(NamedTuple):
    """One word of a sentence, or its end."""

    source: str
    line: int
    sentence: int
    token: int
    word: str
    form: str
    kind: WordKind
    surprisal: float
    next_word_entropy: float
    next_word_entropy_reduction: float
    end_probability: float
    depth: float
    store: str
    store_probability: float
    store_entropy: float
    fork: float
    join: float
    lost: float


class MeasuredSentence(NamedTuple):
    """A sentence, measured."""

    rows: list[WordMeasures]
    """Its words, and its end."""
    followed: Followed
    """What the parser found."""
    numbers: list[int]
    """The number of each word's form."""


class MeasuredWords(list[WordMeasures]):
    """The rows of a text, a list that knows its columns."""

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return data_frame(WordMeasures._fields, self)

    def _repr_html_(self) -> str:
        """What notebooks show: the first rows."""
        rows: list[Sequence[Any]] = list(self[:SHOWN_ROWS])
        texts = ("source", "word", "form", "kind", "store")
        counts = ("line", "sentence", "token")
        columns = [
            Column(name)
            if name in texts
            else Column(name, "count" if name in counts else "number", decimals=3)
            for name in WordMeasures._fields
        ]
        return html(f"{len(self):,} rows, of which the first are", [Table("", columns, rows)])


def incremental_parser(
    model: LearnedGrammar, depth: int | None = None, beam: int | None = None
) -> WordByWord:
    """The incremental parser of a model, for `measure_with`.

    ``depth``: the memory bound; the model's if not given.
    ``beam``: the number of stores kept at each word; 0 for all; None for all unless they are too
    many.
    """
    depth = model.depth if depth is None else depth
    if depth is None:
        raise GrammarError(
            "word-by-word measures need a memory bound, and this model has none: "
            "choose one with --depth, such as --depth 2 (in Python, depth=2)"
        )
    return WordByWord(model.grammar_with_unknown, depth, beam)


def measure(
    model: LearnedGrammar,
    sentences: Iterable[Words],
    depth: int | None = None,
    beam: int | None = None,
    end: bool = True,
    threads: int = 1,
) -> Iterator[list[WordMeasures]]:
    """Measure every word of sentences, in order, as they are parsed.

    ``sentences``: lists of words, texts that are split at white space, or sentences as read.
    ``depth``: the memory bound; the model's if not given.
    ``beam``: the number of stores kept at each word; 0 for all; None for all unless they are too
    many.
    ``end``: whether there is a row for the end of each sentence.
    """
    return measure_with(incremental_parser(model, depth, beam), model, sentences, end, threads)


def measure_with(
    parser: WordByWord,
    model: LearnedGrammar,
    sentences: Iterable[Words],
    end: bool = True,
    threads: int = 1,
) -> Iterator[list[WordMeasures]]:
    """Measure every word of sentences with a parser from `incremental_parser`.

    ``sentences``: lists of words, texts that are split at white space, or sentences as read.
    ``end``: whether there is a row for the end of each sentence.
    """
    for one in follow_with(parser, model, sentences, threads):
        yield one.rows if end else one.rows[:-1]


def follow_with(
    parser: WordByWord, model: LearnedGrammar, sentences: Iterable[Words], threads: int = 1
) -> Iterator[MeasuredSentence]:
    """Measure every word of sentences, and give what the rows were made from.

    ``sentences``: lists of words, texts that are split at white space, or sentences as read.
    Returns the rows of a sentence, its end included, and what the parser found.
    """
    look_up = lru_cache(REMEMBERED)(model.look_up)
    numbered = enumerate(map(_sentence, sentences), start=1)
    while batch := list(islice(numbered, 1 if threads == 1 else BATCH * threads)):
        seen = [[look_up(word) for word in sentence.words] for _, sentence in batch]
        numbers = [np.array([word.number for word in words], dtype=np.int32) for words in seen]
        followed = parser.follow_all(numbers, threads)
        for (number, sentence), words, one in zip(batch, seen, followed, strict=True):
            rows = _rows(number, sentence, words, one, _stores(parser, model, one))
            yield MeasuredSentence(rows, one, [word.number for word in words])


def as_table(rows: Iterable[WordMeasures]) -> dict[str, list[object]]:
    """The rows as columns, for ``pandas.DataFrame(as_table(rows))``."""
    rows = list(rows)
    return {name: [row[n] for row in rows] for n, name in enumerate(WordMeasures._fields)}


def write_tsv(rows: Iterable[WordMeasures], file: TextIO, header: bool = True) -> None:
    """Write rows as tab-separated text."""
    if header:
        file.write(line(WordMeasures._fields))
    file.writelines(map(line, rows))


def _sentence(sentence: Words) -> Sentence:
    if not isinstance(sentence, Sentence):
        sentence = Sentence(words_of(sentence))
    if not sentence.words:
        raise DbpcfgError(f"{sentence.place}: a sentence without words; leave empty ones out")
    return sentence


def _stores(parser: WordByWord, model: LearnedGrammar, followed: Followed) -> list[str]:
    """The most probable stores in words, such as ``S/VP NP/N``."""
    names = model.grammar.names
    shown = []
    for number in followed.trace.best.tolist():
        fragments = parser.fragments(number) if number > 0 else []
        text = " ".join(str(Fragment(names[a], names[b])) for a, b in fragments)
        shown.append(text or (EMPTY if number == 0 else ""))
    return shown


def _rows(
    number: int, sentence: Sentence, seen: list[WordForm], followed: Followed, stores: list[str]
) -> list[WordMeasures]:
    trace, bit = followed.trace, math.log(2)
    entropies = followed.entropies / bit
    after = np.append(entropies[1:], 0.0 if np.isfinite(trace.logs[-1]) else np.nan)
    measures = zip(
        (-trace.logs / bit).tolist(),
        entropies.tolist(),
        (entropies - after).tolist(),
        trace.ended.tolist(),
        trace.depth.tolist(),
        stores,
        trace.best_probability.tolist(),
        (trace.entropy / bit).tolist(),
        trace.fork.tolist(),
        trace.join.tolist(),
        trace.lost.tolist(),
    )
    words = zip((*sentence.words, END), (*seen, WordForm(-1, END, "end")))
    return [
        WordMeasures(sentence.source, sentence.line, number, token, word, form, kind, *rest)
        for token, ((word, (_, form, kind)), rest) in enumerate(zip(words, measures), start=1)
    ]
