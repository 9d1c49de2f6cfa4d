"""Commands that make and change corpora: ``synth`` and ``convert``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from dbpcfg.cli.options import (
    ExcludeSpeakers,
    InputFormat,
    MaxLength,
    Numbers,
    Punctuation,
    Quiet,
    Rare,
    Scheme,
    Seed,
    Speakers,
    read_corpus,
)
from dbpcfg.errors import DbpcfgError


def synth(
    kind: Annotated[Literal["left", "right", "center"], typer.Argument(help="Which corpus.")],
    sentences: Annotated[int, typer.Option("--sentences", "-n", help="How many.", min=1)] = 200,
    vocabulary: Annotated[int, typer.Option(help="Words of each class.", min=1)] = 50,
    seed: Seed = 0,
    words: Annotated[bool, typer.Option("--words", help="Sentences only, without trees.")] = False,
) -> None:
    """Print a synthetic corpus of the paper: one gold tree, or sentence, per line."""
    from dbpcfg.corpus.synthetic import synthetic_trees

    for tree in synthetic_trees(kind, sentences, vocabulary, seed):
        typer.echo(" ".join(tree.words()) if words else str(tree))


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="File, directory, pattern or -.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File, or - for standard output.")],
    to: Annotated[
        Literal["text", "penn"] | None,
        typer.Option(help="text: sentences; penn: trees. By the ending of OUT if not given."),
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="To lower case.")] = False,
    max_length: MaxLength = None,
    numbers: Numbers = False,
    rare: Rare = 0,
    scheme: Scheme = "suffix",
    no_punctuation: Annotated[
        bool, typer.Option("--no-punctuation", help="Leave punctuation out.")
    ] = False,
    punctuation: Punctuation = "auto",
    input_format: InputFormat = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a corpus as plain text or as cleaned trees, one sentence per line.

    Reads plain text, Penn brackets, CHAT and CoNLL-U.
    """
    from dbpcfg.corpus.preparation import Preparation, prepare
    from dbpcfg.corpus.writing import corpus_lines

    if target != "-" and Path(target).exists() and not overwrite:
        raise DbpcfgError(f"{target} exists; --overwrite replaces it")
    corpus = read_corpus([source], input_format, speaker, exclude_speaker, quiet)
    kind = to or ("text" if target.endswith(".txt") or target == "-" else "penn")
    prepared = prepare(
        corpus, Preparation(lowercase, max_length, punctuation, numbers, rare, scheme)
    )
    with _writer(target) as write:
        for line in corpus_lines(prepared, kind, no_punctuation):
            write(line)
    if not quiet:
        typer.echo(prepared.summary(), err=True)


@contextlib.contextmanager
def _writer(target: str):  # type: ignore[no-untyped-def]
    """A function that writes lines to a file, whole or not at all, or to standard output."""
    from dbpcfg.files.atomic import written_whole
    from dbpcfg.files.faults import writing

    if target == "-":
        yield lambda line: sys.stdout.write(line + "\n")
        return
    with writing(target), written_whole(Path(target)) as file:
        yield lambda line: file.write(f"{line}\n".encode())
