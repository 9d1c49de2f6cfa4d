"""A learned grammar ready for other text: with its bound, its preparation, and unknown words.

**Words never seen.** The prior gives every rule of a row the same β, and would have given it to a
word that did not occur as well. Had the vocabulary had one more word, its predictive probability
after a category c that was expanded n(c) times would be::

    unknown(c) = β / (n(c) + β (K² + W + 1))

So ``grammar_with_unknown`` has one more word, ``<unknown>``, with this probability, and everything
else in the row shrinks to make room: a category that was used often for many things is unlikely to
emit a new word, one that was used little is not. All unknown words are this one word. Where rare
words were put into classes, a new word is first of all a member of its class. If the text itself
has a word ``<unknown>``, that is a word like others, and unknown ones are ``<<unknown>>``.

Phrases of a low-rank grammar have no words, so they emit no unknown ones, and the grammar with one
more word is of low rank as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preparation import Preparation, word_class
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError, GrammarError, UnparsableError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.parsers import Parser, parser_of

UNKNOWN = "<unknown>"
"""The word that stands for all unknown words, unless the text has a word of this name."""

Words: TypeAlias = Sentence | Sequence[str]
"""A sentence as callers give it: as read, as a list of words, or as text split at white space."""

WordKind = Literal["word", "class", "unknown", "end"]
"""What a word is to a model: known, a member of a class, unknown, or the end of a sentence."""


def words_of(sentence: Words) -> tuple[str, ...]:
    """The words of a sentence in any of the forms that `Words` allows."""
    if isinstance(sentence, Sentence):
        return sentence.words
    return tuple(sentence.split() if isinstance(sentence, str) else sentence)


class WordForm(NamedTuple):
    """A word as a model sees it."""

    number: int
    """Among the words of ``grammar_with_unknown``; −1 if no category emits it."""
    form: str
    kind: WordKind


@dataclass(frozen=True, eq=False)
class LearnedGrammar:
    """A grammar, the memory bound and the preparation that it was learned with."""

    grammar: Grammar
    """The grammar as it was learned."""
    depth: int | None
    """D, the memory bound; None for none."""
    preparation: Preparation = field(default_factory=Preparation)
    """How text is prepared for it."""
    unknown: Floats | None = None
    """[c]: the probability with which c emits a word never seen; None: it never does. Phrases of a
    low-rank grammar never do."""
    samples: tuple[Grammar, ...] = ()
    """Other grammars of the same chain after burn-in, evenly spaced."""

    def __post_init__(self) -> None:
        if self.depth is not None:
            check_depth(self.depth)
        K = self.grammar.categories
        unknown = np.zeros(K) if self.unknown is None else np.array(self.unknown, dtype=np.float64)
        if unknown.shape != (K,) or not ((unknown >= 0) & (unknown < 1)).all():
            raise GrammarError(f"unknown must be {K} probabilities, each at least 0 and below 1")
        if isinstance(self.grammar, LowRankGrammar):
            unknown[: self.grammar.factors.phrases] = 0.0
        unknown.flags.writeable = False
        object.__setattr__(self, "unknown", unknown)

    @cached_property
    def unknown_word(self) -> str | None:
        """The word that stands for unknown words in ``grammar_with_unknown``; None if none does.

        A grammar without a probability for unknown words, such as a table of rules, may have a word
        for them by name.
        """
        assert self.unknown is not None
        index, last, free = self.grammar.vocabulary.index, None, UNKNOWN
        while free in index:
            last, free = free, f"<{free}>"
        return free if self.unknown.any() else last

    @cached_property
    def grammar_with_unknown(self) -> Grammar:
        """The grammar with one more word, ``<unknown>``, unless its probability is zero."""
        return self.with_unknown(self.grammar)

    def with_unknown(self, grammar: Grammar) -> Grammar:
        """Add the word ``<unknown>``, unless its probability is zero.

        Parameters
        ----------
        grammar
            The model's grammar, or another one of the same chain.

        Returns
        -------
        Grammar
            The grammar with one more word; the other rules of each row shrink to make room. It is
            of low rank if the grammar is.
        """
        assert self.unknown is not None
        if not self.unknown.any():
            return grammar
        assert self.unknown_word is not None
        words = Vocabulary((*grammar.vocabulary.words, self.unknown_word))
        unknown = self.unknown[:, np.newaxis]
        if isinstance(grammar, LowRankGrammar):
            factors, unknown = grammar.factors, unknown[grammar.factors.phrases :]
            emission = np.concatenate([factors.emission * (1 - unknown), unknown], axis=1)
            more = LowRankGrammar(factors._replace(emission=emission), words)
            return more.named(grammar.names)
        rest = 1 - unknown
        return Grammar(
            grammar.root,
            grammar.binary * rest[:, np.newaxis],
            np.concatenate([grammar.lexical * rest, unknown], axis=1),
            words,
        ).named(grammar.names)

    def look_up(self, word: str) -> WordForm:
        """What the model sees in place of a word."""
        try:
            number = self._number(word)
        except UnparsableError:
            return WordForm(-1, self.preparation.form(word), "unknown")
        form = self.grammar_with_unknown.vocabulary.words[number]
        if form == self.unknown_word:
            return WordForm(number, form, "unknown")
        own = (self.preparation.own_form(word), self.preparation.letters(word))
        return WordForm(number, form, "word" if form in own else "class")

    def numbers(self, words: Sequence[str]) -> list[int]:
        """The number of each word's form in the vocabulary of ``grammar_with_unknown``."""
        known = self._known
        return [known[word] if word in known else self._number(word) for word in words]

    @cached_property
    def _known(self) -> dict[str, int]:
        """Words that are their own forms, as most words of most texts are, with their numbers."""
        index, form = self.grammar_with_unknown.vocabulary.index, self.preparation.form
        return {word: number for word, number in index.items() if form(word) == word}

    def _number(self, word: str) -> int:
        index = self.grammar_with_unknown.vocabulary.index
        found = index.get(self.preparation.form(word))
        letters = self.preparation.letters(word)
        if found is None and not letters.startswith("<<"):
            found = index.get(letters)  # the name of a class, as generated sentences have them
        if found is None and self.preparation.rare:
            found = index.get(word_class(word, self.preparation.scheme))
        if found is None and self.unknown_word is not None:
            found = index[self.unknown_word]
        if found is None:
            raise UnparsableError(
                f"{word!r} is not one of the grammar's {len(index):,} words, and it has none for "
                f"unknown ones: give it a word {UNKNOWN}, or a probability for unknown words"
            )
        return found

    def encode(self, sentences: Iterable[Sequence[str]]) -> Encoded:
        """Encode sentences in the vocabulary of ``grammar_with_unknown``.

        Parameters
        ----------
        sentences
            Lists of words.

        Returns
        -------
        Encoded
            The numbers of the words' forms.

        Raises
        ------
        DbpcfgError
            If a sentence is empty or a text, or a word is unknown and the model has no word for
            unknown words.
        """
        numbers = []
        for n, words in enumerate(sentences, start=1):
            if not words or isinstance(words, str):
                raise DbpcfgError(f"sentence {n} must be a list of at least one word")
            numbers.append(self.numbers(words))
        return Encoded.from_numbers(numbers, self.grammar_with_unknown.vocabulary)

    def parser(self, threads: int = 1, precision: Precision = "double") -> Parser:
        """The parser of ``grammar_with_unknown``."""
        return parser_of(self.grammar_with_unknown, self.depth, threads, precision)


def unknown_mass(expansions: Floats, beta: float, rules: int) -> Floats:
    """The probability with which each category emits a word never seen.

    ``expansions``: ``[c]``: how often each category was expanded.
    ``rules``: how many a category has: K² + W, of a word's category in a low-rank grammar W.
    ``array``: ``[c]``: unknown(c).
    """
    return beta / (expansions + beta * (rules + 1))
