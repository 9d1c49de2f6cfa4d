"""``dbpcfg induce`` learns a grammar, ``dbpcfg resume`` resumes a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import LearnerChoice, TableFormat, Text, takes_groups
from dbpcfg.cli.output import print_tables
from dbpcfg.cli.running import StopRequest, check_cluster, on_cluster, resume_hint, stop_on_signal
from dbpcfg.options import Chaining, Decoding, Preparing, Reading, Running, Searching

if TYPE_CHECKING:
    from dbpcfg.cli.chain_progress import Mode
    from dbpcfg.induction.learners import Learner
    from dbpcfg.induction.run import Run

QuietRun = Annotated[bool, typer.Option("--quiet", "-q", help="Results only.")]
Json = Annotated[bool, typer.Option("--json", help="Progress and results as JSON lines.")]


@takes_groups
def induce(
    context: typer.Context,
    text: Text,
    out: Annotated[str, typer.Option("--out", help="Directory for the run.")],
    chaining: Chaining,
    choice: LearnerChoice,
    searching: Searching,
    preparing: Preparing,
    reading: Reading,
    running: Running,
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
            metavar="RUN", help="Start from the grammar of a finished run, with its K and learner."
        ),
    ] = None,
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Learn a grammar from text, in several chains; write the grammar and the trees.

    Ctrl-C stops the run, and `dbpcfg resume` resumes it.
    """
    from pathlib import Path

    from dbpcfg.cli.chain_progress import ChainProgress
    from dbpcfg.corpus.preparation import Preparation
    from dbpcfg.corpus.tokens import doubts
    from dbpcfg.induction.chains import Execution
    from dbpcfg.induction.corpus import fitting
    from dbpcfg.induction.directory import check_free
    from dbpcfg.induction.induce import Asked, learn
    from dbpcfg.induction.start import inherited

    quiet = quiet or json
    learner: Learner | str = choice.learner
    options, begun = choice.options, None
    prepared_as = {name: value for name, value in vars(preparing).items() if value is not None}
    if start is not None:
        own = {name: prepared_as[name] for name in prepared_as if _was_given(context, name)}
        begun, learner, options, chained, prepared_as = inherited(
            start, learner, options, vars(chaining), own
        )
        chaining = Chaining(**chained)
    # Before the corpus is read, which may take minutes: what is wrong whatever is in it.
    asked = Asked(learner, options, chaining, searching, start=begun)
    check_free(Path(out), overwrite)
    check_cluster(running.cluster, running.spread)
    corpus = read_corpus(text, reading, quiet, Preparation(**prepared_as))
    request, preparation = asked.of(corpus, Preparation(**prepared_as), prepared_as)
    prepared = asked.prepared(corpus, preparation)
    prepared = fitting(prepared, request.settings.depth, reading.skip_broken)
    if not quiet:
        typer.echo(prepared.summary(), err=True)
        if begun is not None:
            typer.echo(begun.known(prepared.encoded.vocabulary), err=True)
        for doubt in doubts(one.words for one in prepared.sentences):
            typer.echo(f"note: {doubt}", err=True)
        if request.why:
            typer.echo(request.why, err=True)
    treebank = None
    if gold is not None:  # before the live table, which notes would disturb
        decoding = Decoding(reading.encoding, reading.skip_broken)
        treebank = read_corpus([gold], decoding, quiet)
    tokens = sum(len(forms) for forms in prepared.forms)
    with (
        stop_on_signal(out) as stop,
        on_cluster(running.cluster, running.spread, quiet, resume_hint(out)) as there,
        ChainProgress(_progress_mode(quiet, json), tokens, there) as progress,
    ):
        execution = Execution(running, progress.show, stop, progress.plan, there)
        sources = [] if gold is None else [gold]
        run = learn(request, prepared, execution, out, overwrite, treebank, sources)
    _print_result(run, out, stop, format, quiet, json)


@takes_groups
def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory of a run.")],
    running: Running,
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
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Resume a run, or extend it; the result is the same as without the interruption.

    With --iterations or --budget, the result is that of a run of this length
    from the start. Without them, a finished run is not changed.
    """
    from pathlib import Path

    from dbpcfg.cli.chain_progress import ChainProgress
    from dbpcfg.induction.directory import read_configuration
    from dbpcfg.induction.induce import resume as resume_run

    configuration = read_configuration(Path(run))
    check_cluster(running.cluster, running.spread)
    tokens = int(configuration.corpus.get("tokens", 1))
    mode = _progress_mode(quiet, json)
    with (
        stop_on_signal(run) as stop,
        on_cluster(running.cluster, running.spread, quiet or json, resume_hint(run)) as there,
        ChainProgress(mode, tokens, there) as progress,
    ):
        done = resume_run(
            run,
            iterations=iterations,
            budget=budget,
            threads=running.threads,
            workers=running.workers,
            cluster=there,
            checkpoint=running.checkpoint,
            report=progress.show,
            stopping=stop,
            planned=progress.plan,
            remark=lambda text: None if quiet or json else typer.echo(text, err=True),
        )
    _print_result(done, run, stop, format, quiet, json)


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _progress_mode(quiet: bool, json: bool) -> Mode:
    return "json" if json else "quiet" if quiet else "auto"


def _print_result(
    run: Run, path: str, stop: StopRequest, format: TableFormat, quiet: bool, json: bool
) -> None:
    """Print the table of the chains, or how to resume a run that was stopped."""
    from json import dumps

    if not run.finished:
        if json:
            typer.echo(dumps({"event": "stopped", "run": path}))
        typer.echo(resume_hint(path), err=True)
        raise typer.Exit(stop.exit_code)
    table = run.table()
    if json:
        typer.echo(dumps({"event": "finished", "run": path, **table.json()}, ensure_ascii=False))
        return
    print_tables([table], format)
    if not quiet:
        typer.echo(f"{path}: trees.txt, model.npz, chains.tsv, agreement.tsv", err=True)
