"""``dbpcfg baseline``: the trees, or the tagged text, of one other system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import (
    Lowercase,
    MaxLength,
    Punctuation,
    Quiet,
    Seed,
    Text,
    takes_groups,
)
from dbpcfg.cli.output import open_output
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import Group, ReadingOptions, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dbpcfg.corpus.preprocessing import PreprocessedCorpus
    from dbpcfg.corpus.tagged import TaggedFormat
    from dbpcfg.systems.registry import SystemSpec


@dataclass(frozen=True)
class SystemOptions(Group):
    """Options of single systems."""

    keep_punctuation: bool = option(
        False, "right, left, balanced, random: include punctuation in the trees."
    )
    mended: bool = option(False, "ccl: correct an error of the published program.")
    currency: bool = option(
        False, "ccl: treat $ and # as punctuation, the published program's default."
    )
    set: tuple[str, ...] = option(
        (),
        "A setting of the system, such as classes=10; may be repeated.",
        metavar="NAME=VALUE",
    )
    no_punctuation: bool = option(False, "bmmm, dmv: leave punctuation out.")
    tags: Literal["upos", "xpos", "form"] | None = option(
        None,
        "dmv: what it learns from: parts of speech (upos, or xpos of CoNLL-U) or words (form); "
        "upos if not given and there are any.",
    )
    format: Literal["text", "conllu", "tsv", "trees"] | None = option(
        None,
        "bmmm: text: word/tag, one sentence per line, the default; conllu: CoNLL-U, tags in XPOS; "
        "tsv: word and tag per line. dmv: trees, the default, or conllu.",
    )


@takes_groups
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
    chosen: SystemOptions,
    reading: ReadingOptions,
    max_length: MaxLength = None,
    lowercase: Lowercase = True,
    punctuation: Punctuation = "auto",
    seed: Seed = 0,
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
    from dbpcfg.corpus.preprocessing import Preprocessing, preprocess

    spec = _baseline_spec(system)
    _check_options(spec, chosen)
    preprocessed = preprocess(
        read_corpus(text, reading, quiet), Preprocessing(lowercase, max_length, punctuation)
    )
    settings: dict[str, Any] = dict(spec.parse_setting(given) for given in chosen.set)
    lines: Iterable[str]
    if spec.name == "bmmm":
        lines = list(_tagged(spec, preprocessed, settings, seed, chosen, quiet))
    elif spec.name == "dmv":
        lines = list(_dependencies(spec, preprocessed, settings, chosen, quiet))
    else:
        if chosen.mended:
            settings["faithful"] = False
        if chosen.currency:
            settings["currency_is_punctuation"] = True
        lines = _trees(spec, preprocessed, settings, seed, chosen.keep_punctuation, quiet)
    with open_output("-") as out:
        out.writelines(f"{line}\n" for line in lines)


def _trees(
    spec: SystemSpec,
    preprocessed: PreprocessedCorpus,
    settings: dict[str, Any],
    seed: int,
    keep_punctuation: bool,
    quiet: bool,
) -> Iterator[str]:
    """Return the trees of a system."""
    from dbpcfg.io.progress import Progress
    from dbpcfg.systems.registry import restore_words, sentences_for

    with Progress(spec.name, quiet=quiet) as progress:
        made = spec.make(seed, **settings)
        trees = made.fit(sentences_for(spec, preprocessed, keep_punctuation), progress).trees()
    return map(str, restore_words(trees, preprocessed))


def _tagged(
    spec: SystemSpec,
    preprocessed: PreprocessedCorpus,
    settings: dict[str, Any],
    seed: int,
    chosen: SystemOptions,
    quiet: bool,
) -> Iterator[str]:
    """Return the tagged text of BMMM, in words as written; a sentence of punctuation stays."""
    from dbpcfg.corpus.tagged import tagged_lines
    from dbpcfg.io.progress import Progress
    from dbpcfg.systems.bmmm import BMMM
    from dbpcfg.systems.registry import sentences_for

    format = cast("TaggedFormat", chosen.format or "text")
    kept = _kept(preprocessed, chosen.no_punctuation)
    given = sentences_for(spec, preprocessed)
    options = spec.full_settings(settings)
    with Progress(spec.name, options["iterations"], quiet) as progress:
        made = BMMM(seed=seed, **options)
        made.fit([[words[n] for n in where] for words, where in zip(given, kept)], progress)
    for sentence, where, tags in zip(preprocessed.sentences, kept, made.tags(), strict=True):
        yield from tagged_lines([sentence.words[n] for n in where], [*map(str, tags)], format)


def _dependencies(
    spec: SystemSpec,
    preprocessed: PreprocessedCorpus,
    settings: dict[str, Any],
    chosen: SystemOptions,
    quiet: bool,
) -> Iterator[str]:
    """Return the trees of DMV, or CoNLL-U with heads; a sentence of punctuation stays."""
    from dbpcfg.io.progress import Progress
    from dbpcfg.systems.dmv import DMV, number_tags, tags_of
    from dbpcfg.trees.dependencies import conllu_lines, tree_from_heads

    column = chosen.tags
    if column is None:
        tagged = all(sentence.tags is not None for sentence in preprocessed.sentences)
        column = "upos" if tagged else "form"
        if not quiet:
            what = "parts of speech" if tagged else "words, as the text has no parts of speech"
            typer.echo(f"dmv learns from {what}", err=True)
    kept = _kept(preprocessed, chosen.no_punctuation)
    tags = [
        [of_sentence[n] for n in where]
        for of_sentence, where in zip(tags_of(preprocessed.sentences, column), kept, strict=True)
    ]
    options = spec.full_settings(settings)
    with Progress(spec.name, options["iterations"], quiet) as progress:
        found = DMV(**options).fit(number_tags(tags)[0], progress).heads()
    for sentence, where, labels, heads in zip(
        preprocessed.sentences, kept, tags, found, strict=True
    ):
        words = [sentence.words[n] for n in where]
        if chosen.format != "conllu":
            yield str(tree_from_heads(words, heads.tolist(), labels))
            continue
        upos, xpos = (
            [column[n] for n in where] if column else None
            for column in (sentence.tags, sentence.xpos)
        )
        yield from conllu_lines(words, heads.tolist(), upos, xpos)


def _kept(preprocessed: PreprocessedCorpus, no_punctuation: bool) -> list[Sequence[int]]:
    """The places of the words of each sentence that are kept."""
    return [
        [n for n, mark in enumerate(marks) if not (no_punctuation and mark)] or range(len(marks))
        for marks in preprocessed.punctuation
    ]


_ONLY_FOR = {
    **dict.fromkeys(("mended", "currency"), ("ccl",)),
    **dict.fromkeys(("no_punctuation", "format"), ("bmmm", "dmv")),
    "tags": ("dmv",),
}
"""The systems that an option is for."""
_FORMATS = {"bmmm": ("text", "conllu", "tsv"), "dmv": ("trees", "conllu")}


def _check_options(spec: SystemSpec, chosen: SystemOptions) -> None:
    """Raise an error if an option of another system was given."""
    for name, systems in _ONLY_FOR.items():
        if getattr(chosen, name) not in (None, False) and spec.name not in systems:
            option = f"--{name.replace('_', '-')}"
            raise DbpcfgError(
                f"{option} is for {' and '.join(systems)}; {spec.name} has no such option"
            )
    formats = _FORMATS.get(spec.name, ())
    if chosen.format is not None and chosen.format not in formats:
        raise DbpcfgError(f"{spec.name} prints {', '.join(formats)}, not {chosen.format}")
    if chosen.keep_punctuation and spec.learns:
        raise DbpcfgError(
            f"--keep-punctuation is for branching trees; {spec.name} handles punctuation itself"
        )


def _baseline_spec(name: str) -> SystemSpec:
    from dbpcfg.systems.registry import find, parts, systems

    if name.strip().lower() == "dbpcfg":
        raise DbpcfgError("dbpcfg itself is not a baseline; run it with `dbpcfg induce`")
    return find(name, systems, parts)
