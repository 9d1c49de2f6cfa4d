"""Words a second of word-by-word measures, and memory over a long text.

    python benchmarks/surprisal.py              # all of it, some ten minutes
    python benchmarks/surprisal.py throughput   # a part; a wrong name lists them

The grammar is one of newswire (wsj-sample in DBPCFG_DATA, at most 40 words), after 60 iterations
at K = 15, D = 2; sentences are 300 of them, evenly spaced. The low-rank grammar of 120 categories
is a random one over the same words. Seconds are those of the processor, on one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from speed import warm

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.reading import read
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.io.tables import Column, Table
from dbpcfg.model.model import Model
from dbpcfg.parsing.leftcorner.derivation_entropy import DerivationEntropies
from dbpcfg.parsing.leftcorner.parser import WordByWord
from dbpcfg.parsing.parsers import prefix_parser_of

K, SENTENCES = 15, 300
FEW = {3: 3}
"""Sentences that the left-corner parser follows at this depth, where it takes long."""
PHRASES, WORDS = 40, 80
"""Categories of the low-rank grammar, whose rank is their number."""


class Newswire(NamedTuple):
    grammar: Grammar
    sentences: list[np.ndarray]
    text: Encoded


def newswire() -> Newswire:
    folder = os.environ.get("DBPCFG_DATA")
    if not folder:
        sys.exit("skipped: DBPCFG_DATA is not set, and these figures are of its newswire")
    text = preprocess(read(Path(folder) / "wsj-sample"), Preprocessing(max_length=40)).encoded
    grammar = warm(text, ChainSettings(K, 2), 60).grammar
    some = np.linspace(0, len(text) - 1, SENTENCES).astype(int)
    return Newswire(grammar, [text.tokens[text.starts[s] : text.starts[s + 1]] for s in some], text)


def words_in(sentences: list[np.ndarray]) -> int:
    return sum(map(len, sentences))


def seconds(function: Callable[[], object], repeats: int = 3) -> float:
    """Processor seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


def low_rank(vocabulary: Vocabulary) -> LowRankGrammar:
    rng, categories = np.random.default_rng(0), PHRASES + WORDS
    factors = Factors(
        rng.dirichlet(np.ones(categories)),
        rng.dirichlet(np.ones(categories), PHRASES),
        rng.dirichlet(np.ones(categories), categories).T,
        rng.dirichlet(np.ones(categories), categories).T,
        rng.dirichlet(np.full(len(vocabulary), 0.1), WORDS),
    )
    return LowRankGrammar(factors, vocabulary)


