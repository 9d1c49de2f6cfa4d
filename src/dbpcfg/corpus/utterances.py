"""Made-up utterances in the style of child-directed speech, with gold trees.

They come from the small grammar below, so nothing has to be downloaded to see a language learned.
A symbol has alternatives, each a weight and a bracketed tree; words of a class are equally
probable, but for those that are listed more than once.
"""

from __future__ import annotations

import re
from itertools import accumulate, count

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.philox import Purpose, compiled_uniform_pair, stream
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree

RULES = {
    "S": "6 (S SUBJ PRED) | 3 (SQ MD SUBJ VP) | 2 (S VP NNP) | 1 (SBARQ (WRB where) (SQ BE NP)) | "
    "2 (SBARQ (WP what) (SQ MD SUBJ VB)) | 2 (S DEM (VP BE NP)) | 1 (S NP (VP BE JJ))",
    "SUBJ": "4 PRP | 6 NP",
    "PRED": "4 VP | 2 (VP MD VP)",
    "NP": "6 (NP DT NNS) | 3 (NP DT JJ NNS) | 1 (NP (NP DT NNS) PP)",
    "PP": "1 (PP IN (NP DT NNS))",
    "VP": "5 (VP VB NP) | 1 (VP VB NNP) | 2 (VP PUT (NP DT NNS) PP) | 2 (VP VI PP) | "
    "1 (VP VI RB) | 1 (VP (VP VB NP) RB)",
}
CLASSES = {
    "DT": "the the the some your my",
    "NNS": "balls dogs cats books cars trucks boats babies dolls bears bunnies horses cows ducks "
    "birds blocks boxes spoons cups hats shoes socks chairs tables beds cookies bananas",
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

    def drawn(item: int) -> Tree:
        draws = count()

        def expanded(symbol: str) -> str:
            chance = compiled_uniform_pair(numbers, item, next(draws))[0]
            if symbol in CLASSES:
                words = CLASSES[symbol].split()
                return f"({TAGS.get(symbol, symbol)} {words[int(chance * len(words))]})"
            weights, trees = _ALTERNATIVES[symbol]
            chosen = next(t for w, t in zip(weights, trees) if chance * weights[-1] <= w)
            return _SYMBOL.sub(lambda found: expanded(found[0]), chosen)

        return read_tree(expanded("S"))

    return [drawn(item) for item in range(number)]


def _alternatives(text: str) -> tuple[list[int], list[str]]:
    """Cumulative weights, and trees."""
    pairs = [one.split(maxsplit=1) for one in text.split(" | ")]
    return list(accumulate(int(weight) for weight, _ in pairs)), [tree for _, tree in pairs]


_ALTERNATIVES = {symbol: _alternatives(text) for symbol, text in RULES.items()}
