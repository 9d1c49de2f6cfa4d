"""Options that several commands share, and reading as they ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.corpus.reading import Corpus


from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbpcfg.corpus.reading import Corpus

InputFormat = Annotated[
    Literal["text", "penn", "chat", "conllu"] | None,
    typer.Option("--input-format", help="Format of the input; recognised if not given."),
]
Speakers = Annotated[
    list[str] | None,
    typer.Option("--speaker", help="Only this speaker, by code or role; may be repeated."),
]
ExcludeSpeakers = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude-speaker",
        help="Not this speaker; may be repeated. CHAT: the target child if nothing is said.",
    ),
]
MaxLength = Annotated[
    int | None,
    typer.Option(help="Longest sentence, in words without punctuation.", min=1),
]
Numbers = Annotated[bool, typer.Option("--numbers", help="All numbers are one form.")]
Rare = Annotated[
    int, typer.Option(help="Forms seen at most this often become classes; 0: none.", min=0)
]
Scheme = Annotated[Literal["suffix", "shape", "both", "one"], typer.Option(help="Which classes.")]
Punctuation = Annotated[
    Literal["auto", "tags", "characters", "both"],
    typer.Option(help="How punctuation is told: auto is by tags where there are any."),
]
TableFormat = Annotated[
    Literal["text", "json", "latex"], typer.Option("--format", help="How tables are printed.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)]


def read_corpus(
    paths: list[str],
    input_format: str | None = None,
    speakers: list[str] | None = None,
    exclude_speakers: list[str] | None = None,
    quiet: bool = False,
) -> Corpus:
    """Read files with progress, and say what was left out."""
    from dbpcfg.corpus.reading import read
    from dbpcfg.runtime.progress import Progress

    with Progress("reading files", quiet=quiet) as progress:

        def tell(done: int, total: int, _: str) -> None:
            progress.total = total
            progress.update(done)

        corpus = read(
            *paths,
            format=input_format,
            speakers=speakers or None,
            exclude_speakers=exclude_speakers or None,
            progress=tell,
        )
    if corpus.dropped and not quiet:
        typer.echo(corpus.summary(), err=True)
    return corpus


def depth_of(text: str) -> int | None:
    """What the option --depth says."""
    if text.lower() == "none":
        return None
    if not text.isdecimal() or not int(text):
        raise DbpcfgError(
            f"--depth must be a number from 1 up, or 'none' for no bound, got {text!r}"
        )
    return int(text)


Threads = Annotated[
    int | None,
    typer.Option(help="Processors to use; all if not given. Results do not change.", min=1),
]
