"""``Model``: a learned grammar that parses, measures and generates sentences.

**Unknown words.** The prior gives every rule of a row the same β. With one more word in the
vocabulary, which does not occur, the predictive probability of this word under a category c that
was expanded n(c) times would be::

    unknown(c) = β / (n(c) + β (K² + W + 1))

So ``grammar_with_unknown`` has one more word, ``<unknown>``, with this probability, and the other
rules of the row are scaled down: a category that was used often is unlikely to emit a new word. All
unknown words are this one word. If rare words were replaced by classes, a new word is a member of
its class. If the text itself has a word ``<unknown>``, that is a word like any other, and unknown
words are ``<<unknown>>``.

Phrases of a low-rank grammar have no words, so they emit no unknown ones, and the grammar with one
more word is of low rank as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.arguments import SentencesLike
from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing, word_class
from dbpcfg.errors import DbpcfgError, GrammarError, UnparsableError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.grammar.lowrank import LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import html, plural
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.consensus import Consensus
from dbpcfg.parsing.parser import Parser
from dbpcfg.parsing.parsers import parser_of
from dbpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from dbpcfg.corpus.tokens import Tokens
    from dbpcfg.model.decoding import Method, Parse
    from dbpcfg.model.exploring import Exploration
    from dbpcfg.model.probabilities import SentenceProbability, TextProbability
    from dbpcfg.model.profile import Profile
    from dbpcfg.model.surprisal import MeasuredWords

UNKNOWN = "<unknown>"
"""The word for all unknown words, unless the text has a word of this name."""


class WordForm(NamedTuple):
    """A word as a model sees it."""

    number: int
    """Among the words of ``grammar_with_unknown``; −1 if no category emits it."""
    form: str
    kind: Literal["word", "class", "unknown"]
    """Known, a member of a class, or unknown."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A learned grammar, ready for other text. Copies are equal; equal models are so to the bit.

    Parameters
    ----------
    grammar
        The grammar as it was learned.
    depth
        The memory bound D; None for none.
    preprocessing
        How text is prepared for it; by default letters are changed to lower case.
    unknown
        ``[c]``: the probability that category c emits an unknown word; None for zero.
    samples
        Other grammars of the same chain, after burn-in and evenly spaced, for ``mbr-chain``,
        ``probability(chain=True)`` and ``surprisal(average="chain")``.
    classes
        The words of each class of rare words, and how often each occurred.
    card
        What it was learned from and how: see ``dbpcfg show``. Models are equal whatever it says.
    voters
        The models of other chains of the run, for ``consensus``; this model has their bound.
    consensus
        How the trees of all these chains become one; None if this is the only one.
    """

    grammar: Grammar
    depth: int | None
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    unknown: Floats | None = None
    samples: tuple[Grammar, ...] = ()
    classes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    voters: tuple[Model, ...] = ()
    consensus: Consensus | None = None

    def __post_init__(self) -> None:
        if self.depth is not None:
            check_depth(self.depth)
        K = self.grammar.categories
        unknown = np.zeros(K) if self.unknown is None else np.array(self.unknown, dtype=np.float64)
        if unknown.shape != (K,) or not ((unknown >= 0) & (unknown < 1)).all():
            raise GrammarError(
                f"unknown must be K = {K} probabilities, each at least 0 and below 1"
            )
        if isinstance(self.grammar, LowRankGrammar):
            unknown[: self.grammar.factors.phrases] = 0.0
        unknown.flags.writeable = False
        object.__setattr__(self, "unknown", unknown)

    def __eq__(self, other: object) -> bool:
        """Whether another model has the same parameters, to the bit."""
        if not isinstance(other, Model):
            return NotImplemented
        return self._plain == other._plain and all(
            np.array_equal(array, others)
            for array, others in zip(self._arrays(), other._arrays(), strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.grammar.vocabulary, self.depth))

    @property
    def _plain(self) -> tuple[object, ...]:
        """What it has beside arrays, the kinds of its grammars included."""
        grammars = [(type(one), one.names, one.vocabulary) for one in self._grammars]
        rule = None if self.consensus is None else self.consensus.table()
        return grammars, self.depth, self.preprocessing, dict(self.classes), rule

    @property
    def _grammars(self) -> tuple[Grammar, ...]:
        return self.grammar, *self.samples, *(voter.grammar for voter in self.voters)

    def _arrays(self) -> Iterator[NDArray[Any]]:
        for model in (self, *self.voters):
            assert model.unknown is not None
            yield model.unknown
        for grammar in self._grammars:
            yield from grammar.arrays().values()
        if self.consensus is not None:
            yield from self.consensus.arrays().values()

    def __repr__(self) -> str:
        grammar, samples = self.grammar, len(self.samples)
        more = f", {plural(samples, 'sample')}" if samples else ""
        more += f", {plural(len(self.voters), 'other chain')}" if self.voters else ""
        return (
            f"<Model: K = {grammar.categories}, D = {self.depth}, "
            f"{plural(len(grammar.vocabulary), 'word')}{more}>"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: each category with its most probable rules and words."""
        return html(repr(self).strip("<>")) + self.grammar._repr_html_()

    def parse(
        self,
        sentences: SentencesLike,
        method: Method | None = None,
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
            Lists of words, texts that are split at white space, or a path to read them from; one
            text that is several words and no path is a sentence.
        method
            ``"consensus"``: the tree on which the chains of the run agree most, as in the run's
            own trees; if the model has several chains, this is the default. ``"mbr"``, the default
            otherwise: the MBR tree, with the greatest expected number of correct spans.
            ``"mbr-chain"``: the same, averaged over the grammars of the chain (``samples``).
            ``"viterbi"``: the most probable tree. ``"sample"``: a tree drawn from the posterior.
        seed
            Of ``"sample"``.
        brackets
            Constituents that are known: ``"text"`` for those in square brackets, as in
            ``[the dog] barked``, ``"trees"`` for those of trees. The results have them.
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
            If a sentence is empty, the method is ``"mbr-chain"`` and the model has no samples, or
            ``"consensus"`` and it is of one chain, or brackets are broken or in no tree within the
            bound.
        """
        from dbpcfg.model.decoding import Decoder

        decoder = Decoder(self, method, 1, seed, threads)
        trees = decoder.each("parse", sentences, decoder.trees, quiet, brackets)
        return [tree for (tree,) in trees]

    def parses(
        self,
        sentences: SentencesLike,
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
            Lists of words, texts that are split at white space, or a path to read them from; one
            text that is several words and no path is a sentence.
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
        from dbpcfg.model.decoding import Decoder

        decoder = Decoder(self, method, n, seed, threads)
        return list(decoder.each("parses", sentences, decoder.parses, quiet, brackets))

    def probability(
        self,
        sentences: SentencesLike,
        *,
        chain: bool = False,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> TextProbability:
        """The probability of a text.

        Parameters
        ----------
        sentences
            Lists of words, texts that are split at white space, or a path to read them from; one
            text that is several words and no path is a sentence.
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
            If a sentence is empty or has more than 1,000 words, or ``chain`` is true and the model
            has no samples.
        """
        from dbpcfg.model.probabilities import totals

        each = self.probabilities(sentences, chain=chain, threads=threads, quiet=quiet)
        return totals(each)[0]

    def probabilities(
        self,
        sentences: SentencesLike,
        *,
        chain: bool = False,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> Iterator[SentenceProbability]:
        """The probability of each sentence, as they are parsed; parameters as of `probability`."""
        from dbpcfg.model.probabilities import sentence_probabilities

        return sentence_probabilities(self, sentences, chain, threads, quiet)

    def surprisal(
        self,
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
    ) -> MeasuredWords | Any:
        """Measure every word: surprisal, entropies, memory depth, forks and joins.

        Parameters
        ----------
        sentences
            Lists of words, texts that are split at white space, sentences as read, or a path; one
            text that is several words and no path is a sentence. With ``text`` or ``word`` a table:
            a data frame of pandas or polars, a list of dicts, or the path of a CSV or TSV file.
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
            ``"stores"`` each name several.
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
            Prefix for the names of the measures. If a column of the table has the same name, it is
            ``dbpcfg_``.
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
            If a column needs a memory bound and there is none, or there are too many stores, if a
            sentence is empty or has more than 1,000 words, or a table is malformed.
        """
        from dbpcfg.model.surprisal import Measurement

        measurement = Measurement(
            self,
            sentences,
            text=text,
            word=word,
            by=by,
            order=order,
            boundary=boundary,
            tokens=tokens,
            keep=keep,
            columns=columns,
            average=average,
            hale=hale,
            frequency=frequency,
            spillover=spillover,
            prefix=prefix,
            depth=depth,
            end=end,
            threads=threads,
            quiet=quiet,
        )
        return measurement.result()

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

        For a class of rare words, such as ``<*ed>``, a word of the class is drawn, as often as it
        occurred in the text. A class stays as it is if the model does not know its words: those
        of rule tables do not.

        Parameters
        ----------
        n
            The number of sentences.
        seed
            Of the random numbers. The first sentences do not depend on n.
        max_length
            The greatest number of words in a sentence; None for any.
        with_unknown
            Whether sentences can contain ``<unknown>``, the word for unknown words.
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

        trees = generate(self, n, seed, max_length, with_unknown)
        return list(counted(trees, "generated sentences", n, quiet))

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

    def explore(self, *, port: int = 0, height: int = 900) -> Exploration:
        """Type sentences at the grammar, in a frame of a notebook: the page of ``dbpcfg explore``.

        Parameters
        ----------
        port
            The port of 127.0.0.1 that the page is served at; any free one for 0.
        height
            The height of the frame, in pixels.

        Returns
        -------
        Exploration
            The page, which is served until its ``stop()`` or the end of the program; its
            ``address`` is for a browser on the same machine.

        Raises
        ------
        DbpcfgError
            If the port is in use, or what the page needs is not installed.
        """
        from dbpcfg.model.exploring import Exploration

        return Exploration(self, (), port, height)

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
        """The word for unknown words in ``grammar_with_unknown``, if it has one.

        A grammar without a probability for unknown words, such as a rule table, can have a word of
        this name.
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
        """The model's grammar, or another one of its chain, with the word for unknown words."""
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
        """The form of a word that the model sees."""
        try:
            number = self._number(word)
        except UnparsableError:
            return WordForm(-1, self.preprocessing.form(word), "unknown")
        form = self.grammar_with_unknown.vocabulary.words[number]
        if form == self.unknown_word:
            return WordForm(number, form, "unknown")
        own = (self.preprocessing.word_form(word), self.preprocessing.fold_case(word))
        return WordForm(number, form, "word" if form in own else "class")

    def kind_of(self, word: str) -> str:
        """Whether a word is a ``"word"``, a ``"class"`` or ``"unknown"`` to the model."""
        return self.look_up(word).kind

    def numbers(self, words: Sequence[str]) -> list[int]:
        """The number of each word's form in the vocabulary of ``grammar_with_unknown``."""
        known = self._known
        return [known[word] if word in known else self._number(word) for word in words]

    @cached_property
    def _known(self) -> dict[str, int]:
        """The numbers of words that are equal to their forms, as most words are."""
        index, form = self.grammar_with_unknown.vocabulary.index, self.preprocessing.form
        return {word: number for word, number in index.items() if form(word) == word}

    def _number(self, word: str) -> int:
        index = self.grammar_with_unknown.vocabulary.index
        number = index.get(self.preprocessing.form(word))
        letters = self.preprocessing.fold_case(word)
        if number is None and not letters.startswith("<<"):
            number = index.get(letters)  # the name of a class, as generated sentences have them
        if number is None and self.preprocessing.rare:
            number = index.get(word_class(word, self.preprocessing.scheme))
        if number is None and self.unknown_word is not None:
            number = index[self.unknown_word]
        if number is None:
            raise UnparsableError(
                f"{word!r} is not in the grammar, which has {plural(len(index), 'word')} and none "
                f"for unknown ones: give it a word {UNKNOWN}, or a probability for unknown words"
            )
        return number

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
    """``[c]``: the probability that each category emits an unknown word.

    ``expansions``: ``[c]``: how often each category was expanded.
    ``rules``: the number of rules of a category: K² + W, or W in a low-rank grammar.
    """
    return beta / (expansions + beta * (rules + 1))
