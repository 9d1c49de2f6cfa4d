"""``dbpcfg compare`` runs and scores several systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import (
    Lowercase,
    MaxLength,
    Punctuation,
    Quiet,
    TableFormat,
    depth_bound,
    takes_groups,
)
from dbpcfg.cli.output import print_tables
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import FormatOptions, Group, option


@dataclass(frozen=True)
class Comparing(Group):
    """Which systems are compared, and with which settings."""

    systems: str | None = option(
        None,
        "Systems, separated by commas; all if not given: right, left, balanced, random, ccl, "
        "upparse-prlg, upparse-hmm, bmmm-dmv, uhhmm, dbpcfg.",
    )
    runs: int = option(3, "Runs of each random system, with consecutive seeds.", minimum=1)
    out: str | None = option(None, "Directory for finished runs; the same command resumes.")
    seed: int = option(0, "Seed of the first run of random systems.", minimum=0)
    learner: str = option("auto", "dbpcfg: gibbs, em, vb, neural; auto chooses by the text.")
    categories: int | None = option(
        None, "dbpcfg: categories.", flags=("-K", "--categories"), minimum=1
    )
    depth: str = option("auto", "dbpcfg: memory bound, or 'none'.", flags=("-D", "--depth"))
    budget: int | None = option(
        None, "dbpcfg: iterations of all chains of a race; 1500 if not given.", minimum=1
    )
    chains: int | None = option(None, "dbpcfg: chains per run, in a race at its start.", minimum=1)
    iterations: int | None = option(
        None, "dbpcfg: iterations per chain, without a race.", minimum=1
    )
    set: tuple[str, ...] = option(
        (),
        "A setting of a system, such as bmmm-dmv.classes=10 or dbpcfg.rare=1; may be repeated.",
        metavar="SYSTEM.NAME=VALUE",
    )
    threads: int | None = option(None, "dbpcfg: processors to use; all if not given.", minimum=1)
    flatten: bool = option(False, "Rows NAME-F: binary trees flattened by estimated heads.")
    permutations: int = option(10_000, "Permutations of each test.", minimum=1)


@takes_groups
def compare(
    treebank: Annotated[
        list[str],
        typer.Argument(metavar="TREEBANK", help="Gold trees: files, directories or -."),
    ],
    asked: Comparing,
    reading: FormatOptions,
    max_length: MaxLength = None,
    lowercase: Lowercase = True,
    punctuation: Punctuation = "auto",
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
    from dbpcfg.systems.registry import find
    from dbpcfg.systems.registry import systems as known

    names = known.names() if asked.systems is None else asked.systems.split(",")
    chosen = [find(name) for name in names if name.strip()]
    bound = "auto" if asked.depth == "auto" else depth_bound(asked.depth)
    chains, out = asked.chains, asked.out
    if None not in (asked.iterations, asked.budget):
        raise DbpcfgError(
            "--budget is for a race, --iterations for chains without one: give only one of them"
        )
    given: dict[str, Any] = {
        "K": asked.categories,
        "D": bound,
        "budget": asked.budget,
        "chains": chains,
    }
    given |= {"learner": asked.learner, "iterations": asked.iterations}
    settings = _settings(asked.set)
    settings["dbpcfg"] = given | settings.get("dbpcfg", {})
    if out is not None and Path(out).exists() and not Path(out).is_dir():
        raise DbpcfgError(f"{out} is a file; --out needs a directory: choose another name")
    corpus = read_corpus(treebank, reading, quiet)
    task = Task.of(corpus, lowercase=lowercase, max_length=max_length, punctuation=punctuation)
    if not quiet:
        typer.echo(task.preprocessed.summary(), err=True)
    try:
        comparison = run_all(
            task,
            chosen,
            runs=asked.runs,
            seed=asked.seed,
            settings=settings,
            out=out,
            threads=asked.threads,
            flatten=asked.flatten,
            permutations=asked.permutations,
            on_note=(lambda line: None) if quiet else (lambda line: typer.echo(line, err=True)),
            quiet=quiet,
        )
    except KeyboardInterrupt:
        kept = f"finished runs are in {out}; the same command resumes" if out else "nothing is kept"
        typer.echo(f"\nstopped; {kept}", err=True)
        raise
    print_tables(comparison.tables(), format)


def _settings(given: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The settings of each system that are written ``SYSTEM.NAME=VALUE``."""
    from dbpcfg.systems.registry import find

    settings: dict[str, dict[str, Any]] = {}
    for text in given:
        system, point, setting = text.partition(".")
        if not point:
            raise DbpcfgError(f"a setting is written SYSTEM.NAME=VALUE, got {text!r}")
        spec = find(system)
        name, value = spec.parse_setting(setting)
        settings.setdefault(spec.name, {})[name] = value
    return settings