def throughput(news: Newswire) -> Table:
    """All measures but stores: by the left-corner parser, by the chart, and with entropies."""
    rows = []
    neural = low_rank(news.text.vocabulary)
    grammars = [(news.grammar, D) for D in (1, 2, 3, None)] + [(neural, D) for D in (1, 2, 3, None)]
    corpus = Encoded.from_numbers([one.tolist() for one in news.sentences], news.text.vocabulary)
    for grammar, D in grammars:
        old = None
        if grammar is news.grammar and D is not None:
            parser = WordByWord(grammar, D)
            few = news.sentences[:: SENTENCES // FEW.get(D, SENTENCES)]
            parser.follow_all(few[:1])
            took = seconds(lambda p=parser, f=few: p.follow_all(f), 1 if len(few) < 50 else 3)
            old = words_in(few) / took
        chart = prefix_parser_of(grammar, D)
        found = chart.prefixes(corpus)
        took = seconds(lambda c=chart: c.prefixes(corpus))
        with one_blas_thread():
            chart.entropies(found[0])
            more = seconds(lambda c=chart, f=found: [c.entropies(one) for one in f])
        words = len(corpus.tokens)
        new, both = words / took, words / (took + more)
        rank = "full" if grammar is news.grammar else str(PHRASES + WORDS)
        depth = "none" if D is None else str(D)
        rows.append((grammar.categories, rank, depth, old, new, both, new / old if old else None))
    columns = [Column("K", "count"), Column("rank"), Column("D"), Column("left corners", "count")]
    columns += [Column("chart", "count"), Column("with entropies", "count")]
    columns.append(Column("times", "number", decimals=1))
    return Table("Words a second, one thread", columns, rows)


def agreement(news: Newswire) -> Table:
    """The greatest differences between both, over some sentences."""
    some, rows = news.sentences[::10], []
    corpus = Encoded.from_numbers([one.tolist() for one in some], news.text.vocabulary)
    for D in (1, 2):
        chart, traces = (
            prefix_parser_of(news.grammar, D),
            WordByWord(news.grammar, D).follow_all(some),
        )
        worst = {
            name: max(
                float(np.nanmax(np.abs(getattr(ours, name) - getattr(theirs, name))))
                for ours, theirs in zip(chart.prefixes(corpus), traces, strict=True)
            )
            for name in ("logs", "ended", "depths", "fork", "join", "closed")
        }
        rows.append((D, *(f"{value:.0e}" for value in worst.values())))
    return Table("Greatest differences", [Column("D", "count"), *map(Column, worst)], rows)


def hale(news: Newswire) -> Table:
    rows = []
    for D in (1, 2):
        parser = WordByWord(news.grammar, D)
        entropies, some = DerivationEntropies(parser), news.sentences[::10]
        parser.follow_all(some[:1])
        rest = seconds(lambda p=parser, s=some: p.follow_all(s))
        with one_blas_thread():
            took = seconds(lambda e=entropies, s=some: [e.follow(one.tolist()) for one in s])
        words = words_in(some)
        rows.append((D, words / rest, words / took, took / rest))
    columns = [Column("D", "count"), Column("stores, words/s", "count")]
    columns += [Column("entropy, words/s", "count"), Column("times as long", "number", decimals=1)]
    return Table("Hale's entropy of derivations (K=15, one thread)", columns, rows)


def memory(news: Newswire) -> Table:
    """The command over 10,000 and more words, on two threads."""
    script = (
        "import sys, time\nfrom dbpcfg.cli.app import main\nbegan = time.perf_counter()\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(time.perf_counter() - began, file=sys.stderr)\n"
        "status = open('/proc/self/status')\n"
        "print(next(x for x in status if x.startswith('VmHWM')), file=sys.stderr)"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model, text = Path(folder) / "model.npz", Path(folder) / "text.txt"
        Model(news.grammar, 2, Preprocessing(lowercase=False)).save(model)
        lines = [" ".join(news.text[s]) for s in range(len(news.text))]
        for number in (10_000, 100_000, 1_000_000):
            words = write_text(text, lines, number)
            command = ["surprisal", model, text, "--out", f"{folder}/out", "--overwrite"]
            done = subprocess.run(
                [sys.executable, "-c", script, *map(str, command), "--threads", "2"],
                capture_output=True,
                text=True,
                check=True,
            )
            took, peak = done.stderr.split()[-4], done.stderr.split()[-2]
            rows.append((words, words / float(took), int(peak) / 2**10))
    columns = [Column("words", "count"), Column("words/s", "count")]
    columns.append(Column("peak MiB", "number", decimals=1))
    return Table("dbpcfg surprisal on two threads, D=2 (wall time)", columns, rows)


def write_text(path: Path, lines: list[str], number: int) -> int:
    """Repeat sentences until there are this many words."""
    words, n = 0, 0
    with path.open("w") as file:
        while words < number:
            file.write(lines[n % len(lines)] + "\n")
            words += lines[n % len(lines)].count(" ") + 1
            n += 1
    return words


PARTS = {part.__name__: part for part in (throughput, agreement, hale, memory)}


def main() -> None:
    asked = sys.argv[1:] or list(PARTS)
    unknown = [name for name in asked if name not in PARTS]
    if unknown:
        sys.exit(f"no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    news = newswire()
    print(f"{len(news.sentences)} sentences, {words_in(news.sentences):,} words\n")
    for name in asked:
        print(PARTS[name](news), flush=True)
        print()


if __name__ == "__main__":
    main()
