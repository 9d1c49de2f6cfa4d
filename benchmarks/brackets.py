"""How much known brackets help: F1 of the other sentences, and labels if all are known.

    python benchmarks/brackets.py TREEBANK [--seeds 5] [--iterations 100] [--shares 0 1 5 10 25 100]

A share of the sentences has the brackets of its gold trees, and the sampler (K = 15, D = 2, one
chain) learns from all of them. F1 is of the same three quarters of the sentences for all shares,
which have no brackets; of 100 %, where every sentence has them, scores are of all sentences. Gold
trees deeper than the bound are left out.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import replace

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.induction.corpus import within_bound

DEPTH, KEPT = 2, 0.75


def fitting_sentences(path: str, depth: int) -> list[Sentence]:
    """Sentences whose gold trees fit the bound, with their brackets."""
    preprocessed = preprocess(dbpcfg.read(path), Preprocessing(brackets="trees"))
    found = within_bound(preprocessed, depth, skip=True).sentences
    print(f"{path}: {len(found):,} of {len(preprocessed):,} sentences, D = {depth}", flush=True)
    return found


def learned(sentences: list[Sentence], known: set[int], seed: int, iterations: int) -> dbpcfg.Run:
    given = [one if s in known else replace(one, brackets=()) for s, one in enumerate(sentences)]
    return dbpcfg.induce(
        given,
        D=DEPTH,
        learner="gibbs",
        rare=1,
        chains=1,
        iterations=iterations,
        seed=seed,
        threads=1,
        quiet=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("treebank")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--shares", type=int, nargs="+", default=[0, 1, 5, 10, 25, 100])
    options = parser.parse_args()
    sentences = fitting_sentences(options.treebank, DEPTH)
    print("seed  share  known     F1  NP recall  NP aggregate F1  V-measure  CPU seconds")
    for seed in range(options.first, options.first + options.seeds):
        order = list(range(len(sentences)))
        random.Random(seed).shuffle(order)
        free = sorted(order[-round(KEPT * len(order)) :])
        for share in options.shares:
            known = set(order[: round(share / 100 * len(order))])
            began = time.process_time()
            trees = learned(sentences, known, seed, options.iterations).trees()
            seconds = time.process_time() - began
            scored = range(len(trees)) if share == 100 else free
            gold = [sentences[s] for s in scored]
            found = dbpcfg.evaluate(gold, [trees[s] for s in scored], quiet=True)
            scores = (
                found.score.f1,
                found.recall.recall,
                found.aggregate.f1,
                found.constituents.score().v_measure,
            )
            f1, recall, aggregate, v = (100 * score for score in scores)
            print(
                f"{seed:4}  {share:4}%  {len(known):5}  {f1:5.1f}  {recall:9.1f}  "
                f"{aggregate:15.1f}  {v:9.1f}  {seconds:11.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
