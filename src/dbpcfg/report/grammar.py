"""The grammar: its categories with their words and rules, and the gold labels that they meet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dbpcfg.corpus.sentence import as_sentences
from dbpcfg.evaluation import labels
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.evaluation.labels import NO_PHRASE, Contingency
from dbpcfg.induction.run import Run
from dbpcfg.model.grammar_profile import Profile, profile
from dbpcfg.model.profile_formats import as_json
from dbpcfg.trees.tree import Tree

MOST_ITEMS = 24
"""Words and rules of a category, at most."""


def grammar_profile(run: Run, trees: list[Tree], gold: Gold | None) -> Profile:
    """Describe the categories of a run.

    ``gold``: the gold trees of the same sentences, if there are any.
    """
    found = profile(run.model, trees)
    if gold is None:
        return found
    predicted = as_sentences(trees, "<predicted>")
    met = labels.gold_labels(gold.sentences, predicted, gold.punctuation)
    return replace(found, meanings=met)


def grammar(categories: Profile) -> dict[str, Any]:
    """Categories with words, rules, sides and depths."""
    return as_json(categories, MOST_ITEMS)


def gold_labels(categories: Profile) -> dict[str, Any] | None:
    """Categories against gold phrases and tags; None without gold trees."""
    found = categories.meanings
    if found is None:
        return None
    return {"phrases": _table(found.phrases), "tags": _table(found.words)}


def _table(table: Contingency) -> dict[str, Any]:
    """Counts of categories against gold labels, commonest labels first, `no phrase` last."""
    totals = table.counts.sum(axis=0).tolist()
    order = sorted(range(len(table.gold)), key=lambda g: (table.gold[g] == NO_PHRASE, -totals[g]))
    return {
        "categories": list(table.induced),
        "labels": ["no phrase" if table.gold[g] == NO_PHRASE else table.gold[g] for g in order],
        "counts": table.counts[:, order].tolist(),
        "items": table.score().items,
    }
