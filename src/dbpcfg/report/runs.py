"""The parts of a page about a run: overview, chains, modes, categories, memory depths.

* Overview: the verdict, the first trees; text, settings, versions, and the command that repeats it.
* Chains: their log-likelihoods over time, the criterion, whether samplers have converged.
* Modes: chains of this model end in different ones. Each other survivor is shown by some short
  sentences whose trees share the fewest spans with those of the selected chain; of equally few the
  longest.
* Grammar: categories, and their gold labels.
* Memory: the depths that sentences need.
"""

from __future__ import annotations

import math
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.corpus.sentence import as_sentences
from dbpcfg.evaluation import labels
from dbpcfg.evaluation.alignment import Brackets
from dbpcfg.evaluation.depths import span_depth, tree_depth
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.evaluation.labels import NO_PHRASE, Contingency
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.consensus import SharedSpans
from dbpcfg.induction.directory import run_times
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import rungs_of
from dbpcfg.induction.settings import ChainSettings, Configuration
from dbpcfg.induction.summary import selected_by
from dbpcfg.io.files import finite
from dbpcfg.model.profile import Profile
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.options import ModelOptions
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations
from dbpcfg.report.sentences import Posterior, codes, pack
from dbpcfg.trees.tree import Tree
from dbpcfg.version import __version__

MAX_SOURCES = 4
"""The greatest number of files that are listed; of more, their folder is shown."""
MAX_POINTS = 800
"""The greatest number of points of a line."""
MAX_ITEMS = 24
"""The greatest number of words or rules of a category."""
EXAMPLES = 4
"""The greatest number of sentences for each mode."""
SHOWN = (4, 6, 8)
"""Words of the sentences whose trees the page begins with."""
LONGEST = 12
"""The greatest length of an example, if possible: two trees must fit side by side."""


def overview(run: Run, path: Path) -> dict[str, Any]:
    """The data of the page's first part."""
    configuration = run.configuration
    settings, corpus = configuration.model, configuration.corpus
    when = run_times(path)
    return {
        "name": path.resolve().name,
        "verdict": run.verdict.json("they are below"),
        "shown": _first_of(SHOWN, run.corpus.forms.lengths),
        "sources": _sources(configuration),
        "sentences": len(run.corpus.forms),
        "tokens": len(run.corpus.forms.tokens),
        "forms": len(run.corpus.forms.vocabulary),
        "digest": corpus.get("digest", ""),
        "categories": settings.categories,
        "depth": settings.depth,
        "settings": _settings(configuration),
        "chains": configuration.chains,
        "survivors": len(run.survivors),
        "agreement": run.shared.agreement(),
        "selected": run.best.settings.chain,
        "trees": configuration.trees,
        "voting": run.voting,
        "iterations": sum(chain.iteration for chain in run.chains),
        "begun": when and when[0],
        "ended": when and when[1],
        "seconds": when and when[2],
        "versions": configuration.versions,
        "reported_by": __version__,
        "command": command(configuration, path),
        "remark": ""
        if corpus.get("sources")
        else "The text was given by a program, not as files: put its file in place of TEXT.",
    }


def _first_of(wanted: Iterable[int], lengths: Longs) -> list[int]:
    """The first sentences of these lengths; of lengths that are as near as possible, if need be."""
    chosen: list[int] = []
    for length in wanted:
        far = np.abs(lengths - length).astype(float)
        far[np.isin(lengths, lengths[chosen])] += len(lengths)
        far[chosen] = np.inf
        if np.isfinite(far).any():
            chosen.append(int(far.argmin()))
    return sorted(chosen, key=lambda s: (int(lengths[s]), s))


def command(configuration: Configuration, path: Path) -> str:
    """The command that repeats a run; options with their defaults are left out."""
    model, preprocessing = configuration.model, configuration.preprocessing
    words = ["dbpcfg", "induce", *(_sources(configuration) or ["TEXT"])]
    for option in ("speakers", "exclude_speakers"):
        for name in configuration.corpus.get(option, []):
            words += [f"--{option.replace('_', '-').removesuffix('s')}", str(name)]
    for option in ("age", "text"):
        if option in configuration.corpus:
            words += [f"--{option}", str(configuration.corpus[option])]
    if configuration.start:
        words += ["--start", configuration.start.get("run", "RUN")]
    words += ["-K", str(model.categories), "-D", str(model.depth or "none")]
    words += [*_search(configuration), "--seed", str(model.seed)]
    if configuration.trees != model.learner.default_trees:
        words += ["--trees", configuration.trees]
    words += [*_learner(model, set()), *preprocessing.flags()]
    return shlex.join([*words, "--out", str(path)])


def _learner(model: ChainSettings, leave_out: set[str]) -> list[str]:
    """The options of the learner, and those of all learners."""
    name = model.learner.name
    usual = {"precision"} if model.precision == model.learner.default_precision else set()
    common = ModelOptions.flags(model, {"categories", "depth", "seed"} | usual)
    return ["--learner", name, *common, *model.learner.flags(leave_out)]


