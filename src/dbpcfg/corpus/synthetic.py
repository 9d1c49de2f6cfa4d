"""The paper's synthetic corpora, with their gold trees (its section 5.1).

Each word of a pattern such as ``a b b`` is drawn uniformly from a₁ … a_V or b₁ … b_V. The paper
uses V = 50 for the centre-embedding corpus, and does not say for the other two.
"""

from __future__ import annotations

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.philox import Purpose, compiled_uniform_pair, stream
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree

PATTERNS = {
    "left": (
        "(X1 (X1 a) (X2 b))",
        "(X1 (X1 (X1 a) (X2 b)) (X2 b))",
    ),
    "right": (
        "(X2 (X1 a) (X2 b))",
        "(X2 (X1 a) (X2 (X1 a) (X2 b)))",
    ),
    "center": (
        "(X3 (X1 (X1 (X1 a) (X2 b)) (X2 b)) (X3 c))",
        "(X3 (X1 (X1 a) (X2 b)) (X3 (X1 (X1 a) (X2 b)) (X3 c)))",
        "(X3 (X1 (X1 a) (X2 b)) (X3 c))",
        "(X3 (X1 (X1 (X1 a) (X2 b)) (X2 b)) (X3 (X1 (X1 (X1 a) (X2 b)) (X2 b)) (X3 c)))",
    ),
}
"""The trees of the paper's two figures, in their order."""


def synthetic_trees(
    kind: str, sentences: int = 200, vocabulary: int = 50, seed: int = 0
) -> list[Tree]:
    """Make gold trees of one of the paper's synthetic corpora, shuffled.

    Patterns are equally frequent (the first ones by one more where the number does not divide).

    ``vocabulary``: the number of words that stand for each letter of a pattern.
    """
    if kind not in PATTERNS:
        raise DbpcfgError(f"there is no synthetic corpus {kind!r}; choose {', '.join(PATTERNS)}")
    for name, value in (("sentences", sentences), ("vocabulary", vocabulary)):
        if value < 1:
            raise DbpcfgError(f"{name} must be at least 1, got {value}")
    patterns = [read_tree(pattern) for pattern in PATTERNS[kind]]
    numbers = stream(seed, purpose=Purpose.SYNTHETIC)
    trees = []
    for number in range(sentences):
        pattern = patterns[number % len(patterns)]
        words = [
            f"{letter}{1 + int(compiled_uniform_pair(numbers, number, draw)[0] * vocabulary)}"
            for draw, letter in enumerate(pattern.words(), start=1)
        ]
        trees.append(pattern.replace_words(words))
    order = sorted(range(sentences), key=lambda number: compiled_uniform_pair(numbers, number, 0))
    return [trees[number] for number in order]
