"""``dbpcfg demo``: the paper's synthetic experiments."""

from __future__ import annotations

import typer

from dbpcfg.cli import terminal
from dbpcfg.cli.options import Quiet, Seed


def demo(seed: Seed = 0, quiet: Quiet = False) -> None:
    """Repeat the paper's experiments with synthetic text: learn from words alone, show the trees.

    The corpora are made on the spot. It takes less than a minute, and nothing is written.
    """
    from dbpcfg.demo import run_demo
    from dbpcfg.trees.terminal import BOX_CHARACTERS

    run_demo(
        seed,
        typer.echo,
        quiet=quiet,
        width=terminal.width(),
        ascii=not terminal.can_show(BOX_CHARACTERS),
    )
