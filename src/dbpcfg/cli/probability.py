"""``dbpcfg probability``: log-probability and perplexity of a text."""

from __future__ import annotations

from typing import Annotated

import typer

from dbpcfg.cli.inputs import open_model, open_text
from dbpcfg.cli.options import (
    Depth,
    Encoding,
    ExcludeSpeakers,
    InputFormat,
    Quiet,
    RunArgument,
    SkipBroken,
    Speakers,
    TableFormat,
    TextOrInput,
    Threads,
    UnknownWords,
)
from dbpcfg.cli.output import open_output, print_tables
from dbpcfg.errors import DbpcfgError

COLUMNS = ("tokens", "unknown", "classes", "log_probability", "bits_per_word")


def probability(
    run: RunArgument,
    text: TextOrInput = None,
    each: Annotated[
        bool, typer.Option("--each", help="Tab-separated table with a row for each sentence.")
    ] = False,
    chain: Annotated[
        bool,
        typer.Option("--chain", help="Mean probability under several grammars of the chain."),
    ] = False,
    depth: Depth = None,
    unknown: UnknownWords = None,
    input_format: InputFormat = None,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    threads: Threads = None,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Print log-probability, bits per word and perplexity of a text.

    The probability of a sentence includes its end.
    All unknown words are one word to the model, or their classes:
    compare only models that have the same words.
    """
    from dbpcfg.io.machine import cores
    from dbpcfg.io.tables import line
    from dbpcfg.model.probabilities import probability_table, totals

    model = open_model(run, depth, unknown, samples=chain)
    sentences = open_text(
        text,
        input_format,
        speaker,
        exclude_speaker,
        quiet,
        learned=model.preparation,
        skip_broken=skip_broken,
        encoding=encoding,
    )
    found = model.probabilities(
        filter(None, sentences), chain=chain, threads=threads or cores(), quiet=quiet
    )
    if each:
        with open_output("-") as out:
            out.write(line(("source", "line", "sentence", *COLUMNS)))
            for number, one in enumerate(found, start=1):
                cells = [getattr(one, name) for name in COLUMNS]
                out.write(line((one.sentence.source, one.sentence.line, number, *cells)))
        return
    everything, possible = totals(found)
    if not everything.sentences:
        raise DbpcfgError("there is no sentence in this text")
    grammars = len(model.samples) if chain else 1
    print_tables([probability_table(everything, possible, grammars)], format)
