"""Commands that tell what a learned grammar is like: ``show`` and ``probability``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbpcfg.cli import terminal
from dbpcfg.cli.model_options import Depth, RunPath, open_model
from dbpcfg.cli.options import (
    Quiet,
    TableFormat,
    read_corpus,
)
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.evaluation.labels import GoldLabels
    from dbpcfg.trees.tree import Tree


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

    from dbpcfg.files.table import render
    from dbpcfg.model.categories import profile
    from dbpcfg.model.presentation import TOP, as_json, as_tables, as_text
    from dbpcfg.trees.terminal import BOX_CHARACTERS

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


def _trees(run: str) -> list[Tree]:
    """The trees of a run; none of what is only a model."""
    from dbpcfg.corpus.loading import load_text
    from dbpcfg.trees.brackets import read_trees

    path = Path(run) / "trees.txt"
    return list(read_trees(load_text(str(path)), str(path))) if Path(run).is_dir() else []


def _evenly(trees: Sequence[Tree], number: int) -> list[Tree]:
    """So many of the trees, or all, from places all over the text."""
    number = min(number, len(trees))
    return [trees[n * len(trees) // number] for n in range(number)]


def _drawn(trees: Sequence[Tree], number: int, width: int, ascii: bool) -> str:
    """Pictures of some trees, of such as are not too wide if there are any."""
    from dbpcfg.trees.terminal import beside, draw

    pictures = {id(tree): draw(tree, ascii=ascii) for tree in trees}
    fitting = [t for t in trees if max(map(len, pictures[id(t)].split("\n"))) <= width]
    return beside([pictures[id(tree)] for tree in _evenly(fitting or trees, number)], width)


def _meanings(path: str, run: str, trees: Sequence[Tree], quiet: bool) -> GoldLabels:
    """Gold labels of a run's trees, from a treebank of its sentences or of more."""
    from dbpcfg.corpus.sentence import as_sentences
    from dbpcfg.evaluation.goldtrees import match_gold
    from dbpcfg.evaluation.labels import gold_labels
    from dbpcfg.induction.configuration import load_configuration

    rule = load_configuration(Path(run) / "config.toml").preparation.punctuation
    words = [tree.words() for tree in trees]
    gold = match_gold(words, read_corpus([path], quiet=quiet).sentences, path, rule)
    source = str(Path(run) / "trees.txt")
    return gold_labels(gold.sentences, as_sentences(trees, source), gold.punctuation)
