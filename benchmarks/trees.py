"""MBR trees, Viterbi trees and the ten best of 10,000 sentences, as ratios in one run.

    python benchmarks/trees.py             # a grammar of K = 15, D = 2, and a flat one of low rank
    python benchmarks/trees.py RUN         # also the grammar of a run, such as a neural one

Sentences are child-directed speech (adam in DBPCFG_DATA), or random words. The dense grammar has
seen 40 iterations. Of the flat one no rule is much more probable than others, as after the first
steps of the neural learner, so that posteriors prune nothing: 60 sentences. Seconds are those of
the processor, on one thread.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from speed import random_text, warm

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.reading import read
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.tables import Column, Table
from dbpcfg.parsing.mbr import mbr
from dbpcfg.parsing.parsers import parser_of

SENTENCES, FLAT = 10_000, 60
PHRASES, WORDS, RANK = 40, 80, 120


def text() -> Encoded:
    folder = os.environ.get("DBPCFG_DATA")
    if not folder:
        return random_text(SENTENCES, (2, 10))
    found = preprocess(read(Path(folder) / "adam"), Preprocessing()).encoded
    return found.select(np.arange(min(SENTENCES, len(found))))


def flat(corpus: Encoded) -> LowRankGrammar:
    rng = np.random.default_rng(0)

    def rows(number: int, size: int) -> np.ndarray:
        found = np.exp(0.3 * rng.standard_normal((number, size)))
        return found / found.sum(axis=1, keepdims=True)

    K, vocabulary = PHRASES + WORDS, corpus.vocabulary
    left, right = rows(RANK, K).T, rows(RANK, K).T
    factors = Factors(rows(1, K)[0], rows(PHRASES, RANK), left, right, rows(WORDS, len(vocabulary)))
    return LowRankGrammar(factors, vocabulary)


def seconds(function: Callable[[], object]) -> float:
    """Processor seconds of the faster of two calls, after one that compiles."""
    times = []
    for _ in range(3):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times[1:])


def row(name: str, grammar: Grammar, depth: int | None, corpus: Encoded) -> tuple[object, ...]:
    single, double = parser_of(grammar, depth, 1, "single"), parser_of(grammar, depth)
    took = [
        seconds(lambda: mbr([single], corpus, 1)),
        seconds(lambda: double.viterbi(corpus)),
        seconds(lambda: double.n_best(corpus, 10)),
    ]
    return name, len(corpus), *took, took[1] / took[0], took[2] / took[0]


def main() -> None:
    corpus = text()
    rows = [row("K=15, D=2", warm(corpus, ChainSettings(15, 2), 40).grammar, 2, corpus)]
    for path in sys.argv[1:]:
        model = dbpcfg.load(path)
        seen = model.encode([corpus[s] for s in range(len(corpus))])
        rows.append(row(Path(path).name, model.grammar_with_unknown, model.depth, seen))
    rows.append(row("flat, K=120, D=3", flat(corpus), 3, corpus.select(np.arange(FLAT))))
    columns = [Column("grammar"), Column("sentences", "count")]
    columns += [Column(x, "number", decimals=2) for x in ("mbr s", "viterbi s", "10 best s")]
    columns += [Column(x, "number", decimals=2) for x in ("viterbi/mbr", "10 best/mbr")]
    print(Table("Trees (one thread)", columns, rows))


if __name__ == "__main__":
    main()
