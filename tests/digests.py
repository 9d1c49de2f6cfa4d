"""A digest of what every learner, parser and system computes, from a few made-up utterances.

``python -m tests.digests`` prints them, one to a line.
"""

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from dbpcfg.corpus.synthetic import utterances
from dbpcfg.induction.induce import induce
from dbpcfg.systems.registry import find, systems

LEARNERS = ("gibbs", "em", "vb", "neural")
OTHERS: tuple[dict[str, Any], ...] = (
    {"parser": "leftcorner"},
    {"exact": True, "sample_beta": True, "D": 2},
)


def digest(*results: object) -> str:
    found = hashlib.sha256()
    for result in results:
        found.update(result.tobytes() if isinstance(result, np.ndarray) else repr(result).encode())
    return found.hexdigest()[:16]


def digests() -> Iterator[tuple[str, str]]:
    """Name and digest of each result."""
    sentences = [tree.words() for tree in utterances(40)]
    sentences += [["hi"], ["you", "hi"], sentences[0][:1]]
    for learner, D, precision in itertools.product(LEARNERS, (1, 3, None), ("single", "double")):
        chosen = {"learner": learner, "D": D, "precision": precision}
        yield from _of_run(sentences, "rare words" if D else "all words", **chosen)
    for chosen in OTHERS:
        yield from _of_run(sentences, "all words", **{"D": 2, **chosen})
    for name in systems.names():
        yield name, digest(*map(str, find(name).make().fit(sentences).trees()))


def _of_run(sentences: list[list[str]], words: str, **chosen: Any) -> Iterator[tuple[str, str]]:
    name = " ".join(f"{key}={value}" for key, value in chosen.items())
    few = {"K": 4, "chains": 2, "iterations": 4, "rare": 1 if words == "rare words" else 0}
    run = induce(sentences, **few, **chosen, threads=2)
    model, new = run.model, [*sentences[:10], ["unheard"], ["you", "unheard", "hi"]]
    yield f"{name} trees", digest(*map(str, run.trees()))
    for method in ("mbr", "viterbi", "sample"):
        yield f"{name} {method}", digest(*map(str, model.parse(new, method)))
    yield f"{name} n best", digest(*(str(one) for one in model.parses(new, 3)))
    columns = ["default", "stores"] if chosen["D"] else ["default"]
    yield f"{name} probability", digest(model.probability(new))
    yield f"{name} surprisal", digest(*model.surprisal(new, columns=columns))


if __name__ == "__main__":
    for name, found in digests():
        print(found, name)
