"""A list of sentences that takes little memory.

A sentence is some Python objects, about 500 bytes of them. Here its words, file, speaker and
brackets are numbers in arrays that grow as sentences are read, and it is made anew when it is asked
for. Only annotation, such as trees, is kept as it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

from dbpcfg.corpus.encoded import Encoded, NumberedSentences, Numbers
from dbpcfg.corpus.sentence import Sentence, Spans

BLOCK = 1000
"""Sentences that are made together."""

_BARE = (None, None, None, None)


class SentenceList(Sequence[Sentence]):
    """Sentences, to which more can be added at the end.

    ``sentences``: the first ones.
    """

    def __init__(self, sentences: Iterable[Sentence] = ()) -> None:
        self._vocabulary = Numbers[str]()
        self._words = NumberedSentences(self._vocabulary)
        self._lines = array("q")
        self._origins, self._origin = Numbers[tuple[str, str | None]](), array("i")
        self._spans, self._bracketing = Numbers[Spans](), array("i")
        self._annotation: dict[int, tuple[Any, ...]] = {}
        self.extend(sentences)

    def append(self, sentence: Sentence) -> None:
        """Add a sentence."""
        annotation = sentence.tags, sentence.tree, sentence.xpos, sentence.heads
        if annotation != _BARE:
            self._annotation[len(self)] = annotation
        self._words.append(sentence.words)
        self._lines.append(sentence.line)
        self._origin.append(self._origins[sentence.source, sentence.speaker])
        self._bracketing.append(self._spans[sentence.brackets])

    def extend(self, sentences: Iterable[Sentence]) -> None:
        """Add sentences."""
        for sentence in sentences:
            self.append(sentence)

    @property
    def encoded(self) -> Encoded:
        """Their words as arrays, numbered by first appearance."""
        return self._words.encoded()

    @property
    def brackets(self) -> Iterator[Spans]:
        """The brackets of each sentence."""
        return map(self._spans.things.__getitem__, self._bracketing)

    @property
    def tokens(self) -> int:
        """How many words they have."""
        return len(self._words.tokens)

    def _made(self, begin: int, end: int) -> Iterator[Sentence]:
        """Some sentences."""
        words, origins, spans = (
            self._vocabulary.things,
            self._origins.things,
            self._spans.things,
        )
        for first in range(begin, end, BLOCK):
            last = min(first + BLOCK, end)
            starts = self._words.starts[first : last + 1].tolist()
            text = tuple([words[n] for n in self._words.tokens[starts[0] : starts[-1]]])
            columns = (self._origin, self._lines, self._bracketing)
            rows = zip(*(column[first:last] for column in columns), strict=True)
            for s, (i, j), (origin, line, bracketing) in zip(
                range(first, last), pairwise(starts), rows, strict=True
            ):
                tags, tree, xpos, heads = self._annotation.get(s, _BARE)
                source, speaker = origins[origin]
                own, brackets = text[i - starts[0] : j - starts[0]], spans[bracketing]
                yield Sentence(own, tags, tree, speaker, source, line, xpos, heads, brackets)

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Sentence]:
        return self._made(0, len(self))

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        numbers = range(len(self))[index]  # checks the index; negative ones count from the end
        if isinstance(numbers, int):
            return next(self._made(numbers, numbers + 1))
        if numbers.step == 1:
            return list(self._made(numbers.start, numbers.stop))
        return [self[s] for s in numbers]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | SentenceList):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SentenceList({list(self)!r})"
