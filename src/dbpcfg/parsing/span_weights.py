"""Where weights of labelled spans are kept: posterior probabilities, or counts.

``weights[cell, c]`` is the weight of label c on one span. A sentence of n words has n(n + 1)/2
cells in a row, those of one start together, shortest first; sentences follow each other as in the
corpus.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Longs, also_in_kernels


def first_cells(corpus: Encoded) -> Longs:
    """Where the cells of each sentence begin, and where the last one's end."""
    sizes = corpus.lengths * (corpus.lengths + 1) // 2
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@also_in_kernels
def span_cell(n: int, i: int, j: int) -> int:
    """The cell of span (i,j) among those of a sentence of n words."""
    return i * n - i * (i - 1) // 2 + j - i - 1
