"""The chains of a run in a few numbers: summaries, the table, and how far chains agree.

**Do the chains agree?** Rank-normalised R-hat and bulk effective sample size (Vehtari et al. 2021)
of the log-likelihood after burn-in, over chains. Chains of this model often settle in different
modes; R-hat then says so, and no single chain speaks for the posterior.

**How sure is a bracket?** Labels are not compared, as each chain names its categories in its own
way. A span that all chains have is sure as far as they go; one that only the selected chain has is
its own opinion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbpcfg.induction.chain import Chain
from dbpcfg.induction.criteria import criteria
from dbpcfg.induction.settings import Configuration
from dbpcfg.io.tables import Cell, Column, Table
from dbpcfg.numerics.kernels import Floats, Ints, Longs
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations
from dbpcfg.parsing.mbr import SpanCounts

UNSURE, TRIVIAL = 0.6, 0.95
"""Shares of brackets: below, chains disagree; above, trees that branch to one side are no news."""
BATCH = 1000
"""Sentences whose votes are counted together."""
UNLABELLED: Ints = np.array([1, 1, 0], dtype=np.int32)
"""Times a node: its span alone."""


@dataclass(frozen=True)
class ChainSummary:
    """A chain's length and log-likelihoods; the mean and sd are over the iterations that count."""

    chain: int
    iterations: int
    burn_in: int | None
    mean_log_likelihood: float
    sd: float
    per_token: float
    """The mean divided by the number of tokens."""
    best_log_likelihood: float
    last_f1: float | None
    """F1 that was logged last, if there are gold trees."""
    posterior: float
    """Mean of log P(trees, words | β), the probabilities of rules integrated out."""
    variance: float
    """Mean of the variance over sentences of surprisal per word."""
    heldout: float | None
    """Mean log-likelihood of the sentences kept aside, if there are any."""
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

    mean = chain.mean_log_likelihood
    return ChainSummary(
        chain=chain.settings.chain,
        iterations=chain.iteration,
        burn_in=chain.burn_in,
        mean_log_likelihood=mean,
        sd=float(np.std(chain.logs[-max(1, chain.retained) :])),
        per_token=mean / tokens,
        best_log_likelihood=chain.best.log_likelihood,
        last_f1=list(chain.scores.values())[-1] if chain.scores else None,
        posterior=mean_of("posterior"),
        variance=mean_of("variance"),
        heldout=mean_of("heldout") if chain.settings.aside else None,
        agreement=agreement,
        survived=survived,
        selected=selected,
    )


@dataclass(frozen=True)
class Convergence:
    """Whether chains agree, by their log-likelihoods after burn-in."""

    rhat: float
    effective_samples: float
    chains: int
    sampled: bool = True
    """Whether there are samples to compare; EM and VB have none."""

    def verdict(self) -> str:
        """The same in words."""
        if not self.sampled:
            return "chains are independent starts: compare their results and their trees"
        if self.chains < 2:
            return "one chain cannot be checked against others: run several"
        if not np.isfinite(self.rhat):
            return "too few iterations to compare the chains"
        if self.rhat < 1.01:
            return "the chains agree"
        if self.rhat < 1.1:
            return "the chains nearly agree: run them longer to be sure"
        return "the chains disagree: they are in different modes, so report the spread over them"


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
    """One row per chain that ran to its end; the notes say whether these agree, and remarks."""
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
    if convergence.sampled and np.isfinite(convergence.rhat):
        notes.append(
            f"R-hat {convergence.rhat:.2f}, effective samples {convergence.effective_samples:.0f}: "
            f"{convergence.verdict()}"
        )
    else:
        notes.append(convergence.verdict())
    notes += remarks
    dropped = Counter(one.iterations for one in summaries if not one.survived)
    if dropped:
        when = ", ".join(f"{number} after {length}" for length, number in sorted(dropped.items()))
        notes.append(
            f"a race of {len(summaries)} chains; dropped: {when} iterations; chains.tsv has all"
        )
    if compared:
        notes.append("agreement is F1 against the trees of the other chains that ran to the end")
    if scored:
        what = "single samples" if convergence.sampled else "MBR trees"
        notes.append(f"F1 is of {what} and was not used for selection")
    return Table("Chains", columns, rows, notes)


