"""The four tags, which of them may follow which, and which may go with a symbol.

=====  ==================================  =================
tag    what it says of its symbol          may be followed by
=====  ==================================  =================
STOP   a boundary: EOS or STOP             STOP, B, O
B      the first word of a chunk           I
I      a further word of a chunk           STOP, B, I, O
O      a word outside all chunks           STOP, B, O
=====  ==================================  =================

Boundaries are always tagged STOP and words never are, so the tagging of a segment depends on no
other segment.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Floats, kernel

STOP, B, I, O = range(4)
TAGS = 4

ALLOWED: Floats = np.array(
    [
        # STOP B  I  O
        [1.0, 1, 0, 1],  # after STOP
        [0.0, 0, 1, 0],  # after B
        [1.0, 1, 1, 1],  # after I
        [1.0, 1, 0, 1],  # after O
    ]
)
"""1 where the tag of the column may follow that of the row."""

EOS, SEGMENT_END = range(2)
BOUNDARIES = 2
"""Symbols below this number are boundaries, those from it on are words and pseudo-words."""


@kernel
def tags_of(symbol: int) -> tuple[int, int]:
    """The tags that a symbol may have, as a half-open range."""
    if symbol < BOUNDARIES:
        return STOP, STOP + 1
    return B, O + 1
