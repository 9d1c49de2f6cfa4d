"""Whether a comparison is of the text that a run learned from, as far as both can tell.

A comparison knows a fingerprint of its gold trees; a run has those only if they are given with it.
Without them, numbers of sentences and words are all that both know.
"""

from __future__ import annotations

from typing import Any

from dbpcfg.comparison.task import Task
from dbpcfg.corpus.preparation import Prepared
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.induction.run import Run


def beside_run(
    comparison: dict[str, Any], run: Run, gold: Gold | None, scores: dict[str, Any] | None
) -> dict[str, Any]:
    """The comparison, how its text differs from the run's, and the run's own score beside it.

    ``same`` is None where nothing differs, but only numbers could be compared. ``own`` is None
    unless the scores are of the same trees by the same convention.
    """
    differences = _differences(comparison["corpus"], run, gold)
    same = False if differences else (True if gold is not None else None)
    lowercase = run.configuration.preparation.lowercase
    return {
        **comparison,
        "same": same,
        "differences": differences,
        "same_case": comparison["corpus"]["lowercase"] == lowercase,
        "own": _own(comparison, scores) if same and scores else None,
    }


def _differences(corpus: dict[str, Any], run: Run, gold: Gold | None) -> list[str]:
    marks = run.corpus.punctuation if gold is None else gold.punctuation
    ours = {
        "sentences": len(run.corpus.words),
        "words": sum(mark.count(False) for mark in marks),
    }
    found = [
        f"it has {corpus[what]:,} {what}{'' if what == 'sentences' else ' without punctuation'}, "
        f"the run {number:,}"
        for what, number in ours.items()
        if corpus[what] != number
    ]
    if not found and gold is not None and corpus["digest"] != _digest(run, gold):
        found = ["its gold trees, or which of their words are punctuation, are not those given"]
    return found


def _digest(run: Run, gold: Gold) -> str:
    """The fingerprint that a comparison on these gold trees would have."""
    prepared = Prepared(gold.sentences, [], gold.punctuation, run.configuration.preparation)
    return Task(prepared, gold.convention, ()).digest()


def _own(comparison: dict[str, Any], scores: dict[str, Any]) -> dict[str, Any] | None:
    if _convention(comparison["signature"]) != _convention(scores["signature"]):
        return None
    one = next(one for one in scores["systems"] if one.get("selected"))
    return None if one["f1"] is None else {"chain": one["chain"], "f1": one["f1"]}


def _convention(signature: str) -> list[str]:
    """Its parts without the limit of length, which the same sentences are within, and version."""
    parts = signature.split("|")
    return [part for part in parts if not part.startswith(("length:", "dbpcfg:"))]
