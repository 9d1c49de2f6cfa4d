"""The chains of a run in a few numbers: summaries, the table, and whether samplers have converged.

**Have they converged?** Rank-normalised R-hat and bulk effective sample size (Vehtari et al. 2021)
of the log-likelihood after burn-in, over chains. Chains of this model often settle in different
modes; R-hat then says so, and no single chain speaks for the posterior. How far the trees of chains
agree is another question (`dbpcfg.induction.consensus`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.corpus.tokens import describe_contractions
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.criteria import criteria
from dbpcfg.induction.settings import Configuration
from dbpcfg.io.tables import Cell, Column, Table, plural
from dbpcfg.numerics.kernels import Floats
from dbpcfg.version import __version__


@dataclass(frozen=True)
class ChainSummary:
    """A chain's length and log-likelihoods; the mean and sd are over the iterations that count."""

    chain: int
    iterations: int
    burn_in: int | None
    """None if the learner draws no samples, as sd is."""
    mean_log_likelihood: float
    sd: float | None
    per_token: float
    """The mean divided by the number of tokens."""
    best_log_likelihood: float
    last_f1: float | None
    """F1 that was logged last, if there are gold trees."""
    posterior: float
    """Mean of log P(trees, words | β), the probabilities of rules integrated out; of learners that
    draw no samples, what they maximise."""
    variance: float
    """Mean of the variance over sentences of surprisal per word."""
    heldout: float | None
    """Mean log-likelihood of the sentences held out, if there are any."""
    agreement: float | None
    """F1 of the chain's trees against those of the other survivors; None if it was dropped."""
    survived: bool
    """Whether it ran to the end; False if it was dropped from a race."""
    selected: bool


def summary_of(
    chain: Chain, tokens: int, selected: bool, survived: bool, agreement: float | None
) -> ChainSummary:
    """Summarise a chain that has done at least one iteration."""
    assert chain.best is not None

    def mean_of(measure: str) -> float:
        return float(np.mean(chain.trace(measure)[-max(1, chain.retained) :]))

    mean, sampled = chain.mean_log_likelihood, chain.settings.learner.samples
    return ChainSummary(
        chain=chain.settings.chain,
        iterations=chain.iteration,
        burn_in=chain.burn_in if sampled else None,
        mean_log_likelihood=mean,
        sd=float(np.std(chain.logs[-max(1, chain.retained) :])) if sampled else None,
        per_token=mean / tokens,
        best_log_likelihood=chain.best.log_likelihood,
        last_f1=list(chain.scores.values())[-1] if chain.scores else None,
        posterior=mean_of("posterior"),
        variance=mean_of("variance"),
        heldout=mean_of("heldout") if chain.settings.held_out else None,
        agreement=agreement,
        survived=survived,
        selected=selected,
    )


def card_of(configuration: Configuration, chain: Chain, words: Sequence[str]) -> dict[str, Any]:
    """What a chain has learned from and how: the card of its model.

    ``words``: the words of its grammar.
    """
    settings, corpus = configuration.model, configuration.corpus
    names = ("sentences", "tokens", "forms", "digest")
    chosen = ("speakers", "exclude_speakers", "age", "text")
    scores = [chain.scores[n] for n in sorted(chain.scores)][-1:]
    card = {
        "learned_from": [Path(one).name for one in corpus.get("sources", ())],
        **{name: corpus[name] for name in (*chosen, *names) if name in corpus},
        "started_from": configuration.start.get("digest", ""),
        "contractions": describe_contractions(words),
        "preprocessing": " ".join(configuration.preprocessing.flags()),
        "learner": settings.learner.name,
        "categories": settings.categories,
        "depth": "none" if settings.depth is None else settings.depth,
        "options": " ".join(settings.learner.flags()),
        "chains": configuration.chains,
        "iterations": chain.iteration,
        "seed": settings.seed,
        **({"f1_not_used_for_selection": scores[0]} if scores else {}),
        "dbpcfg": __version__,
    }
    return {name: _unicode(value) for name, value in card.items() if value not in ("", [])}


