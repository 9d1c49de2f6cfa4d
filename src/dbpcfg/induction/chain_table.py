"""The chains of a run as a table: all of them, not only the selected one."""

from __future__ import annotations

from dbpcfg.files.table import Cell, Column, Table
from dbpcfg.induction.run import Run


def chain_table(run: Run) -> Table:
    """One row per chain, and in the notes whether they agree."""
    scored = any(chain.scores for chain in run.chains)
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
        for one in run.summaries()
    ]
    agreement = run.agreement()
    notes = [
        f"selected by mean log-likelihood after burn-in; trees: {run.configuration.trees}",
        f"R-hat {agreement.rhat:.2f}, effective samples {agreement.effective_samples:.0f}: "
        f"{agreement.verdict()}",
    ]
    if scored:
        notes.append("F1 is of single samples and was not used for selection")
    return Table("Chains", columns, rows, notes)
