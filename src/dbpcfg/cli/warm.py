"""``dbpcfg warm``: compile all kernels ahead."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
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
SECONDS = 2.0
"""Without a terminal, a line of progress at most this often."""


class CompilingNotice:
    """Says on standard error that kernels are being compiled, which, and how many so far."""

    def __init__(self) -> None:
        self.compiled, self.said, self.width = 0, -SECONDS, 0
        self.stream = sys.stderr  # as it is now: later, on a terminal, it does not obey controls
        self.terminal = self.stream is not None and self.stream.isatty()

    def begin(self, name: str) -> None:
        """A kernel is going to be compiled."""
        now = time.monotonic()
        if not self.terminal and now - self.said < SECONDS:
            return
        short = name.rpartition(".")[2]
        text = f"compiling kernels, once on this machine: {self.compiled} done, now {short}"
        if self.terminal:
            print(f"\r{text.ljust(self.width)}", end="", file=self.stream, flush=True)
            self.width = len(text)
        else:
            print(text, file=self.stream, flush=True)
        self.said = now

    def end(self, name: str) -> None:
        """A kernel was compiled."""
        self.compiled += 1
        if self.terminal:
            print(f"\r{' ' * self.width}\r", end="", file=self.stream, flush=True)


@contextlib.contextmanager
def compiling_announced() -> Iterator[None]:
    """Let the program say meanwhile when it compiles, unless it is to be quiet."""
    from dbpcfg.numerics import compiling

    if {"-q", "--quiet"} & set(sys.argv):
        yield
        return
    notice = CompilingNotice()
    compiling.begun.append(notice.begin)
    compiling.ended.append(notice.end)
    try:
        yield
    finally:
        compiling.begun.remove(notice.begin)
        compiling.ended.remove(notice.end)


def warm(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")] = False,
) -> None:
    """Compile all kernels ahead, for images and clusters: other commands then start at once."""
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
    model = run.model
    for method in METHODS:
        model.parse(sentences, method)
    model.parses(sentences, 2)
    model.probability(sentences)
    for beam in (0, 10):
        model.surprisal(sentences, beam=beam)
    model.generate(2)
    model.generate(2, max_length=4)
    chart, _ = filled_chart(np.zeros(3, dtype=np.int32), tables(model.grammar, 2))
    add_marginals(chart, tables(model.grammar, 2), np.zeros((3, 4, 4)), False)
    for name in systems.names():
        find(name).make().fit(sentences).trees()
    for faithful in (False, True):
        BMMM(2, 5, faithful=faithful).fit(sentences)
