"""``Model``, a learned grammar and what can be done with it, and ``load``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, overload

from dbpcfg.corpus.arguments import GivenSentences, sentences_for
from dbpcfg.corpus.formats import by_content
from dbpcfg.corpus.frequency import LogFrequencies
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.tokens import Tokens
from dbpcfg.errors import GrammarError
from dbpcfg.files.table import html
from dbpcfg.grammar.exchange.formats import read_grammar
from dbpcfg.model.averages import each_grammar
from dbpcfg.model.columns import ColumnChoice
from dbpcfg.model.decoding import Decoder, Method, Parse, in_batches
from dbpcfg.model.files import MODEL, SAMPLES, load_model, load_samples, save_model
from dbpcfg.model.generation import generate
from dbpcfg.model.grammar_profile import Profile, profile
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.model.measured_tables import measured_frame, measured_text
from dbpcfg.model.measures import MeasuredWords, WordMeasures, measure
from dbpcfg.model.probabilities import TextProbability, probabilities, totals
from dbpcfg.model.profile_formats import as_text
from dbpcfg.model.stimuli import TableLayout
from dbpcfg.model.tabulation import Tabulator
from dbpcfg.runtime.progress import Progress, counted
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

    @overload
    def surprisal(
        self,
        sentences: GivenSentences,
        *,
        depth: int | None = None,
        beam: int | None = None,
        end: bool = True,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> MeasuredWords: ...

    @overload
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
    ) -> Any: ...

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
    ) -> Any:
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
        counts = None if frequency is None else sentences_for("frequency", frequency)
        letters = self.preparation.lowercase
        choice = ColumnChoice(
            columns,
            hale,
            None if counts is None else LogFrequencies(counts, letters),
            spillover,
            prefix,
        )
        layout = None
        if text is not None or word is not None:
            layout = TableLayout(text, word, by, order, boundary, tokens)
        if layout is None and average is None and choice.is_default:
            given = sentences_for("surprisal", sentences)
            found = measure(self, given, depth, beam, end, threads)
            found = counted(found, "sentences measured", _number(given), quiet)
            return MeasuredWords(row for rows in found for row in rows)
        models: list[LearnedGrammar] = [self]
        if average is not None:
            models = each_grammar([self] if average == "chain" else list(average))
        tabulator = Tabulator(
            models,
            choice,
            WordMeasures._fields if layout is None else layout.default,
            averaged=average is not None,
            depth=depth,
            beam=beam,
        )
        if layout is None:
            given = sentences_for("surprisal", sentences)
            return measured_text(given, tabulator, end, threads, quiet)
        return measured_frame(sentences, layout, tabulator, keep, end, threads, quiet)

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


def load(path: str | Path, samples: bool = False) -> Model:
    """Load the model of a run, a model file, or a rule table.

    Parameters
    ----------
    path
        The directory of a finished run, a model file (``.npz``), or rules as ``.tsv``, ``.json``,
        ``.pcfg`` or ``.nltk``.
    samples
        Whether other grammars of the run's chain are loaded too.

    Returns
    -------
    Model
        The model; that of a rule table has no memory bound and keeps words as written.

    Raises
    ------
    GrammarError
        If there is no model, or the file is damaged or something else, such as a treebank.
    """
    path = Path(path)
    if path.suffix in (".tsv", ".json", ".pcfg", ".nltk"):
        if samples:
            raise GrammarError(f"{path} is one grammar: only a run has others of the same chain")
        return Model(read_grammar(path), None, Preparation(lowercase=False))
    if path.is_dir():
        if not (path / MODEL).exists():
            raise GrammarError(_no_model(path))
        path = path / MODEL
    _check_kind(path)
    model = Model.of(load_model(path))
    if not samples:
        return model
    grammars = load_samples(path.with_name(SAMPLES), model.grammar.vocabulary)
    return replace(model, samples=tuple(grammars))


def _check_kind(path: Path) -> None:
    """Raise an error that says what a file of text is, if it is one."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return  # which load_model reports
    if start.startswith(b"PK") or b"\0" in start or not start.strip():
        return
    text = start.decode("utf-8", "ignore")
    kinds = {"chat": "a transcript", "text": "text"}
    first = text.lstrip()[:1]
    kind = "a treebank" if first == "(" else kinds.get(by_content(text), "a treebank")
    raise GrammarError(
        f"{path} is {kind}, not a model: give a run, a model file (.npz) or a rule table "
        f"(.tsv, .json, .pcfg); sentences and trees are read with dbpcfg.read"
    )


def _no_model(path: Path) -> str:
    if (path / "config.toml").exists():
        return f"{path} is a run that is not finished: resume it with `dbpcfg resume {path}`"
    return f"{path} is no run of dbpcfg: there is no {MODEL} in it"
