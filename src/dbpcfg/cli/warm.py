"""``dbpcfg warm``: compile all kernels in advance."""

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
    from dbpcfg.numerics.kernels import folders

    use_everything()
    if not quiet:
        kept = " and ".join(map(str, folders().read))
        typer.echo(f"compiled kernels are in {kept}" if kept else "not kept: see above")


def use_everything() -> None:
    """Call every kernel once, on a few words."""
    import numpy as np

    from dbpcfg.induction.induce import induce
    from dbpcfg.parsing.chart.layout import tables
    from dbpcfg.parsing.chart.outside import RuleSums
    from dbpcfg.parsing.chart.scaled import fill_chart, scaled_outside
    from dbpcfg.systems.bmmm import BMMM
    from dbpcfg.systems.registry import find, systems

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
    model.parse(["[a b] c"], brackets="text", quiet=True)
    model.probability(sentences)
    model.surprisal(sentences, columns=["default", "stores"])
    model.generate(2)
    model.generate(2, max_length=4)
    chart, _ = fill_chart(np.zeros(3, dtype=np.int32), tables(model.grammar, 2))
    counted = RuleSums(np.zeros(4), np.zeros((4, 16)), np.zeros((4, 16)), np.zeros((3, 4)))
    scaled_outside(chart, tables(model.grammar, 2), 1.0, counted, True, 0, np.zeros((6, 4)))
    for name in systems.names():
        find(name).make().fit(sentences).trees()
    for faithful in (False, True):
        BMMM(2, 5, faithful=faithful).fit(sentences)
