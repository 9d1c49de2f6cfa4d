"""The chains of a run as a table: all of them, not only the selected one."""

from __future__ import annotations

from collections.abc import Sequence

from dbpcfg.files.table import Cell, Column, Table
from dbpcfg.induction.chain import TreeChoice
from dbpcfg.induction.convergence import Agreement
from dbpcfg.induction.summary import ChainSummary


def chain_table(
    summaries: Sequence[ChainSummary], agreement: Agreement, trees: TreeChoice
) -> Table:
    """One row per chain, and in the notes whether they agree.

    Parameters
    ----------
    summaries
        Those of the chains of a run.
    agreement
        That of the chains.
    trees
        How the trees of the run are chosen.
    """
    scored = any(one.last_f1 is not None for one in summaries)
    columns = [
        Column("chain", "count"),
        Column("iterations", "count"),
        Column("burn-in", "count"),
        Column("log-likelihood", "number", "mean_log_likelihood"),
        Column("sd", "number"),
        Column("per token", "number", decimals=3),
        Column("greatest", "number", "best_log_likelihood"),
        *([Column("last F1", "percent", "last_f1")] if scored else []),
        Column("selected"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            *(one.chain, one.iterations, one.burn_in),
            *(one.mean_log_likelihood, one.sd, one.per_token, one.best_log_likelihood),
            *([one.last_f1] if scored else []),
            "*" if one.selected else "",
        )
        for one in summaries
    ]
    notes = [
        f"selected by mean log-likelihood after burn-in; trees: {trees}",
        f"R-hat {agreement.rhat:.2f}, effective samples {agreement.effective_samples:.0f}: "
        f"{agreement.verdict()}",
    ]
    if scored:
        notes.append("F1 is of single samples and was not used for selection")
    return Table("Chains", columns, rows, notes)
