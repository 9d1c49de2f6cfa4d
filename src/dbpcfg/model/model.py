"""``Model``, a learned grammar and what can be done with it.

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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preparation import Preparation, word_class
from dbpcfg.corpus.reading import GivenSentences
from dbpcfg.errors import DbpcfgError, GrammarError, UnparsableError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import html
from dbpcfg.model.decoding import Decoder, Method, Parse
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.parsers import Parser, parser_of
from dbpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from dbpcfg.model.probabilities import SentenceProbability, TextProbability
    from dbpcfg.model.profile import Profile
    from dbpcfg.model.surprisal import surprisal as measured

UNKNOWN = "<unknown>"
"""The word that stands for all unknown words, unless the text has a word of this name."""


class WordForm(NamedTuple):
    """A word as a model sees it."""

    number: int
    """Among the words of ``grammar_with_unknown``; −1 if no category emits it."""
    form: str
    kind: Literal["word", "class", "unknown"]
    """Known, a member of a class, or unknown."""


class _Surprisal:
    """The method `Model.surprisal`, which is imported when it is used."""

    def __get__(self, model: Model | None, owner: type[Model]) -> Any:
        from dbpcfg.model.surprisal import surprisal

        return surprisal if model is None else MethodType(surprisal, model)


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A learned grammar, ready for other text.

    Parameters
    ----------
    grammar
        The grammar as it was learned.
    depth
        The memory bound D; None for none.
    preparation
        How text is prepared for it; by default letters are changed to lower case.
    unknown
        ``[c]``: the probability with which category c emits a word never seen; None for zero.
    samples
        Other grammars of the same chain, after burn-in and evenly spaced, for ``mbr-chain``,
        ``probability(chain=True)`` and ``surprisal(average="chain")``.
    """

    grammar: Grammar
    depth: int | None
    preparation: Preparation = field(default_factory=Preparation)
    unknown: Floats | None = None
    samples: tuple[Grammar, ...] = ()

    surprisal = measured if TYPE_CHECKING else _Surprisal()

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

    def __repr__(self) -> str:
        grammar, samples = self.grammar, len(self.samples)
        return (
            f"<Model: K = {grammar.categories}, D = {self.depth}, "
            f"{len(grammar.vocabulary):,} words{f', {samples} samples' if samples else ''}>"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: each category with its most probable rules and words."""
        return html(repr(self).strip("<>")) + self.grammar._repr_html_()

    def parse(
        self,
        sentences: GivenSentences,
        method: Method = "mbr",
        *,
        seed: int = 0,
        brackets: Literal["text", "trees"] | None = None,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> list[Tree]:
        """Parse sentences.

        Parameters
        ----------
        sentences
            Lists of words, texts that are split at white space, or a path to read them from.
        method
            ``"mbr"``: the MBR tree, with the greatest expected number of correct spans.
            ``"mbr-chain"``: the same, averaged over the grammars of the chain (``samples``).
            ``"viterbi"``: the most probable tree. ``"sample"``: a tree drawn from the posterior.
        seed
            Of ``"sample"``.
        brackets
            Constituents that are known: ``"text"`` for those in square brackets, as in
            ``[the dog] barked``, ``"trees"`` for those of trees. The trees found have them.
        threads
            The number of threads.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        list of Tree
            A tree for every sentence; a flat one, ``(X w1 w2 …)``, if it has probability zero or
            more than 1,000 words.

        Raises
        ------
        DbpcfgError
            If a sentence is empty, ``"mbr-chain"`` is asked of a model without samples, or brackets
            are broken or such as no tree within the bound has.
        """
        decoder = Decoder(self, method, 1, seed, threads)
        found = decoder.each("parse", sentences, decoder.trees, quiet, brackets)
        return [tree for (tree,) in found]

    def parses(
        self,
        sentences: GivenSentences,
        n: int = 1,
        method: Method = "viterbi",
        *,
        seed: int = 0,
        brackets: Literal["text", "trees"] | None = None,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> list[list[Parse]]:
        """Parse sentences, with several trees for each and their probabilities.

        Parameters
        ----------
        sentences
            Lists of words, texts that are split at white space, or a path to read them from.
        n
            The number of trees; a sentence that has fewer gets fewer.
        method
            ``"viterbi"`` for the n most probable trees, ``"sample"`` for n samples; ``"mbr"`` and
            ``"mbr-chain"`` have one tree.
        seed
            Of ``"sample"``.
        brackets
            As of `parse`.
        threads
            The number of threads.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        list of list of Parse
            The trees of every sentence, with log P(tree, sentence) and P(tree | sentence), of all
            trees that have its brackets.

        Raises
        ------
        DbpcfgError
            If a sentence is empty, or the method does not have n trees.
        """
        decoder = Decoder(self, method, n, seed, threads)
        return list(decoder.each("parses", sentences, decoder.parses, quiet, brackets))

    def probability(
        self,
        sentences: GivenSentences,
        *,
        chain: bool = False,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> TextProbability:
        """The probability of a text.

        Parameters
        ----------
        sentences
            Lists of words, texts that are split at white space, or a path to read them from.
        chain
            Whether a sentence's probability is the mean under the grammars in ``samples``.
        threads
            The number of threads.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        TextProbability
            Its log-probability, bits per word and perplexity.

        Raises
        ------
        DbpcfgError
            If a sentence is empty or has more than 1,000 words, or ``chain`` is asked of a model
            without samples.
        """
        from dbpcfg.model.probabilities import totals

        found = self.probabilities(sentences, chain=chain, threads=threads, quiet=quiet)
        return totals(found)[0]

    def probabilities(
        self,
        sentences: GivenSentences,
        *,
        chain: bool = False,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> Iterator[SentenceProbability]:
        """The probability of each sentence, as they are parsed; parameters as of `probability`."""
        from dbpcfg.model.probabilities import sentence_probabilities

        return sentence_probabilities(self, sentences, chain, threads, quiet)

    def generate(
        self,
        n: int = 10,
        seed: int = 0,
        *,
        max_length: int | None = None,
        with_unknown: bool = False,
        quiet: bool | None = None,
    ) -> list[Tree]:
        """Generate sentences with their trees.

        Parameters
        ----------
        n
            The number of sentences.
        seed
            Of the random numbers. The first sentences do not depend on n.
        max_length
            The greatest number of words in a sentence; None for any.
        with_unknown
            Whether there can be the word that stands for unknown words, ``<unknown>``.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        list of Tree
            The trees.

        Raises
        ------
        DbpcfgError
            If ``n`` or ``max_length`` is less than 1, the grammar has no tree that fits the bound,
            or a sentence becomes too long.
        """
        from dbpcfg.model.generation import generate

        made = generate(self, n, seed, max_length, with_unknown)
        return list(counted(made, "generated sentences", n, quiet))

    def profile(self, trees: Iterable[Tree] = ()) -> Profile:
        """How the grammar uses its categories.

        Parameters
        ----------
        trees
            Binary trees with its categories as labels, in which use is counted too.

        Returns
        -------
        Profile
            Words, rules and use of each category.
        """
        from dbpcfg.model.profile import profile

        return profile(self.grammar, self.depth, trees)

    def show(self, width: int = 80) -> None:
        """Print the categories with their words and rules.

        Parameters
        ----------
        width
            Characters in a line, at most.
        """
        from dbpcfg.model.profile import as_text

        print(as_text(self.profile(), width))

    def save(self, path: str | Path) -> None:
        """Write a model file, without the samples.

        Parameters
        ----------
        path
            The file, such as ``model.npz``.
        """
        from dbpcfg.model.files import save_model

        save_model(self, path)

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
        """The same of the model's grammar or of another one of its chain.

        The other rules of each row shrink to make room; the grammar is of low rank if it was.
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
        """Encode lists of words in the vocabulary of ``grammar_with_unknown``."""
        numbers = []
        for n, words in enumerate(sentences, start=1):
            if not words or isinstance(words, str):
                raise DbpcfgError(f"sentence {n} must be a list of at least one word")
            numbers.append(self.numbers(words))
        return Encoded.from_numbers(numbers, self.grammar_with_unknown.vocabulary)

    def parser(self, threads: int = 1, precision: Precision = "double") -> Parser:
        """The parser for probabilities and MBR trees; in rank space if the grammar has factors."""
        return parser_of(self.grammar_with_unknown, self.depth, threads, precision)


def unknown_mass(expansions: Floats, beta: float, rules: int) -> Floats:
    """``[c]``: the probability with which each category emits a word never seen.

    ``expansions``: ``[c]``: how often each category was expanded.
    ``rules``: how many a category has: K² + W, of a word's category in a low-rank grammar W.
    """
    return beta / (expansions + beta * (rules + 1))
