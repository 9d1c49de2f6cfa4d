"""Words a second of word-by-word measures, the error of the beam, and memory over a long text.

    python benchmarks/surprisal.py              # all of it, some ten minutes
    python benchmarks/surprisal.py throughput   # a part; a wrong name lists them

The grammar is one of newswire (wsj-sample in DBPCFG_DATA, at most 40 words), after 60 iterations
at K = 15, D = 2; sentences are 300 of them, evenly spaced. Seconds are those of the processor.
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

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.reading import read
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.io.tables import Column, Table
from dbpcfg.model.model import Model
from dbpcfg.parsing.leftcorner.derivation_entropy import DerivationEntropies
from dbpcfg.parsing.leftcorner.parser import BEAM, Followed, LeftCornerParser, WordByWord

K, SENTENCES = 15, 300
FEW = {(3, 0): 3, (3, BEAM): 40}
"""Sentences for what takes long: depth and beam."""


class Newswire(NamedTuple):
    grammar: Grammar
    sentences: list[np.ndarray]
    text: Encoded


def newswire() -> Newswire:
    folder = os.environ.get("DBPCFG_DATA")
    if not folder:
        sys.exit("skipped: DBPCFG_DATA is not set, and these figures are of its newswire")
    text = prepare(read(Path(folder) / "wsj-sample"), Preparation(max_length=40)).encoded
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


def throughput(news: Newswire) -> Table:
    rows = []
    for D in (1, 2, 3):
        for beam in (0, BEAM):
            parser = WordByWord(news.grammar, D, beam)
            few = news.sentences[:: SENTENCES // FEW.get((D, beam), SENTENCES)]
            parser.follow_all(few[:1])
            took = seconds(lambda p=parser, f=few: p.follow_all(f), 1 if len(few) < 50 else 3)
            words = words_in(few)
            rows.append((D, f"{beam:,}" if beam else "all", words, words / took))
    columns = [Column("D", "count"), Column("stores kept"), Column("words", "count")]
    columns.append(Column("words/s", "count"))
    return Table("Throughput (K=15, one thread)", columns, rows)


def reference(news: Newswire) -> Table:
    """All measures, against the plain loops of ``filtering``, which have the probability only."""
    parser, plain = WordByWord(news.grammar, 2, 0), LeftCornerParser(news.grammar, 2)
    some = news.sentences[::10]
    corpus = Encoded.from_numbers([list(map(int, one)) for one in some], news.text.vocabulary)
    parser.follow_all(some[:1])
    followed: list[Followed] = []
    logs = plain.log_probabilities(corpus)
    ours = seconds(lambda: followed.extend(parser.follow_all(some)), 3)
    theirs = seconds(lambda: plain.log_probabilities(corpus), 1)
    found = np.array([one.trace.logs.sum() for one in followed[: len(some)]])
    error = float(np.abs(found / logs - 1).max())
    words = words_in(some)
    columns = [Column("what"), Column("words/s", "count"), Column("times", "number", decimals=1)]
    rows = [("plain loops", words / theirs, 1.0), ("products", words / ours, theirs / ours)]
    return Table(
        "All stores, D=2",
        columns,
        rows,
        [f"greatest relative difference of a sentence's log-probability: {error:.0e}"],
    )


def beam(news: Newswire) -> Table:
    rows = []
    for D in (2, 3):
        few = news.sentences[:: SENTENCES // 6] if D == 3 else news.sentences[::5]
        exact = np.concatenate(
            [o.trace.logs for o in WordByWord(news.grammar, D, 0).follow_all(few)]
        )
        for width in (500, BEAM, 10_000):
            followed = WordByWord(news.grammar, D, width).follow_all(few)
            logs = np.concatenate([one.trace.logs for one in followed])
            lost = np.concatenate([one.trace.lost for one in followed])
            bits = np.abs(logs - exact) / np.log(2)
            rows.append((D, width, len(bits), bits.mean(), bits.max(), lost.mean(), lost.max()))
    columns = [Column("D", "count"), Column("beam", "count"), Column("surprisals", "count")]
    for name in ("mean error", "greatest", "mean lost", "greatest lost"):
        columns.append(Column(name, "number", decimals=5))
    return Table("Error of the beam, in bits", columns, rows)


def hale(news: Newswire) -> Table:
    rows = []
    for D in (1, 2):
        parser = WordByWord(news.grammar, D, 0)
        entropies, some = DerivationEntropies(parser), news.sentences[::10]
        parser.follow_all(some[:1])
        rest = seconds(lambda p=parser, s=some: p.follow_all(s))
        with one_blas_thread():
            took = seconds(lambda e=entropies, s=some: [e.follow(one.tolist()) for one in s])
        words = words_in(some)
        rows.append((D, words / rest, words / took, took / rest))
    columns = [Column("D", "count"), Column("all else, words/s", "count")]
    columns += [Column("entropy, words/s", "count"), Column("times as long", "number", decimals=1)]
    return Table("Hale's entropy of derivations (K=15, one thread)", columns, rows)


def memory(news: Newswire) -> Table:
    """The command over 10,000 and 100,000 words, exact and with a beam, on two threads."""
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
        Model(news.grammar, 2, Preparation(lowercase=False)).save(model)
        lines = [" ".join(news.text[s]) for s in range(len(news.text))]
        for kept in ("0", str(BEAM)):
            for number in (10_000, 100_000):
                words = write_text(text, lines, number)
                command = ["surprisal", model, text, "--out", f"{folder}/out", "--overwrite"]
                command += ["--threads", "2", "--beam", kept]
                done = subprocess.run(
                    [sys.executable, "-c", script, *map(str, command)],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                took, peak = done.stderr.split()[-4], done.stderr.split()[-2]
                error = [x for x in done.stderr.splitlines() if x.startswith("error of")]
                print(*error, sep="\n", flush=True)
                shown = "all" if kept == "0" else f"{BEAM:,}"
                rows.append((shown, words, words / float(took), int(peak) / 2**10))
    columns = [Column("stores kept"), Column("words", "count"), Column("words/s", "count")]
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


PARTS = {part.__name__: part for part in (throughput, reference, beam, hale, memory)}


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
