"""Chains, categories and memory depths of a run.

* The chains: their log-likelihoods over time, what they are compared by, whether they agree.
* Modes: chains of this model settle in different ones. Each other survivor is shown by some short
  sentences, those of which its tree and that of the selected chain share the fewest spans; of
  equally few the longest.
* The grammar: categories, and which gold labels they are used for.
* Memory: the depths that sentences need.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dbpcfg.corpus.sentence import as_sentences
from dbpcfg.evaluation import labels
from dbpcfg.evaluation.alignment import Brackets
from dbpcfg.evaluation.depths import span_depth, tree_depth
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.evaluation.labels import NO_PHRASE, Contingency
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.run import Run
from dbpcfg.induction.summary import selected_by
from dbpcfg.io.files import finite
from dbpcfg.model.profile import Profile
from dbpcfg.numerics.kernels import Floats
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations
from dbpcfg.report.sentences import Posterior, codes, pack
from dbpcfg.trees.tree import Tree

MOST_POINTS = 800
"""Points of a line, at most: a screen cannot show more."""
MOST_ITEMS = 24
"""Words and rules of a category, at most."""
EXAMPLES = 4
"""Sentences that are shown for each mode, at most."""
LONGEST = 12
"""Tokens of an example, if there are such sentences: two trees have to fit side by side."""


def traces(run: Run) -> dict[str, Any]:
    """Every chain with its trace, thinned out evenly if it is long, and the verdict on all."""
    chains = []
    for chain, summary in zip(run.chains, run.summaries(), strict=True):
        every = math.ceil(len(chain.logs) / MOST_POINTS)
        chains.append(
            {
                "chain": summary.chain,
                "selected": summary.selected,
                "iterations": summary.iterations,
                "burn_in": summary.burn_in,
                "mean": summary.mean_log_likelihood,
                "sd": summary.sd,
                "per_token": summary.per_token,
                "greatest": summary.best_log_likelihood,
                "posterior": summary.posterior,
                "variance": summary.variance,
                "heldout": summary.heldout,
                "agreement": summary.agreement,
                "survived": summary.survived,
                "every": every,
                "logs": [round(log, 2) for log in chain.logs[::every]],
            }
        )
    convergence = run.convergence()
    return {
        "chains": chains,
        "sampled": convergence.sampled,
        "rhat": finite(convergence.rhat),
        "effective": finite(convergence.effective_samples),
        "retained": sum(chain.retained for chain in run.survivors),
        "verdict": convergence.verdict(),
        "selected_by": selected_by(run.configuration),
        "rungs": [rung._asdict() for rung in run.configuration.rungs],
    }


def modes(run: Run) -> list[dict[str, Any]]:
    """The other survivors, the best first."""
    others = [chain for chain in run.survivors if chain is not run.best]
    return [_mode(run, chain) for chain in sorted(others, key=lambda c: -run.goodness(c))]


def _mode(run: Run, chain: Chain) -> dict[str, Any]:
    number, selected = chain.settings.chain, run.best.settings.chain
    common = run.shared.sentences(run.shared.trees[selected], [number])
    posterior = Posterior(chain)
    examples = []
    for s in _most_different(run, common):
        nodes = run.shared.trees[number][s]
        phrases = nodes[nodes[:, END] - nodes[:, START] > 1]
        sentence = np.full(len(phrases), s)
        spans = int(run.shared.spans[s])
        examples.append(
            {
                "sentence": s,
                "spans": spans,
                "common": round(float(common[s]) * spans),
                "nodes": pack(codes(nodes)),
                "posterior": pack(posterior.of(sentence, *phrases[:, :CATEGORY].T)),
            }
        )
    agreement = run.shared.between(selected, number)
    return {
        "chain": number,
        "agreement": None if np.isnan(agreement) else agreement,
        "different": int((common < 1).sum()),
        "examples": examples,
    }


def _most_different(run: Run, common: Floats) -> list[int]:
    """Sentences of different trees, no two of the same words."""
    different = np.flatnonzero(common < 1)
    lengths = run.corpus.forms.lengths[different]
    order = np.lexsort((-lengths, common[different], np.maximum(lengths, LONGEST)))
    chosen: dict[tuple[str, ...], int] = {}
    for s in different[order].tolist():
        chosen.setdefault(tuple(run.corpus.words[s]), s)
        if len(chosen) == EXAMPLES:
            break
    return list(chosen.values())


def grammar_profile(run: Run, trees: list[Tree], gold: Gold | None) -> Profile:
    """Describe the categories of a run, with gold labels if there are gold trees."""
    found = run.model.profile(trees)
    if gold is None:
        return found
    predicted = as_sentences(trees, "<predicted>")
    met = labels.gold_labels(gold.sentences, predicted, gold.punctuation)
    return replace(found, meanings=met)


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


def memory(trees: Derivations, profile: Profile, gold: Gold | None) -> dict[str, Any]:
    """Shares of sentences by depth, from 1 up: of induced, generated and, if any, gold trees."""
    series = {
        "induced trees": shares(depths(trees)),
        "the grammar's own sentences": profile.depths.tolist(),
    }
    if gold is not None:
        needed = (tree_depth(tree, "right") for tree in gold.trees)
        series["gold trees, made binary to the right"] = shares(needed)
    named = [{"name": name, "shares": found} for name, found in series.items()]
    return {"bound": profile.depth, "series": named}


def depths(trees: Derivations) -> Iterator[int]:
    """The memory depth of each tree."""
    for s, words in enumerate(trees.corpus.lengths.tolist()):
        spans: Brackets = {(start, end): () for start, end, _ in trees[s].tolist()}
        yield span_depth(spans, words)


def shares(depths: Iterable[int]) -> list[float]:
    """The share of each depth, from 1 to the deepest."""
    counts = Counter(depths)
    total = sum(counts.values())
    return [counts[depth] / total for depth in range(1, max(counts, default=0) + 1)]
