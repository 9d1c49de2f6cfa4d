"""Long rows of whole numbers as short text: the bytes of the smallest type, in base64."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(numbers: Sequence[int] | NDArray[Any]) -> dict[str, str]:
    """Pack numbers from 0 up, each in 1, 2 or 4 bytes, least byte first."""
    array = np.asarray(numbers, dtype=np.int64)
    most = int(array.max(initial=0))
    type_code = "u1" if most < 2**8 else "u2" if most < 2**16 else "u4"
    data = base64.b64encode(array.astype(f"<{type_code}").tobytes())
    return {"type": type_code, "data": data.decode("ascii")}
