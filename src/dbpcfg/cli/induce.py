"""``dbpcfg induce`` learns a grammar, ``dbpcfg resume`` resumes a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dbpcfg.cli.clusters import check_cluster, on_cluster
from dbpcfg.cli.help import MODEL, SAMPLING
from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.interruption import StopRequest, resume_hint, stop_on_signal
from dbpcfg.cli.options import (
    Encoding,
    ExcludeSpeakers,
    InputFormat,
    Lowercase,
    MaxLength,
    NoPunctuation,
    Numbers,
    Punctuation,
    Rare,
    Scheme,
    Seed,
    SkipBroken,
    Speakers,
    TableFormat,
    Text,
    Threads,
    depth_bound,
)
from dbpcfg.cli.output import print_tables

if TYPE_CHECKING:
    from dbpcfg.cli.chain_progress import Mode
    from dbpcfg.induction.run import Run

Workers = Annotated[
    Literal["threads", "processes"],
    typer.Option(help="How chains run in parallel; processes suit many small chains."),
]
OnCluster = Annotated[
    str | None,
    typer.Option(
        metavar="local:N|ADDRESS|FILE",
        help="Run on a Dask cluster: N processes of this machine, a scheduler such as "
        "tcp://host:8786, or a .toml file that describes a batch system.",
    ),
]
HowSpread = Annotated[
    Literal["chains", "shards"] | None,
    typer.Option(
        help="On a cluster: chains side by side, or the sentences of each chain in shards. If not "
        "given: by the size of the run."
    ),
]
Checkpoint = Annotated[float, typer.Option(help="Seconds between checkpoints of a chain.", min=0)]
QuietRun = Annotated[bool, typer.Option("--quiet", "-q", help="Results only.")]
Json = Annotated[bool, typer.Option("--json", help="Progress and results as JSON lines.")]


def induce(
    text: Text,
    out: Annotated[str, typer.Option("--out", help="Directory for the run.")],
    categories: Annotated[
        int | None,
        typer.Option(
            "-K",
            "--categories",
            help="Number of categories. If not given: 15, of neural 120.",
            min=1,
            rich_help_panel=MODEL,
        ),
    ] = None,
    depth: Annotated[
        str,
        typer.Option(
            "-D",
            "--depth",
            help="Memory bound: at most this many fragments; 'none': no bound.",
            rich_help_panel=MODEL,
        ),
    ] = "2",
    beta: Annotated[
        float,
        typer.Option(
            help="Dirichlet parameter.",
            rich_help_panel=MODEL,
        ),
    ] = 0.2,
    learner: Annotated[
        Literal["gibbs", "em", "vb", "neural"],
        typer.Option(
            help="How to learn: by Gibbs sampling, by EM, by variational Bayes, or as a neural "
            "grammar.",
            rich_help_panel=MODEL,
        ),
    ] = "gibbs",
    batch: Annotated[
        int,
        typer.Option(
            help="em, vb, neural: sentences in a mini-batch, after each of which the grammar "
            "changes; 0: all of them, of neural 32.",
            min=0,
            rich_help_panel=SAMPLING,
        ),
    ] = 0,
    step: Annotated[
        float,
        typer.Option(
            help="With --batch: mini-batch t has the weight (t + 2)^-STEP.",
            rich_help_panel=SAMPLING,
        ),
    ] = 0.7,
    smoothing: Annotated[
        float,
        typer.Option(
            help="em: added to the expected count of each rule.",
            min=0,
            rich_help_panel=MODEL,
        ),
    ] = 0.0,
    word_categories: Annotated[
        int,
        typer.Option(
            help="neural: how many of the categories are those of words; 0: two thirds.",
            min=0,
            rich_help_panel=MODEL,
        ),
    ] = 0,
    rank: Annotated[
        int,
        typer.Option(
            help="neural: rank of the binary rules; 0: as many as categories.",
            min=0,
            rich_help_panel=MODEL,
        ),
    ] = 0,
    rate: Annotated[
        float,
        typer.Option(help="neural: size of steps.", rich_help_panel=SAMPLING),
    ] = 0.002,
    patience: Annotated[
        int,
        typer.Option(
            help="neural with --aside: passes without a better grammar before it stops.",
            min=1,
            rich_help_panel=SAMPLING,
        ),
    ] = 5,
    inference: Annotated[
        Literal["race", "paper"] | None,
        typer.Option(
            help="race: many chains start, the best go on. paper: a few chains, each at least 500 "
            "iterations until the log-likelihood levels off, then 250. If not given: race, unless "
            "--iterations is.",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="N|TIME",
            help="Of a race: iterations of all chains together, or a time like 30min or 2h; 1500 "
            "if not given.",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    chains: Annotated[
        int | None,
        typer.Option(
            help="Number of chains; of a race, at its start. If not given: by the budget, or 4.",
            min=1,
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Length of every chain, without a race; the second half is kept, of em, vb and "
            "neural the last iteration. If not given: 100 for em and vb, 30 for neural.",
            min=1,
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    select: Annotated[
        Literal["likelihood", "posterior", "variance", "heldout", "agreement"] | None,
        typer.Option(
            help="What chains are compared by; heldout needs --aside. If not given: likelihood.",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    aside: Annotated[
        int,
        typer.Option(
            help="Keep every N-th sentence aside: it is parsed, but not learned from.",
            metavar="N",
            min=0,
            rich_help_panel=SAMPLING,
        ),
    ] = 0,
    seed: Seed = 0,
    trees: Annotated[
        Literal["mbr", "best", "last"],
        typer.Option(
            help="Trees to write: MBR trees of the kept samples; the sample of greatest "
            "likelihood, as in the paper; the last sample.",
            rich_help_panel=SAMPLING,
        ),
    ] = "mbr",
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--no-exact",
            help="Take the bound's normaliser into account. If not given: with neural only.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    sample_beta: Annotated[
        bool,
        typer.Option(
            "--sample-beta",
            help="Sample beta too, starting from --beta.",
            rich_help_panel=MODEL,
        ),
    ] = False,
    initial: Annotated[
        Literal["prior", "left", "right"],
        typer.Option(
            help="First grammar: drawn from the prior, or from branching trees.",
            rich_help_panel=SAMPLING,
        ),
    ] = "prior",
    restarts: Annotated[
        int,
        typer.Option(
            help="Short chains from which each chain's start is chosen.",
            min=0,
            rich_help_panel=SAMPLING,
        ),
    ] = 0,
    restart_iterations: Annotated[
        int,
        typer.Option(
            help="Iterations of each restart.",
            min=1,
            rich_help_panel=SAMPLING,
        ),
    ] = 20,
    anneal: Annotated[
        int,
        typer.Option(
            help="Annealing: iterations with a flattened grammar, less and less so.",
            min=0,
            rich_help_panel=SAMPLING,
        ),
    ] = 0,
    temperature: Annotated[
        float,
        typer.Option(
            help="Initial temperature of annealing.",
            min=1,
            rich_help_panel=SAMPLING,
        ),
    ] = 5.0,
    curriculum: Annotated[
        int,
        typer.Option(
            help="Iterations at each smaller memory bound first.",
            min=0,
            rich_help_panel=SAMPLING,
        ),
    ] = 0,
    parser: Annotated[
        Literal["chart", "leftcorner"],
        typer.Option(
            help="Both sample from the same distribution; the chart is much faster.",
            rich_help_panel=SAMPLING,
        ),
    ] = "chart",
    precision: Annotated[
        Literal["double", "single"],
        typer.Option(
            help="Precision of the chart; single is faster if K is 24 or more.",
            rich_help_panel=SAMPLING,
        ),
    ] = "double",
    lowercase: Lowercase = True,
    max_length: MaxLength = None,
    numbers: Numbers = False,
    rare: Rare = 0,
    scheme: Scheme = "suffix",
    punctuation: Punctuation = "auto",
    no_punctuation: NoPunctuation = False,
    gold: Annotated[
        str | None,
        typer.Option(help="Treebank of the same sentences: adds F1 to traces, for information."),
    ] = None,
    input_format: InputFormat = None,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    threads: Threads = None,
    workers: Workers = "threads",
    cluster: OnCluster = None,
    spread: HowSpread = None,
    checkpoint: Checkpoint = 30.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in --out.")
    ] = False,
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Learn a grammar from text, in several chains; write the grammar and the trees.

    Ctrl-C stops the run, and `dbpcfg resume` resumes it.
    """
    from pathlib import Path

    from dbpcfg.cli.chain_progress import ChainProgress
    from dbpcfg.corpus.preparation import Preparation, prepare
    from dbpcfg.induction.configuration import Configuration
    from dbpcfg.induction.directory import check_free
    from dbpcfg.induction.induce import induce as learn
    from dbpcfg.induction.inference import budget_of, chosen, is_race
    from dbpcfg.induction.settings import settings_for

    quiet = quiet or json
    settings: dict[str, Any] = {
        "exact": exact,
        "sample_beta": sample_beta,
        "initial": initial,
        "restarts": restarts,
        "restart_iterations": restart_iterations,
        "anneal": anneal,
        "temperature": temperature,
        "curriculum": curriculum,
        "aside": aside,
        "parser": parser,
        "precision": precision,
        "learner": learner,
        "batch": batch,
        "step": step,
        "smoothing": smoothing,
        "word_categories": word_categories,
        "rank": rank,
        "rate": rate,
        "patience": patience,
    }
    bound = depth_bound(depth)
    preparation = Preparation(
        lowercase, max_length, punctuation, numbers, rare, scheme, no_punctuation
    )
    # Before the corpus is read, which may take minutes: what is wrong whatever is in it.
    model = settings_for(categories=categories, depth=bound, beta=beta, seed=seed, **settings)
    asked = None if budget is None else budget_of(budget)
    if isinstance(asked, float):  # what a time is worth is not known yet
        is_race(inference, True, iterations is not None)
    else:
        search = chosen(model, inference, asked, chains, iterations, select=select)
        number, schedule, known, by = search
        Configuration(model, schedule, preparation, number, trees, known, by)
    check_free(Path(out), overwrite)
    check_cluster(cluster, spread)
    corpus = read_corpus(
        text,
        input_format,
        speaker,
        exclude_speaker,
        quiet,
        skip_broken=skip_broken,
        encoding=encoding,
    )
    prepared = prepare(corpus, preparation)
    if not quiet:
        typer.echo(prepared.summary(), err=True)
    treebank = None
    if gold is not None:  # before the live table, which notes would disturb
        treebank = read_corpus([gold], quiet=quiet, skip_broken=skip_broken, encoding=encoding)
    tokens = sum(len(forms) for forms in prepared.forms)
    mode = _progress_mode(quiet, json)
    with (
        stop_on_signal(out) as stop,
        on_cluster(cluster, spread, quiet, resume_hint(out)) as there,
        ChainProgress(mode, tokens, there) as progress,
    ):
        run = learn(
            prepared,
            categories,
            bound,
            inference=inference,
            budget=budget,
            chains=chains,
            iterations=iterations,
            select=select,
            seed=seed,
            beta=beta,
            trees=trees,
            out=out,
            overwrite=overwrite,
            threads=threads,
            workers=workers,
            cluster=there,
            checkpoint=checkpoint,
            report=progress.show,
            stopping=stop,
            planned=progress.plan,
            gold=treebank,
            gold_sources=[] if gold is None else [gold],
            **settings,
        )
    _print_result(run, out, stop, format, quiet, json)


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Directory of a run.")],
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Make the run this long; the second half is kept. At least twice what chains have "
            "done, or they begin again.",
            min=1,
        ),
    ] = None,
    threads: Threads = None,
    workers: Workers = "threads",
    cluster: OnCluster = None,
    spread: HowSpread = None,
    checkpoint: Checkpoint = 30.0,
    format: TableFormat = "text",
    quiet: QuietRun = False,
    json: Json = False,
) -> None:
    """Resume a run, or make it longer; the result is the same as without the interruption.

    With --iterations the result is that of a run of this length from the start.
    Without it a finished run is not changed.
    """
    from pathlib import Path

    from dbpcfg.cli.chain_progress import ChainProgress
    from dbpcfg.induction.directory import read_configuration
    from dbpcfg.induction.induce import resume as resume_run

    configuration = read_configuration(Path(run))
    check_cluster(cluster, spread)
    tokens = int(configuration.corpus.get("tokens", 1))
    mode = _progress_mode(quiet, json)
    with (
        stop_on_signal(run) as stop,
        on_cluster(cluster, spread, quiet or json, resume_hint(run)) as there,
        ChainProgress(mode, tokens, there) as progress,
    ):
        done = resume_run(
            run,
            iterations=iterations,
            threads=threads,
            workers=workers,
            cluster=there,
            checkpoint=checkpoint,
            report=progress.show,
            stopping=stop,
            planned=progress.plan,
            remark=lambda text: None if quiet or json else typer.echo(text, err=True),
        )
    _print_result(done, run, stop, format, quiet, json)


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
