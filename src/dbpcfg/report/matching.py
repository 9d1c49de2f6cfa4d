"""Whether a comparison is of the text that a run learned from.

A comparison has a digest of its gold trees; a run has gold trees only if they are given with it.
Without them, only the numbers of sentences and words are compared.
"""

from __future__ import annotations

from typing import Any

from dbpcfg.comparison.task import Task
from dbpcfg.corpus.preparation import Prepared
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.induction.run import Run


def match_comparison(
    comparison: dict[str, Any], run: Run, gold: Gold | None, scores: dict[str, Any] | None
) -> dict[str, Any]:
    """Match a comparison with a run.

    ``gold``: the gold trees of its sentences, if there are any.
    ``scores``: its scores, if there are any.
    ``dict``: the comparison, and ``same``: whether it is of the same text, None if only numbers
    could be compared; ``differences``; ``same_case``: whether both learned from words in lower case
    or both as written; ``own``: the run's own score, None unless it is of the same gold trees by
    the same convention.
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
    """The digest of a comparison on these gold trees."""
    prepared = Prepared(gold.sentences, [], gold.punctuation, run.configuration.preparation)
    return Task(prepared, gold.convention, ()).digest()


def _own(comparison: dict[str, Any], scores: dict[str, Any]) -> dict[str, Any] | None:
    if _convention(comparison["signature"]) != _convention(scores["signature"]):
        return None
    one = next(one for one in scores["systems"] if one.get("selected"))
    return None if one["f1"] is None else {"chain": one["chain"], "f1": one["f1"]}


def _convention(signature: str) -> list[str]:
    """Its parts without the length limit, which the same sentences are within, and the version."""
    parts = signature.split("|")
    return [part for part in parts if not part.startswith(("length:", "dbpcfg:"))]
