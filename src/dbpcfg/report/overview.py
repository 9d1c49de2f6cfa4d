"""Overview of a run: text, settings, versions, and the command that repeats it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from dbpcfg.induction.directory import run_times
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import rungs_of
from dbpcfg.induction.settings import ChainSettings, Configuration
from dbpcfg.induction.summary import selected_by
from dbpcfg.options import Chaining
from dbpcfg.version import __version__

MOST_SOURCES = 4
"""Files that are named one by one, at most."""


def overview(run: Run, path: Path) -> dict[str, Any]:
    """The data of the first part of the page."""
    configuration = run.configuration
    settings, corpus = configuration.model, configuration.corpus
    when = run_times(path)
    return {
        "name": path.resolve().name,
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
        "agreement": run.shared.agreement(run.best.settings.chain),
        "selected": run.best.settings.chain,
        "trees": configuration.trees,
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


def command(configuration: Configuration, path: Path) -> str:
    """The command that repeats a run; options with their defaults are left out."""
    model, preparation = configuration.model, configuration.preparation
    words = ["dbpcfg", "induce", *(_sources(configuration) or ["TEXT"])]
    for option in ("speakers", "exclude_speakers"):
        for name in configuration.corpus.get(option, []):
            words += [f"--{option.replace('_', '-').removesuffix('s')}", str(name)]
    if configuration.start:
        words += ["--start", configuration.start.get("run", "RUN")]
    words += ["-K", str(model.categories), "-D", str(model.depth or "none")]
    words += [*_search(configuration), "--seed", str(model.seed)]
    if configuration.trees != model.learner.usual_trees:
        words += ["--trees", configuration.trees]
    words += [*_learner(model, set()), *preparation.flags()]
    return shlex.join([*words, "--out", str(path)])


def _learner(model: ChainSettings, leave_out: set[str]) -> list[str]:
    """The options for the learner, and others that all learners have."""
    name = model.learner.name
    usual = {"precision"} if model.precision == model.learner.usual_precision else set()
    common = Chaining.flags(model, {"categories", "depth", "seed"} | usual)
    return ["--learner", name, *common, *model.learner.flags(leave_out)]


def _search(configuration: Configuration) -> list[str]:
    """The options for the chains, their length and what they are compared by."""
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
    model, preparation = configuration.model, configuration.preparation
    schedule, rungs = configuration.schedule, configuration.rungs
    used = "the first half as burn-in" if model.learner.samples else "the last one is the result"
    if rungs:
        length = (
            f"{configuration.budget:,} for all chains together, {rungs[-1].iterations:,} of each "
            f"chain that ran to the end, {used}"
        )
    elif schedule.iterations is None:
        least, after = schedule.least, schedule.after
        length = f"{least:,} or more until the log-likelihood levels off, then {after:,}"
    else:
        length = f"{schedule.iterations:,}, {used}"
    rows = [
        ["categories K", str(model.categories)],
        ["memory bound D", "none" if model.depth is None else str(model.depth)],
        ["β", f"{model.learner.beta:g}"],
        ["seed", str(model.seed)],
        ["iterations", length],
        ["chain selected by", selected_by(configuration)],
        ["case", "lower case" if preparation.lowercase else "as written"],
    ]
    if configuration.start:
        rows.append(["started from", configuration.start.get("run", "")])
    further = [*_learner(model, {"beta"}), *preparation.flags({"lowercase"})]
    if further:
        rows.append(["other options", shlex.join(further)])
    return rows


def _sources(configuration: Configuration) -> list[str]:
    """The files, or the folder that they are all in if there are many."""
    sources = [str(source) for source in configuration.corpus.get("sources", [])]
    if len(sources) <= MOST_SOURCES:
        return sources
    try:
        folder = os.path.commonpath(sources)
    except ValueError:  # some are absolute and some are not
        folder = ""
    return [folder] if folder and folder != os.sep else sources
