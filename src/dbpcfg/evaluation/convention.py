"""Conventions of scoring, and the signature that names them.

The default is the paper's convention, which is also Seginer's (2007).  Scores are unlabelled and of
the whole corpus; punctuation and empty elements are taken out; the whole sentence counts as a span,
and every system is credited with it; one-word spans do not count; and a span counts once in a
sentence, however many nodes cover it.  Other papers count otherwise, and differences of convention
are larger than most differences between systems:

* ``labelled``: what counts are distinct pairs of a span and a label.  Nothing is credited: a
  system has to label the sentence right.  Labels of top nodes (`TOP_LABELS`) do not count.
* ``whole_sentence=False``: the span over all words, whatever its labels, does not count.
* ``average="sentence"``: each of precision, recall and F1 is the mean of its values for single
  sentences, over those with something to count in either tree.  (Some scorers give a sentence
  without gold brackets the value 1; here its value is 0 if brackets are predicted for it, and it
  does not count if not.)
* ``max_length``: longer sentences are left out; punctuation is not part of the length.
* ``min_words=1``: one-word spans count too, preterminals never.

Sentences of fewer words than ``min_words``, or of punctuation only, are left out, and counted.

Flat trees from binary ones, by a round trip through dependencies.

Binary trees have more brackets than a treebank.  Shain et al. (2016) flatten the trees of their
system before they are scored (UHHMM-F), and Jin et al. (2018) report what this does to theirs, but
it was never published as code.  This is our reading of it: the head child of every node is chosen
by the label of the node (`headedness`), which makes dependencies of the tree, and each head with
dependents becomes one flat constituent (`dbpcfg.trees.dependencies`).

So the constituents that stay are those of the original that are not the head child of their parent:
nothing is added.  Each keeps its own label, which says more than the tag of its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dbpcfg.corpus.punctuation import by_characters
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.headedness import head_sides
from dbpcfg.trees.tree import Tree, without_words
from dbpcfg.version import __version__


def signed(*parts: str) -> str:
    """A signature: its parts, and the version of this package."""
    return "|".join([*parts, f"dbpcfg:{__version__}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """A convention of scoring; ``Convention()`` is the paper's."""

    labelled: bool = False
    """Whether labels count."""
    average: Literal["corpus", "sentence"] = "corpus"
    """Whether counts or the scores of sentences are averaged."""
    whole_sentence: bool = True
    """Whether the span over all words counts."""
    min_words: int = 2
    """The length of the shortest span that counts."""
    max_length: int | None = None
    """The length of the longest sentence that is scored, without punctuation."""
    punctuation: str = "tags"
    """How punctuation was recognised; only the signature uses it."""

    def __post_init__(self) -> None:
        if self.average not in ("corpus", "sentence"):
            raise DbpcfgError(f"average must be 'corpus' or 'sentence', not {self.average!r}")
        if self.min_words < 1:
            raise DbpcfgError(f"min_words must be at least 1, not {self.min_words}")
        if self.max_length is not None and self.max_length < 1:
            raise DbpcfgError(f"max_length must be None or at least 1, not {self.max_length}")

    def signature(self) -> str:
        """The convention in one line, as every score prints it."""
        return signed(
            f"labels:{'yes' if self.labelled else 'no'}",
            f"average:{self.average}",
            f"root:{'counted' if self.whole_sentence else 'ignored'}",
            f"span:>={self.min_words}",
            self.sentences(),
        )

    def sentences(self) -> str:
        """The part of every signature that says which words and sentences are scored."""
        length = "any" if self.max_length is None else f"<={self.max_length}"
        return f"punct:removed-by-{self.punctuation}|length:{length}"

    def too_long(self, words: int) -> bool:
        """Whether a sentence of this number of words is left out of all scores."""
        return self.max_length is not None and words > self.max_length


@dataclass(frozen=True, slots=True)
class Skipped:
    """How many sentences a score leaves out, and why."""

    only_punctuation: int = 0
    """Sentences of punctuation only."""
    too_short: int = 0
    """Sentences of fewer words than ``min_words``."""
    too_long: int = 0
    """Sentences of more words than ``max_length``."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.only_punctuation + self.too_short + self.too_long

    def __str__(self) -> str:
        reasons = {
            "of punctuation only": self.only_punctuation,
            "too short": self.too_short,
            "too long": self.too_long,
        }
        return ", ".join(f"{number} {why}" for why, number in reasons.items() if number) or "none"


def flattenable(trees: Sequence[Tree]) -> bool:
    """Whether trees are binary and have several labels, by which heads can be estimated."""
    labels = {node.label for tree in trees for node in tree.nodes() if not node.preterminal}
    return len(labels) > 1 and all(tree.is_binary for tree in trees)


def flatten(trees: Sequence[Tree]) -> list[Tree]:
    """Flatten trees.

    ``trees``: all trees of one system, from which the heads of its labels are estimated. Trees
    without labels have one side for all nodes.
    Returns flatter trees without punctuation (unless they have nothing else) and without nodes over
    one child, preterminals excepted.
    """
    bare = [_without_punctuation(tree) for tree in trees]
    sides = head_sides(bare)
    return [_spliced(tree, sides) for tree in bare]


def _without_punctuation(tree: Tree) -> Tree:
    marks = by_characters(tree.words())
    return tree if all(marks) else without_words(tree, marks)


def _spliced(tree: Tree, sides: dict[str, int]) -> Tree:
    """The tree without nodes that are the head child of their parent."""

    def node(item: Tree, children: list[Tree | str]) -> Tree:
        if len(children) == 1:
            (child,) = children
            return child if isinstance(child, Tree) else item
        head = sides[item.label] % len(children)
        parts: list[Tree | str] = []
        for place, child in enumerate(children):
            if place == head and isinstance(child, Tree) and not child.preterminal:
                parts.extend(child.children)
            else:
                parts.append(child)
        return Tree(item.label, parts)

    return tree.fold(str, node)
