"""``dbpcfg warm``: compile all kernels ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from dbpcfg.model.decoding import Method

METHODS: tuple[Method, ...] = ("mbr", "viterbi", "sample")
TEXT = """the dog sees the cat
a cat sleeps
the old dog that sees a cat barks
a dog barks at the old cat
the cat that sleeps sees the dog
"""


def warm(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")] = False,
) -> None:
    """Compile all kernels in advance, for container images and clusters."""
    from dbpcfg.numerics.kernels import folder

    use_everything()
    if not quiet:
        kept = folder()
        typer.echo("not kept: see above" if kept is None else f"compiled kernels are in {kept}")


def use_everything() -> None:
    """Run everything that has a kernel once, on a few words."""
    import numpy as np

    from dbpcfg.experiments.systems.bmmm import BMMM
    from dbpcfg.experiments.systems.registry import find, systems
    from dbpcfg.induction.induce import induce
    from dbpcfg.parsing.chart.layout import tables
    from dbpcfg.parsing.chart.outside import add_marginals, filled_chart

    sentences = [text.split() for text in TEXT.splitlines()]
    choices: tuple[dict[str, Any], ...] = (
        {"learner": "neural"},
        {"learner": "neural", "precision": "single"},
        {"precision": "single"},
        {"parser": "leftcorner"},
        {"learner": "em"},
        {"learner": "vb", "precision": "single"},
        {"exact": True, "sample_beta": True},
    )
    for chosen in choices:
        run = induce(sentences, K=4, D=2, chains=1, iterations=4, threads=1, **chosen)
        if chosen == {"learner": "neural"}:
            run.model.surprisal(sentences)
    model = run.model
    for method in METHODS:
        model.parse(sentences, method)
    model.parses(sentences, 2)
    model.parse(["[a b] c"], brackets="text")
    model.probability(sentences)
    model.surprisal(sentences, columns=["default", "stores"])
    model.generate(2)
    model.generate(2, max_length=4)
    chart, _ = filled_chart(np.zeros(3, dtype=np.int32), tables(model.grammar, 2))
    add_marginals(chart, tables(model.grammar, 2), 0, np.zeros((6, 4)), False)
    for name in systems.names():
        find(name).make().fit(sentences).trees()
    for faithful in (False, True):
        BMMM(2, 5, faithful=faithful).fit(sentences)
