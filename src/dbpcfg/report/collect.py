"""The data of a page or a figure, as JSON can hold it.

===============  ===========================================================  ==================
``run``          text, settings, versions, the command to repeat it           `overview`
``chains``       traces, R-hat, effective sample size, verdict                `runs`
``scores``       of chains and baselines, by length; None without gold        `scores`
``others``       other systems on the text; None without a comparison         `scores`
``grammar``      categories with words, rules, sides and depths               `runs`
``meanings``     categories against gold labels; None without gold            `runs`
``sentences``    words and trees, packed                                      `sentences`
``modes``        the other survivors, and where their trees differ            `runs`
``memory``       depths that sentences need                                   `runs`
===============  ===========================================================  ==================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.induction.run import Run
from dbpcfg.io.progress import Progress
from dbpcfg.model.profile import as_json
from dbpcfg.parsing.derivations import as_tree
from dbpcfg.report.overview import overview
from dbpcfg.report.runs import MOST_ITEMS, gold_labels, grammar_profile, memory, modes, traces
from dbpcfg.report.scores import BASELINES, match_comparison, scores
from dbpcfg.report.sentences import pack, sentences


def collect(
    run: Run,
    path: Path,
    gold: Gold | None = None,
    quiet: bool = True,
    comparison: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Collect the data of a finished run, with gold trees and a comparison if there are any."""
    with Progress("trees and counts", 2, quiet) as progress:
        derivations = run.shared.trees[run.best.settings.chain]
        trees = [as_tree(derivations[s], words) for s, words in enumerate(run.corpus.words)]
        categories = grammar_profile(run, trees, gold)
        progress.update(1)
        data: dict[str, Any] = {
            "run": overview(run, path),
            "chains": traces(run),
            "scores": None,
            "others": None,
            "grammar": as_json(categories, MOST_ITEMS),
            "meanings": gold_labels(categories),
            "sentences": sentences(run, derivations, gold),
            "modes": modes(run),
            "memory": memory(derivations, categories, gold),
        }
        progress.update(2)
    if gold is not None:
        with Progress("scored", len(run.survivors) + len(BASELINES) + 1, quiet) as progress:
            data["scores"] = scores(run, gold, progress.update)
        data["sentences"]["f1"] = pack(data["scores"].pop("each"))
    if comparison is not None:
        data["others"] = match_comparison(comparison, run, gold, data["scores"])
    return data