class SharedSpans:
    """The spans of two words or more, without the whole sentence, of several chains' trees.

    ``trees``: the trees of each chain, by its number; all of the same sentences.
    """

    def __init__(self, trees: Mapping[int, Derivations]) -> None:
        self.trees = dict(trees)
        starts = next(iter(self.trees.values())).corpus.starts
        lengths = np.diff(starts)
        self.sentence = np.repeat(np.arange(len(lengths)), 2 * lengths - 1)
        """The sentence of each node."""
        self.spans = np.maximum(lengths - 2, 0)
        """The number of spans of each sentence: binary trees all have equally many."""
        self._first, self._length = starts[self.sentence], lengths[self.sentence]
        self._keys = {number: self._spans(found) for number, found in self.trees.items()}

    def _numbers(self, nodes: Ints) -> Longs:
        """A number for the span of every node, the same for equal spans."""
        start = nodes[:, START].astype(np.int64)
        longest = self._length.max(initial=0)
        found: Longs = (self._first + start) * (longest + 1) + nodes[:, END] - start
        return found

    def _spans(self, trees: Derivations) -> Longs:
        """The same, and -1 for spans that are left out."""
        width = trees.nodes[:, END] - trees.nodes[:, START]
        return np.where((width > 1) & (width < self._length), self._numbers(trees.nodes), -1)

    def shares(self, trees: Derivations, others: Iterable[int]) -> Floats:
        """The share of some chains that have the span of each node; nan for those left out."""
        spans, chosen = self._spans(trees), list(others)
        found = np.zeros(len(spans))
        for other in chosen:
            found += np.isin(spans, self._keys[other])
        return np.where(spans >= 0, found / (len(chosen) or np.nan), np.nan)

    def sentences(self, trees: Derivations, others: Iterable[int]) -> Floats:
        """The mean share of each sentence's spans; nan for those without a span."""
        shares = self.shares(trees, others)
        counted = self._spans(trees) >= 0
        total = np.bincount(
            self.sentence[counted], weights=shares[counted], minlength=len(self.spans)
        )
        found: Floats = total / np.where(self.spans, self.spans, np.nan)
        return found

    def remarks(self, trees: Derivations, others: Sequence[int]) -> Iterator[str]:
        """What to know of the trees of a run: how sure they are, and whether they say anything."""
        counted = self._spans(trees) >= 0
        if not counted.any():
            return
        if others:
            share = float(self.shares(trees, others)[counted].mean())
            yield f"the chains share {share:.0%} of the brackets" + (
                ": the trees depend on the chain, so report the spread" if share < UNSURE else ""
            )
        edges = (
            ("right", trees.nodes[:, END] == self._length),
            ("left", trees.nodes[:, START] == 0),
        )
        for side, at_edge in edges:
            share = float(at_edge[counted].mean())
            if share > TRIVIAL:
                yield (
                    f"{share:.0%} of the brackets are those of {side}-branching trees: hardly more "
                    "was found than that"
                )

    def consensus(self, selected: int) -> Derivations:
        """The trees of greatest vote: a span has a vote of each chain that has it.

        The selected chain decides ties and gives the labels. A span that it does not have gets the
        label of the next chain that does, renamed to the label of the selected chain that is most
        often on the same spans.
        """
        corpus, order = self.trees[selected].corpus, [selected, *self.trees]
        nodes = np.empty_like(self.trees[selected].nodes)
        for first in range(0, len(corpus), BATCH):
            here = np.arange(first, min(first + BATCH, len(corpus)))
            rows = slice(*(int(2 * corpus.starts[s] - s) for s in (first, here[-1] + 1)))
            votes = SpanCounts(corpus.chosen(here), 1)
            for number in [*order, *self.trees]:  # two for each chain, three for the selected one
                votes.add(Derivations(self.trees[number].nodes[rows] * UNLABELLED, votes.corpus))
            nodes[rows] = votes.decode().nodes
        spans, labels = self._numbers(nodes), np.full(len(nodes), -1)
        for number in order:
            there = self.trees[number].nodes
            own, renamed = self._numbers(there), self._renamed(number, selected)
            by_span = np.argsort(own)
            at = by_span[np.searchsorted(own, spans, sorter=by_span).clip(max=len(own) - 1)]
            has = (own[at] == spans) & (labels < 0)
            labels[has] = renamed[there[at[has], CATEGORY]]
        nodes[:, CATEGORY] = labels
        return Derivations(nodes, corpus)

    def _renamed(self, chain: int, selected: int) -> Longs:
        """The label of the selected chain for each label of another."""
        here, there = self.trees[chain].nodes, self.trees[selected].nodes
        _, x, y = np.intersect1d(self._numbers(here), self._numbers(there), return_indices=True)
        size = int(max(here[:, CATEGORY].max(), there[:, CATEGORY].max())) + 1
        together = np.zeros((size, size), dtype=np.int64)
        np.add.at(together, (here[x, CATEGORY], there[y, CATEGORY]), 1)
        found: Longs = together.argmax(axis=1)
        return found

    def between(self, chain: int, other: int) -> float:
        """The share of spans that two chains have in common: F1 of one against the other.

        Binary trees of one sentence have equally many spans, so precision, recall and F1 are one
        number. It is nan if there are no spans.
        """
        spans = self._keys[chain]
        spans = spans[spans >= 0]
        return float(np.isin(spans, self._keys[other]).mean()) if len(spans) else float("nan")

    def agreement(self, chain: int) -> float | None:
        """The mean share of spans in common with the other chains; None if there are none."""
        others = [self.between(chain, other) for other in self.trees if other != chain]
        return float(np.mean(others)) if others and not np.isnan(others).any() else None
