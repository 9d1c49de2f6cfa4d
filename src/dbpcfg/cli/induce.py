"""Commands that learn: ``induce`` and ``resume``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.cli.options import (
    ExcludeSpeakers,
    InputFormat,
    MaxLength,
    Numbers,
    Punctuation,
    Rare,
    Scheme,
    Seed,
    Speakers,
    TableFormat,
    depth_of,
    read_corpus,
)

if TYPE_CHECKING:
    from dbpcfg.induction.run import Run
from dbpcfg.cli.options import Threads

Workers = Annotated[
    Literal["threads", "processes"],
    typer.Option(help="What runs chains side by side; processes suit many small chains."),
]
Checkpoint = Annotated[
    float, typer.Option(help="Seconds between two checkpoints of a chain.", min=0)
]
QuietRun = Annotated[bool, typer.Option("--quiet", "-q", help="Only results.")]
Json = Annotated[bool, typer.Option("--json", help="Progress and results as JSON lines.")]


def induce(
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="Files, directories, patterns or -.")
    ],
    out: Annotated[str, typer.Option("--out", help="Directory for the run.")],
    categories: Annotated[int, typer.Option("-K", "--categories", help="Categories.", min=1)] = 15,
    depth: Annotated[
        str, typer.Option("-D", "--depth", help="Most fragments in memory; 'none' for no bound.")
    ] = "2",
    beta: Annotated[float, typer.Option(help="Dirichlet parameter of all rules.")] = 0.2,
    chains: Annotated[int, typer.Option(help="Independent chains.", min=1)] = 4,
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Exactly so many, the second half counts. If not given, the paper's rule: 500 or "
            "more until the log-likelihood levels off, then 250.",
            min=1,
        ),
    ] = None,
    seed: Seed = 0,
    trees: Annotated[
        Literal["mbr", "best", "last"],
        typer.Option(
            help="Trees to print: minimum Bayes risk over the retained samples; the sample of "
            "greatest likelihood, as in the paper; the last sample."
        ),
    ] = "mbr",
    exact: Annotated[
        bool, typer.Option("--exact", help="Account for the bound's normaliser in each draw.")
    ] = False,
    sample_beta: Annotated[
        bool, typer.Option("--sample-beta", help="Draw beta too; --beta is where it starts.")
    ] = False,
    initial: Annotated[
        Literal["prior", "left", "right"],
        typer.Option(help="Start at a grammar from the prior, or from branching trees."),
    ] = "prior",
    restarts: Annotated[
        int, typer.Option(help="Short chains to choose each chain's start from.", min=0)
    ] = 0,
    restart_iterations: Annotated[int, typer.Option(help="Length of each restart.", min=1)] = 20,
    anneal: Annotated[
        int,
        typer.Option(
            help="Iterations during which the grammar is flattened, less and less.", min=0
        ),
    ] = 0,
    temperature: Annotated[float, typer.Option(help="How much, at first.", min=1)] = 5.0,
    curriculum: Annotated[
        int, typer.Option(help="Iterations at each depth below the bound.", min=0)
    ] = 0,
    parser: Annotated[
        Literal["chart", "leftcorner"],
        typer.Option(help="They sample the same trees' distribution; the chart is much faster."),
    ] = "chart",
    precision: Annotated[
        Literal["double", "single"],
        typer.Option(help="Of the chart: single is faster for K of 30 and more."),
    ] = "double",
    lowercase: Annotated[bool, typer.Option(help="Learn from words in lower case.")] = True,
    max_length: MaxLength = None,
    numbers: Numbers = False,
    rare: Rare = 0,
    scheme: Scheme = "suffix",
    punctuation: Punctuation = "auto",
    gold: Annotated[
        str | None,
        typer.Option(help="Treebank of the same sentences: adds F1 to traces, decides nothing."),
    ] = None,
    input_format: InputFormat = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    threads: Threads = None,
    workers: Workers = "threads",
    checkpoint: Checkpoint = 30.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in --out.")
    ] = False,
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Learn a grammar from text: several chains, a grammar, trees, and an account of it all.

    Stop with Ctrl-C and go on later with `dbpcfg resume`; nothing is lost.
    """
    from dbpcfg.cli.chain_progress import ChainProgress
    from dbpcfg.corpus.preparation import Preparation, prepare
    from dbpcfg.induction.convergence import Schedule
    from dbpcfg.induction.induce import induce as learn

    quiet = quiet or json
    corpus = read_corpus(text, input_format, speaker, exclude_speaker, quiet)
    prepared = prepare(
        corpus, Preparation(lowercase, max_length, punctuation, numbers, rare, scheme)
    )
    if not quiet:
        typer.echo(prepared.summary(), err=True)
    schedule = Schedule(iterations=iterations)
    tokens = sum(len(forms) for forms in prepared.forms)
    with _until_told(out) as told, ChainProgress(_kind(quiet, json), schedule, tokens) as display:
        run = learn(
            prepared,
            categories,
            depth_of(depth),
            chains=chains,
            seed=seed,
            beta=beta,
            trees=trees,
            out=out,
            overwrite=overwrite,
            threads=threads,
            workers=workers,
            checkpoint=checkpoint,
            schedule=schedule,
            report=display.show,
            stopping=lambda: told() != 0,
            gold=None if gold is None else read_corpus([gold], quiet=quiet),
            gold_sources=[] if gold is None else [gold],
            exact=exact,
            sample_beta=sample_beta,
            initial=initial,
            restarts=restarts,
            restart_iterations=restart_iterations,
            anneal=anneal,
            temperature=temperature,
            curriculum=curriculum,
            parser=parser,
            precision=precision,
        )
    _conclude(run, out, told, format, quiet, json)


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory of a run.")],
    threads: Threads = None,
    workers: Workers = "threads",
    checkpoint: Checkpoint = 30.0,
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Go on with a run where it stopped; the result is as if it never had."""
    from pathlib import Path

    from dbpcfg.cli.chain_progress import ChainProgress
    from dbpcfg.induction.configuration import load_configuration
    from dbpcfg.induction.induce import resume as go_on

    configuration = load_configuration(Path(run) / "config.toml")
    tokens = int(configuration.corpus.get("tokens", 1))
    kind = _kind(quiet, json)
    with _until_told(run) as told, ChainProgress(kind, configuration.schedule, tokens) as display:
        done = go_on(
            run,
            threads=threads,
            workers=workers,
            checkpoint=checkpoint,
            report=display.show,
            stopping=lambda: told() != 0,
        )
    _conclude(done, run, told, format, quiet, json)


def _kind(quiet: bool, json: bool) -> Literal["auto", "quiet", "json"]:
    return "json" if json else "quiet" if quiet else "auto"


@contextlib.contextmanager
def _until_told(run: str) -> Iterator[Callable[[], int]]:
    """Stop in an orderly way when told to, at once when told twice.

    Gives a function that says by which signal; 0 if by none.
    """
    signals: list[int] = []

    def handle(number: int, _: object) -> None:
        if signals:
            cursor = "\x1b[?25h" if os.isatty(2) else ""  # a live table hides it
            os.write(2, f"{cursor}\nstopped; go on with: dbpcfg resume {run}\n".encode())
            os._exit(128 + number)  # every file is whole at any moment
        signals.append(number)
        print(
            "\nstopping after the current iteration; once more to stop at once",
            file=sys.stderr,
            flush=True,
        )

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: signals[0] if signals else 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _conclude(
    run: Run,
    path: str,
    told: Callable[[], int],
    format: Literal["text", "json", "latex"],
    quiet: bool,
    json: bool,
) -> None:
    """Show what came of it, or how to go on."""
    from json import dumps

    from dbpcfg.files.table import render
    from dbpcfg.induction.chain_table import chain_table

    if not run.finished:
        if json:
            typer.echo(dumps({"event": "stopped", "run": path}))
        typer.echo(f"stopped; go on with: dbpcfg resume {path}", err=True)
        raise typer.Exit(128 + told())
    table = chain_table(run)
    if json:
        typer.echo(dumps({"event": "finished", "run": path, **table.json()}, ensure_ascii=False))
        return
    typer.echo(render([table], format))
    if not quiet:
        typer.echo(f"{path}: trees.txt, model.npz, chains.tsv", err=True)
