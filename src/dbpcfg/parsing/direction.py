"""To which side a language branches, from its words alone; and trees that branch so.

Where phrases branch to the right, they begin with function words, which are few, and end with any
of many others; in Japanese it is the other way around. Infants seem to tell word orders apart by
this (Gervain et al. 2008). So the words at one edge of utterances, or of the stretches between
punctuation marks, vary more than those at the other edge: H(last) > H(first) if phrases branch to
the right, where H is the entropy of the words at an edge. No tree plays a part.

What is learned is compared with it: brackets that branch to the other side about as often are those
of a bad mode of the likelihood, or of a teacher that does not suit the language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Ints
from dbpcfg.parsing.derivations import Derivations

Side = Literal["right", "left"]

MIN_BITS = 0.5
"""The least difference of entropies from which a side follows."""
NATURAL_BITS = 4.0
"""The least entropy of the more varied edge, that of 16 words; formal languages have fewer."""
TIMES = 4
"""Brackets follow a side if this many times as many reach its edge as reach the other edge."""


def branching_side(sentences: Encoded) -> Side | None:
    """The side to which phrases branch; None if the edges of stretches do not differ enough.

    Nor does a language of a few words show it.

    Known brackets, such as those of punctuation, divide sentences into stretches.
    """
    begins = np.zeros(len(sentences.tokens) + 1, dtype=bool)
    begins[sentences.starts] = True
    if sentences.brackets is not None:
        numbers, *edges = sentences.brackets.T
        for edge in edges:
            begins[sentences.starts[numbers] + edge] = True
    first, last = begins[:-1], begins[1:]
    several = ~(first & last)
    bits = [_entropy(sentences.tokens[edge & several]) for edge in (first, last)]
    if max(bits) < NATURAL_BITS or abs(bits[1] - bits[0]) < MIN_BITS:
        return None
    return "right" if bits[1] > bits[0] else "left"


def _entropy(words: Ints) -> float:
    _, counts = np.unique(words, return_counts=True)
    shares = counts / max(1, len(words))
    return float(-(shares * np.log2(shares)).sum())


def follows(side: Side, shares: Mapping[str, float]) -> bool:
    """Whether brackets clearly branch to a side; also where there are none.

    ``shares``: those of the brackets that reach each edge, as of `SharedSpans.branching`.
    """
    if not shares:
        return True
    other = "left" if side == "right" else "right"
    return shares[side] > 0 and shares[side] >= TIMES * shares[other]


def branching_trees(sentences: Encoded, side: Side) -> Derivations:
    """Trees that branch to a side within their known brackets; all labels are 0."""
    of_sentence: dict[int, list[tuple[int, int]]] = {}
    for s, i, j in [] if sentences.brackets is None else sentences.brackets.tolist():
        if i < j:  # others are known not to be brackets
            of_sentence.setdefault(s, []).append((i, j))
    rows: list[tuple[int, int]] = []
    for s, n in enumerate(sentences.lengths.tolist()):
        spans = _branching_spans(n, of_sentence.get(s, []), side)
        rows += sorted(spans, key=lambda span: (span[0], -span[1]))  # each before its children
    nodes: Ints = np.zeros((len(rows), 3), dtype=np.int32)
    nodes[:, :2] = rows
    return Derivations(nodes, sentences)


def _branching_spans(n: int, brackets: list[tuple[int, int]], side: Side) -> set[tuple[int, int]]:
    """The spans of one tree: each child of a bracket, and from there to the bracket's edge."""
    words = [(k, k + 1) for k in range(n)]
    spans, around = set[tuple[int, int]](), list[tuple[int, int]]()
    wider_first = sorted({(0, n), *brackets, *words}, key=lambda span: (span[0], -span[1]))
    for i, j in wider_first:
        while around and around[-1][1] < j:
            around.pop()
        spans.add((i, j))
        if around:
            start, end = around[-1]
            spans.add((i, end) if side == "right" else (start, j))
        around.append((i, j))
    return spans
