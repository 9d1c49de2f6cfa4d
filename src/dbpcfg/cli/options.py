"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from dbpcfg.cli.help import CORPUS
from dbpcfg.errors import DbpcfgError

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Run directory, model file or rule table.")
]
Text = Annotated[
    list[str],
    typer.Argument(metavar="TEXT", help="Files, directories, patterns or -."),
]
TextOrInput = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT",
        help="Files, directories, patterns or -; standard input if not given.",
        show_default=False,
    ),
]
InputFormat = Annotated[
    Literal["text", "penn", "chat", "conllu", "cess", "sinica", "alpino", "export", "tigerxml"]
    | None,
    typer.Option(
        "--input-format",
        metavar="FORMAT",
        help="text, penn, chat, conllu, cess, sinica, alpino, export or tigerxml; recognised if "
        "not given.",
        rich_help_panel=CORPUS,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="Encoding of the input; UTF-8 if not given."),
]
SkipBroken = Annotated[
    bool,
    typer.Option("--skip-broken", help="Skip trees and sentences that are broken, and list them."),
]
Speakers = Annotated[
    list[str] | None,
    typer.Option(
        "--speaker",
        help="Only this speaker, by code or role; may be repeated.",
        rich_help_panel=CORPUS,
    ),
]
ExcludeSpeakers = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude-speaker",
        help="Leave this speaker out; may be repeated. CHAT: the target child if not given.",
        rich_help_panel=CORPUS,
    ),
]

Lowercase = Annotated[
    bool, typer.Option(help="Learn from words in lower case.", rich_help_panel=CORPUS)
]
MaxLength = Annotated[
    int | None,
    typer.Option(
        help="Maximum sentence length in words; punctuation does not count.",
        min=1,
        rich_help_panel=CORPUS,
    ),
]
Numbers = Annotated[
    bool, typer.Option("--numbers", help="Make all numbers one form.", rich_help_panel=CORPUS)
]
Rare = Annotated[
    int,
    typer.Option(
        help="Replace forms that occur at most this often by classes; 0: none.",
        min=0,
        rich_help_panel=CORPUS,
    ),
]
Scheme = Annotated[
    Literal["suffix", "shape", "both", "one"],
    typer.Option(
        help="Classes of rare forms: by suffix, by shape, by both, or a single one.",
        rich_help_panel=CORPUS,
    ),
]
NoPunctuation = Annotated[
    bool,
    typer.Option("--no-punctuation", help="Leave punctuation out.", rich_help_panel=CORPUS),
]
Punctuation = Annotated[
    Literal["auto", "tags", "characters", "both"],
    typer.Option(
        help="How punctuation is recognised; auto: by tags if there are any.",
        rich_help_panel=CORPUS,
    ),
]

Depth = Annotated[
    str | None,
    typer.Option(
        "-D",
        "--depth",
        help="Memory bound instead of the model's: at most this many fragments; 'none': no bound.",
    ),
]
UnknownWords = Annotated[
    float | None,
    typer.Option(
        "--unknown",
        help="Probability of unknown words under each category instead of the model's; a rule "
        "table has none.",
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed.", min=0)]
Threads = Annotated[
    int | None,
    typer.Option(help="Processors to use; all if not given. Results do not depend on it.", min=1),
]

TableFormat = Annotated[
    Literal["text", "json", "latex"], typer.Option("--format", help="Format of tables.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")]

MOST_DIGITS = 18
"""Of a memory bound: Python does not read numbers of thousands of digits."""


def depth_bound(text: str) -> int | None:
    """Read the value of --depth: a number, or None for ``none``."""
    if text.lower() == "none":
        return None
    if not text.isdecimal() or len(text) > MOST_DIGITS or not int(text):
        raise DbpcfgError(
            f"--depth must be a number from 1 up, or 'none' for no bound, got {text!r:.80}"
        )
    return int(text)
