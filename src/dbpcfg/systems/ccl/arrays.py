"""Constants and types of the kernels: sides, depths, labels.

Kernels work on arrays of records (``np.dtype`` with named fields): ``tokens[x, LEFT].used`` is the
field ``used`` of the left side of word x.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Single: TypeAlias = np.float32
Records: TypeAlias = NDArray[Any]
Record: TypeAlias = Any

ZERO, ONE = np.float32(0), np.float32(1)  # statistics are in single precision throughout

LEFT, RIGHT = 0, 1  # the other side of s is 1 − s
NONE = -1  # in place of a word, a position or a label

# Sets of depths, as bits: a link is of depth 0 or 1.
NEITHER, SHALLOW, DEEP, EITHER = 0, 1, 2, 3
NEVER = 2  # as the least depth of a link: there can be none

# A label says of a word that it is like word z (number 2z) or stands beside z (2z + 1).
BESIDE = 1
