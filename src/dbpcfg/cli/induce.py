"""``dbpcfg induce`` learns a grammar, ``dbpcfg resume`` resumes a run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import LearnerChoice, TableFormat, Text, given_options, takes_groups
from dbpcfg.cli.output import print_tables, width, write
from dbpcfg.cli.running import StopRequest, monitored, resume_hint
from dbpcfg.options import (
    ExecutionOptions,
    FileOptions,
    ModelOptions,
    PreprocessingOptions,
    ReadingOptions,
    SearchOptions,
)

if TYPE_CHECKING:
    from dbpcfg.induction.run import Run

QuietRun = Annotated[bool, typer.Option("--quiet", "-q", help="Results only.")]
Json = Annotated[bool, typer.Option("--json", help="Progress and results as JSON lines.")]
Details = Annotated[
    bool, typer.Option("--details", help="Show the table of chains too (always in JSON).")
]


@takes_groups
def induce(
    context: typer.Context,
    text: Text,
    out: Annotated[str, typer.Option("--out", help="Directory for the run.")],
    model_options: ModelOptions,
    choice: LearnerChoice,
    search_options: SearchOptions,
    preprocessing_options: PreprocessingOptions,
    reading: ReadingOptions,
    running: ExecutionOptions,
    gold: Annotated[
        str | None,
        typer.Option(
            help="Treebank of the same sentences: adds F1 to the traces; never used for selection."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in --out.")
    ] = False,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="RUN|MODEL",
            help="Start from the grammar of a finished run or model file (.npz), with its K and "
            "learner.",
        ),
    ] = None,
    details: Details = False,
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Learn a grammar from text, in several chains; write the grammar and the trees.

    Ends with three lines: what was learned from, how far to trust the trees,
    and what to do next.

    Ctrl-C stops the run, and `dbpcfg resume` resumes it.
    """
    from dbpcfg.corpus.preprocessing import Preprocessing
    from dbpcfg.induction.induce import learn
    from dbpcfg.induction.plan import InductionPlan

    plan = InductionPlan(
        choice.learner,
        choice.options,
        model_options,
        search_options,
        given_options(context, preprocessing_options),
        reading,
        start=start,
        out=out,
        overwrite=overwrite,
    )
    files = FileOptions(reading.encoding, reading.skip_broken)
    prepared_as = Preprocessing(**plan.preprocessing)
    with monitored(out, running, quiet, json) as (execution, stop):
        run = learn(
            plan,
            read_corpus(text, reading, quiet or json, prepared_as),
            execution,
            None if gold is None else read_corpus([gold], files, quiet or json),
            [] if gold is None else [gold],
        )
    _print_result(run, out, stop, details, format, quiet, json)


@takes_groups
def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory of a run.")],
    running: ExecutionOptions,
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Extend the run to this many iterations; the second half is kept. Chains "
            "start over unless this is at least twice what they have done.",
            min=1,
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="Extend a race to this budget: iterations of all chains together.", min=1
        ),
    ] = None,
    details: Details = False,
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Resume a run, or extend it; the result is the same as without the interruption.

    With --iterations or --budget, the result is that of a run of this length
    from the start. Without them, a finished run is not changed.
    """
    from dbpcfg.induction.induce import continue_run

    with monitored(run, running, quiet, json) as (execution, stop):
        done = continue_run(run, execution, iterations, budget)
    _print_result(done, run, stop, details, format, quiet, json)


def _print_result(
    run: Run,
    path: str,
    stop: StopRequest,
    details: bool,
    format: TableFormat,
    quiet: bool,
    json: bool,
) -> None:
    """Print the verdict, with the table of chains if asked for, or how to resume the run."""
    from json import dumps
    from shlex import quote

    if not run.finished:
        if json:
            typer.echo(dumps({"event": "stopped", "run": path}))
        typer.echo(resume_hint(path), err=True)
        raise typer.Exit(stop.exit_code)
    look = f"dbpcfg report {quote(path)} --open"
    if json or format == "json":
        result = {"verdict": run.verdict.json(look), **run.table().json()}
        if json:
            result = {"event": "finished", "run": path, **result}
        write("-", dumps(result if json else [result], ensure_ascii=False) + "\n")
        return
    if format == "latex":
        print_tables([run.table()], format)
    elif details:
        print_tables([run.table()], format)
        typer.echo()
    columns = width() if sys.stdout.isatty() else None
    typer.echo(run.verdict.text(look, columns), err=format == "latex")
    if not quiet:
        typer.echo(f"{path}: trees.txt, model.npz, chains.tsv, agreement.tsv", err=True)
