"""Whether client and workers would compute the same bits."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import NamedTuple

from dbpcfg.errors import DbpcfgError
from dbpcfg.version import __version__


class Facts(NamedTuple):
    """What the bits of a result depend on, beside the settings of the run."""

    version: str
    """Of dbpcfg."""
    python: str
    numpy: str
    numba: str
    kernels: str
    """A digest of the sources of all kernels."""
    processor: str
    """The kind of processor, with its vector instructions."""


def facts() -> Facts:
    """The facts of this process."""
    import numba
    import numpy as np
    from llvmlite import binding

    from dbpcfg.numerics.cache import sources

    features = binding.get_host_cpu_features()
    wide = [name for name in ("avx", "avx2", "avx512f", "fma", "neon", "sve") if features.get(name)]
    return Facts(
        __version__,
        sys.version.split()[0],
        np.__version__,
        numba.__version__,
        sources(),
        f"{binding.get_host_cpu_name()} ({' '.join(wide)})",
    )


def check(ours: Facts, theirs: Mapping[str, Facts]) -> str | None:
    """Compare the facts of the client with those of workers.

    Returns a warning, if the last bits of results may differ because processors do.
    """
    for address, found in theirs.items():
        for name in Facts._fields[:-1]:
            here, there = getattr(ours, name), getattr(found, name)
            if here != there:
                what = {"version": "dbpcfg", "kernels": "the sources of kernels"}.get(name, name)
                raise DbpcfgError(
                    f"worker {address} has {what} {there}, this process has {here}: results would "
                    "not be the same; install the same versions on all machines"
                )
    kinds = {ours.processor, *(found.processor for found in theirs.values())}
    if len(kinds) == 1:
        return None
    return (
        f"processors differ ({', '.join(sorted(kinds))}): the last bits of results may depend on "
        "which worker computes what"
    )
