"""All that a page or a figure shows of a run, as plain data that JSON can hold.

===============  ===========================================================  ==================
``run``          text, settings, versions, the command to repeat it           `overview`
``chains``       traces, R-hat, effective sample size, verdict                `chains`
``scores``       of chains and baselines, by length; None without gold        `scores`
``others``       other systems on the text; None without a comparison         `other_systems`
``grammar``      categories with words, rules, sides and depths               `model.presentation`
``meanings``     categories against gold labels; None without gold            `evaluation.labels`
``sentences``    words and trees, packed                                      `sentences`
``memory``       depths that sentences need                                   `memory`
===============  ===========================================================  ==================
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dbpcfg.corpus.sentence import as_sentences
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.evaluation.labels import NO_PHRASE, Contingency, GoldLabels, gold_labels
from dbpcfg.induction.chain import trees_of
from dbpcfg.induction.run import Run
from dbpcfg.model.categories import profile
from dbpcfg.model.presentation import as_json
from dbpcfg.parsing.derivations import as_tree
from dbpcfg.report.chains import traces
from dbpcfg.report.matching import beside_run
from dbpcfg.report.memory import memory
from dbpcfg.report.overview import overview
from dbpcfg.report.packing import packed
from dbpcfg.report.scores import BASELINES, scores
from dbpcfg.report.sentences import sentence_data
from dbpcfg.runtime.progress import Progress
from dbpcfg.trees.tree import Tree

TOP = 24
"""Words and rules of a category, at most."""


def collect(
    run: Run,
    path: Path,
    gold: Gold | None = None,
    quiet: bool = True,
    comparison: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Gather everything about a finished run, with a comparison of `read_comparison` beside it."""
    with Progress("trees and counts", 3, quiet) as progress:
        chosen = trees_of(run.best, run.corpus.forms, run.configuration.trees)
        progress.update(1)
        words = run.corpus.words
        trees = [as_tree(chosen[s], words[s]) for s in range(len(words))]
        found = profile(run.model, trees)
        if gold is not None:
            found = replace(found, meanings=_meanings(trees, gold))
        progress.update(2)
        data: dict[str, Any] = {
            "run": overview(run, path),
            "chains": traces(run),
            "scores": None,
            "others": None,
            "grammar": as_json(found, TOP),
            "meanings": found.meanings and _tables(found.meanings),
            "sentences": sentence_data(run, chosen, gold),
            "memory": memory(chosen, found, gold),
        }
        progress.update(3)
    if gold is not None:
        with Progress("scored", len(run.chains) + len(BASELINES) + 1, quiet) as progress:
            data["scores"] = scores(run, gold, progress.update)
        data["sentences"]["f1"] = packed(data["scores"].pop("each"))
    if comparison is not None:
        data["others"] = beside_run(comparison, run, gold, data["scores"])
    return data


def _meanings(trees: list[Tree], gold: Gold) -> GoldLabels:
    return gold_labels(gold.sentences, as_sentences(trees, "<predicted>"), gold.punctuation)


def _tables(found: GoldLabels) -> dict[str, Any]:
    return {"phrases": _table(found.phrases), "tags": _table(found.words)}


def _table(table: Contingency) -> dict[str, Any]:
    """Counts of categories against gold labels, commonest labels first, `no phrase` last."""
    totals = table.counts.sum(axis=0).tolist()
    order = sorted(range(len(table.gold)), key=lambda g: (table.gold[g] == NO_PHRASE, -totals[g]))
    it = table.score()
    return {
        "categories": list(table.induced),
        "labels": ["no phrase" if table.gold[g] == NO_PHRASE else table.gold[g] for g in order],
        "counts": table.counts[:, order].tolist(),
        "items": it.items,
    }
