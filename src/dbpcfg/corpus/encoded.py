"""Sentences as arrays of word numbers."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural
from dbpcfg.numerics.kernels import Ints, Longs

Thing = TypeVar("Thing", bound=Hashable)


class Numbers(dict[Thing, int]):
    """Things with their numbers, in order of first appearance: a new one gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.things: list[Thing] = []
        """The things, by number."""

    def __missing__(self, thing: Thing) -> int:
        number = self[thing] = len(self)
        self.things.append(thing)
        return number


@dataclass(frozen=True)
class Vocabulary:
    """A list of words, numbered in order."""

    words: tuple[str, ...]
    """The words, each once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if len(self.index) != len(self.words):
            twice = next(word for n, word in enumerate(self.words) if self.index[word] != n)
            raise DbpcfgError(f"the vocabulary has {twice!r} twice; list each word once")

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentences: Iterable[Sequence[str]]) -> Encoded:
        """Number the words of sentences."""
        numbered = NumberedSentences(self.index)
        for n, sentence in enumerate(sentences, start=1):
            try:
                numbered.append(sentence)
            except KeyError as error:
                raise DbpcfgError(
                    f"sentence {n}: {error.args[0]!r} is not in the vocabulary, which has "
                    f"{plural(len(self), 'word')}"
                ) from None
        return numbered.encoded(self)


class NumberedSentences:
    """Sentences whose words are numbered one sentence after another.

    ``numbers``: the number of each word; if not given, words are numbered by first appearance.
    """

    def __init__(self, numbers: dict[str, int] | None = None) -> None:
        self.numbers = Numbers[str]() if numbers is None else numbers
        self.tokens = array("i")
        self.starts = array("q", [0])

    def append(self, sentence: Sequence[str]) -> None:
        """Number the words of one more sentence."""
        if isinstance(sentence, str):
            raise DbpcfgError(
                f"sentence {len(self.starts)} is one text; give its words, as with text.split()"
            )
        self.tokens.extend([self.numbers[word] for word in sentence])
        self.starts.append(len(self.tokens))

    def encoded(self, vocabulary: Vocabulary | None = None) -> Encoded:
        """The sentences as arrays.

        ``vocabulary``: that of the numbers, if it is known.
        """
        tokens, starts = np.array(self.tokens, np.int32), np.array(self.starts, np.int64)
        empty = np.flatnonzero(np.diff(starts) == 0)
        if len(empty):
            raise DbpcfgError(f"sentence {empty[0] + 1} has no words; leave empty sentences out")
        return Encoded(tokens, starts, vocabulary or Vocabulary(tuple(self.numbers)))


class Sentences(NamedTuple):
    """A corpus for kernels: sentence s is ``tokens[starts[s] : starts[s + 1]]``."""

    tokens: Ints
    starts: Longs


@dataclass(frozen=True, eq=False)
class Encoded:
    """Sentences over one vocabulary.

    Sentence ``s`` is ``tokens[starts[s] : starts[s + 1]]``.
    """

    tokens: Ints
    """The numbers of all words, sentence after sentence."""
    starts: Longs
    """The start of each sentence, and the end of the last."""
    vocabulary: Vocabulary
    """The words."""
    original_ids: Longs | None = None
    """The numbers of the sentences in the corpus from which they were selected, if any."""
    brackets: Ints | None = None
    """``[bracket, 3]``: sentence, start and end of each known constituent, sorted.

    If the end is before the start, the words are known not to be a constituent.
    """

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]]) -> Encoded:
        """Number words in order of first appearance."""
        numbered = NumberedSentences()
        for sentence in sentences:
            numbered.append(sentence)
        return numbered.encoded()

    @classmethod
    def from_numbers(cls, sentences: Sequence[Sequence[int]], vocabulary: Vocabulary) -> Encoded:
        """Make a corpus of sentences whose words are already numbered."""
        lengths = [len(sentence) for sentence in sentences]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = np.fromiter(chain.from_iterable(sentences), np.int32, int(starts[-1]))
        return cls(tokens, starts, vocabulary)

    def with_words(self, words: Sequence[str]) -> Encoded:
        """The same sentences with another word in the place of each, numbered by first appearance.

        ``words``: one for each word of the vocabulary, which is numbered so too.
        """
        numbers = Numbers[str]()
        renumbered = np.array([numbers[word] for word in words], dtype=np.int32)
        return replace(self, tokens=renumbered[self.tokens], vocabulary=Vocabulary(tuple(numbers)))

    @property
    def sentences(self) -> Sentences:
        """The sentences as kernels need them."""
        return Sentences(self.tokens, self.starts)

    @cached_property
    def sentence_ids(self) -> Longs:
        """The number of each sentence in the original corpus.

        Random numbers depend on it, so a part of a corpus gets the same trees as the whole.
        """
        return np.arange(len(self)) if self.original_ids is None else self.original_ids

    def with_brackets(self, brackets: Iterable[Iterable[tuple[int, int]]]) -> Encoded:
        """The same sentences with brackets; those of one word or of the whole sentence are dropped.

        ``(5, 2)`` means that words 2 to 4 are not a constituent.
        """
        rows = [
            (s, start, end)
            for s, (spans, n) in enumerate(zip(brackets, self.lengths.tolist(), strict=True))
            for start, end in sorted(set(spans))
            if 1 < abs(end - start) < n
        ]
        return replace(self, brackets=np.array(rows, dtype=np.int32) if rows else None)

    def brackets_of(self, sentences: Longs) -> Ints | None:
        """The brackets of some sentences, renumbered from 0; None if they have none."""
        if self.brackets is None:
            return None
        first, last = (np.searchsorted(self.brackets[:, 0], sentences + x) for x in (0, 1))
        numbers = last - first
        if not numbers.any():
            return None
        ends = np.cumsum(numbers)
        rows: Ints = self.brackets[np.arange(ends[-1]) + np.repeat(first - ends + numbers, numbers)]
        rows[:, 0] = np.repeat(np.arange(len(sentences)), numbers)
        return rows

    def equals(self, other: Encoded) -> bool:
        """Whether two corpora have the same sentences and brackets."""
        if self is other:
            return True
        if self.brackets is None or other.brackets is None:
            same_brackets = self.brackets is other.brackets
        else:
            same_brackets = np.array_equal(self.brackets, other.brackets)
        texts = ((self.starts, other.starts), (self.tokens, other.tokens))
        return same_brackets and all(
            np.array_equal(array, other_array) for array, other_array in texts
        )

    def numbers(self, sentence: int) -> Ints:
        """The word numbers of one sentence."""
        return self.tokens[self.starts[sentence] : self.starts[sentence + 1]]

    @property
    def lengths(self) -> Longs:
        """The number of words of each sentence."""
        return np.diff(self.starts)

    @cached_property
    def distinct(self) -> tuple[Longs, Longs, Longs]:
        """Distinct sentences, longest first, and their copies.

        Three arrays: the first copy of each distinct sentence; where its copies start in the third
        array; and all copies. Copies have the same words and brackets.
        """
        copies_of: dict[tuple[bytes, bytes], list[int]] = {}
        bracket_key, first = b"", None
        if self.brackets is not None:
            first = np.searchsorted(self.brackets[:, 0], np.arange(len(self) + 1))
        for sentence in np.argsort(-self.lengths, kind="stable").tolist():
            word_key = self.numbers(sentence).tobytes()
            if self.brackets is not None and first is not None:
                bracket_key = self.brackets[first[sentence] : first[sentence + 1], 1:].tobytes()
            copies_of.setdefault((word_key, bracket_key), []).append(sentence)
        numbers = [len(copies) for copies in copies_of.values()]
        return (
            np.array([copies[0] for copies in copies_of.values()], dtype=np.int64),
            np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64),
            np.array([s for copies in copies_of.values() for s in copies], dtype=np.int64),
        )

    @cached_property
    def frequencies(self) -> Longs:
        """How often each word of the vocabulary occurs."""
        return np.bincount(self.tokens, minlength=len(self.vocabulary))

    def select(self, sentences: Longs, keep_ids: bool = False) -> Encoded:
        """Some of the sentences.

        ``keep_ids``: whether they keep their random numbers.
        """
        lengths = self.starts[sentences + 1] - self.starts[sentences]  # not those of all others
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.arange(starts[-1]) + np.repeat(self.starts[sentences] - starts[:-1], lengths)
        return Encoded(
            self.tokens[at],
            starts,
            self.vocabulary,
            self.sentence_ids[sentences] if keep_ids else None,
            self.brackets_of(sentences),
        )

    @property
    def compact(self) -> tuple[Longs, Encoded]:
        """The numbers of the words that occur, and the sentences over these words only."""
        words, tokens = np.unique(self.tokens, return_inverse=True)
        vocabulary = Vocabulary(tuple(self.vocabulary.words[word] for word in words.tolist()))
        compacted = Encoded(
            tokens.astype(np.int32), self.starts, vocabulary, brackets=self.brackets
        )
        return words.astype(np.int64), compacted

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, sentence: int) -> list[str]:
        sentence = range(len(self))[sentence]  # checks the index; negative ones count from the end
        return [self.vocabulary.words[number] for number in self.numbers(sentence)]

    def __iter__(self) -> Iterator[list[str]]:
        return (self[sentence] for sentence in range(len(self)))
