"""``dbpcfg probability``: log-probability and perplexity of a text."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.model.probabilities import SentenceProbability

COLUMNS = (
    *("source", "line", "sentence", "tokens", "unknown", "classes"),
    *("log_probability", "bits_per_word"),
)


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
    from dbpcfg.io.progress import Progress
    from dbpcfg.model.probabilities import probabilities, probability_table, totals

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
    seen: deque[Sentence] = deque()

    def counted() -> Iterator[Sentence]:
        with Progress("sentences", None, quiet) as progress:
            for number, sentence in enumerate(filter(None, sentences)):
                progress.update(number)
                if each:
                    seen.append(sentence)
                yield sentence

    found = probabilities(model, counted(), chain, threads or cores())
    if each:
        _write_rows(found, seen)
        return
    everything, possible = totals(found)
    if not everything.sentences:
        raise DbpcfgError("there is no sentence in this text")
    grammars = len(model.samples) if chain else 1
    print_tables([probability_table(everything, possible, grammars)], format)


def _write_rows(found: Iterator[SentenceProbability], seen: deque[Sentence]) -> None:
    from dbpcfg.io.tables import line

    with open_output("-") as out:
        out.write(line(COLUMNS))
        for number, one in enumerate(found, start=1):
            sentence = seen.popleft()
            counts = (one.tokens, one.unknown, one.classes)
            figures = (one.log_probability, one.bits_per_word)
            out.write(line((sentence.source, sentence.line, number, *counts, *figures)))
