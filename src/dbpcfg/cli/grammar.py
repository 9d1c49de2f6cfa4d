"""``dbpcfg export``, ``bound`` and ``generate``: rules, bounds and sentences of a grammar."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from dbpcfg.cli.inputs import open_model
from dbpcfg.cli.options import Depth, Overwrite, Quiet, RunArgument, Seed, TableFormat
from dbpcfg.cli.output import check_overwrite, print_tables, standard_output, write
from dbpcfg.errors import DbpcfgError


def export(
    run: RunArgument,
    target: Annotated[str, typer.Argument(metavar="OUT", help="File, or - for standard output.")],
    format: Annotated[
        Literal["tsv", "nltk"] | None,
        typer.Option(
            "--as",
            help="Rule table or NLTK's PCFG notation. By the suffix of OUT (.tsv, .pcfg) if not "
            "given; tsv for -.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Prune rules less probable than this, and renormalise; all rules if not given."
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "-D",
            "--depth",
            min=1,
            help="Write the grammar under this memory bound as an unbounded one; its categories "
            "have a side and depth, such as X1/L2.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a learned grammar for other programs: rule table or NLTK's PCFG.

    Probabilities have all their digits.
    The file can be used wherever a RUN is expected.
    """
    check_overwrite([target], overwrite)

    from dbpcfg.grammar.bounded import bounded_pcfg
    from dbpcfg.grammar.exchange import format_of, to_text
    from dbpcfg.grammar.lowrank import LowRankGrammar
    from dbpcfg.grammar.rules import pruned
    from dbpcfg.io.tables import plural
    from dbpcfg.model.files import load

    kind = format or ("tsv" if target == "-" else format_of(target))
    model = load(run)
    grammar, notes = model.grammar, []
    if isinstance(grammar, LowRankGrammar):
        number = grammar.factors.phrases * grammar.categories**2
        notes.append(f"Multiplied out from its factors: {plural(number, 'binary rule')}.")
        if depth is not None or threshold is not None:
            grammar = grammar.multiplied_out()
            notes[-1] = f"{notes[-1][:-1]}, in an array of {grammar.binary.nbytes / 1e6:,.0f} MB."
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
    if not quiet:
        for note in notes:
            typer.echo(note, err=True)
    write(target, to_text(grammar, kind, notes))


def bound(
    run: RunArgument,
    depths: Annotated[str, typer.Option(help="Memory bounds, separated by commas.")] = "1,2,3",
    show: Annotated[
        Literal["mass", "h", "grammar"],
        typer.Option(help="Probability mass within each bound; h(s,d,c); or the rules G(s,d)."),
    ] = "mass",
    top: Annotated[
        int, typer.Option(help="Show at most this many rules of each category; 0: all.", min=0)
    ] = 10,
    format: TableFormat = "text",
) -> None:
    """Show a grammar under memory bounds: competence and performance.

    In the tables, L2 stands for left nodes at depth 2, R2 for right nodes.
    """
    numbers = _depths(depths)

    from dbpcfg.grammar.bounded import bounded_table, containment_table, mass_table
    from dbpcfg.model.files import load

    grammar = load(run).grammar
    if show == "mass":
        tables = [mass_table(grammar, numbers)]
    elif show == "h":
        tables = [containment_table(grammar, depth) for depth in numbers]
    else:
        tables = [bounded_table(grammar, depth, top or None) for depth in numbers]
    print_tables(tables, format)


def _depths(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise DbpcfgError(
            f"--depths must be whole numbers separated by commas, such as 1,2,3: {text!r}"
        )
    return [int(part) for part in parts]


def generate(
    run: RunArgument,
    number: Annotated[int, typer.Option("-n", "--number", help="Number of sentences.", min=1)] = 10,
    trees: Annotated[
        bool, typer.Option("--trees", help="Bracketed trees instead of sentences.")
    ] = False,
    max_length: Annotated[
        int | None,
        typer.Option(help="Only sentences of at most this many words.", min=1, max=1000),
    ] = None,
    with_unknown: Annotated[
        bool,
        typer.Option("--with-unknown", help="Include <unknown>, which stands for unknown words."),
    ] = False,
    seed: Seed = 0,
    depth: Depth = None,
    quiet: Quiet = False,
) -> None:
    """Print generated sentences, one per line.

    They are sampled from the model, within its memory bound if it has one.
    For a class of rare words, a word of the class is drawn.
    The first sentences do not depend on --number.
    """
    from dbpcfg.io.progress import Progress
    from dbpcfg.model.generation import classes_without_words
    from dbpcfg.model.generation import generate as make

    model = open_model(run, depth)
    unknown = classes_without_words(model)
    if unknown and not quiet:
        others = f" and {len(unknown) - 1:,} others" if len(unknown) > 1 else ""
        typer.echo(
            f"{unknown[0]}{others}: classes of rare words, printed as they are; {run} does not "
            "have their words, a run does",
            err=True,
        )
    generated = make(model, number, seed, max_length, with_unknown)
    out = standard_output()
    with Progress("sentences", number, quiet or out.isatty()) as progress:
        for done, tree in enumerate(generated, start=1):
            out.write((str(tree) if trees else " ".join(tree.words())) + "\n")
            progress.update(done)
        out.flush()
