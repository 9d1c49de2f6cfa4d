"""What first use costs: processor seconds of each command, kernels not compiled and compiled.

    python benchmarks/cold.py             # all commands, one after another
    python benchmarks/cold.py induce      # up to this one

Commands share a cache that is empty at first, as they would on a new machine: each compiles only
what those before it did not. Processor time counts, not the clock, so that other work on the
machine matters little.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TEXT = """the dog sees the cat
a cat sleeps
the old dog that sees a cat barks
a dog barks at the old cat
the cat that sleeps sees the dog
"""


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands that run kernels, in the order of a first hour."""
    text, run = str(folder / "text.txt"), str(folder / "run")
    model = f"{run}/model.npz"
    chain = ["-K", "4", "--chains", "1", "--iterations", "4", "--threads", "1", "-q"]
    return {
        "induce": ["induce", text, "--out", run, *chain],
        "parse": ["parse", model, text],
        "surprisal": ["surprisal", model, text],
        "probability": ["probability", model, text],
        "parse --method viterbi": ["parse", model, text, "--method", "viterbi"],
        "parse -n 3": ["parse", model, text, "-n", "3", "--method", "viterbi"],
        "parse --method sample": ["parse", model, text, "--method", "sample"],
        "surprisal --columns stores": ["surprisal", model, text, "--columns", "stores"],
        "generate": ["generate", model, "-n", "3"],
        "generate --max-length": ["generate", model, "-n", "3", "--max-length", "5"],
    }


def processor_seconds(arguments: list[str], cache: Path) -> float:
    """User and system time of one command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "dbpcfg", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(last: str | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text.txt").write_text(6 * TEXT)
        total = 0.0
        print(f"{'command':24}  first  again  compiling")
        for command, arguments in commands(folder).items():
            first = processor_seconds(arguments, folder / "cache")
            if command == "induce":
                arguments = [a.replace("/run", "/again") for a in arguments]
            again = processor_seconds(arguments, folder / "cache")
            total += first
            print(f"{command:24} {first:6.1f} {again:6.1f} {first - again:10.1f}", flush=True)
            if command == last:
                break
        print(f"{'all':24} {total:6.1f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
