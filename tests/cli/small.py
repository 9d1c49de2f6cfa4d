"""Small treebanks, runs over one of them, and words that mean something elsewhere."""

from pathlib import Path

import dbpcfg
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree

ODD_WORDS = ("<script>", "&", r"\input{x}", "%", "_", "(", "[", "]", "é", '"')

NEWS = """\
( (S (NP-SBJ (DT The) (NN cat))
     (VP (VBD saw) (NP (-NONE- *T*-1)) (NP (DT a) (JJ big) (NN dog)))
     (. .)))
( (S (NP (PRP It)) (VP (VBD barked)) (. !)))
( (INTJ (UH Well) (. ...)))
"""
"""Three sentences of a treebank, with an empty element and punctuation."""


def _sentence(tree: Tree) -> Tree:
    """A capital at the start, a full stop at the end."""
    words = tree.words()
    capital = tree.replace_words([words[0].capitalize(), *words[1:]])
    return Tree("ROOT", [capital, Tree(".", ["."])])


GOLD = [_sentence(tree) for tree in synthetic_trees("center", sentences=40, vocabulary=4)]


RESULTS = ("chains.tsv", "model.npz", "samples.npz", "trees.txt", "agreement.tsv")
CHAIN = ("trace.tsv", "chain.npz")


def options(**changed) -> list[str]:
    """Options of a short ``induce``."""
    chosen = {"categories": 3, "chains": 2, "iterations": 20, "seed": 3, **changed}
    return [f"--{name.replace('_', '-')}={value}" for name, value in chosen.items()]


def contents(run: Path) -> list[bytes]:
    """What must be the same, whatever happened on the way."""
    names = [*RESULTS, "corpus.npz", *(f"chains/{n}/{f}" for n in "01" for f in CHAIN)]
    return [(run / name).read_bytes() for name in names]


def make_run(gold: Path, out: Path, **preprocessing) -> Path:
    """Write a small run over the words of a treebank."""
    dbpcfg.induce(dbpcfg.read(gold), 3, 2, chains=2, iterations=20, out=out, **preprocessing)
    return out


def trees_of(run: Path) -> list[Tree]:
    """Read the trees of a run."""
    return list(read_trees((run / "trees.txt").read_text()))
