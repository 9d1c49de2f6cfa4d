"""How much the answer depends on the seed, and which criterion picks the best trees.

    python benchmarks/inference.py seeds newswire                  # the race, seeds 0 to 9
    python benchmarks/inference.py seeds newswire --seeds 3 --paper # four chains, the paper's rule
    python benchmarks/inference.py seeds adam -D 1 --budget 1500
    python benchmarks/inference.py criteria newswire --chains 40   # rank correlations over chains

Corpora are found through DBPCFG_DATA. Newswire and stories are their sentences of at most 20 words,
forms that occur once replaced by classes (``--rare 0`` keeps them). Scores are PARSEVAL by the
paper's convention and recall of noun phrases of two words or more, both in per cent, of MBR trees.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess

FOLDERS = {
    "newswire": "wsj-sample",
    "adam": "adam",
    "stories": "naturalstories/all-parses.txt.penn",
}


def corpus(arguments: argparse.Namespace):
    data = os.environ.get("DBPCFG_DATA")
    if not data:
        sys.exit("set DBPCFG_DATA to the folder of corpora")
    treebank = dbpcfg.read(Path(data, FOLDERS[arguments.corpus]))
    written = arguments.corpus != "adam"
    rare = arguments.rare if arguments.rare is not None else int(written)
    chosen = Preprocessing(max_length=20 if written else None, rare=rare)
    return treebank, preprocess(treebank, chosen)


def scores(run, treebank, chain=None) -> tuple[float, float]:
    """F1 and noun-phrase recall."""
    gold = run.match_gold(treebank)
    found = dbpcfg.evaluate(gold.trees, run.trees(chain))
    return 100 * found.score.f1, 100 * found.recall.recall


def seeds(arguments: argparse.Namespace) -> None:
    """One run for each seed."""
    treebank, preprocessed = corpus(arguments)
    given = {"inference": "paper"} if arguments.paper else {"budget": arguments.budget}
    if arguments.select:
        given["select"] = arguments.select
    rows = []
    print("seed  log-likelihood    F1    NP  iterations  agreement  seconds")
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        began = time.monotonic()
        run = dbpcfg.induce(
            preprocessed, arguments.K, arguments.D, seed=seed, threads=arguments.threads, **given
        )
        seconds = time.monotonic() - began
        f1, np_recall = scores(run, treebank)
        rows.append((f1, np_recall))
        (best,) = [one for one in run.summaries() if one.selected]
        done = sum(chain.iteration for chain in run.chains)
        agreement = float("nan") if best.agreement is None else 100 * best.agreement
        print(
            f"{seed:4} {best.mean_log_likelihood:15.1f} {f1:5.1f} {np_recall:5.1f} {done:11} "
            f"{agreement:10.1f} {seconds:8.0f}",
            flush=True,
        )
    for name, values in zip(("F1", "NP recall"), np.array(rows).T, strict=True):
        print(
            f"{name}: mean {values.mean():.1f}, median {np.median(values):.1f}, sd "
            f"{values.std():.1f}, least {values.min():.1f}, greatest {values.max():.1f}"
        )


def criteria(arguments: argparse.Namespace) -> None:
    """Plain chains of 200 iterations, and what each criterion makes of them."""
    treebank, preprocessed = corpus(arguments)
    run = dbpcfg.induce(
        preprocessed,
        arguments.K,
        arguments.D,
        chains=arguments.chains,
        iterations=arguments.iterations,
        seed=arguments.first,
        threads=arguments.threads,
        held_out=arguments.held_out,
    )
    summaries = run.summaries()
    f1, recall = np.array([scores(run, treebank, chain) for chain in run.chains]).T
    print(f"{len(f1)} chains: F1 {f1.mean():.1f} ± {f1.std():.1f}, NP recall {recall.mean():.1f}")
    print("criterion    rho F1  rho NP  F1 of its choice  NP")
    measured = {
        "likelihood": [one.mean_log_likelihood for one in summaries],
        "posterior": [one.posterior for one in summaries],
        "variance": [-one.variance for one in summaries],
        "agreement": [one.agreement for one in summaries],
    }
    if arguments.held_out:
        measured["heldout"] = [one.heldout for one in summaries]
    for at in (30, 60, 120):
        name = f"at {at}"
        measured[name] = [float(np.mean(chain.logs[at - 10 : at])) for chain in run.chains]
    for name, values in measured.items():
        best = int(np.argmax(values))
        print(
            f"{name:12} {spearmanr(values, f1)[0]:6.2f} {spearmanr(values, recall)[0]:7.2f} "
            f"{f1[best]:17.1f} {recall[best]:5.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["seeds", "criteria"])
    parser.add_argument("corpus", choices=FOLDERS)
    parser.add_argument("-K", type=int, default=15)
    parser.add_argument("-D", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--budget", type=int, default=1500)
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--select")
    parser.add_argument("--rare", type=int)
    parser.add_argument("--chains", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--held-out", type=int, default=0)
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    {"seeds": seeds, "criteria": criteria}[arguments.what](arguments)


if __name__ == "__main__":
    main()
