"""``dbpcfg compare`` runs and scores several systems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import (
    Encoding,
    InputFormat,
    Lowercase,
    MaxLength,
    Punctuation,
    Quiet,
    SkipBroken,
    TableFormat,
    depth_bound,
)
from dbpcfg.cli.output import print_tables
from dbpcfg.errors import DbpcfgError


def compare(
    treebank: Annotated[
        list[str],
        typer.Argument(metavar="TREEBANK", help="Gold trees: files, directories or -."),
    ],
    systems: Annotated[
        str | None,
        typer.Option(
            help="Systems, separated by commas; all if not given: right, left, balanced, random, "
            "ccl, upparse-prlg, upparse-hmm, bmmm-dmv, uhhmm, dbpcfg."
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option(help="Runs of each random system, with consecutive seeds.", min=1)
    ] = 3,
    out: Annotated[
        str | None,
        typer.Option(help="Directory for finished runs; the same command resumes."),
    ] = None,
    max_length: MaxLength = None,
    lowercase: Lowercase = True,
    punctuation: Punctuation = "auto",
    seed: Annotated[int, typer.Option(help="Seed of the first run of random systems.", min=0)] = 0,
    categories: Annotated[
        int, typer.Option("-K", "--categories", help="dbpcfg: categories.", min=1)
    ] = 15,
    depth: Annotated[
        str, typer.Option("-D", "--depth", help="dbpcfg: memory bound, or 'none'.")
    ] = "2",
    budget: Annotated[
        int | None,
        typer.Option(help="dbpcfg: iterations of all chains of a race; 1500 if not given.", min=1),
    ] = None,
    chains: Annotated[
        int | None, typer.Option(help="dbpcfg: chains per run, in a race at its start.", min=1)
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(help="dbpcfg: iterations per chain, without a race.", min=1),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SYSTEM.NAME=VALUE",
            help="A setting of a system, such as bmmm-dmv.classes=10 or dbpcfg.rare=1; may be "
            "repeated.",
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="dbpcfg: processors to use; all if not given.", min=1)
    ] = None,
    flatten: Annotated[
        bool,
        typer.Option("--flatten", help="Rows NAME-F: binary trees flattened by estimated heads."),
    ] = False,
    permutations: Annotated[int, typer.Option(help="Permutations of each test.", min=1)] = 10_000,
    input_format: InputFormat = None,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Run several systems on one corpus and compare their scores, time and memory.

    Each run has a process of its own; failed runs are reported in the table.
    The best system is tested against the others.
    With --out, finished runs are kept, also after Ctrl-C.
    """
    from dbpcfg.experiments.compare import compare as run_all
    from dbpcfg.experiments.corpora import Task
    from dbpcfg.experiments.systems.registry import find
    from dbpcfg.experiments.systems.registry import systems as known
    from dbpcfg.induction.search import BUDGET, PAPER_CHAINS

    names = known.names() if systems is None else systems.split(",")
    chosen = [find(name) for name in names if name.strip()]
    bound = depth_bound(depth)
    if iterations is not None:
        if budget is not None:
            raise DbpcfgError("--budget is for a race, --iterations for chains without: give one")
        search = {"budget": None, "chains": chains or PAPER_CHAINS, "iterations": iterations}
    else:
        search = {"budget": budget or BUDGET, "chains": chains, "iterations": None}
    settings = _settings(set_ or ())
    settings["dbpcfg"] = {"K": categories, "D": bound, **search} | settings.get("dbpcfg", {})
    if out is not None and Path(out).exists() and not Path(out).is_dir():
        raise DbpcfgError(f"{out} is a file; --out needs a directory: choose another name")
    corpus = read_corpus(
        treebank, input_format, quiet=quiet, skip_broken=skip_broken, encoding=encoding
    )
    task = Task.of(corpus, lowercase=lowercase, max_length=max_length, punctuation=punctuation)
    if not quiet:
        typer.echo(task.prepared.summary(), err=True)
    try:
        comparison = run_all(
            task,
            chosen,
            runs=runs,
            seed=seed,
            settings=settings,
            out=out,
            threads=threads,
            flatten=flatten,
            permutations=permutations,
            report=(lambda line: None) if quiet else (lambda line: typer.echo(line, err=True)),
            quiet=quiet,
        )
    except KeyboardInterrupt:
        kept = f"finished runs are in {out}; the same command resumes" if out else "nothing is kept"
        typer.echo(f"\nstopped; {kept}", err=True)
        raise
    print_tables(comparison.tables(), format)


def _settings(given: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The settings of each system that are written ``SYSTEM.NAME=VALUE``."""
    from dbpcfg.experiments.systems.registry import find

    settings: dict[str, dict[str, Any]] = {}
    for text in given:
        system, point, setting = text.partition(".")
        if not point:
            raise DbpcfgError(f"a setting is written SYSTEM.NAME=VALUE, got {text!r}")
        spec = find(system)
        name, value = spec.parse_setting(setting)
        settings.setdefault(spec.name, {})[name] = value
    return settings
