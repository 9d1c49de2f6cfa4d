"""MBR trees of the sentences of a run, under the grammars of a chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.mapping import CorpusPart, Mapper, together
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.derivations import Derivations, first_cells
from dbpcfg.parsing.mbr import mbr_trees, summed_posteriors
from dbpcfg.parsing.parsers import parser_of

BATCH = 1000
"""Sentences that are decoded together."""


def mbr_under(
    grammars: Sequence[Grammar], depth: int | None, corpus: Encoded, work: Mapper | None = None
) -> Derivations:
    """MBR trees by the mean of the posteriors under one or more grammars."""
    work = work or Mapper()
    parts = work.parts(corpus, InOrder(BATCH))
    decoded = work.map(decode_part, parts, grammars, depth)
    return Derivations(decoded[0] if len(decoded) == 1 else np.concatenate(decoded), corpus)


def decode_part(
    part: CorpusPart, grammars: Sequence[Grammar], depth: int | None, threads: int
) -> Ints:
    """The nodes of the MBR trees of a part."""
    decoded, row = Derivations.empty(part.sentences).nodes, 0
    for here, weights in _posteriors(grammars, depth, part.sentences, threads):
        nodes = mbr_trees(here, weights, threads).nodes
        decoded[row : row + len(nodes)] = nodes
        row += len(nodes)
    return decoded


@dataclass(frozen=True)
class InOrder:
    """Parts of so many sentences, or multiples of that, in the order of the corpus."""

    batch: int

    def __call__(self, corpus: Encoded, most: int) -> list[CorpusPart]:
        """Divide a corpus."""
        edges = np.append(np.arange(0, len(corpus), self.batch), len(corpus))
        some = together(len(edges) - 1, most)
        ranges = [np.arange(edges[own[0]], edges[own[-1] + 1]) for own in some]
        return [CorpusPart(corpus.select(numbers, keep_ids=True)) for numbers in ranges]


def span_probabilities(
    grammars: Sequence[Grammar], depth: int | None, corpus: Encoded, threads: int = 1
) -> Floats:
    """The posterior probability of every span, whatever its category: the mean over grammars.

    Returns ``[cell]``, laid out as by `dbpcfg.parsing.derivations.first_cells`.
    """
    found = [np.zeros(0)]  # there may be no sentence
    for here, weights in _posteriors(grammars, depth, corpus, threads):
        sums, first = weights.sum(axis=1), first_cells(here)
        possible = sums[first[:-1] + here.lengths - 1]  # the whole sentence has 1 of each grammar
        found.append(sums / np.repeat(possible, np.diff(first)))
    return np.concatenate(found)


def _posteriors(
    grammars: Sequence[Grammar], depth: int | None, corpus: Encoded, threads: int
) -> Iterator[tuple[Encoded, Floats]]:
    """``[cell, c]`` of some sentences at a time."""
    charts = [parser_of(grammar, depth, threads) for grammar in grammars]
    for first in range(0, len(corpus), BATCH):
        here = corpus.select(np.arange(first, min(first + BATCH, len(corpus))))
        yield here, summed_posteriors(charts, here)[0]
