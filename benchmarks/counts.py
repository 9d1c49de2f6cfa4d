"""Expected rule counts against the inside pass, in one run.

    python benchmarks/counts.py CORPUS [--max-length 20] [--categories 15 30 45] [--depths 1 2 none]

Times are the least of several rounds, in which both take turns; the ratio is the least time of
one over that of the other. The grammar is one of a sampler after some iterations, as posteriors
under a grammar from the prior are flatter than those of any that is learned.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.parsing.chart.parser import ChartParser


def seconds(work: Callable[[], object]) -> float:
    """The processor time that a call takes, on one thread."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def main() -> None:
    """Print a line for each K, D and precision."""
    options = argparse.ArgumentParser()
    options.add_argument("corpus")
    options.add_argument("--max-length", type=int, default=20)
    options.add_argument("--sentences", type=int, default=2000)
    options.add_argument("--categories", type=int, nargs="+", default=[15, 30, 45])
    options.add_argument("--depths", nargs="+", default=["1", "2", "none"])
    options.add_argument("--iterations", type=int, default=10)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    sentences = dbpcfg.read(given.corpus)
    forms = RunCorpus.of(preprocess(sentences, Preprocessing(max_length=given.max_length))).forms
    corpus = forms.select(np.arange(min(given.sentences, len(forms))))
    print("K\tD\tprecision\tinside s\tcounts s\tratio")
    for K in given.categories:
        for bound in given.depths:
            depth = None if bound == "none" else int(bound)
            for precision in ("double", "single"):
                settings = ChainSettings(K, depth, precision=precision)
                state = settings.learner.first(corpus, settings)
                for _ in range(given.iterations):
                    state = settings.learner.step(state, corpus, settings, Mapper())
                parser = ChartParser(state.grammar, depth, 1, precision)
                parser.expected_counts(corpus)
                inside, counts = [], []
                for _ in range(given.rounds):
                    inside.append(seconds(partial(parser.log_probabilities, corpus)))
                    counts.append(seconds(partial(parser.expected_counts, corpus)))
                print(
                    f"{K}\t{bound}\t{precision}\t{min(inside):.3f}\t{min(counts):.3f}\t"
                    f"{min(counts) / min(inside):.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
