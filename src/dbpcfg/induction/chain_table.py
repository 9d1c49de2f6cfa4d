"""An honest account of a run: every chain, never only the chosen one."""

from __future__ import annotations

import numpy as np

from dbpcfg.files.table import Column, Table
from dbpcfg.induction.run import Run


def chain_table(run: Run) -> Table:
    """One row for each chain, and in the notes whether they agree."""
    tokens = len(run.corpus.forms.tokens)
    columns = [
        Column("chain", "count"),
        Column("iterations", "count"),
        Column("burn-in", "count"),
        Column("log-likelihood", "number", "mean_log_likelihood"),
        Column("sd", "number"),
        Column("per token", "number", decimals=3),
        Column("greatest", "number", "best_log_likelihood"),
    ]
    logged = any(chain.scores for chain in run.chains)
    if logged:
        columns.append(Column("last F1", "percent", "last_f1"))
    columns.append(Column("selected"))
    rows = []
    for chain in run.chains:
        retained = chain.logs[chain.burn_in :] if chain.retained else chain.logs[-1:]
        assert chain.best is not None
        mean = chain.mean_log_likelihood
        row = [
            *(chain.settings.chain, chain.iteration, chain.burn_in),
            *(mean, float(np.std(retained)), mean / tokens, chain.best.log_likelihood),
        ]
        if logged:
            row.append(list(chain.scores.values())[-1] if chain.scores else None)
        rows.append((*row, "*" if chain is run.best else ""))
    agreement = run.agreement()
    notes = [
        f"selected by mean log-likelihood after burn-in; trees: {run.configuration.trees}",
        f"R-hat {agreement.rhat:.2f}, effective samples {agreement.effective_samples:.0f}: "
        f"{agreement.verdict()}",
    ]
    if logged:
        notes.append("F1 is of single samples and was not used for selection")
    return Table("Chains", columns, rows, notes)
