"""Where commands write: a file, whole or not at all, or standard output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dbpcfg.errors import DbpcfgError

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Run, model file, or rule table (.tsv, .json).")
]


Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]


def refuse_to_overwrite(files: list[str], overwrite: bool) -> None:
    """Raise an error if a file exists that may not be replaced."""
    for file in files:
        if file != "-" and Path(file).exists() and not overwrite:
            raise DbpcfgError(f"{file} exists; --overwrite replaces it")


def write(target: str, text: str) -> None:
    """Write a text to a file, whole or not at all, or to standard output; always in UTF-8."""
    from dbpcfg.files.atomic import written_whole
    from dbpcfg.files.faults import writing

    if target == "-":
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    with writing(target), written_whole(Path(target)) as file:
        file.write(text.encode())
