"""The default command, each learner and branching trees on any treebanks: a row for each run.

    python benchmarks/texts.py TREEBANK... [--most 5000] [--seeds 0 1 2] [--category NP]
        [--learners default unguided gibbs em vb] [--max-length N] > rows.tsv

``default`` is ``dbpcfg induce TEXT --out RUN`` and nothing else; ``unguided`` the neural grammar
learned from whole sentences, without a teacher. Others learn from sentences of at most 20 words,
with 300 iterations in a race of the sampler and 4 chains of 25 iterations of EM and VB, and parse
all: with their own defaults some texts would take hours. Processor time is that of the command.

``marks``: branching trees with no constituent across a mark, as in the trees of ``default``.
"""

from __future__ import annotations

import argparse
import functools
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence, punctuation_mask
from dbpcfg.evaluation.evaluate import Evaluation
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.directory import finished_run
from dbpcfg.parsing.derivations import as_tree
from dbpcfg.parsing.direction import branching_side, branching_trees
from dbpcfg.trees.tree import Tree

SHORT = ("--max-length", "20", "-D", "2", "--rare", "1")
LEARNERS: dict[str, tuple[str, ...]] = {
    "default": (),
    "unguided": ("--learner", "neural", "--teacher", "none", "--stretch", "0"),
    "gibbs": ("--learner", "gibbs", "--budget", "300", *SHORT),
    "em": ("--learner", "em", "--iterations", "25", "--chains", "4", *SHORT),
    "vb": ("--learner", "vb", "--iterations", "25", "--chains", "4", *SHORT),
}
COLUMNS = ("text", "sentences", "system", "seed", "F1", "NP", "aggregate", "V", "share", "verdict")


def scores(found: Evaluation) -> tuple[float, ...]:
    """F1, recall and aggregate F1 of noun phrases, V-measure of labels, in percent."""
    measures = (
        found.score.f1,
        found.recall.recall,
        found.aggregate.f1,
        found.constituents.score().v_measure,
    )
    return tuple(100 * x for x in measures)


def branching(treebank: Sequence[Sentence], category: str) -> Iterator[tuple[str, Evaluation]]:
    """Branching trees, and those within punctuation marks."""
    marked = Preprocessing(no_punctuation=True, punctuation_brackets=True)
    for name, options in (("", Preprocessing(no_punctuation=True)), (" marks", marked)):
        corpus = RunCorpus.of(preprocess(treebank, options))
        for side in ("right", "left"):
            found = branching_trees(corpus.forms, side)
            trees = [as_tree(found[s], words) for s, words in enumerate(corpus.words)]
            yield f"{side}{name}", evaluated(treebank, list(corpus.words), trees, category)


def evaluated(
    treebank: Sequence[Sentence], words: list[tuple[str, ...]], trees: list[Tree], category: str
) -> Evaluation:
    """Scores of trees of those sentences of a treebank that have words."""
    from dbpcfg.evaluation.goldtrees import match_gold

    gold = match_gold(words, treebank, "the treebank", "auto").trees
    return dbpcfg.evaluate(gold, trees, category=category, quiet=True)


def learned(
    text: Path, treebank: Sequence[Sentence], system: str, seed: int, category: str
) -> tuple[Evaluation, float | None, str, float]:
    """Scores of a run, agreement of its chains, its verdict, and its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run")
        induce = [sys.executable, "-m", "dbpcfg", "induce", str(text), "--out", str(out), "--quiet"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [*induce, "--seed", str(seed), "--threads", "1", *LEARNERS[system]],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        run = finished_run(out)
        words, trees = list(run.corpus.words), run.trees()
        if "--max-length" in LEARNERS[system]:
            words = [one.words for one in treebank]
            trees = run.parse(words, quiet=True)
        found = evaluated(treebank, words, trees, category)
        return found, run.verdict.agreement, run.verdict.level, seconds


def unmarked(sentence: Sentence) -> int:
    """The number of words, punctuation not counted."""
    return len(sentence.words) - sum(punctuation_mask(sentence, "auto"))


def print_row(
    text: str, sentences: int, system: str, seed: object, found: Evaluation, *rest: object
) -> None:
    """A row of the table."""
    figures = [f"{x:.1f}" for x in scores(found)]
    print(text, sentences, system, seed, *figures, *rest, sep="\t", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("treebanks", nargs="+")
    parser.add_argument("--most", type=int, default=5000, help="sentences of each, at most")
    parser.add_argument("--max-length", type=int)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--learners", nargs="*", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--category", default="NP", help="of noun phrases")
    parser.add_argument("--no-baselines", action="store_true")
    given = parser.parse_args()
    print(*COLUMNS, "seconds", sep="\t")
    for path in given.treebanks:
        treebank = [
            one
            for one in dbpcfg.read(path, quiet=True)
            if one.tree is not None
            and (given.max_length is None or unmarked(one) <= given.max_length)
        ][: given.most]
        show = functools.partial(print_row, Path(path).stem, len(treebank))
        if not given.no_baselines:
            side = branching_side(
                RunCorpus.of(
                    preprocess(
                        treebank, Preprocessing(no_punctuation=True, punctuation_brackets=True)
                    )
                ).forms
            )
            for name, found in branching(treebank, given.category):
                show(name, "", found, "", f"side: {side}" if name.endswith("marks") else "", "")
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder, "text.mrg")
            text.write_text("".join(f"{one.tree}\n" for one in treebank), encoding="utf-8")
            for system in given.learners:
                for seed in given.seeds:
                    found, share, level, seconds = learned(
                        text, treebank, system, seed, given.category
                    )
                    shown = "" if share is None else f"{100 * share:.0f}"
                    show(system, seed, found, shown, level, f"{seconds:.0f}")


if __name__ == "__main__":
    main()
