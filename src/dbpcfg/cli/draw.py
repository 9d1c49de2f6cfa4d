"""``dbpcfg draw``: trees in the terminal, as SVG, LaTeX or EVALB brackets."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.cli import output as terminal
from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import Overwrite, Quiet, takes_groups
from dbpcfg.cli.output import check_overwrite, write
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import FileOptions, FormatOptions, Group, option

if TYPE_CHECKING:
    from dbpcfg.trees.tree import Tree


@dataclass(frozen=True)
class Drawing(Group):
    """Options of pictures."""

    number: int | None = option(
        None, "Number of trees; all if not given.", flags=("-n", "--number"), minimum=1
    )
    out: str = option("-", "File, or - for standard output; a directory for several SVG files.")
    document: bool = option(False, "LaTeX: a complete document, one page per tree.")
    raw: bool = option(False, "Keep function tags and empty elements.")


@takes_groups
def draw(
    trees: Annotated[
        str,
        typer.Argument(metavar="TREES", help="Bracketed trees: file, - or run directory."),
    ],
    format: Annotated[
        Literal["terminal", "svg", "forest", "qtree", "evalb"],
        typer.Option(
            "--as",
            help="Characters; SVG; LaTeX for the package forest or tikz-qtree; or one tree per "
            "line in EVALB's brackets.",
        ),
    ] = "terminal",
    first: Annotated[int, typer.Option("--from", help="Number of the first tree.", min=1)] = 1,
    *,
    drawing: Drawing,
    decoding: FileOptions,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draw trees in the terminal, as SVG or in LaTeX, or write them for EVALB."""
    from dbpcfg.io.tables import plural

    out, document = drawing.out, drawing.document
    all_trees = _read_trees(trees, drawing.raw, quiet, decoding)
    if first > len(all_trees):
        raise DbpcfgError(f"--from {first:,}: {trees} has only {plural(len(all_trees), 'tree')}")
    chosen = all_trees[first - 1 :][: drawing.number]
    if document and format not in ("forest", "qtree"):
        raise DbpcfgError(f"--document is for LaTeX, --as forest or --as qtree, not {format}")
    if format == "svg":
        _draw_svg(chosen, first, out, overwrite)
        return
    check_overwrite([out], overwrite)
    write(out, _drawn(chosen, format, document, to_terminal=out == "-"))


def _read_trees(path: str, raw: bool, quiet: bool, decoding: FileOptions) -> list[Tree]:
    if (Path(path) / "trees.txt").exists():
        path = str(Path(path) / "trees.txt")
    penn = FormatOptions(decoding.encoding, decoding.skip_broken, "penn")
    return read_corpus([path], penn, quiet, raw=raw).trees()


def _draw_svg(trees: list[Tree], first: int, out: str, overwrite: bool) -> None:
    from dbpcfg.io.files import write_errors
    from dbpcfg.trees.drawing import tree_svg

    if out == "-" or out.endswith(".svg"):
        if len(trees) > 1:
            raise DbpcfgError(
                f"{len(trees):,} SVG files need a directory: give one with --out, or draw one tree "
                "with -n 1"
            )
        check_overwrite([out], overwrite)
        write(out, tree_svg(trees[0]) + "\n")
        return
    digits = len(str(first + len(trees) - 1))
    files = [str(Path(out) / f"{first + n:0{digits}}.svg") for n in range(len(trees))]
    check_overwrite(files, overwrite)
    with write_errors(out):
        Path(out).mkdir(parents=True, exist_ok=True)
    for file, tree in zip(files, trees, strict=True):
        write(file, tree_svg(tree) + "\n")


def _drawn(trees: list[Tree], format: str, document: bool, to_terminal: bool) -> str:
    from dbpcfg.trees.brackets import evalb_line
    from dbpcfg.trees.printing import beside, forest, latex_document, qtree
    from dbpcfg.trees.printing import draw as draw_in_terminal

    if format == "evalb":
        return "".join(f"{evalb_line(tree)}\n" for tree in trees)
    if format == "terminal":
        plain = to_terminal and "utf" not in (sys.stdout.encoding or "").lower()
        pictures = [draw_in_terminal(tree, ascii=plain) for tree in trees]
        return beside(pictures, terminal.width()) + "\n"
    pictures = [forest(tree) if format == "forest" else qtree(tree) for tree in trees]
    if document:
        return latex_document(pictures, "forest" if format == "forest" else "qtree")
    return "\n\n".join(pictures) + "\n"
