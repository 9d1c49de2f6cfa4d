"""Commands that tell what a learned grammar is like: ``show`` and ``probability``."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbpcfg.cli import terminal
from dbpcfg.cli.inducing import Threads
from dbpcfg.cli.models import Depth, RunPath, Text, UnknownWords, open_model, open_text
from dbpcfg.cli.options import (
    ExcludeSpeakers,
    InputFormat,
    Quiet,
    Speakers,
    TableFormat,
    read_corpus,
)
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.heldout import SentenceProbability
    from dbpcfg.profile import Meanings
    from dbpcfg.trees import Tree

COLUMNS = (
    *("source", "line", "sentence", "tokens", "unknown", "classes"),
    *("log_probability", "bits_per_word"),
)


def show(
    run: RunPath,
    trees: Annotated[
        int, typer.Option("--trees", help="Draw so many of the run's trees.", min=0)
    ] = 0,
    gold: Annotated[
        str | None,
        typer.Option(help="Treebank of the run's sentences: the gold labels of each category."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(help="Most words and rules of each category; 12, or 5 in LaTeX.", min=1),
    ] = None,
    depth: Depth = None,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Show what was learned: each category with its words and rules, most used first.

    How often categories are used is counted in the trees of the run.
    Of a model file or rule table it is what the grammar expects.
    """
    import json
    from dataclasses import replace

    from dbpcfg.drawing import BOX_CHARACTERS
    from dbpcfg.profile import profile
    from dbpcfg.showing import TOP, as_json, as_tables, as_text
    from dbpcfg.tables import render

    model = open_model(run, depth)
    learned = _trees(run)
    if not learned and (trees or gold):
        raise DbpcfgError(f"only the directory of a run has trees, and {run} is none")
    found = profile(model, learned)
    if gold is not None:
        found = replace(found, meanings=_meanings(gold, run, learned, quiet))
    ascii = not terminal.takes(BOX_CHARACTERS + "█…–")
    if format == "json":
        drawn = [str(tree) for tree in _evenly(learned, trees)]
        typer.echo(json.dumps({**as_json(found, top or TOP), "drawn": drawn}, indent=2))
    elif format == "latex":
        terminal.write_utf8()
        typer.echo(render(as_tables(found, top or 5), "latex"))
    else:
        width, bold = terminal.width(), terminal.coloured()
        typer.echo(as_text(found, width, top or TOP, bold, ascii))
        if trees:
            typer.echo("\n" + _drawn(learned, trees, width, ascii))


def probability(
    run: RunPath,
    text: Text = None,
    each: Annotated[
        bool, typer.Option("--each", help="A tab-separated row for each sentence instead.")
    ] = False,
    chain: Annotated[
        bool,
        typer.Option("--chain", help="Mean over several grammars of the chain, not only one."),
    ] = False,
    depth: Depth = None,
    unknown: UnknownWords = None,
    input_format: InputFormat = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    threads: Threads = None,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Show how probable a text is: log-probability, bits per word, perplexity.

    The model generates whole sentences, so their ends are part of it.
    Words that it does not know are one word to it, or their classes:
    compare only models that see the same words.
    """
    from dbpcfg.heldout import probabilities, probability_table, sums
    from dbpcfg.induction.induce import cores
    from dbpcfg.progress import Progress
    from dbpcfg.tables import render

    model = open_model(run, depth, unknown, samples=chain)
    sentences = open_text(text, input_format, speaker, exclude_speaker, quiet)
    seen: deque[Sentence] = deque()

    def told() -> Iterator[Sentence]:
        with Progress("sentences", None, quiet) as progress:
            for number, sentence in enumerate(filter(None, sentences)):
                progress.tell(number)
                if each:
                    seen.append(sentence)
                yield sentence

    found = probabilities(model, told(), chain, threads or cores())
    if each:
        _write_rows(found, seen)
        return
    everything, possible = sums(found)
    if not everything.sentences:
        raise DbpcfgError("there is no sentence in this text")
    grammars = len(model.samples) if chain else 1
    typer.echo(render([probability_table(everything, possible, grammars)], format))


def _write_rows(found: Iterator[SentenceProbability], seen: deque[Sentence]) -> None:
    from dbpcfg.tsv import line

    terminal.write_utf8()
    sys.stdout.write(line(COLUMNS))
    for number, one in enumerate(found, start=1):
        sentence = seen.popleft()
        counts = (one.tokens, one.unknown, one.classes)
        figures = (one.log_probability, one.bits_per_word)
        sys.stdout.write(line((sentence.source, sentence.line, number, *counts, *figures)))
    sys.stdout.flush()


def _trees(run: str) -> list[Tree]:
    """The trees of a run; none of what is only a model."""
    from dbpcfg.corpus.loading import load
    from dbpcfg.trees import read_trees

    path = Path(run) / "trees.txt"
    return list(read_trees(load(str(path)), str(path))) if Path(run).is_dir() else []


def _evenly(trees: Sequence[Tree], number: int) -> list[Tree]:
    """So many of the trees, or all, from places all over the text."""
    number = min(number, len(trees))
    return [trees[n * len(trees) // number] for n in range(number)]


def _drawn(trees: Sequence[Tree], number: int, width: int, ascii: bool) -> str:
    """Pictures of some trees, of such as are not too wide if there are any."""
    from dbpcfg.drawing import beside, draw

    pictures = {id(tree): draw(tree, ascii=ascii) for tree in trees}
    fitting = [t for t in trees if max(map(len, pictures[id(t)].split("\n"))) <= width]
    return beside([pictures[id(tree)] for tree in _evenly(fitting or trees, number)], width)


def _meanings(path: str, run: str, trees: Sequence[Tree], quiet: bool) -> Meanings:
    """Gold labels of a run's trees, from a treebank of all sentences or of just those kept."""
    from dbpcfg.corpus.punctuation import punctuation
    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.induction.configuration import load_configuration
    from dbpcfg.profile import meanings

    gold = read_corpus([path], quiet=quiet)
    gold.trees()  # refuses text without trees, and says where
    preparation = load_configuration(Path(run) / "config.toml").preparation
    longest = preparation.max_length
    marks = [punctuation(sentence, preparation.punctuation) for sentence in gold]
    kept = range(len(gold))
    if len(kept) != len(trees) and longest is not None:
        kept = [n for n in kept if marks[n].count(False) <= longest]  # type: ignore[assignment]
    if len(kept) != len(trees):
        limit = "" if longest is None else f" of {longest} words or fewer"
        raise DbpcfgError(
            f"{run} has {len(trees):,} trees, but {path} has {len(kept):,} sentences{limit}; "
            "give the treebank of the text that the run learned from"
        )
    source = str(Path(run) / "trees.txt")
    predicted = [
        Sentence(tuple(tree.words()), tree=tree, source=source, line=line)
        for line, tree in enumerate(trees, start=1)
    ]
    return meanings([gold[n] for n in kept], predicted, [marks[n] for n in kept])
