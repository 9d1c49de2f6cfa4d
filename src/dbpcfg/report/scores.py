"""Scores of chains next to the baselines, by sentence length, and next to other systems.

Of a race only the survivors are scored: chains that were dropped have no trees of their own, only
samples. All scores are PARSEVAL by the paper's convention (`dbpcfg.evaluation`). Trees are over the
same words as gold trees, so only punctuation has to be taken out: a span (i, j) becomes
(before[i], before[j]), with before[i] the number of words before token i that are not punctuation.

Other systems come from a directory that ``dbpcfg compare`` wrote. Such a file may come from anyone,
so the entries that a page shows are taken from it one by one, each checked for its type. Whether it
is of the text that the run learned from is known by its digest of the gold trees; if the run is
shown without gold trees, only the numbers of sentences and words are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.errors import DbpcfgError, MissingFileError
from dbpcfg.evaluation.alignment import Brackets, TreePair, brackets, number_words
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.evaluation.parseval import BracketCounts, Statistics, count, f1_terms, score
from dbpcfg.experiments.comparison import MEASURES, comparison_data
from dbpcfg.experiments.corpora import gold_digest
from dbpcfg.induction.run import Run
from dbpcfg.io.files import finite
from dbpcfg.io.tables import plural
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.report.sentences import NOT_SCORED
from dbpcfg.systems.branching import Shape, branching_tree

MAX_LENGTHS = 20
"""Points of the curve over sentence length, at most."""
BASELINES: dict[Shape, str] = {
    "right": "right-branching",
    "left": "left-branching",
    "balanced": "balanced trees",
    "random": "random trees",
}
CEILING = "best binary trees"


class Scorer:
    """Counts brackets of systems against the gold trees of a run."""

    def __init__(self, gold: Gold) -> None:
        self.convention = gold.convention
        self.before = [
            np.concatenate([[0], np.cumsum(~np.array(marks, dtype=bool))]).tolist()
            for marks in gold.punctuation
        ]
        self.gold = [
            brackets(tree, number_words(marks))[0]
            for tree, marks in zip(gold.trees, gold.punctuation, strict=True)
        ]
        self.words = np.array([before[-1] for before in self.before])
        self.scored = np.flatnonzero(self.words >= self.convention.min_words)

    def chain(self, trees: Derivations) -> Statistics:
        """Counts of a chain's trees, which are over all tokens."""
        return self._count(
            {(before[i], before[j]): () for i, j, _ in trees[s].tolist() if before[i] < before[j]}
            for s, before in enumerate(self.before)
        )

    def branching(self, shape: Shape, seed: int) -> Statistics:
        """Counts of a baseline's trees, which are over the words without punctuation."""
        numbers = stream(seed, purpose=Purpose.BASELINE)
        return self._count(
            brackets(branching_tree(shape, [""] * n, numbers, s), range(n))[0] if n > 1 else {}
            for s, n in enumerate(self.words.tolist())
        )

    def ceiling(self) -> Statistics:
        """Counts of binary trees with all gold brackets: the best that binary trees can score."""
        gold = self._count(iter(self.gold))[:, 2]
        return np.stack([gold, self.words - 1, gold], axis=1)

    def _count(self, found: Iterable[Brackets]) -> Statistics:
        """Counts of all sentences; zeros for those that are not scored."""
        rows: list[BracketCounts] = []
        for s, predicted in enumerate(found):
            pair = TreePair(int(self.words[s]), self.gold[s], predicted, (), ())
            rows.append(count(pair, self.convention))
        return np.array(rows, dtype=np.int64).reshape(-1, 3)


