"""``dbpcfg show``: the categories of a learned grammar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from dbpcfg.cli import output as terminal
from dbpcfg.cli.inputs import open_model, read_corpus
from dbpcfg.cli.options import Depth, Quiet, RunArgument, TableFormat, takes_groups
from dbpcfg.cli.output import print_tables
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import FileOptions

if TYPE_CHECKING:
    from dbpcfg.evaluation.labels import GoldLabels
    from dbpcfg.io.tables import Table
    from dbpcfg.model.model import Model
    from dbpcfg.trees.tree import Tree

Item = TypeVar("Item")


@takes_groups
def show(
    run: RunArgument,
    trees: Annotated[
        int, typer.Option("--trees", help="Draw this many of the run's trees.", min=0)
    ] = 0,
    gold: Annotated[
        str | None,
        typer.Option(
            help="Treebank of the run's sentences: shows the gold labels for each category."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="At most this many words and rules per category; 12, or 5 in LaTeX.",
            min=1,
        ),
    ] = None,
    depth: Depth = None,
    *,
    decoding: FileOptions,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Show each category with its words and rules, most frequent first.

    Frequencies are counted in the trees of a run.
    For a model file or rule table they are expectations under the grammar.
    """
    import json
    from dataclasses import replace
    from shlex import quote

    from dbpcfg.corpus.tokens import describe_contractions
    from dbpcfg.induction.directory import finished_run
    from dbpcfg.model.card import card_table
    from dbpcfg.model.profile import TOP, as_json, as_tables, as_text
    from dbpcfg.trees.printing import BOX_CHARACTERS

    model = open_model(run, depth)
    run_trees = _trees(run)
    if not run_trees and (trees or gold):
        raise DbpcfgError(f"--trees and --gold need the directory of a run; {run} is not one")
    profile = model.profile(run_trees)
    if gold is not None:
        profile = replace(profile, meanings=_meanings(gold, run, run_trees, quiet, decoding))
    table = _before_and_after(run, model, run_trees)
    card = [card_table(model.card)] if model.card and not Path(run).is_dir() else []
    contractions = describe_contractions(model.grammar.vocabulary.words)
    ascii = not terminal.can_show(BOX_CHARACTERS + "█…–")
    if format == "json":
        drawn = [str(tree) for tree in _evenly(run_trees, trees)]
        data = {**as_json(profile, top or TOP), "drawn": drawn}
        if table:
            data["before_and_after"] = table[0].json()
        if contractions:
            data["tokens"] = contractions
        if model.card:
            data["card"] = dict(model.card)
        if Path(run).is_dir():
            look = f"dbpcfg report {quote(run)} --open"
            data["verdict"] = finished_run(Path(run), quiet).verdict.json(look)
        typer.echo(json.dumps(data, indent=2))
    elif format == "latex":
        print_tables([*as_tables(profile, top or 5), *table, *card], "latex")
    else:
        width, bold = terminal.width(), terminal.coloured()
        typer.echo(as_text(profile, width, top or TOP, bold, ascii))
        if contractions and not card:
            typer.echo(f"\n{contractions}")
        for one in table:
            typer.echo("\n" + one.text())
        for one in card:
            typer.echo("\n" + one.text(width))
        if trees:
            typer.echo("\n" + _drawn(run_trees, trees, width, ascii))


def _trees(run: str) -> list[Tree]:
    """The trees of a run; a model file or rule table has none."""
    from dbpcfg.corpus.loading import load_text
    from dbpcfg.trees.brackets import read_trees

    path = Path(run) / "trees.txt"
    text = load_text(str(path), "utf-8") if Path(run).is_dir() else ""
    return list(read_trees(text, str(path)))


def _before_and_after(run: str, model: Model, trees: Sequence[Tree]) -> list[Table]:
    """A table of what changed since the run that this one started from, if there is one."""
    from dbpcfg.induction.directory import START_FILE, read_configuration, read_start
    from dbpcfg.induction.start import before_and_after

    if not (Path(run) / START_FILE).exists():
        return []
    return [before_and_after(read_start(Path(run), read_configuration(Path(run))), model, trees)]


def _evenly(trees: Sequence[Item], number: int) -> list[Item]:
    """Trees at even distances in the text, or all if there are fewer."""
    number = min(number, len(trees))
    return [trees[n * len(trees) // number] for n in range(number)]


def _drawn(trees: Sequence[Tree], number: int, width: int, ascii: bool) -> str:
    """Draw some trees, if possible only trees that fit the width."""
    from dbpcfg.io.tables import display_width
    from dbpcfg.trees.printing import beside, draw

    pictures = [draw(tree, ascii=ascii) for tree in trees]
    fitting = [p for p in pictures if max(map(display_width, p.split("\n"))) <= width]
    return beside(_evenly(fitting or pictures, number), width)


def _meanings(
    path: str, run: str, trees: Sequence[Tree], quiet: bool, decoding: FileOptions
) -> GoldLabels:
    """The gold labels of a run's categories, from a treebank that has at least its sentences."""
    from dbpcfg.corpus.sentence import as_sentences
    from dbpcfg.evaluation.goldtrees import match_gold
    from dbpcfg.evaluation.labels import gold_labels
    from dbpcfg.induction.settings import load_configuration

    rule = load_configuration(Path(run) / "config.toml").preprocessing.punctuation
    words = [tree.words() for tree in trees]
    gold = match_gold(words, read_corpus([path], decoding, quiet).sentences, path, rule)
    source = str(Path(run) / "trees.txt")
    return gold_labels(gold.sentences, as_sentences(trees, source), gold.punctuation)
