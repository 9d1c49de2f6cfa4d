"""``Model``, a learned grammar and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from dbpcfg.corpus.arguments import GivenSentences, sentences_for
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.tokens import Tokens
from dbpcfg.io.progress import Progress, counted
from dbpcfg.io.tables import html
from dbpcfg.model import measuring
from dbpcfg.model.beam_error import BeamError
from dbpcfg.model.decoding import Decoder, Method, Parse, in_batches
from dbpcfg.model.files import save_model
from dbpcfg.model.generation import generate
from dbpcfg.model.grammar_profile import Profile, profile
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.model.measures import MeasuredWords
from dbpcfg.model.measuring import SurprisalOptions
from dbpcfg.model.probabilities import TextProbability, probabilities, totals
from dbpcfg.model.profile_formats import as_text
from dbpcfg.trees.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Model(LearnedGrammar):
    """A learned grammar, ready for other text.

    Parameters
    ----------
    grammar
        The grammar.
    depth
        The memory bound D; None for none.
    preparation
        How text is prepared for it; by default letters are changed to lower case.
    unknown
        ``[c]``: the probability with which category c emits a word never seen; None for zero.
    samples
        Other grammars of the same chain, for ``mbr-chain`` and ``probability(chain=True)``.
    """

    def __repr__(self) -> str:
        grammar, samples = self.grammar, len(self.samples)
        return (
            f"<Model: K = {grammar.categories}, D = {self.depth}, "
            f"{len(grammar.vocabulary):,} words{f', {samples} samples' if samples else ''}>"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: each category with its most probable rules and words."""
        return html(repr(self).strip("<>")) + self.grammar._repr_html_()

    @classmethod
    def of(cls, learned: LearnedGrammar) -> Model:
        """Give a learned grammar the methods of a model."""
        return cls(**{field.name: getattr(learned, field.name) for field in fields(learned)})

    def parse(
        self,
        sentences: GivenSentences,
        method: Method = "mbr",
        *,
        seed: int = 0,
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
            If a sentence is empty, or ``"mbr-chain"`` is asked of a model without samples.
        """
        given = sentences_for("parse", sentences)
        decoder = Decoder(self, method, 1, seed, threads)
        return [trees[0] for batch in _batches(given, quiet) for trees in decoder.trees(*batch)]

    def parses(
        self,
        sentences: GivenSentences,
        n: int = 1,
        method: Method = "viterbi",
        *,
        seed: int = 0,
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
        threads
            The number of threads.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        list of list of Parse
            The trees of every sentence, with log P(tree, sentence) and P(tree | sentence).

        Raises
        ------
        DbpcfgError
            If a sentence is empty, or the method does not have n trees.
        """
        given = sentences_for("parses", sentences)
        decoder = Decoder(self, method, n, seed, threads)
        return [found for batch in _batches(given, quiet) for found in decoder.parses(*batch)]

    def surprisal(
        self,
        sentences: Any,
        *,
        text: str | None = None,
        word: str | None = None,
        by: Sequence[str] = (),
        order: str | None = None,
        boundary: str | None = None,
        tokens: Tokens = "space",
        keep: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        average: Literal["chain"] | Sequence[LearnedGrammar] | None = None,
        hale: bool = False,
        frequency: GivenSentences | None = None,
        spillover: int = 0,
        prefix: str = "",
        depth: int | None = None,
        beam: int | None = None,
        end: bool = True,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> MeasuredWords | Any:
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
            How a cell is split: at white space (``"space"``), also from its ``"punctuation"``, or
            as in the Penn Treebank (``"penn"``).
        keep
            The columns of the table that the result has too; all if not given.
        columns
            The columns of measures; ``"default"``, ``"all"``, ``"storage"`` and ``"integration"``
            stand for several.
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
            What the names of measures begin with.
        depth
            The memory bound; the model's if not given.
        beam
            The number of stores kept at each word; 0 for all; None for all unless they are too
            many.
        end
            Whether there is a row for the end of each sentence.
        threads
            The number of threads.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        MeasuredWords or MeasuredTable or data frame
            A list with a row for every word of every sentence; its ``to_frame()`` is a data frame.
            Of a table, the table with columns for the measures: a data frame if it is one, else a
            list of dicts.

        Raises
        ------
        DbpcfgError
            If there is no memory bound, the stores need too much memory, a sentence is empty, or a
            table or column is not as it must be.
        """
        options = SurprisalOptions(
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
            beam=beam,
            end=end,
            threads=threads,
            quiet=quiet,
        )
        return measuring.surprisal(self, sentences, options)

    def beam_error(
        self,
        sentences: GivenSentences,
        *,
        depth: int | None = None,
        beam: int | None = None,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> BeamError | None:
        """Compare surprisals with a beam with exact ones, on a sample of the sentences.

        Parameters
        ----------
        sentences
            Lists of words, texts that are split at white space, or a path to read them from.
        depth
            The memory bound; the model's if not given.
        beam
            The number of stores kept at each word; None for the default.
        threads
            The number of threads.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a notebook.

        Returns
        -------
        BeamError or None
            The mean and the greatest absolute difference in bits, on one in 50 sentences but at
            most 20; None if all stores are kept, or need more than 1 GiB.

        Raises
        ------
        DbpcfgError
            If there is no memory bound, or a sentence is empty.
        """
        return measuring.beam_error(self, sentences, depth, beam, threads, quiet)

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
        given = sentences_for("probability", sentences)
        found = probabilities(self, given, chain, threads)
        return totals(counted(found, "sentences", _number(given), quiet))[0]

    def generate(
        self,
        n: int = 10,
        seed: int = 0,
        *,
        max_length: int | None = None,
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
        made = generate(self, n, seed, max_length=max_length)
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
        return profile(self, trees)

    def show(self, width: int = 80) -> None:
        """Print the categories with their words and rules.

        Parameters
        ----------
        width
            Characters in a line, at most.
        """
        print(as_text(self.profile(), width))

    def save(self, path: str | Path) -> None:
        """Write a model file, without the samples.

        Parameters
        ----------
        path
            The file, such as ``model.npz``.
        """
        save_model(self, path)


def _batches(
    given: Corpus | Iterable[Sentence], quiet: bool | None
) -> Iterator[tuple[list[tuple[str, ...]], int]]:
    """Batches of sentences, with progress."""
    with Progress("sentences parsed", _number(given), quiet) as progress:
        for batch, first in in_batches(given):
            yield batch, first
            progress.update(first + len(batch))


def _number(given: Corpus | Iterable[Sentence]) -> int | None:
    return len(given) if isinstance(given, Sized) else None
