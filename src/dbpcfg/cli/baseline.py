"""``dbpcfg baseline``: the trees, or the tagged text, of one other system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    from collections.abc import Iterable, Iterator

    from dbpcfg.corpus.preparation import Prepared
    from dbpcfg.corpus.tagged import TaggedFormat
    from dbpcfg.systems.registry import SystemSpec


def baseline(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="right, left, balanced, random; ccl; upparse-prlg (or upparse), upparse-hmm; "
            "bmmm-dmv; bmmm.",
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
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the system, such as classes=10; may be repeated.",
        ),
    ] = None,
    no_punctuation: Annotated[
        bool,
        typer.Option("--no-punctuation", help="bmmm: leave punctuation out."),
    ] = False,
    format: Annotated[
        Literal["text", "conllu", "tsv"] | None,
        typer.Option(
            help="bmmm: text: word/tag, one sentence per line, the default; conllu: CoNLL-U, "
            "tags in XPOS; tsv: word and tag per line."
        ),
    ] = None,
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
    BMMM learns word classes: it prints tagged text, for `evaluate` too.
    With --max-length N, score the result with `evaluate --gold-length N`.
    """
    from dbpcfg.corpus.preparation import Preparation, prepare

    spec = _baseline_spec(system)
    _check_options(
        spec,
        ccl={"--mended": mended, "--currency": currency},
        bmmm={"--no-punctuation": no_punctuation, "--format": format},
    )
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
    settings: dict[str, Any] = dict(spec.parse_setting(given) for given in set_ or ())
    if spec.name == "bmmm":
        tagged = _tagged(spec, prepared, settings, seed, no_punctuation, format or "text", quiet)
        lines: Iterable[str] = list(tagged)
    else:
        if mended:
            settings["faithful"] = False
        if currency:
            settings["currency_is_punctuation"] = True
        lines = _trees(spec, prepared, settings, seed, keep_punctuation, quiet)
    with open_output("-") as out:
        out.writelines(f"{line}\n" for line in lines)


def _trees(
    spec: SystemSpec,
    prepared: Prepared,
    settings: dict[str, Any],
    seed: int,
    keep_punctuation: bool,
    quiet: bool,
) -> Iterator[str]:
    """Return the trees of a system."""
    from dbpcfg.runtime.progress import Progress
    from dbpcfg.systems.words import restore_words, sentences_for

    with Progress(spec.name, quiet=quiet) as progress:
        made = spec.make(seed, **settings)
        trees = made.fit(sentences_for(spec, prepared, keep_punctuation), progress).trees()
    return map(str, restore_words(trees, prepared))


def _tagged(
    spec: SystemSpec,
    prepared: Prepared,
    settings: dict[str, Any],
    seed: int,
    no_punctuation: bool,
    format: TaggedFormat,
    quiet: bool,
) -> Iterator[str]:
    """Return the tagged text of BMMM, in words as written; a sentence of punctuation stays."""
    from dbpcfg.corpus.tagged import tagged_lines
    from dbpcfg.runtime.progress import Progress
    from dbpcfg.systems.bmmm import BMMM
    from dbpcfg.systems.words import sentences_for

    kept = [
        [n for n, mark in enumerate(marks) if not (no_punctuation and mark)] or range(len(marks))
        for marks in prepared.punctuation
    ]
    given = sentences_for(spec, prepared)
    options = spec.full_settings(settings)
    with Progress(spec.name, options["iterations"], quiet) as progress:
        made = BMMM(seed=seed, **options)
        made.fit([[words[n] for n in where] for words, where in zip(given, kept)], progress)
    for sentence, where, tags in zip(prepared.sentences, kept, made.tags(), strict=True):
        yield from tagged_lines([sentence.words[n] for n in where], [*map(str, tags)], format)


def _check_options(spec: SystemSpec, **options: dict[str, object]) -> None:
    """Raise an error if an option of another system was given."""
    for system, values in options.items():
        for option, value in values.items():
            if value not in (None, False) and spec.name != system:
                raise DbpcfgError(f"{option} is for {system}; {spec.name} has no such option")


def _baseline_spec(name: str) -> SystemSpec:
    from dbpcfg.systems.registry import SYSTEMS, TAGGERS, find

    if name.strip().lower() == "dbpcfg":
        raise DbpcfgError("dbpcfg itself is not a baseline; run it with `dbpcfg induce`")
    return find(name, [spec for spec in (*SYSTEMS, *TAGGERS) if spec.name != "dbpcfg"])
