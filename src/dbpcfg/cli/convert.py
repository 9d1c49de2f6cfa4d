"""``dbpcfg convert`` converts corpora, ``dbpcfg synth`` generates synthetic ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import Overwrite, Quiet, Seed, takes_groups
from dbpcfg.cli.output import check_overwrite, open_output
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import PreprocessingOptions, ReadingOptions, option


def synth(
    kind: Annotated[
        Literal["left", "right", "center", "utterances"], typer.Argument(help="Corpus.")
    ],
    sentences: Annotated[
        int, typer.Option("--sentences", "-n", help="Number of sentences.", min=1)
    ] = 200,
    vocabulary: Annotated[
        int, typer.Option(help="Words per class; not for utterances.", min=1)
    ] = 50,
    seed: Seed = 0,
    words: Annotated[bool, typer.Option("--words", help="Sentences without trees.")] = False,
) -> None:
    """Print a generated corpus, one gold tree or sentence per line.

    left, right and center are those of the paper; utterances are
    invented child-directed speech.
    """
    from dbpcfg.corpus.synthetic import synthetic_trees, utterances

    if kind == "utterances":
        trees = utterances(sentences, seed)
    else:
        trees = synthetic_trees(kind, sentences, vocabulary, seed)
    with open_output("-") as out:
        out.writelines(f"{' '.join(tree.words()) if words else tree}\n" for tree in trees)


@dataclass(frozen=True)
class Converting(PreprocessingOptions):
    """Options of preprocessing; by default words stay unchanged."""

    lowercase: bool = option(False, "Change words to lower case.")


@takes_groups
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="File, directory, pattern or -.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File, or - for standard output.")],
    more: Annotated[list[str] | None, typer.Argument(metavar="", hidden=True)] = None,
    to: Annotated[
        Literal["text", "penn"] | None,
        typer.Option(help="text: sentences; penn: trees. By the suffix of OUT if not given."),
    ] = None,
    *,
    converting: Converting,
    reading: ReadingOptions,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a corpus as plain text or as cleaned trees, one sentence per line.

    Reads plain text, CHAT, tables such as those of childes-db, BabyLM,
    CoNLL-U, Penn, CorpusSearch, CESS and Sinica brackets, Alpino XML,
    NEGRA export and TIGER-XML.
    """
    from dbpcfg.corpus.preprocessing import Preprocessing, corpus_lines, preprocess

    if more:
        raise DbpcfgError(
            "convert takes one IN and one OUT; quote a pattern for several files, as in "
            f"dbpcfg convert '*{Path(source).suffix}' {more[-1]}"
        )
    check_overwrite([target], overwrite)
    preprocessing = Preprocessing(**vars(converting))
    corpus = read_corpus([source], reading, quiet, preprocessing)
    kind = to or ("text" if target.endswith(".txt") or target == "-" else "penn")
    preprocessed = preprocess(corpus, preprocessing)
    with open_output(target) as out:
        out.writelines(f"{line}\n" for line in corpus_lines(preprocessed, kind))
    if not quiet:
        typer.echo(preprocessed.summary(), err=True)
