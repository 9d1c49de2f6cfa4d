"""What a grammar learned from text of one kind is worth on another text, by the size of the first.

    python benchmarks/study.py learn FOLDER TEXT... --treebank TREEBANK [--sizes 5000 20000 all]
        [--seeds 0 1 2] [--chains 4]
    python benchmarks/study.py score FOLDER --treebank TREEBANK --pairs PAIRS [--seeds 0 1 2]
        > rows.tsv
    python benchmarks/study.py figure rows.tsv docs/images/large.svg

A size is a number of utterances of the texts, drawn at random; ``all`` of them; ``treebank``, the
sentences of the treebank, without its trees; or two of these, as in ``80000+treebank``. Each seed
draws its own, and larger samples contain smaller ones. FOLDER keeps a run and a row for each size
and seed: what is there is not done again. Processor time and peak memory are those of
``dbpcfg induce``; compiling takes both, so compile kernels before (``dbpcfg warm``).

``score``: a row for each run. The treebank is parsed with ``dbpcfg parse``, and scored; *updates*
are the mini-batches of a chain.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.learners.neural import NetworkState
from dbpcfg.report.figures import ACCENT, MARKS, SOFT, save, style

TREEBANK, ALL = "treebank", "all"
LEARNING = ("--learner", "neural", "--teacher", "none", "-D", "3", "--tokens", "penn")
SCORES = ("F1", "NP", "aggregate", "V")
COLUMNS = ("text", "utterances", "seed", *SCORES, "pairs", "critical", "same", "updates", "agreed")
COSTS = ("seconds", "MB")


def command(*arguments: object) -> list[str]:
    """A command of dbpcfg, which says nothing that is not asked for."""
    return [sys.executable, "-m", "dbpcfg", *map(str, arguments), "--quiet"]


def lines_of(*texts: str) -> list[str]:
    """The sentences of texts, as lines."""
    listed = []
    for text in texts:
        done = subprocess.run(
            command("convert", text, "-", "--to", "text"), check=True, capture_output=True
        )
        listed += done.stdout.decode().splitlines()
    return listed


def sample(size: str, texts: list[str], treebank: list[str], seed: int) -> list[str]:
    """The sentences to learn from."""
    chosen: list[str] = []
    for part in size.split("+"):
        if part == TREEBANK:
            chosen += treebank
            continue
        most = len(texts) if part == ALL else int(part)
        if most > len(texts):
            raise SystemExit(f"there are only {len(texts):,} utterances")
        drawn = list(texts)
        random.Random(seed).shuffle(drawn)
        chosen += drawn[:most]
    return chosen


def learn(given: argparse.Namespace) -> None:
    """Learn a grammar from each sample."""
    texts, treebank = lines_of(*given.text), lines_of(given.treebank)
    for seed in given.seeds:
        for size in given.sizes:
            folder = Path(given.folder, f"{size}-{seed}")
            if (folder / "cost.json").exists():
                continue
            folder.mkdir(parents=True, exist_ok=True)
            chosen = sample(size, texts, treebank, seed)
            (folder / "text.txt").write_text("\n".join([*chosen, ""]), encoding="utf-8")
            induce = command(
                *("induce", folder / "text.txt", "--out", folder / "run", "--overwrite"),
                *(*LEARNING, "--chains", given.chains, "--seed", seed, "--threads", 1),
                *("--workers", "threads"),
            )
            child = subprocess.Popen(induce, stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            if status:
                raise SystemExit(f"{folder.name} failed")
            figures = {
                "utterances": len(chosen),
                "seconds": used.ru_utime + used.ru_stime,
                "MB": used.ru_maxrss / 1024,
            }
            (folder / "cost.json").write_text(json.dumps(figures))
            print(folder.name, figures, flush=True)


def tables(*arguments: object) -> dict[str, dict[str, Any]]:
    """The last row of each table that a command prints."""
    done = subprocess.run(command(*arguments, "--format", "json"), check=True, capture_output=True)
    return {table["title"]: table["rows"][-1] for table in json.loads(done.stdout)}


def scores(folder: Path, treebank: str, pairs: str) -> dict[str, Any]:
    """The row of a run, which is kept."""
    kept = folder / "row.json"
    if kept.exists():
        row: dict[str, Any] = json.loads(kept.read_text())
        return row
    run, trees = folder / "run", folder / "parsed.txt"
    with trees.open("wb") as file:
        subprocess.run(command("parse", run, treebank), check=True, stdout=file)
    found = tables("evaluate", treebank, trees)
    tested = tables("pairs", run, pairs, "--threads", 1)["Minimal pairs"]
    learned, cost = finished_run(run), json.loads((folder / "cost.json").read_text())
    state = learned.best.state
    assert isinstance(state, NetworkState)
    assert state.network is not None
    text, _, seed = folder.name.rpartition("-")
    shares = {
        "F1": found["PARSEVAL"]["f1"],
        "NP": found["NP discovery"]["recall"],
        "aggregate": found["NP discovery"]["aggregate_f1"],
        "V": found["Constituent labels"]["v_measure"],
        "pairs": tested["log_probability"],
        "critical": tested["critical_word"],
        "agreed": learned.shared.agreement() or 0.0,
    }
    row = {
        **{name: f"{100 * share:.1f}" for name, share in shares.items()},
        **{name: f"{cost[name]:.0f}" for name in COSTS},
        "text": text,
        "utterances": cost["utterances"],
        "seed": seed,
        "same": tested["same"],
        "updates": state.network.steps,
    }
    kept.write_text(json.dumps(row))
    return row


def order(folder: Path) -> tuple[bool, int, str, int]:
    """Samples without the treebank first, then by size and seed."""
    text, _, seed = folder.name.rpartition("-")
    utterances = json.loads((folder / "cost.json").read_text())["utterances"]
    return TREEBANK in text, utterances, text, int(seed)


def score(given: argparse.Namespace) -> None:
    """Print a row for each run."""
    rows = csv.DictWriter(sys.stdout, [*COLUMNS, *COSTS], delimiter="\t", lineterminator="\n")
    rows.writeheader()
    done = [cost.parent for cost in Path(given.folder).glob("*/cost.json")]
    for folder in sorted(done, key=order):
        if int(folder.name.rpartition("-")[2]) not in given.seeds:
            continue
        rows.writerow(scores(folder, given.treebank, given.pairs))
        sys.stdout.flush()


def figure(given: argparse.Namespace) -> None:
    """Draw scores by the number of utterances, a point for each run and a line for the means."""
    from matplotlib.figure import Figure

    with open(given.rows, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if TREEBANK not in row["text"]]
    sizes = sorted({int(row["utterances"]) for row in rows})
    with style():
        drawing = Figure(figsize=(5.2, 3.4), layout="constrained")
        axes = drawing.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        names = {"NP": "noun phrases found", "F1": "F1", "aggregate": "aggregate NP F1"}
        for number, (column, name) in enumerate(names.items()):
            color = (SOFT, ACCENT, "#b45309")[number]
            points = [(int(row["utterances"]), float(row[column])) for row in rows]
            look: dict[str, Any] = {"color": color, "marker": MARKS[number], "fillstyle": "none"}
            axes.plot(*zip(*points, strict=True), linestyle="none", label=name, **look)
            means = [mean(y for x, y in points if x == size) for size in sizes]
            axes.plot(sizes, means, color=color, linewidth=0.75)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.set_ylim(50, 100)
        axes.set_xlabel("utterances learned from")
        axes.set_ylabel("%")
        axes.legend(frameon=False, loc="lower right", ncols=3)
        save(drawing, Path(given.image))


def mean(numbers: Iterable[float]) -> float:
    """Their mean."""
    listed = list(numbers)
    return sum(listed) / len(listed)


def main() -> None:
    """Learn, print a table, or draw it."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = options.add_subparsers(required=True)
    learning = commands.add_parser("learn")
    learning.add_argument("folder")
    learning.add_argument("text", nargs="+")
    learning.add_argument("--sizes", nargs="+", default=["5000", "20000", "80000", ALL, TREEBANK])
    learning.add_argument("--chains", type=int, default=4)
    learning.set_defaults(call=learn)
    scoring = commands.add_parser("score")
    scoring.add_argument("folder")
    scoring.add_argument("--pairs", required=True)
    scoring.set_defaults(call=score)
    for parser in (learning, scoring):
        parser.add_argument("--treebank", required=True)
        parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    drawing = commands.add_parser("figure")
    drawing.add_argument("rows")
    drawing.add_argument("image")
    drawing.set_defaults(call=figure)
    given = options.parse_args()
    given.call(given)


if __name__ == "__main__":
    main()
