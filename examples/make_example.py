"""Make the small model that the package brings, ``dbpcfg.load("example")``.

    python examples/make_example.py

It is learned from made-up utterances in the style of speech to children (``dbpcfg synth
utterances``). The same settings give the same bytes.
"""

from pathlib import Path

import dbpcfg
from dbpcfg.corpus.synthetic import utterances

SENTENCES, SEED = 1500, 0
SETTINGS = {"learner": "neural", "batch": 64, "K": 16, "D": 2, "chains": 8}
TARGET = Path(__file__).parents[1] / "src" / "dbpcfg" / "model" / "example.npz"


def text() -> list[list[str]]:
    return [tree.words() for tree in utterances(SENTENCES, SEED)]


def main(target: Path = TARGET) -> None:
    run = dbpcfg.induce(text(), **SETTINGS, seed=SEED)
    print(run.verdict.text())
    run.model.save(target)


if __name__ == "__main__":
    main()
