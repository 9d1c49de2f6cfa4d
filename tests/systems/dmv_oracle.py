"""The dependency model with valence by enumeration of all trees, and EM by formula."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from dbpcfg.systems.dmv.charts import CONTINUE, LEFT, RIGHT, STOP, Parameters, no_counts


@cache
def projective_trees(n: int) -> list[tuple[int, ...]]:
    """The heads of all projective trees of n words with one root."""
    return [heads for heads in product(range(-1, n), repeat=n) if is_projective(heads)]


def is_projective(heads: Sequence[int]) -> bool:
    """Whether the heads are one tree in which a head dominates all between it and a dependent."""
    if list(heads).count(-1) != 1:
        return False
    above = [ancestors(heads, place) for place in range(len(heads))]
    return None not in above and all(
        head in above[between]
        for place, head in enumerate(heads)
        if head >= 0
        for between in range(min(place, head) + 1, max(place, head))
    )


def ancestors(heads: Sequence[int], place: int) -> set[int] | None:
    """The positions above one; None if they form a cycle."""
    found: set[int] = set()
    while heads[place] >= 0:
        place = heads[place]
        if place in found:
            return None
        found.add(place)
    return found


def tree_counts(tags: Sequence[int], heads: Sequence[int], number: int) -> Parameters:
    """How often each parameter is used in the generation of a tree."""
    counts = no_counts(number)
    for h, (tag, head) in enumerate(zip(tags, heads)):
        if head < 0:
            counts.root[tag] += 1
        for d in (LEFT, RIGHT):
            dependents = [k for k, its in enumerate(heads) if its == h and (k > h) == (d == RIGHT)]
            for number_before, k in enumerate(dependents):
                counts.decision[tag, d, min(number_before, 1), CONTINUE] += 1
                counts.child[tag, d, tags[k]] += 1
            counts.decision[tag, d, min(len(dependents), 1), STOP] += 1
    return counts


def tree_probability(counts: Parameters, parameters: Parameters) -> float:
    """The product of the parameters, each as often as it is used."""
    return float(np.prod([np.prod(p**c) for p, c in zip(parameters, counts)]))


def sentence_counts(tags: Sequence[int], parameters: Parameters) -> tuple[float, Parameters]:
    """The probability of a sentence, and its expected counts."""
    number = len(parameters.root)
    trees = [tree_counts(tags, heads, number) for heads in projective_trees(len(tags))]
    weights = [tree_probability(counts, parameters) for counts in trees]
    total = sum(weights)
    expected = no_counts(number)
    for weight, counts in zip(weights, trees):
        for table, used in zip(expected, counts):
            table += weight / total * used
    return total, expected


def best_trees(
    tags: Sequence[int], parameters: Parameters, tie: float = 1e-7
) -> list[tuple[int, ...]]:
    """All most probable trees."""
    number = len(parameters.root)
    logs = {
        heads: np.log(tree_probability(tree_counts(tags, heads, number), parameters))
        for heads in projective_trees(len(tags))
    }
    return [heads for heads, log in logs.items() if log > max(logs.values()) - tie]
