"""Who is informed of kernels that are being compiled: nobody, unless the program asks for it.

Apart from ``kernels``, so that the program can ask without waiting for numba to be loaded.
"""

from __future__ import annotations

from collections.abc import Callable

begun: list[Callable[[str], None]] = []
"""Called with the name of a kernel before it is compiled."""
ended: list[Callable[[str], None]] = []
"""Called with the name of a kernel after it was compiled."""


def begin(name: str) -> None:
    """Inform of a kernel that will now be compiled."""
    for inform in begun:
        inform(name)


def end(name: str) -> None:
    """Inform of a kernel that was compiled."""
    for inform in ended:
        inform(name)
