"""Which sentences a chart kernel takes together.

Sentences of one length are parsed side by side, so that the matrix products of one width have many
rows; identical sentences share one chart, and each still draws its own tree. Which sentences are
taken together depends on the corpus, K and D only, never on the number of threads: so neither do
the last bits of the results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.parsing.chart.layout import cell_count, chart_levels

MOST_TOGETHER = 32
CHART_BYTES = 2**20
"""About how much memory the charts of one batch may take: they should stay in the cache."""


class Batches(NamedTuple):
    """Distinct sentences, longest first, and which sentences of the corpus each stands for.

    Batch x is ``distinct[bounds[x] : bounds[x + 1]]``, all of one length; the y-th of them stands
    for ``copies[first_copy[y] : first_copy[y + 1]]``.
    """

    bounds: Longs
    distinct: Longs
    first_copy: Longs
    copies: Longs


def batches(corpus: Encoded, categories: int, depth: int) -> Batches:
    """The batches of a corpus."""
    distinct, first_copy, copies = corpus.distinct
    return Batches(
        bounds(corpus.lengths[distinct], categories, depth), distinct, first_copy, copies
    )


@kernel
def bounds(lengths: Longs, K: int, depth: int) -> Longs:
    """Where batches of sentences of these lengths, longest first, begin and end."""
    found = np.empty(len(lengths) + 1, dtype=np.int64)
    found[0] = 0
    number = 0
    for s in range(1, len(lengths) + 1):
        began = found[number]
        chart = 8 * K * chart_levels(depth) * cell_count(lengths[began])
        room = max(1, min(MOST_TOGETHER, CHART_BYTES // max(1, chart)))
        if s == len(lengths) or lengths[s] != lengths[began] or s - began == room:
            number += 1
            found[number] = s
    return found[: number + 1]