def _unicode(value: Any) -> Any:
    """A value of a card without what UTF-8 cannot have, as some names of files do."""
    if isinstance(value, list):
        return list(map(_unicode, value))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


@dataclass(frozen=True)
class Convergence:
    """Whether chains have converged, by their log-likelihoods after burn-in."""

    rhat: float
    effective_samples: float
    chains: int
    sampled: bool = True
    """Whether there are samples to compare; EM and VB have none."""

    def words(self) -> str:
        """The same in words."""
        if not self.sampled:
            return "there are no samples, and so no R-hat"
        if self.chains < 2:
            return "one chain cannot be checked against others: run several"
        if not np.isfinite(self.rhat):
            return "too few iterations to compare the chains"
        if self.rhat < 1.01:
            return "the log-likelihoods have converged"
        if self.rhat < 1.1:
            return "the log-likelihoods have nearly converged: run the chains longer to be sure"
        return "the chains are in different modes, so report the spread over them"


def convergence(traces: Sequence[Sequence[float]]) -> Convergence:
    """R-hat and effective sample size of log-likelihoods.

    Returns both numbers: nan where there are too few iterations, or for R-hat only one chain.
    """
    length = min((len(trace) for trace in traces), default=0)
    if length < 4 or not traces:
        return Convergence(np.nan, np.nan, len(traces))
    from arviz_stats.base.array import array_stats

    draws: Floats = np.array([trace[-length:] for trace in traces])
    axes = {"chain_axis": 0, "draw_axis": 1}
    return Convergence(
        rhat=float(array_stats.rhat(draws, **axes)) if len(traces) > 1 else np.nan,  # type: ignore[no-untyped-call]
        effective_samples=float(array_stats.ess(draws, **axes)),  # type: ignore[no-untyped-call]
        chains=len(traces),
    )


def selected_by(configuration: Configuration) -> str:
    """What a chain is selected by, in words."""
    criterion = criteria[configuration.select]
    if not configuration.model.learner.samples or not criterion.averaged:
        return criterion.words
    return f"mean {criterion.words} after burn-in"


def chain_table(
    summaries: Sequence[ChainSummary],
    convergence: Convergence,
    configuration: Configuration,
    remarks: Iterable[str] = (),
) -> Table:
    """One row per chain that ran to its end; the notes say whether samplers have converged.

    ``remarks``: further notes.
    """
    scored = any(one.last_f1 is not None for one in summaries)
    held_out = any(one.heldout is not None for one in summaries)
    compared = any(one.agreement is not None for one in summaries)
    model = configuration.model
    columns = [
        Column("chain", "count"),
        *model.learner.columns(model),
        *([Column("held out", "number", "heldout")] if held_out else []),
        *([Column("agreement", "percent")] if compared else []),
        *([Column("last F1", "percent", "last_f1")] if scored else []),
    ]
    rows: list[tuple[Cell, ...]] = [
        (*(getattr(one, column.json_key) for column in columns), "*" if one.selected else "")
        for one in summaries
        if one.survived
    ]
    notes = [f"selected by {selected_by(configuration)}; trees: {configuration.trees}"]
    if convergence.sampled and np.isfinite(convergence.rhat):
        notes.append(
            f"R-hat {convergence.rhat:.2f}, effective samples {convergence.effective_samples:.0f}: "
            f"{convergence.words()}"
        )
    elif convergence.sampled:
        notes.append(convergence.words())
    notes += remarks
    dropped = Counter(one.iterations for one in summaries if not one.survived)
    if dropped:
        when = ", ".join(f"{number} after {length}" for length, number in sorted(dropped.items()))
        several = model.learner.iteration[1]
        notes.append(
            f"a race of {plural(len(summaries), 'chain')}; dropped: {when} {several}; "
            "chains.tsv has all"
        )
    if compared:
        notes.append(
            "agreement: the share of its brackets that another chain which ran to the end has too, "
            "on average"
        )
    if scored:
        what = "single samples" if convergence.sampled else "MBR trees"
        notes.append(f"F1 is of {what} and was not used for selection")
    return Table("Chains", [*columns, Column("selected")], rows, notes)
