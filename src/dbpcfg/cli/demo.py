"""``dbpcfg demo``: the paper's synthetic experiments."""

from __future__ import annotations

import typer

from dbpcfg.cli import output as terminal
from dbpcfg.cli.options import Quiet, Seed


def demo(seed: Seed = 0, quiet: Quiet = False) -> None:
    """Repeat the paper's synthetic experiments: learn from words alone, show scores and trees.

    The corpora are generated.
    It takes less than a minute and writes no files.
    """
    from dbpcfg.experiments.demo import run_demo
    from dbpcfg.trees.printing import BOX_CHARACTERS

    run_demo(
        seed,
        typer.echo,
        quiet=quiet,
        width=terminal.width(),
        ascii=not terminal.can_show(BOX_CHARACTERS),
    )
