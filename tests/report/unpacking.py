"""The inverse of `dbpcfg.report.assemble.pack`; on a page it is `unpack` in ``packing.js``."""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray


def unpack(packed: dict[str, str]) -> NDArray[np.int64]:
    data = base64.b64decode(packed["data"])
    return np.frombuffer(data, f"<{packed['type']}").astype(np.int64)
