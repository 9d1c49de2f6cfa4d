"""The chains of a run as a table: all of them, not only the selected one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dbpcfg.induction.configuration import Configuration
from dbpcfg.induction.convergence import Agreement
from dbpcfg.induction.criteria import Criterion
from dbpcfg.induction.summary import ChainSummary
from dbpcfg.io.tables import Cell, Column, Table

_BY_SAMPLES: dict[Criterion, str] = {
    "likelihood": "mean log-likelihood after burn-in",
    "posterior": "mean log-posterior after burn-in",
    "variance": "the least variance of surprisal after burn-in",
    "heldout": "mean log-likelihood of the sentences kept aside, after burn-in",
    "agreement": "agreement with the other chains",
}
_BY_THE_LAST: dict[Criterion, str] = {
    "likelihood": "log-likelihood",
    "posterior": "what the learner maximises",
    "variance": "the least variance of surprisal",
    "heldout": "log-likelihood of the sentences kept aside",
    "agreement": "agreement with the other chains",
}


def selected_by(configuration: Configuration) -> str:
    """What a chain is selected by, in words."""
    samples = configuration.model.samples
    return (_BY_SAMPLES if samples else _BY_THE_LAST)[configuration.select]


def chain_table(
    summaries: Sequence[ChainSummary], agreement: Agreement, configuration: Configuration
) -> Table:
    """One row per chain that ran to its end, and in the notes whether these agree."""
    scored = any(one.last_f1 is not None for one in summaries)
    aside = any(one.heldout is not None for one in summaries)
    compared = any(one.agreement is not None for one in summaries)
    columns = [
        Column("chain", "count"),
        Column("iterations", "count"),
        Column("burn-in", "count"),
        Column("log-likelihood", "number", "mean_log_likelihood"),
        Column("sd", "number"),
        Column("per token", "number", decimals=3),
        Column("greatest", "number", "best_log_likelihood"),
        Column("posterior", "number"),
        Column("variance", "number", decimals=3),
        *([Column("held out", "number", "heldout")] if aside else []),
        *([Column("agreement", "percent")] if compared else []),
        *([Column("last F1", "percent", "last_f1")] if scored else []),
        Column("selected"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            *(one.chain, one.iterations, one.burn_in),
            *(one.mean_log_likelihood, one.sd, one.per_token, one.best_log_likelihood),
            *(one.posterior, one.variance),
            *([one.heldout] if aside else []),
            *([one.agreement] if compared else []),
            *([one.last_f1] if scored else []),
            "*" if one.selected else "",
        )
        for one in summaries
        if one.survived
    ]
    notes = [f"selected by {selected_by(configuration)}; trees: {configuration.trees}"]
    if agreement.sampled:
        notes.append(
            f"R-hat {agreement.rhat:.2f}, effective samples {agreement.effective_samples:.0f}: "
            f"{agreement.verdict()}"
        )
    else:
        notes.append(agreement.verdict())
    dropped = Counter(one.iterations for one in summaries if not one.survived)
    if dropped:
        when = ", ".join(f"{number} after {length}" for length, number in sorted(dropped.items()))
        notes.append(
            f"a race of {len(summaries)} chains; dropped: {when} iterations; chains.tsv has all"
        )
    if compared:
        notes.append("agreement is F1 against the trees of the other chains that ran to the end")
    if scored:
        what = "single samples" if agreement.sampled else "MBR trees"
        notes.append(f"F1 is of {what} and was not used for selection")
    return Table("Chains", columns, rows, notes)