def scores(run: Run, gold: Gold, report: Callable[[int], None]) -> dict[str, Any]:
    """Score the survivors, which are all chains unless there was a race, and the baselines."""
    scorer = Scorer(gold)
    systems: list[dict[str, Any]] = []
    counts: dict[str, Statistics] = {}

    def add(name: str, statistics: Statistics, kind: str, **further: Any) -> None:
        counts[name] = statistics[scorer.scored]
        it = score(counts[name], scorer.convention)
        systems.append(
            {
                **{"name": name, "kind": kind},
                **{key: finite(getattr(it, key)) for key in ("precision", "recall", "f1")},
                **{key: getattr(it, key) for key in ("matched", "predicted", "gold")},
                **further,
            }
        )
        report(len(systems))

    for chain in run.survivors:
        number = chain.settings.chain
        name, statistics = f"chain {number}", scorer.chain(run.shared.trees[number])
        add(name, statistics, "chain", chain=number, selected=chain is run.best)
        if chain is run.best:
            chosen, each = name, statistics
    if run.voting:
        chosen, each = "consensus", scorer.chain(run.answer)
        add(chosen, each, "consensus")
    for shape, name in BASELINES.items():
        add(name, scorer.branching(shape, run.configuration.model.seed), "baseline")
    add(CEILING, scorer.ceiling(), "ceiling")
    reached = [one["f1"] for one in systems if one["kind"] == "chain" and one["f1"] is not None]
    further = [one["name"] for one in systems if one["kind"] not in ("chain", "consensus")]
    compared = [chosen, *further]
    return {
        "signature": scorer.convention.signature(),
        "sentences": len(scorer.scored),
        "left_out": len(gold.sentences) - len(scorer.scored),
        "systems": systems,
        "spread": [min(reached), float(np.median(reached)), max(reached)] if reached else None,
        "lengths": _by_length(scorer, {name: counts[name] for name in compared}),
        "compared": compared,
        "each": _percentages(each),
    }


def _by_length(scorer: Scorer, counts: dict[str, Statistics]) -> list[dict[str, Any]]:
    """F1 of each system over sentences of similar length, in classes of equal width."""
    lengths = scorer.words[scorer.scored]
    longest = int(lengths.max(initial=0))
    width = -(-longest // MAX_LENGTHS) or 1
    rows = []
    for first in range(1, longest + 1, width):
        here = (lengths >= first) & (lengths < first + width)
        if here.any():
            f1 = {n: finite(score(c[here], scorer.convention).f1) for n, c in counts.items()}
            last = min(first + width - 1, longest)
            rows.append({"from": first, "to": last, "sentences": int(here.sum()), "f1": f1})
    return rows


def _percentages(counts: Statistics) -> list[int]:
    """F1 of each sentence, as a whole percentage."""
    twice, both = f1_terms(*counts.T)
    f1 = np.round(100 * twice / np.maximum(both, 1)).astype(int)
    return np.where(both > 0, f1, NOT_SCORED).tolist()  # type: ignore[no-any-return]


FIGURES = ("mean", "sd", "min", "max")


def read_comparison(directory: Path) -> dict[str, Any]:
    """Read a comparison for a page."""
    if not directory.is_dir():
        there = directory.exists()
        kind, what = (DbpcfgError, "is a file") if there else (MissingFileError, "does not exist")
        raise kind(f"{directory} {what}; give the directory that `dbpcfg compare --out` wrote")
    if not any((directory / name).exists() for name in (".cells", "comparison.json")):
        raise DbpcfgError(
            f"{directory} is not a comparison: it has no comparison.json; give the directory that "
            "`dbpcfg compare --out` wrote"
        )
    content = comparison_data(directory)
    try:
        return _checked(content)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DbpcfgError(
            f"{directory / 'comparison.json'} is not as `dbpcfg compare --out` writes it "
            f"({type(error).__name__}: {error}); run the comparison again with the same --out, "
            "which keeps what is finished"
        ) from None


def _checked(content: dict[str, Any]) -> dict[str, Any]:
    corpus = content["corpus"]
    systems = [_system(one) for one in content["systems"]]
    if not systems:
        raise ValueError("there is no system in it")
    tests = [_test(one) for one in content["tests"]]
    # The best first, among equals in their order; those without a score last.
    systems.sort(key=lambda one: math.inf if one["f1"]["mean"] is None else -one["f1"]["mean"])
    return {
        "corpus": {
            "digest": _text(corpus["digest"]),
            "sentences": _count(corpus["sentences"]),
            "words": _count(corpus["words"]),
            "lowercase": bool(corpus["lowercase"]),
        },
        "signature": _text(content["signature"]),
        "category": _text(content["category"]),
        "systems": systems,
        "tests": sorted(tests, key=lambda one: (one["difference"] is None, one["difference"])),
    }


def _system(one: dict[str, Any]) -> dict[str, Any]:
    spread = one["spread"]
    settings = [f"{name} = {value}" for name, value in one["settings"].items()]
    return {
        "name": _text(one["name"]),
        "about": "; ".join([_text(one["summary"]), _text(one["reference"]), ", ".join(settings)]),
        "runs": len(one["runs"]),
        **{m: {figure: _number(spread[m][figure]) for figure in FIGURES} for m in MEASURES},
        "peak_bytes": _number(one["peak_bytes"]),
        "failures": [
            {"seed": _number(failure["seed"]), "message": _text(failure["message"])}
            for failure in one["failures"]
        ],
    }


def _test(one: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: _text(one[name]) for name in ("system", "against")},
        **{name: _number(one[name]) for name in ("f1", "against_f1", "difference", "p")},
        **{name: _count(one[name]) for name in ("permutations", "seed")},
    }


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} in place of a text")
    return value


