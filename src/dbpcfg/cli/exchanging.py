"""Commands that hand grammars and trees to others: ``export``, ``draw`` and ``bound``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.cli.options import Quiet, TableFormat, read_corpus
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.trees import Tree

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Run, model file, or rule table (.tsv, .json).")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]


def export(
    run: RunArgument,
    target: Annotated[str, typer.Argument(metavar="OUT", help="File, or - for standard output.")],
    format: Annotated[
        Literal["tsv", "json", "nltk"] | None,
        typer.Option(
            "--as",
            help="A table of rules, the same as JSON, or NLTK's notation. By the "
            "ending of OUT (.tsv, .json, .pcfg) if not given; tsv for -.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Leave out rules less probable than this, and scale the others of each "
            "category to sum to 1. If not given, all rules are written."
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "-D",
            "--depth",
            min=1,
            help="Write the grammar under this bound on memory out as one without: its "
            "categories are then those on each side and depth, such as X1/L2.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a learned grammar for other programs: a table of rules, JSON, or NLTK's PCFG.

    Probabilities have all their digits. What is written can be read again, here as well.
    """
    _refuse_to_overwrite([target], overwrite)

    from dbpcfg import load
    from dbpcfg.grammar.performance import bounded_pcfg
    from dbpcfg.grammar.pruning import pruned
    from dbpcfg.grammar.ruletable import format_of, to_text

    kind = format or ("tsv" if target == "-" else format_of(target))
    model = load(run)
    grammar, notes = model.grammar, []
    if depth is not None:
        grammar = bounded_pcfg(grammar, depth)
        notes.append(f"The grammar under a memory bound of {depth}, written out.")
    elif model.depth is not None:
        notes.append(
            f"Learned under a memory bound of {model.depth}, which these rules do not have."
        )
    if threshold is not None:
        shorter = pruned(grammar, threshold)
        grammar = shorter.grammar
        notes.append(str(shorter))
    _write(target, to_text(grammar, kind, notes))
    if not quiet:
        for note in notes:
            typer.echo(note, err=True)


