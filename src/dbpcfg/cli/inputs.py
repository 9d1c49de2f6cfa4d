"""What commands read: corpora, models, and sentences one by one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from dbpcfg.cli.options import depth_bound
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import FileOptions, ReadingOptions

if TYPE_CHECKING:
    from dbpcfg.corpus.preprocessing import Preprocessing
    from dbpcfg.corpus.reading import Corpus
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.model.model import Model


def read_corpus(
    paths: list[str],
    reading: FileOptions | None = None,
    quiet: bool = False,
    preprocessing: Preprocessing | None = None,
    raw: bool = False,
) -> Corpus:
    """Read files, with progress and notes of what was left out unless ``quiet``.

    ``preprocessing``: what the sentences are for; those with broken brackets may be skipped.
    ``raw``: whether trees keep function tags and empty elements.
    """
    from dbpcfg.corpus.preprocessing import drop_malformed
    from dbpcfg.corpus.reading import read

    reading = reading or FileOptions()
    brackets = None if preprocessing is None else preprocessing.brackets
    corpus = read(
        *paths,
        **reading.how(),
        function_tags=raw,
        empty_elements=raw,
        bracketed=brackets == "text",
        quiet=quiet,
    )
    if preprocessing is not None and brackets and reading.skip_broken:
        corpus = drop_malformed(corpus, preprocessing)
    if not quiet:
        for note in corpus.notes():
            typer.echo(note, err=True)
    return corpus


def open_model(
    run: str, depth: str | None = None, unknown: float | None = None, samples: bool = False
) -> Model:
    """Load the model of a run.

    ``depth``: value of --depth; the model's own bound if not given.
    ``unknown``: value of --unknown; the model's own probabilities if not given.
    ``samples``: whether to load the other grammars of the run's chain too.
    """
    from dbpcfg.model.files import load

    return _changed(load(run, samples), depth, unknown)


def open_survivors(run: str, depth: str | None, unknown: float | None) -> list[Model]:
    """The models of all chains of a run that ran to the end; see `open_model`."""
    from dbpcfg.induction.directory import finished_run

    return [_changed(model, depth, unknown) for model in finished_run(Path(run)).models]


def _changed(model: Model, depth: str | None, unknown: float | None) -> Model:
    """A model with the values of --depth and --unknown."""
    import numpy as np

    if unknown is not None:
        if not 0 <= unknown < 1:
            raise DbpcfgError(f"--unknown must be a probability below 1, got {unknown}")
        same = np.full(model.grammar.categories, unknown)
        voters = tuple(replace(voter, unknown=same) for voter in model.voters)
        model = replace(model, unknown=same, voters=voters)
    return model if depth is None else replace(model, depth=depth_bound(depth))


LEFT_OUT = (
    "words that are only punctuation are left out, as in the text that the model was learned from"
)


def noting(quiet: bool) -> Callable[[str], None]:
    """What writes notes, unless ``quiet``."""
    return lambda note: None if quiet else typer.echo(f"note: {note}", err=True)


def open_text(
    text: list[str] | None,
    reading: ReadingOptions,
    quiet: bool,
    learned: Preprocessing,
    tokens: Literal["space", "punctuation", "penn"] | None = None,
    brackets: Literal["text", "trees"] | None = None,
) -> Iterator[Sentence | None]:
    """Read sentences one by one, as the model learned from them: see `Preprocessing.apply`.

    ``tokens``: how text is split into words, instead.
    ``brackets``: where known brackets come from.

    None is a blank line, or a sentence with broken brackets that is skipped.
    """
    from dbpcfg.corpus.arguments import is_sentence, sentence_note
    from dbpcfg.corpus.brackets import BracketError
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.corpus.streaming import stream

    if reads_terminal(text) and not quiet:
        typer.echo("reading sentences from the terminal, one per line; Ctrl-D ends", err=True)

    def report(note: str) -> None:
        if not quiet:
            typer.echo(note, err=True)

    sentences: Iterator[Sentence | None]
    if text and all(map(is_sentence, text)):
        sentences = (Sentence(tuple(one.split())) for one in text)
        report(f"note: {sentence_note(text[0])}")
    else:
        how = {**reading.how(), "bracketed": brackets == "text"}
        sentences = stream(text or ["-"], on_note=report, **how)
    learned = replace(learned, tokens=tokens or learned.tokens, brackets=brackets)
    if learned.no_punctuation:
        report(LEFT_OUT)

    def seen(one: Sentence | None) -> Sentence | None:
        try:
            return one and learned.apply(one)
        except BracketError as error:
            if not reading.skip_broken:
                raise
            report(f"{error.reason}; skipped")
            return None

    return map(seen, sentences)


def reads_terminal(text: list[str] | None) -> bool:
    """Whether sentences are typed at a terminal, so that each must be answered at once."""
    return (not text or text == ["-"]) and sys.stdin is not None and sys.stdin.isatty()
