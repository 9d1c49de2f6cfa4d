"""``dbpcfg baseline``: the trees of one other system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import (
    Encoding,
    ExcludeSpeakers,
    InputFormat,
    Lowercase,
    MaxLength,
    Punctuation,
    Quiet,
    Seed,
    SkipBroken,
    Speakers,
    Text,
)
from dbpcfg.cli.output import open_output
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.systems.registry import SystemSpec


def baseline(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="right, left, balanced, random; ccl; upparse-prlg (or upparse), upparse-hmm.",
        ),
    ],
    text: Text,
    keep_punctuation: Annotated[
        bool,
        typer.Option(
            "--keep-punctuation",
            help="right, left, balanced, random: include punctuation in the trees.",
        ),
    ] = False,
    mended: Annotated[
        bool,
        typer.Option("--mended", help="ccl: correct an error of the published program."),
    ] = False,
    currency: Annotated[
        bool,
        typer.Option(
            "--currency",
            help="ccl: $ and # are punctuation, the published program's default.",
        ),
    ] = False,
    max_length: MaxLength = None,
    lowercase: Lowercase = True,
    punctuation: Punctuation = "auto",
    seed: Seed = 0,
    input_format: InputFormat = None,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    quiet: Quiet = False,
) -> None:
    """Print a system's tree for every sentence, one per line, ready for `evaluate`.

    Branching trees depend on the number of words only.
    CCL and UPPARSE first learn from the text, punctuation included;
    some punctuation is not in their trees.
    With --max-length N, score the trees with `evaluate --gold-length N`.
    """
    from dbpcfg.corpus.preparation import Preparation, prepare
    from dbpcfg.runtime.progress import Progress
    from dbpcfg.systems.words import restore_words, sentences_for

    spec = _baseline_spec(system)
    settings: dict[str, Any] = {}
    if mended:
        settings["faithful"] = False
    if currency:
        settings["currency_is_punctuation"] = True
    if settings and spec.name != "ccl":
        option = "--mended" if mended else "--currency"
        raise DbpcfgError(f"{option} is for ccl; {spec.name} has no such option")
    if keep_punctuation and spec.learns:
        raise DbpcfgError(
            f"--keep-punctuation is for branching trees; {spec.name} handles punctuation itself"
        )
    corpus = read_corpus(
        text,
        input_format,
        speaker,
        exclude_speaker,
        quiet,
        skip_broken=skip_broken,
        encoding=encoding,
    )
    prepared = prepare(corpus, Preparation(lowercase, max_length, punctuation))
    with Progress(spec.name, quiet=quiet) as progress:
        made = spec.make(seed, **settings)
        trees = made.fit(sentences_for(spec, prepared, keep_punctuation), progress).trees()
    with open_output("-") as out:
        out.writelines(f"{tree}\n" for tree in restore_words(trees, prepared))


def _baseline_spec(name: str) -> SystemSpec:
    from dbpcfg.systems.registry import SYSTEMS, find

    if name.strip().lower() == "dbpcfg":
        raise DbpcfgError("dbpcfg itself is not a baseline; run it with `dbpcfg induce`")
    return find(name, [spec for spec in SYSTEMS if spec.name != "dbpcfg"])
