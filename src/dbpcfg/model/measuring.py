"""Text or a table to measures, in Python: what `Model.surprisal` and `Model.beam_error` do."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from itertools import tee
from typing import Any, Literal

from dbpcfg.corpus.arguments import GivenSentences, sentences_for
from dbpcfg.corpus.preparation import LogFrequencies
from dbpcfg.corpus.tokens import Tokens
from dbpcfg.io.progress import counted
from dbpcfg.model.averages import each_grammar
from dbpcfg.model.beam_error import BeamError, BeamSample
from dbpcfg.model.columns import ColumnChoice
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.model.measured_tables import measured_frame, measured_text
from dbpcfg.model.measures import (
    MeasuredWords,
    WordMeasures,
    follow_with,
    incremental_parser,
    measure,
)
from dbpcfg.model.stimuli import TableLayout
from dbpcfg.model.tabulation import Tabulator


@dataclass(frozen=True, kw_only=True)
class SurprisalOptions:
    """The options of `Model.surprisal`, which explains them."""

    text: str | None = None
    word: str | None = None
    by: Sequence[str] = ()
    order: str | None = None
    boundary: str | None = None
    tokens: Tokens = "space"
    keep: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    average: Literal["chain"] | Sequence[LearnedGrammar] | None = None
    hale: bool = False
    frequency: GivenSentences | None = None
    spillover: int = 0
    prefix: str = ""
    depth: int | None = None
    beam: int | None = None
    end: bool = True
    threads: int = 1
    quiet: bool | None = None

    @property
    def layout(self) -> TableLayout | None:
        """Where a table has its sentences; None if there is no table."""
        if self.text is None and self.word is None:
            return None
        return TableLayout(self.text, self.word, self.by, self.order, self.boundary, self.tokens)

    def choice(self, lowercase: bool) -> ColumnChoice:
        """The columns, with frequencies counted in lower case or not."""
        counts = None
        if self.frequency is not None:
            counts = LogFrequencies(sentences_for("frequency", self.frequency), lowercase)
        return ColumnChoice(self.columns, self.hale, counts, self.spillover, self.prefix)

    def models(self, model: LearnedGrammar) -> list[LearnedGrammar]:
        """The grammars that are averaged over, or the only one."""
        if self.average is None:
            return [model]
        return each_grammar([model] if self.average == "chain" else list(self.average))


def surprisal(model: LearnedGrammar, given: Any, options: SurprisalOptions) -> Any:
    """Measure every word of sentences or of a table."""
    choice, layout = options.choice(model.preparation.lowercase), options.layout
    end, threads, quiet = options.end, options.threads, options.quiet
    if layout is None and options.average is None and choice.is_default:
        sentences = sentences_for("surprisal", given)
        total = len(sentences) if isinstance(sentences, Sized) else None
        found = measure(model, sentences, options.depth, options.beam, end, threads)
        found = counted(found, "sentences measured", total, quiet)
        return MeasuredWords(row for rows in found for row in rows)
    tabulator = Tabulator(
        options.models(model),
        choice,
        WordMeasures._fields if layout is None else layout.default,
        averaged=options.average is not None,
        depth=options.depth,
        beam=options.beam,
    )
    if layout is None:
        sentences = sentences_for("surprisal", given)
        return measured_text(sentences, tabulator, end, threads, quiet)
    return measured_frame(given, layout, tabulator, options.keep, end, threads, quiet)


def beam_error(
    model: LearnedGrammar,
    given: GivenSentences,
    depth: int | None = None,
    beam: int | None = None,
    threads: int = 1,
    quiet: bool | None = None,
) -> BeamError | None:
    """Compare surprisals with a beam with exact ones on a sample of the sentences.

    ``depth``: the memory bound; the model's if not given.
    ``quiet``: whether no progress is shown; if not given, it is shown on a terminal or in a
    notebook.
    """
    parser = incremental_parser(model, depth, beam)
    if not parser.beam:
        return None
    sample = BeamSample([parser])
    sentences, again = tee(sentences_for("beam_error", given))
    found = counted(follow_with(parser, model, again, threads), "sentences", None, quiet)
    for sentence, measured in zip(sentences, found, strict=True):
        sample.add(sentence, [measured])
    return sample.error(threads, quiet)
