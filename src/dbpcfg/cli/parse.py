"""``dbpcfg parse`` and ``dbpcfg probability``: the trees and the probability of new text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.cli import output as terminal
from dbpcfg.cli.inputs import noting, open_model, open_text, reads_terminal
from dbpcfg.cli.options import (
    BracketsOption,
    Depth,
    Quiet,
    RunArgument,
    Seed,
    TableFormat,
    TextOrInput,
    Threads,
    TokensOption,
    UnknownWords,
    takes_groups,
)
from dbpcfg.cli.output import open_output, print_tables, standard_output
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import Group, ReadingOptions, option

if TYPE_CHECKING:
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.model.decoding import Decoder, Parse

COLUMNS = ("source", "line", "sentence", "rank", "log_probability", "posterior", "tree")


@dataclass(frozen=True)
class Parsing(Group):
    """Options of the trees that are printed."""

    method: Literal["consensus", "mbr", "mbr-chain", "viterbi", "sample"] | None = option(
        None,
        "Consensus of all chains that vote, if the run has several; MBR tree under the selected "
        "grammar, the default otherwise, or under several grammars of its chain; most probable "
        "tree; tree sampled from the posterior.",
    )
    number: int = option(
        1, "Trees per sentence (viterbi, sample).", flags=("-n", "--number"), minimum=1
    )
    scores: bool = option(False, "Table with probabilities, as with -n 2 or more.")
    draw: bool = option(False, "Draw the trees.")


@takes_groups
def parse(
    run: RunArgument,
    text: TextOrInput = None,
    *,
    options: Parsing,
    seed: Seed = 0,
    depth: Depth = None,
    unknown: UnknownWords = None,
    tokens: TokensOption = None,
    brackets: BracketsOption = None,
    reading: ReadingOptions,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Print a tree for every sentence, one per line, over the words as written.

    A blank line of plain text stays blank: line i is the tree of line i. Text
    is streamed, so it can be of any length. A sentence of probability zero gets
    a flat tree, (X w1 w2 ...).

    With several trees per sentence, or --scores, the output is a tab-separated
    table with rank, log P(tree, sentence) and P(tree | sentence).
    """
    from dbpcfg.corpus.checks import BATCH_SIZE, check_text
    from dbpcfg.io.machine import cores
    from dbpcfg.io.progress import Progress
    from dbpcfg.model.decoding import Decoder, in_batches
    from dbpcfg.trees.printing import BOX_CHARACTERS
    from dbpcfg.trees.printing import draw as picture

    method, number, draw = options.method, options.number, options.draw
    table = options.scores or number > 1
    if number > 1 and method in (None, "consensus", "mbr", "mbr-chain"):
        method = method or "mbr"
        raise DbpcfgError(
            f"{method} gives one tree: -n {number} needs --method viterbi, for the best trees, or "
            "--method sample, for samples"
        )
    if options.scores and method == "consensus":
        raise DbpcfgError("trees of a consensus have no probability: choose another --method")
    if draw and table:
        raise DbpcfgError("--draw cannot be combined with --scores or -n")
    ascii = not terminal.can_show(BOX_CHARACTERS)
    model = open_model(run, depth, unknown, samples=method == "mbr-chain")
    if table:
        method = method or "mbr"  # trees of a consensus have no probability
    decoder = Decoder(model, method, number, seed, threads or cores(), reading.skip_broken)
    sentences = open_text(text, reading, quiet, model.preprocessing, tokens, brackets)
    out = standard_output()
    if table:
        print("\t".join(COLUMNS), file=out, flush=True)
    first_flat, at_once = "", reads_terminal(text)
    size = 1 if at_once else BATCH_SIZE
    sentences = check_text(sentences, model.kind_of, noting(quiet), size)
    with Progress("sentences", None, quiet or out.isatty()) as progress:
        for batch, first in in_batches(sentences, 1 if at_once else None):
            present = [sentence for sentence in batch if sentence is not None]
            if table:
                lines = _rows(present, decoder.parses(present, first), first)
            elif draw:
                trees = decoder.trees(present, first)
                lines = _lines(batch, (picture(t, ascii=ascii) + "\n" for (t,) in trees))
            else:
                lines = _lines(batch, decoder.lines(present, first))
            out.writelines(f"{line}\n" for line in lines)
            out.flush()
            if decoder.flat and not first_flat:
                first_flat = present[decoder.first_flat - first].location
            progress.update(first + len(present))
    if decoder.flat and not quiet:
        typer.echo(_flat_trees_note(decoder, first_flat), err=True)


def _lines(batch: Sequence[Sentence | None], lines: Iterable[str]) -> Iterator[str]:
    """One line per sentence; blank lines stay blank."""
    rest = iter(lines)
    return ("" if sentence is None else next(rest) for sentence in batch)


def _rows(
    sentences: Sequence[Sentence], parsed: Sequence[Sequence[Parse]], first: int
) -> Iterator[str]:
    """One row per tree. Trees are not quoted, as they have no tabs: `cut -f 7` extracts them."""
    from dbpcfg.io.tables import cell

    for number, (sentence, parses) in enumerate(zip(sentences, parsed), start=first + 1):
        for rank, one in enumerate(parses, start=1):
            cells = (sentence.source, sentence.line, number, rank)
            yield "\t".join(
                [*map(cell, (*cells, one.log_probability, one.posterior)), str(one.tree)]
            )


def _flat_trees_note(decoder: Decoder, first: str) -> str:
    """A note on how many sentences have flat trees, and why."""
    from dbpcfg.corpus.readers.text import MAX_WORDS
    from dbpcfg.io.tables import plural

    number = plural(decoder.flat, "sentence has", "sentences have")
    note = f"{number} probability zero, or over {MAX_WORDS:,} words, and a flat tree; first {first}"
    if decoder.model.unknown_word is not None:
        return note
    return f"{note}; if words are unknown, try --unknown 0.000001"


PROBABILITY_COLUMNS = ("tokens", "unknown", "classes", "log_probability", "bits_per_word")


@takes_groups
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
    tokens: TokensOption = None,
    *,
    reading: ReadingOptions,
    threads: Threads = None,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Print log-probability, bits per word and perplexity of a text.

    The probability of a sentence includes its end. To the model, all unknown
    words are one word, or their classes: compare only models with the same
    vocabulary.
    """
    from dbpcfg.io.machine import cores
    from dbpcfg.io.tables import line
    from dbpcfg.model.probabilities import probability_table, sentence_probabilities, totals

    model = open_model(run, depth, unknown, samples=chain)
    sentences = open_text(text, reading, quiet, model.preprocessing, tokens)
    texts = filter(None, sentences)
    probabilities = sentence_probabilities(
        model, texts, chain, threads or cores(), quiet, on_note=noting(quiet)
    )
    if each:
        with open_output("-") as out:
            out.write(line(("source", "line", "sentence", *PROBABILITY_COLUMNS)))
            for number, one in enumerate(probabilities, start=1):
                cells = [getattr(one, name) for name in PROBABILITY_COLUMNS]
                out.write(line((one.sentence.source, one.sentence.line, number, *cells)))
        return
    everything, possible = totals(probabilities)
    if not everything.sentences:
        raise DbpcfgError("there is no sentence in this text")
    grammars = len(model.samples) if chain else 1
    print_tables([probability_table(everything, possible, grammars)], format)
