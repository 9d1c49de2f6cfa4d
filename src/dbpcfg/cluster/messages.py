"""What travels between the client and its workers, as bytes.

What both sides have already, such as the corpus and its vocabulary, is left out, and so are the
zeros of arrays. Messages are only exchanged between the processes of a running cluster; no file is
ever read this way.

Results are the same to the bit only if all processes compute the same bits. What these depend on,
beside the settings of the run, is the `Environment` of a process; it is compared with that of each
worker, also of those that come later.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.numerics.kernels import Longs
from dbpcfg.parsing.mbr import SpanCounts
from dbpcfg.version import __version__


class Environment(NamedTuple):
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


def environment() -> Environment:
    """The environment of this process."""
    import numba
    from llvmlite import binding

    from dbpcfg.numerics.kernels import sources

    features = binding.get_host_cpu_features()
    wide = [name for name in ("avx", "avx2", "avx512f", "fma", "neon", "sve") if features.get(name)]
    return Environment(
        __version__,
        sys.version.split()[0],
        np.__version__,
        numba.__version__,
        sources(),
        f"{binding.get_host_cpu_name()} ({' '.join(wide)})",
    )


def check_same(ours: Environment, theirs: Mapping[str, Environment]) -> str | None:
    """Raise an error if results on workers would not be those of the client.

    Returns a warning, if the last bits of results may differ because processors do.
    """
    for address, other in theirs.items():
        for name in Environment._fields[:-1]:
            here, there = getattr(ours, name), getattr(other, name)
            if here != there:
                what = {"version": "dbpcfg", "kernels": "the sources of kernels"}.get(name, name)
                raise DbpcfgError(
                    f"worker {address} has {what} {there}, this process has {here}: results would "
                    "not be the same; install the same versions on all machines"
                )
    kinds = {ours.processor, *(other.processor for other in theirs.values())}
    if len(kinds) == 1:
        return None
    return (
        f"processors differ ({', '.join(sorted(kinds))}): the last bits of results may depend on "
        "which worker computes what"
    )


@cache
def begin_call(client: Environment) -> None:
    """What a worker does before its first call: check that it is the same as the client."""
    check_same(client, {"on " + platform.node(): environment()})
    one_blas_thread.hold()


LARGE = 1000
"""Numbers of an array from which on zeros are looked for."""


class _Packer(pickle.Pickler):
    """Leaves out what is known already, and zeros."""

    def __init__(self, file: io.BytesIO, known: tuple[object, ...]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.known = {id(one): number for number, one in enumerate(known)}

    def persistent_id(self, item: Any) -> int | None:
        """The number of what is left out."""
        return self.known.get(id(item))

    def reducer_override(self, item: Any) -> Any:
        """Counts of spans without the corpus, arrays without zeros."""
        if isinstance(item, SpanCounts):
            return SpanCounts, (
                item.corpus,
                item.shape[1],
                item.__dict__.get("counts"),
                item.several,
            )
        if type(item) is np.ndarray and LARGE <= item.size < 2**31 and item.flags.c_contiguous:
            flat = item.reshape(-1)
            # Bits, as −0.0 is not 0.0.
            places = np.flatnonzero(flat.view(f"u{item.itemsize}"))
            if (4 + item.itemsize) * len(places) < item.nbytes:
                return _dense, (item.shape, places.astype(np.int32), flat[places])
        return NotImplemented


def _dense(shape: tuple[int, ...], places: Longs, values: NDArray[Any]) -> NDArray[Any]:
    whole = np.zeros(shape, values.dtype)
    whole.reshape(-1)[places] = values
    return whole


class _Unpacker(pickle.Unpickler):
    """Puts in what was left out."""

    def __init__(self, content: bytes, known: tuple[object, ...]) -> None:
        super().__init__(io.BytesIO(content))
        self.known = known

    def persistent_load(self, number: int) -> object:
        """What was left out."""
        return self.known[number]


def packed(content: object, *known: object) -> bytes:
    """An object as bytes, without those that the receiver knows."""
    file = io.BytesIO()
    _Packer(file, known).dump(content)
    return file.getvalue()


def unpacked(content: bytes, *known: object) -> Any:
    """The object that was packed, with those known here."""
    return _Unpacker(content, known).load()


@dataclass(frozen=True)
class Message:
    """Sentences as bytes, with their digest."""

    content: bytes
    digest: str

    @classmethod
    def of(cls, content: object) -> Message:
        """The message of an object."""
        own = packed(content)
        return cls(own, hashlib.sha256(own).hexdigest())

    def read(self) -> Any:
        """The object."""
        if hashlib.sha256(self.content).hexdigest() != self.digest:
            raise DbpcfgError("the sentences reached a worker damaged: their digest is another one")
        return unpacked(self.content)


def read_message(message: Message) -> Any:
    """What a worker holds of sentences that it was sent."""
    return message.read()