def _number(value: object) -> float | None:
    """A number, or None for what is undefined."""
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise TypeError(f"{value!r:.60} in place of a number")
    return value  # type: ignore[return-value]


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise TypeError(f"{value!r:.60} in place of a whole number")
    return value


def match_comparison(
    comparison: dict[str, Any], run: Run, gold: Gold | None, scores: dict[str, Any] | None
) -> dict[str, Any]:
    """A comparison, with what is known of the run beside it.

    ``same``: whether it is of the same text, None if only numbers could be compared;
    ``differences``: in words; ``same_case``: whether both learned from words in lower case, or both
    from words as written; ``own``: the run's own score, None unless it is of the same gold trees by
    the same convention.
    """
    corpus, differences = comparison["corpus"], _differences(comparison["corpus"], run, gold)
    same = False if differences else (True if gold is not None else None)
    return {
        **comparison,
        "same": same,
        "differences": differences,
        "same_case": corpus["lowercase"] == run.configuration.preprocessing.lowercase,
        "own": _own(comparison, scores) if same and scores else None,
    }


def _differences(corpus: dict[str, Any], run: Run, gold: Gold | None) -> list[str]:
    marks = run.corpus.punctuation if gold is None else gold.punctuation
    sentences, words = len(run.corpus.words), sum(mark.count(False) for mark in marks)
    found = []
    if corpus["sentences"] != sentences:
        found.append(f"it has {plural(corpus['sentences'], 'sentence')}, the run {sentences:,}")
    if corpus["words"] != words:
        found.append(
            f"it has {plural(corpus['words'], 'word')} without punctuation, the run {words:,}"
        )
    if gold is None or found:
        return found
    if corpus["digest"] == gold_digest(gold.sentences, gold.punctuation):
        return []
    return ["its gold trees, or which of their words are punctuation, are not those given"]


def _own(comparison: dict[str, Any], scores: dict[str, Any]) -> dict[str, Any] | None:
    def convention(signature: str) -> list[str]:
        """Without the length limit, which the same sentences are within, and the version."""
        parts = signature.split("|")
        return [part for part in parts if not part.startswith(("length:", "dbpcfg:"))]

    if convention(comparison["signature"]) != convention(scores["signature"]):
        return None
    one = next(one for one in scores["systems"] if one.get("selected"))
    return None if one["f1"] is None else {"chain": one["chain"], "f1": one["f1"]}
