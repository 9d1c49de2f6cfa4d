"""What a service pays: importing, loading, a first sentence, each sentence, pickling, memory.

    python benchmarks/services.py [MODEL ...]

Each model, ``example`` if none is named, is measured in a new process on one thread, with compiled
kernels kept on disk. Seconds are processor time, so other programs hardly matter: the least of
several for single events, medians for sentences.
"""

from __future__ import annotations

import pickle
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

SENTENCES, WORDS = 400, 8


def milliseconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


def least(work: Callable[[], object], times: int = 5) -> float:
    return min(milliseconds(work) for _ in range(times))


def of_statement(code: str, times: int = 5) -> float:
    """Milliseconds of a statement in a new process, without the start of Python."""
    clock = "time.process_time()"
    timed = f"import time; t = {clock}; {code}; print(1000 * ({clock} - t))"
    runs = [
        subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
        for _ in range(times)
    ]
    return min(float(run.stdout) for run in runs)


def of_model(name: str) -> None:
    """Measure a model, in this process."""
    import dbpcfg

    model = dbpcfg.load(name)
    words = model.grammar.vocabulary.words
    texts = [
        [words[(7 * s + 3 * w * w) % len(words)] for w in range(WORDS)] for s in range(SENTENCES)
    ]
    calls: dict[str, Callable[..., object]] = {
        "parse": model.parse,
        "probability": model.probability,
        "surprisal alone": partial(model.surprisal, columns=["surprisal"]),
        "surprisal and memory": model.surprisal,
    }
    rank = getattr(getattr(model.grammar, "factors", None), "rank", "full")
    print(f"\n{name}: {model!r}, rank {rank}; sentences of {WORDS} words")
    print(f"  load                  {least(partial(dbpcfg.load, name)):8.1f} ms")
    for what, call in calls.items():
        call([texts[0]], quiet=True)  # kernels
        one_by_one = [milliseconds(partial(call, [one], quiet=True)) for one in texts[:100]]
        together = least(partial(call, texts, quiet=True), 3) / SENTENCES
        print(f"  {what:20}  {statistics.median(one_by_one):8.2f} ms, in a list {together:.2f} ms")
    data = pickle.dumps(model)
    reading, memory = least(partial(pickle.loads, data)), resource.getrusage(resource.RUSAGE_SELF)
    print(f"  pickle                {len(data) / 1e6:8.2f} MB, read in {reading:.1f} ms")
    print(f"  peak memory           {memory.ru_maxrss / 1024:8.0f} MB")


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        of_model(sys.argv[2])
        return
    for code in (
        "import dbpcfg",
        "import dbpcfg; dbpcfg.load",
        "import dbpcfg; dbpcfg.load('example').parse(['the dogs run'])",
    ):
        print(f"{of_statement(code):8.1f} ms  {code}", flush=True)
    for name in sys.argv[1:] or ["example"]:
        subprocess.run([sys.executable, __file__, "--one", name], check=True)


if __name__ == "__main__":
    main()
