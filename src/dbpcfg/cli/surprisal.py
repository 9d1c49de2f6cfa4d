"""``dbpcfg surprisal``: a row for each word, for reading experiments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from dbpcfg.cli.inputs import open_model, open_text, reads_terminal
from dbpcfg.cli.options import (
    Depth,
    Encoding,
    ExcludeSpeakers,
    InputFormat,
    Quiet,
    RunArgument,
    SkipBroken,
    Speakers,
    TextOrInput,
    Threads,
    UnknownWords,
)
from dbpcfg.cli.output import standard_output

if TYPE_CHECKING:
    from dbpcfg.model.measures import WordMeasures


def surprisal(
    run: RunArgument,
    text: TextOrInput = None,
    depth: Depth = None,
    beam: Annotated[
        int | None,
        typer.Option(
            help="Keep at most this many memory states at each word; 0: all. If not given: all, "
            "or 2,000 if all would take more than 32 MiB per processor.",
            min=0,
        ),
    ] = None,
    no_end: Annotated[bool, typer.Option("--no-end", help="No rows for sentence ends.")] = False,
    unknown: UnknownWords = None,
    input_format: InputFormat = None,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Print surprisal, entropies, memory, forks and joins of each word, for R or pandas.

    The table is tab-separated, with a header.
    docs/surprisal.md defines the columns.
    The last row of a sentence is its end, </s>: with it, the surprisals of the
    sentence sum to -log2 P(sentence).
    """
    from dbpcfg.model.measures import incremental_parser, measure_with, write_tsv
    from dbpcfg.runtime.processes import cores
    from dbpcfg.runtime.progress import Progress

    model = open_model(run, depth, unknown)
    parser = incremental_parser(model, beam=beam)
    if beam is None and parser.beam and not quiet:
        typer.echo(
            f"{parser.stores:,} memory states are possible: keeping the {parser.beam:,} most "
            "probable at each word; --beam N keeps N, --beam 0 all",
            err=True,
        )
    lines = open_text(
        text,
        input_format,
        speaker,
        exclude_speaker,
        quiet,
        skip_broken=skip_broken,
        encoding=encoding,
    )
    sentences = (sentence for sentence in lines if sentence is not None)
    threads = 1 if reads_terminal(text) else threads or cores()
    out = standard_output()
    summary = Summary()
    with Progress("sentences", None, quiet or out.isatty()) as progress:
        for rows in measure_with(parser, model, sentences, threads=threads):
            write_tsv(rows[:-1] if no_end else rows, out, header=not summary.words)
            out.flush()
            summary.add(rows)
            progress.update(rows[0].sentence)
    if not summary.words:
        write_tsv([], out)
    if not quiet:
        for note in summary.notes(parser.beam):
            typer.echo(note, err=True)


@dataclass
class Summary:
    """Counts over the sentences of a table, for notes to the user."""

    words: int = 0
    classes: int = 0
    """Words that the model sees as classes."""
    unknown: int = 0
    lost: float = 0.0
    """The sum, over words, of the probability that the beam dropped."""
    worst: WordMeasures | None = None
    """The row at which it dropped most."""
    impossible: int = 0
    """Sentences of probability zero."""
    first_impossible: WordMeasures | None = None
    fallen: int = 0
    """Sentences of which the beam kept no memory state."""
    first_fallen: WordMeasures | None = None

    def add(self, rows: list[WordMeasures]) -> None:
        """Add the rows of a sentence, its end included."""
        self.words += len(rows) - 1
        self.classes += sum(row.kind == "class" for row in rows)
        self.unknown += sum(row.kind == "unknown" for row in rows)
        for row in rows:
            if not math.isfinite(row.surprisal):
                if math.isinf(row.surprisal):
                    self.impossible += 1
                    self.first_impossible = self.first_impossible or row
                else:
                    self.fallen += 1
                    self.first_fallen = self.first_fallen or row
                break
            self.lost += row.lost
            if self.worst is None or row.lost > self.worst.lost:
                self.worst = row

    def notes(self, beam: int) -> list[str]:
        """Return the notes, one line each."""
        notes = [
            f"{self.words:,} words; {self.unknown:,} unknown to the model, {self.classes:,} "
            "replaced by classes"
        ]
        if beam and self.worst is not None:
            notes.append(
                f"beam of {beam:,}: on average {self.lost / self.words:.2g} of the probability was "
                f"dropped at a word, {self.worst.lost:.2g} at most ({_place(self.worst)})"
            )
        if self.first_impossible is not None:
            notes.append(
                f"{_sentences(self.impossible)} probability zero: surprisal is Inf at the "
                f"impossible word, cells are empty afterwards; "
                f"first {_place(self.first_impossible)}"
            )
        if self.first_fallen is not None:
            notes.append(
                f"{_sentences(self.fallen)} fallen out of the beam, cells are empty afterwards; "
                f"first {_place(self.first_fallen)}; try --beam {10 * beam}"
            )
        return notes


def _sentences(number: int) -> str:
    return "1 sentence has" if number == 1 else f"{number:,} sentences have"


def _place(row: WordMeasures) -> str:
    return f"{row.source}:{row.line}, token {row.token}, {row.word!r}"
