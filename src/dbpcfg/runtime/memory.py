"""How much memory there is, and amounts of it in words."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

_CGROUP_LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def memory_limit() -> int | None:
    """The memory of this machine or container in bytes; None if that is not known."""
    known = []
    with suppress(AttributeError, OSError, ValueError):  # not on this system
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for file in _CGROUP_LIMITS:
        try:
            known.append(int(Path(file).read_text(encoding="ascii")))
        except (OSError, ValueError):  # not here, or "max"
            continue
    return min((size for size in known if size > 0), default=None)


def count_text(number: int) -> str:
    """A number that may be too large for a float, with three digits."""
    return f"{number:.3g}" if number < 2**1000 else f"10^{int(math.log10(number))}"


def size_text(size: int) -> str:
    """An amount of memory in MiB or GiB, such as ``931 GiB``; never 0."""
    if size >= 2**70:  # too many digits to read, or for a float
        return f"10^{int(math.log10(size))} bytes"
    if size >= 2**30:
        gib = size / 2**30
        return f"{gib:,.1f} GiB" if gib < 10 else f"{gib:,.0f} GiB"
    return f"{max(1, round(size / 2**20)):,} MiB"
