"""A small run over text that tries to be more than text, and its gold trees."""

import base64
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.induction.induce import induce
from dbpcfg.trees.tree import Tree

HOSTILE = [
    "<script>alert`1`</script>",
    "</script><img/src=x/onerror=alert`1`>",
    "<!--",
    "&lt;b&gt;",
    '"><b>',
    "${data}",
    "$program",
    "a\u2028b",
    "__proto__",
    "\\u003c",
]


def gold_trees(sentences: int = 40) -> list[Tree]:
    """Trees as a treebank has them: a comma here and there, a full stop, odd words and labels."""
    trees = []
    for number, tree in enumerate(synthetic_trees("center", sentences=sentences, vocabulary=4)):
        words = tree.words()
        if number < len(HOSTILE):
            words[number % len(words)] = HOSTILE[number]
        body: list[Tree] = [tree.replace_words(words), Tree(".", ["."])]
        if number % 3 == 0:
            body.insert(0, Tree(",", [","]))
        trees.append(Tree("<i>S$" if number % 5 == 0 else "S", body))
    trees.append(Tree("S", [Tree("X1", ["a1"]), Tree(".", ["."])]))  # one word: not scored
    return trees


TREES = gold_trees()


def write_treebank(path: Path, trees: list[Tree] = TREES) -> Path:
    path.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
    return path


def make_run(path: Path, text: list[Tree] = TREES, **options) -> Path:
    """A finished run in a directory."""
    chosen = {
        "learner": "gibbs",
        "K": 4,
        "D": 2,
        "chains": 3,
        "iterations": 30,
        "seed": 2,
        "threads": 1,
        **options,
    }
    sentences = [Sentence(tuple(tree.words()), tuple(tree.tags()), tree) for tree in text]
    corpus = Corpus(sentences, {}, ("text.mrg",), ("penn",))
    induce(corpus, out=path, **chosen)
    return path


def unpack(packed: dict[str, str]) -> NDArray[np.int64]:
    """The inverse of `dbpcfg.report.sentences.pack`; on a page it is in ``packing.js``."""
    data = base64.b64decode(packed["data"])
    return np.frombuffer(data, f"<{packed['type']}").astype(np.int64)
