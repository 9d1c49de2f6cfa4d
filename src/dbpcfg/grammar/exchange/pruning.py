"""A grammar without its least probable rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange.rules import top_symbol
from dbpcfg.grammar.pcfg import Grammar


@dataclass(frozen=True, slots=True)
class Pruned:
    """A grammar without its least probable rules, and what was left out."""

    grammar: Grammar
    """What is left."""
    threshold: float
    """The smallest probability of a rule that was kept."""
    rules: int
    """Rules that were possible before."""
    left_out: int
    """Rules that were left out."""
    loser: str
    """The symbol whose rules lost most of their probability."""
    lost: float
    """How much probability that was."""

    def __str__(self) -> str:
        return (
            f"Left out {self.left_out:,} of {self.rules:,} rules, those less probable than "
            f"{self.threshold:g}; the others of each symbol were scaled to sum to 1 "
            f"({self.loser} had lost most, {100 * self.lost:.2g}%)."
        )


def pruned(grammar: Grammar, threshold: float) -> Pruned:
    """Leave out rules less probable than a threshold, and words that then have none.

    The rest of each row is divided by its sum.
    """
    if not 0.0 < threshold <= 1.0:
        raise GrammarError(f"the threshold must be above 0 and at most 1, got {threshold:g}")
    K, symbols = grammar.categories, (*grammar.names, top_symbol(grammar.names))
    best = np.append(grammar.rows.max(axis=1), grammar.root.max())
    if best.min() < threshold:
        raise GrammarError(
            f"no rule of {symbols[int(best.argmin())]} has a probability of {threshold:g} or more; "
            f"the greatest threshold that leaves every symbol a rule is {best.min():g}"
        )
    rows = np.where(grammar.rows >= threshold, grammar.rows, 0.0)
    root = np.where(grammar.root >= threshold, grammar.root, 0.0)
    used = np.flatnonzero(rows[:, K * K :].sum(axis=0))
    if not len(used):
        raise GrammarError(
            f"no word has a probability of {threshold:g} or more; take a smaller one"
        )
    kept = np.append(rows.sum(axis=1), root.sum())
    worst = int(kept.argmin())
    words = tuple(grammar.vocabulary.words[w] for w in used)
    rows, root = rows / rows.sum(axis=1, keepdims=True), root / root.sum()
    rules = int((grammar.rows > 0).sum() + (grammar.root > 0).sum())
    return Pruned(
        grammar=Grammar(
            root,
            rows[:, : K * K].reshape(K, K, K),
            rows[:, K * K :][:, used],
            Vocabulary(words),
        ).named(grammar.names),
        threshold=threshold,
        rules=rules,
        left_out=rules - int((rows > 0).sum() + (root > 0).sum()),
        loser=symbols[worst],
        lost=max(0.0, 1.0 - float(kept[worst])),
    )
