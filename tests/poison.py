"""Memory that nobody has written yet holds what must not be read.

``poisoned`` replaces ``numpy.empty`` and ``numpy.empty_like`` for Python code, and so for the room
that kernels are given: floats are signalling NaNs, which warn in NumPy and spread in kernels;
integers are too large for any index. Inside kernels the functions stay what they are: memory that
kernels allocate is poisoned by ``make poisoned``, with ``poison.c``.
"""

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from numba.core.registry import cpu_target

empty, empty_like = np.empty, np.empty_like
SIGNALLING = {4: 0x7FA00000, 8: 0x7FF4000000000000}


def poison(array: np.ndarray) -> np.ndarray:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size in SIGNALLING:
        array.view(f"u{size}")[...] = SIGNALLING[size]
    elif kind in "iu":
        array[...] = np.iinfo(array.dtype).max
    return array


def poisoned_empty(*arguments: Any, **options: Any) -> np.ndarray:
    return poison(empty(*arguments, **options))


def poisoned_empty_like(*arguments: Any, **options: Any) -> np.ndarray:
    return poison(empty_like(*arguments, **options))


@cache
def _known_to_numba() -> None:
    """Kernels that are compiled while NumPy's functions are replaced call the real ones."""
    context = cpu_target.typing_context
    context.refresh()
    for real, replaced in ((empty, poisoned_empty), (empty_like, poisoned_empty_like)):
        context._insert_global(replaced, context.resolve_value_type(real))


@contextlib.contextmanager
def poisoned() -> Iterator[None]:
    _known_to_numba()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "empty", poisoned_empty)
        patch.setattr(np, "empty_like", poisoned_empty_like)
        yield
