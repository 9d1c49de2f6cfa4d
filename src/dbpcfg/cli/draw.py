"""``dbpcfg draw``: trees in the terminal, as SVG, LaTeX or EVALB brackets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.cli import output as terminal
from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import Encoding, Overwrite, Quiet, SkipBroken
from dbpcfg.cli.output import check_overwrite, write
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.trees.tree import Tree


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
    number: Annotated[
        int | None, typer.Option("-n", "--number", help="Number of trees; all if not given.", min=1)
    ] = None,
    first: Annotated[int, typer.Option("--from", help="Number of the first tree.", min=1)] = 1,
    out: Annotated[
        str,
        typer.Option(help="File, or - for standard output; a directory for several SVG files."),
    ] = "-",
    document: Annotated[
        bool, typer.Option("--document", help="LaTeX: a complete document, one page per tree.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Keep function tags and empty elements.")
    ] = False,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draw trees in the terminal, as SVG or in LaTeX, or write them for EVALB."""
    chosen = _chosen(_read_trees(trees, raw, quiet, skip_broken, encoding), trees, first, number)
    if document and format not in ("forest", "qtree"):
        raise DbpcfgError(f"--document is for LaTeX, --as forest or --as qtree, not {format}")
    if format == "svg":
        _draw_svg(chosen, first, out, overwrite)
        return
    check_overwrite([out], overwrite)
    write(out, _drawn(chosen, format, document, to_terminal=out == "-"))


def _read_trees(
    path: str, raw: bool, quiet: bool, skip_broken: bool, encoding: str | None
) -> list[Tree]:
    from dbpcfg.corpus.reading import read

    if (Path(path) / "trees.txt").exists():
        path = str(Path(path) / "trees.txt")
    if raw:
        broken = "skip" if skip_broken else "error"
        return read(
            path,
            format="penn",
            function_tags=True,
            empty_elements=True,
            broken=broken,
            encoding=encoding,
        ).trees()
    return read_corpus(
        [path], "penn", quiet=quiet, skip_broken=skip_broken, encoding=encoding
    ).trees()


def _chosen(trees: list[Tree], path: str, first: int, number: int | None) -> list[Tree]:
    if first > len(trees):
        raise DbpcfgError(f"--from {first:,}: {path} has only {len(trees):,} trees")
    return trees[first - 1 :][:number]


def _draw_svg(trees: list[Tree], first: int, out: str, overwrite: bool) -> None:
    from dbpcfg.io.files import writing
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
    with writing(out):
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
