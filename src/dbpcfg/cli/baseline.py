"""``dbpcfg baseline``: the trees, or the tagged text, of one other system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

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
    from collections.abc import Iterable, Iterator, Sequence

    from dbpcfg.corpus.preparation import Prepared
    from dbpcfg.corpus.tagged import TaggedFormat
    from dbpcfg.experiments.systems.dmv import Column
    from dbpcfg.experiments.systems.registry import SystemSpec


def baseline(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="right, left, balanced, random; ccl; upparse-prlg (or upparse), upparse-hmm; "
            "bmmm-dmv; uhhmm; bmmm, dmv.",
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
        typer.Option("--no-punctuation", help="bmmm, dmv: leave punctuation out."),
    ] = False,
    tags: Annotated[
        Literal["upos", "xpos", "form"] | None,
        typer.Option(
            help="dmv: what it learns from: parts of speech (upos, or xpos of CoNLL-U) or words "
            "(form); upos if not given and there are any."
        ),
    ] = None,
    format: Annotated[
        Literal["text", "conllu", "tsv", "trees"] | None,
        typer.Option(
            help="bmmm: text: word/tag, one sentence per line, the default; conllu: CoNLL-U, "
            "tags in XPOS; tsv: word and tag per line. dmv: trees, the default, or conllu."
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
    DMV learns dependencies between parts of speech, or words: trees or CoNLL-U.
    With --max-length N, score the result with `evaluate --gold-length N`.
    """
    from dbpcfg.corpus.preparation import Preparation, prepare

    spec = _baseline_spec(system)
    _check_options(
        spec,
        {
            **{"--mended": mended, "--currency": currency, "--no-punctuation": no_punctuation},
            **{"--tags": tags, "--format": format},
        },
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
    lines: Iterable[str]
    if spec.name == "bmmm":
        written = cast("TaggedFormat", format or "text")
        lines = list(_tagged(spec, prepared, settings, seed, no_punctuation, written, quiet))
    elif spec.name == "dmv":
        trees = format != "conllu"
        lines = list(_dependencies(spec, prepared, settings, tags, no_punctuation, trees, quiet))
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
    from dbpcfg.experiments.systems.registry import restore_words, sentences_for
    from dbpcfg.io.progress import Progress

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
    from dbpcfg.experiments.systems.bmmm import BMMM
    from dbpcfg.experiments.systems.registry import sentences_for
    from dbpcfg.io.progress import Progress

    kept = _kept(prepared, no_punctuation)
    given = sentences_for(spec, prepared)
    options = spec.full_settings(settings)
    with Progress(spec.name, options["iterations"], quiet) as progress:
        made = BMMM(seed=seed, **options)
        made.fit([[words[n] for n in where] for words, where in zip(given, kept)], progress)
    for sentence, where, tags in zip(prepared.sentences, kept, made.tags(), strict=True):
        yield from tagged_lines([sentence.words[n] for n in where], [*map(str, tags)], format)


def _dependencies(
    spec: SystemSpec,
    prepared: Prepared,
    settings: dict[str, Any],
    column: Column | None,
    no_punctuation: bool,
    trees: bool,
    quiet: bool,
) -> Iterator[str]:
    """Return the trees of DMV, or CoNLL-U with heads; a sentence of punctuation stays."""
    from dbpcfg.experiments.systems.dmv import DMV, number_tags, tags_of
    from dbpcfg.io.progress import Progress
    from dbpcfg.trees.dependencies import conllu_lines, tree_from_heads

    if column is None:
        tagged = all(sentence.tags is not None for sentence in prepared.sentences)
        column = "upos" if tagged else "form"
        if not quiet:
            what = "parts of speech" if tagged else "words, as the text has no parts of speech"
            typer.echo(f"dmv learns from {what}", err=True)
    kept = _kept(prepared, no_punctuation)
    tags = [
        [of_sentence[n] for n in where]
        for of_sentence, where in zip(tags_of(prepared.sentences, column), kept, strict=True)
    ]
    options = spec.full_settings(settings)
    with Progress(spec.name, options["iterations"], quiet) as progress:
        found = DMV(**options).fit(number_tags(tags)[0], progress).heads()
    for sentence, where, labels, heads in zip(prepared.sentences, kept, tags, found, strict=True):
        words = [sentence.words[n] for n in where]
        if trees:
            yield str(tree_from_heads(words, heads.tolist(), labels))
            continue
        upos, xpos = (
            [column[n] for n in where] if column else None
            for column in (sentence.tags, sentence.xpos)
        )
        yield from conllu_lines(words, heads.tolist(), upos, xpos)


def _kept(prepared: Prepared, no_punctuation: bool) -> list[Sequence[int]]:
    """The places of the words of each sentence that are kept."""
    return [
        [n for n, mark in enumerate(marks) if not (no_punctuation and mark)] or range(len(marks))
        for marks in prepared.punctuation
    ]


_OPTIONS = {
    **dict.fromkeys(("--mended", "--currency"), ("ccl",)),
    **dict.fromkeys(("--no-punctuation", "--format"), ("bmmm", "dmv")),
    "--tags": ("dmv",),
}
"""The systems that an option is for."""
_FORMATS = {"bmmm": ("text", "conllu", "tsv"), "dmv": ("trees", "conllu")}


def _check_options(spec: SystemSpec, given: dict[str, object]) -> None:
    """Raise an error if an option of another system was given."""
    for option, value in given.items():
        if value not in (None, False) and spec.name not in _OPTIONS[option]:
            names = " and ".join(_OPTIONS[option])
            raise DbpcfgError(f"{option} is for {names}; {spec.name} has no such option")
    written, formats = given["--format"], _FORMATS.get(spec.name, ())
    if written is not None and written not in formats:
        raise DbpcfgError(f"{spec.name} prints {', '.join(formats)}, not {written}")


def _baseline_spec(name: str) -> SystemSpec:
    from dbpcfg.experiments.systems.registry import find, parts, systems

    if name.strip().lower() == "dbpcfg":
        raise DbpcfgError("dbpcfg itself is not a baseline; run it with `dbpcfg induce`")
    return find(name, systems, parts)