def draw(
    trees: Annotated[
        str,
        typer.Argument(
            metavar="TREES", help="Trees in brackets: file or -; or a run, for its trees."
        ),
    ],
    format: Annotated[
        Literal["terminal", "svg", "forest", "qtree", "evalb"],
        typer.Option(
            "--as",
            help="Drawn with characters; SVG; LaTeX for the package forest or "
            "tikz-qtree; or brackets as EVALB reads them, one tree a line.",
        ),
    ] = "terminal",
    number: Annotated[
        int | None, typer.Option("-n", "--number", help="How many; all if not given.", min=1)
    ] = None,
    first: Annotated[int, typer.Option("--from", help="The number of the first tree.", min=1)] = 1,
    out: Annotated[
        str,
        typer.Option(help="File, or - for standard output; for several SVG pictures a directory."),
    ] = "-",
    document: Annotated[
        bool, typer.Option("--document", help="LaTeX: a whole document, a page for each tree.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Labels with function tags, and empty elements too.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draw trees, in the terminal or for a page, a paper or a scorer."""
    chosen = _chosen(_read_trees(trees, raw, quiet), trees, first, number)
    if document and format not in ("forest", "qtree"):
        raise DbpcfgError(f"--document is for LaTeX, --as forest or --as qtree, not {format}")
    if format == "svg":
        _draw_svg(chosen, first, out, overwrite)
        return
    _refuse_to_overwrite([out], overwrite)
    _write(out, _drawn(chosen, format, document, to_terminal=out == "-"))


def bound(
    run: RunArgument,
    depths: Annotated[str, typer.Option(help="Bounds, with commas between.")] = "1,2,3",
    show: Annotated[
        Literal["mass", "h", "grammar"],
        typer.Option(help="How much probability each bound keeps; h(s,d,c); or the rules G(s,d)."),
    ] = "mass",
    top: Annotated[
        int, typer.Option(help="Most probable rules of each category to show; 0: all.", min=0)
    ] = 10,
    format: TableFormat = "text",
) -> None:
    """Show what a bound on memory makes of a grammar: competence next to performance.

    In tables, L2 are left nodes at depth 2, and R2 right ones.
    """
    numbers = _depths(depths)

    from dbpcfg import load
    from dbpcfg.grammar.performance import bounded_table, containment_table, mass_table
    from dbpcfg.tables import render

    grammar = load(run).grammar
    if show == "mass":
        tables = [mass_table(grammar, numbers)]
    elif show == "h":
        tables = [containment_table(grammar, depth) for depth in numbers]
    else:
        tables = [bounded_table(grammar, depth, top or None) for depth in numbers]
    _write("-", render(tables, format) + "\n")


def _depths(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise DbpcfgError(f"--depths must be whole numbers with commas between, as 1,2,3: {text!r}")
    return [int(part) for part in parts]


def _read_trees(path: str, raw: bool, quiet: bool) -> list[Tree]:
    from dbpcfg.corpus.reading import read

    if (Path(path) / "trees.txt").exists():
        path = str(Path(path) / "trees.txt")
    if raw:
        return read(path, format="penn", function_tags=True, empty_elements=True).trees()
    return read_corpus([path], "penn", quiet=quiet).trees()


def _chosen(trees: list[Tree], path: str, first: int, number: int | None) -> list[Tree]:
    if first > len(trees):
        raise DbpcfgError(f"{path} has {len(trees):,} trees, so none from number {first:,} on")
    return trees[first - 1 :][:number]


def _draw_svg(trees: list[Tree], first: int, out: str, overwrite: bool) -> None:
    from dbpcfg.pictures import tree_svg

    if out == "-" or out.endswith(".svg"):
        if len(trees) > 1:
            raise DbpcfgError(
                f"{len(trees):,} pictures do not fit into one file: give a directory by --out, or "
                "-n 1 for one picture"
            )
        _refuse_to_overwrite([out], overwrite)
        _write(out, tree_svg(trees[0]) + "\n")
        return
    digits = len(str(first + len(trees) - 1))
    files = [str(Path(out) / f"{first + n:0{digits}}.svg") for n in range(len(trees))]
    _refuse_to_overwrite(files, overwrite)
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DbpcfgError(f"{out} cannot be made: {error.strerror}") from None
    for file, tree in zip(files, trees, strict=True):
        _write(file, tree_svg(tree) + "\n")


def _drawn(trees: list[Tree], format: str, document: bool, to_terminal: bool) -> str:
    import shutil

    from dbpcfg.drawing import beside
    from dbpcfg.drawing import draw as draw_in_terminal
    from dbpcfg.evalb import evalb_line
    from dbpcfg.pictures import forest, latex_document, qtree

    if format == "evalb":
        return "".join(f"{evalb_line(tree)}\n" for tree in trees)
    if format == "terminal":
        plain = to_terminal and "utf" not in (sys.stdout.encoding or "").lower()
        pictures = [draw_in_terminal(tree, ascii=plain) for tree in trees]
        return beside(pictures, shutil.get_terminal_size().columns) + "\n"
    pictures = [forest(tree) if format == "forest" else qtree(tree) for tree in trees]
    if document:
        return latex_document(pictures, "forest" if format == "forest" else "qtree")
    return "\n\n".join(pictures) + "\n"


def _refuse_to_overwrite(files: list[str], overwrite: bool) -> None:
    for file in files:
        if file != "-" and Path(file).exists() and not overwrite:
            raise DbpcfgError(f"{file} exists; --overwrite replaces it")


def _write(target: str, text: str) -> None:
    """Write a text to a file, whole or not at all, or to standard output; always in UTF-8."""
    from dbpcfg.files import written_whole

    if target == "-":
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    try:
        with written_whole(Path(target)) as file:
            file.write(text.encode())
    except OSError as error:
        raise DbpcfgError(f"{target} cannot be written: {error.strerror}") from None