def _search(configuration: Configuration) -> list[str]:
    """The options of the chains, their length and the criterion."""
    budget, iterations = configuration.budget, configuration.schedule.iterations
    chains = ["--chains", str(configuration.chains)]
    if budget is not None:
        usual = rungs_of(budget)[0].chains
        words = ["--budget", str(budget), *(chains if configuration.chains != usual else [])]
    elif iterations is not None:
        words = [*chains, "--iterations", str(iterations)]
    else:
        words = ["--inference", "paper", *chains]
    if configuration.select != configuration.model.learner.criterion(configuration.model):
        words += ["--select", configuration.select]
    return words


def _settings(configuration: Configuration) -> list[list[str]]:
    """Names and values of the settings, as rows of a table."""
    model, preprocessing = configuration.model, configuration.preprocessing
    schedule, rungs = configuration.schedule, configuration.rungs
    used = "the first half as burn-in" if model.learner.samples else "the last one is the result"
    if rungs:
        length = (
            f"{configuration.budget:,} for all chains together, {rungs[-1].iterations:,} of each "
            f"chain that ran to the end, {used}"
        )
    elif schedule.iterations is None:
        least, after = schedule.minimum, schedule.after
        length = f"{least:,} or more until the log-likelihood levels off, then {after:,}"
    else:
        length = f"{schedule.iterations:,}, {used}"
    rows = [
        ["categories K", str(model.categories)],
        ["memory bound D", "none" if model.depth is None else str(model.depth)],
        *([["β", f"{model.learner.beta:g}"]] if "beta" in model.learner.options() else []),
        ["seed", str(model.seed)],
        [model.learner.iteration[1], length],
        ["chain selected by", selected_by(configuration)],
        ["case", "lower case" if preprocessing.lowercase else "as written"],
    ]
    if configuration.start:
        rows.append(["started from", configuration.start.get("run", "")])
    further = [*_learner(model, {"beta"}), *preprocessing.flags({"lowercase"})]
    if further:
        rows.append(["other options", shlex.join(further)])
    return rows


def _sources(configuration: Configuration) -> list[str]:
    """The files, or the folder that they are all in if there are many."""
    sources = [str(source) for source in configuration.corpus.get("sources", [])]
    if len(sources) <= MAX_SOURCES:
        return sources
    try:
        folder = os.path.commonpath(sources)
    except ValueError:  # some are absolute and some are not
        folder = ""
    return [folder] if folder and folder != os.sep else sources


def traces(run: Run) -> dict[str, Any]:
    """Every chain with its trace, thinned out evenly if it is long, and the verdict on all."""
    chains = []
    for chain, summary in zip(run.chains, run.summaries(), strict=True):
        every = math.ceil(len(chain.logs) / MAX_POINTS)
        shown = {name: value for name, value in asdict(summary).items() if name != "last_f1"}
        logs = [round(log, 2) for log in chain.logs[::every]]
        chains.append({**shown, "every": every, "logs": logs})
    model = run.configuration.model
    convergence, select = run.convergence(), run.configuration.select
    return {
        "chains": chains,
        "columns": [
            {**asdict(one), "key": one.json_key}
            for one in model.learner.columns(model)
            if convergence.sampled or one.json_key != "variance" or select == "variance"
        ],
        "iteration": model.learner.iteration,
        "sampled": convergence.sampled,
        "rhat": finite(convergence.rhat),
        "effective": finite(convergence.effective_samples),
        "retained": sum(chain.retained for chain in run.survivors),
        "convergence": convergence.words(),
        "remarks": run.remarks(),
        "selected_by": selected_by(run.configuration),
        "rungs": [rung._asdict() for rung in run.configuration.rungs],
    }


def modes(run: Run) -> list[dict[str, Any]]:
    """The other survivors, the best first."""
    others = [chain for chain in run.survivors if chain is not run.best]
    return [_mode(run, chain) for chain in sorted(others, key=lambda c: -run.goodness(c))]


def _mode(run: Run, chain: Chain) -> dict[str, Any]:
    number, selected = chain.settings.chain, run.best.settings.chain
    pair = SharedSpans({n: run.shared.trees[n] for n in (selected, number)})
    common = pair.sentences()
    chosen = _most_different(run, common)
    posterior = Posterior(chain, run.corpus.forms, chosen)
    examples = []
    for place, s in enumerate(chosen):
        nodes = run.shared.trees[number][s]
        phrases = nodes[nodes[:, END] - nodes[:, START] > 1]
        sentence = np.full(len(phrases), place)
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
    return {
        "chain": number,
        "agreement": pair.agreement(),
        "different": int((common < 1).sum()),
        "examples": examples,
    }


def _most_different(run: Run, common: Floats) -> list[int]:
    """The sentences whose trees differ most, no two of the same words."""
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
    """The categories of a run, with gold labels if there are gold trees."""
    profile = run.model.profile(trees)
    if gold is None:
        return profile
    predicted = as_sentences(trees, "<predicted>")
    meanings = labels.gold_labels(gold.sentences, predicted, gold.punctuation)
    return replace(profile, meanings=meanings)


def gold_labels(categories: Profile) -> dict[str, Any] | None:
    """Categories against gold phrases and tags; None without gold trees."""
    meanings = categories.meanings
    if meanings is None:
        return None
    return {"phrases": _table(meanings.phrases), "tags": _table(meanings.words)}


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
    named = [{"name": name, "shares": values} for name, values in series.items()]
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
