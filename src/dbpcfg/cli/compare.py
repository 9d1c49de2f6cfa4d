"""``dbpcfg baseline`` runs one other system, ``dbpcfg compare`` runs and scores several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import (
    Encoding,
    ExcludeSpeakers,
    InputFormat,
    Lowercase,
    MaxLength,
    Punctuation,
    Quiet,
    Seed,
    SkipBroken,
    Speakers,
    TableFormat,
    Text,
    depth_bound,
)
from dbpcfg.cli.output import open_output, print_tables
from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from dbpcfg.systems.registry import SystemSpec


def baseline(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="right, left, balanced, random; ccl; upparse-prlg (or upparse), upparse-hmm.",
        ),
    ],
    text: Text,
    keep_punctuation: Annotated[
        bool,
        typer.Option(
            "--keep-punctuation",
            help="right, left, balanced, random: include punctuation in the trees.",
        ),
    ] = False,
    mended: Annotated[
        bool,
        typer.Option("--mended", help="ccl: correct an error of the published program."),
    ] = False,
    currency: Annotated[
        bool,
        typer.Option(
            "--currency",
            help="ccl: $ and # are punctuation, the published program's default.",
        ),
    ] = False,
    max_length: MaxLength = None,
    lowercase: Lowercase = True,
    punctuation: Punctuation = "auto",
    seed: Seed = 0,
    input_format: InputFormat = None,
    skip_broken: SkipBroken = False,
    encoding: Encoding = None,
    speaker: Speakers = None,
    exclude_speaker: ExcludeSpeakers = None,
    quiet: Quiet = False,
) -> None:
    """Print a system's tree for every sentence, one per line, ready for `evaluate`.

    Branching trees depend on the number of words only.
    CCL and UPPARSE first learn from the text, punctuation included;
    some punctuation is not in their trees.
    With --max-length N, score the trees with `evaluate --gold-length N`.
    """
    from dbpcfg.corpus.preparation import Preparation, prepare
    from dbpcfg.runtime.progress import Progress
    from dbpcfg.systems.words import restore_words, sentences_for

    spec = _baseline_spec(system)
    settings: dict[str, Any] = {}
    if mended:
        settings["faithful"] = False
    if currency:
        settings["currency_is_punctuation"] = True
    if settings and spec.name != "ccl":
        option = "--mended" if mended else "--currency"
        raise DbpcfgError(f"{option} is for ccl; {spec.name} has no such option")
    if keep_punctuation and spec.learns:
        raise DbpcfgError(
            f"--keep-punctuation is for branching trees; {spec.name} handles punctuation itself"
        )
    corpus = read_corpus(
        text,
        input_format,
        speaker,
        exclude_speaker,
        quiet,
        skip_broken=skip_broken,
        encoding=encoding,
    )
    prepared = prepare(corpus, Preparation(lowercase, max_length, punctuation))
    with Progress(spec.name, quiet=quiet) as progress:
        made = spec.make(seed, **settings)
        trees = made.fit(sentences_for(spec, prepared, keep_punctuation), progress).trees()
    with open_output("-") as out:
        out.writelines(f"{tree}\n" for tree in restore_words(trees, prepared))


def _baseline_spec(name: str) -> SystemSpec:
    from dbpcfg.systems.registry import SYSTEMS, find

    if name.strip().lower() == "dbpcfg":
        raise DbpcfgError("dbpcfg itself is not a baseline; run it with `dbpcfg induce`")
    return find(name, [spec for spec in SYSTEMS if spec.name != "dbpcfg"])


def compare(
    treebank: Annotated[
        list[str],
        typer.Argument(metavar="TREEBANK", help="Gold trees: files, directories or -."),
    ],
    systems: Annotated[
        str | None,
        typer.Option(
            help="Systems, separated by commas; all if not given: right, left, balanced, random, "
            "ccl, upparse-prlg, upparse-hmm, dbpcfg."
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
    from dbpcfg.comparison.compare import compare as run_all
    from dbpcfg.comparison.task import Task
    from dbpcfg.induction.inference import PAPER_CHAINS
    from dbpcfg.induction.race import BUDGET
    from dbpcfg.systems.registry import SYSTEMS, find

    names = [spec.name for spec in SYSTEMS] if systems is None else systems.split(",")
    chosen = [find(name) for name in names if name.strip()]
    bound = depth_bound(depth)
    if iterations is not None:
        if budget is not None:
            raise DbpcfgError("--budget is for a race, --iterations for chains without: give one")
        search = {"budget": None, "chains": chains or PAPER_CHAINS, "iterations": iterations}
    else:
        search = {"budget": budget or BUDGET, "chains": chains, "iterations": None}
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
            settings={"dbpcfg": {"K": categories, "D": bound, **search}},
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
