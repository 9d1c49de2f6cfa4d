"""Generated corpora with gold trees: the paper's (its section 5.1), and made-up utterances.

In the paper's, each word of a pattern such as ``a b b`` is drawn uniformly from a₁ … a_V or b₁ …
b_V; V = 50 for the centre-embedding corpus, and the paper does not say for the other two.

`utterances` are in the style of child-directed speech and come from a small grammar, `RULES`, so
nothing has to be downloaded to see a language learned. Many are commands, and some a noun phrase
alone, as in speech to children: these show what belongs together. A symbol has alternatives, each a
weight and a bracketed tree; words of a class are equally probable, except those that are listed
repeatedly.
"""

from __future__ import annotations

import re
from itertools import accumulate, count

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


RULES = {
    "S": "3 (S PRP PRED) | 1 (S NP PRED) | 4 (SQ MD SUBJ VP) | 6 (S VP) | 1 (S DEM (VP BE NP)) | "
    "1 (SBARQ (WRB where) (SQ BE NP)) | 1 NP",
    "SUBJ": "3 PRP | 5 NP",
    "PRED": "4 VP | 2 (VP MD VP)",
    "NP": "6 (NP DT NNS) | 3 (NP DT JJ NNS) | 1 (NP (NP DT NNS) PP)",
    "PP": "1 (PP IN (NP DT NNS))",
    "VP": "6 (VP VB NP) | 1 (VP VB NNP) | 3 (VP PUT (NP DT NNS) PP) | 2 (VP VI PP) | 1 (VP VI RB)",
}
CLASSES = {
    "DT": "the the the some your my",
    "NNS": "balls dogs cats books cars trucks boats babies dolls bears bunnies horses cows ducks "
    "birds blocks boxes spoons cups hats shoes socks chairs tables beds cookies bananas apples "
    "pigs trains planes flowers leaves stars lions monkeys frogs pants mittens buttons blankets "
    "pillows baskets",
    "JJ": "big little red blue new old nice soft funny dirty",
    "NNP": "mommy daddy grandma teddy",
    "PRP": "you you you we they i",
    "MD": "do can will should",
    "BE": "are were",
    "DEM": "those these there",
    "VB": "want see find like push hold kick wash drop bring",
    "PUT": "put leave hide keep",
    "VI": "sleep run jump dance sit walk",
    "IN": "in on under behind",
    "RB": "now again too",
}
TAGS = {"BE": "VBP", "DEM": "DT", "PUT": "VB", "VI": "VB"}
"""Classes whose tag has another name."""

_SYMBOL = re.compile(r"(?<![(\w])[A-Z]+")


def utterances(number: int = 400, seed: int = 0) -> list[Tree]:
    """Draw gold trees of utterances."""
    if number < 1:
        raise DbpcfgError(f"the number of utterances must be at least 1, got {number}")
    numbers = stream(seed, chain=1, purpose=Purpose.SYNTHETIC)

    def draw_tree(item: int) -> Tree:
        draws = count()

        def expand(symbol: str) -> str:
            chance = compiled_uniform_pair(numbers, item, next(draws))[0]
            if symbol in CLASSES:
                words = CLASSES[symbol].split()
                return f"({TAGS.get(symbol, symbol)} {words[int(chance * len(words))]})"
            weights, trees = _ALTERNATIVES[symbol]
            chosen = next(t for w, t in zip(weights, trees) if chance * weights[-1] <= w)
            return _SYMBOL.sub(lambda match: expand(match[0]), chosen)

        return read_tree(expand("S"))

    return [draw_tree(item) for item in range(number)]


def _alternatives(text: str) -> tuple[list[int], list[str]]:
    """Cumulative weights, and trees."""
    pairs = [alternative.split(maxsplit=1) for alternative in text.split(" | ")]
    return list(accumulate(int(weight) for weight, _ in pairs)), [tree for _, tree in pairs]


_ALTERNATIVES = {symbol: _alternatives(text) for symbol, text in RULES.items()}
