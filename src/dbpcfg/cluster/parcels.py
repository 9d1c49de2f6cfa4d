"""Whether client and workers would compute the same bits.

Chains and sentences on their way between processes of one run.

A chain travels without its corpus and its vocabulary, which are there already. Parcels are only
exchanged between the processes of a running cluster; no file is ever read this way.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import platform
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.io.machine import one_blas_thread
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.mbr import SpanCounts
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

    from dbpcfg.numerics.kernels import sources

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


@dataclass(frozen=True)
class Sparse:
    """An array of counts."""

    places: Ints | None
    """Where there are counts, in the flat array; None if all are there."""
    values: NDArray[np.integer]

    def add_to(self, whole: Floats | Ints) -> None:
        """Add them to an array, of which no part is a copy."""
        flat = whole.reshape(-1)
        if self.places is None:
            flat += self.values
        else:
            flat[self.places] += self.values


def sparse(counts: Floats | Ints) -> Sparse:
    """Counts to be sent: 8 bytes for each that is not zero, or 4 for each, if that is less."""
    flat = counts.reshape(-1)
    kind = np.int32 if flat.max(initial=0) < 2**31 else np.int64
    places = np.flatnonzero(flat)
    if 2 * len(places) >= len(flat) or len(flat) >= 2**31:
        return Sparse(None, flat.astype(kind))
    return Sparse(places.astype(np.int32), flat[places].astype(kind))


@dataclass(frozen=True)
class SentCounts:
    """The counts of all rules."""

    root: Sparse
    binary: Sparse
    lexical: Sparse

    @classmethod
    def of(cls, counts: RuleWeights) -> SentCounts:
        """Counts to be sent."""
        return cls(sparse(counts.root), sparse(counts.binary), sparse(counts.lexical))

    def add_to(self, whole: RuleWeights) -> None:
        """Add them to others. Sums of whole numbers are the same in any order."""
        self.root.add_to(whole.root)
        self.binary.add_to(whole.binary)
        self.lexical.add_to(whole.lexical)


_CORPUS, _VOCABULARY = "corpus", "vocabulary"


@dataclass(frozen=True)
class Cargo:
    """The sentences of a run as bytes."""

    content: bytes
    digest: str
    facts: Facts
    """Those of the client: a worker may have come after they were compared."""


class _Packer(pickle.Pickler):
    """Leaves out the corpus, the vocabulary and zeros."""

    def persistent_id(self, found: Any) -> str | None:
        """The name of what is left out."""
        if isinstance(found, Encoded):
            return _CORPUS
        return _VOCABULARY if isinstance(found, Vocabulary) else None

    def reducer_override(self, found: Any) -> Any:
        """Counts of spans are mostly zeros."""
        if not isinstance(found, SpanCounts):
            return NotImplemented
        counts = found.__dict__.get("counts")
        return _spans, (found.corpus, found.shape[1], None if counts is None else sparse(counts))


def _spans(corpus: Encoded, categories: int, counts: Sparse | None) -> SpanCounts:
    spans = SpanCounts(corpus, categories)
    if counts is not None:
        counts.add_to(spans.counts)
    return spans


class _Unpacker(pickle.Unpickler):
    """Puts in the corpus and the vocabulary that are here."""

    def __init__(self, content: bytes, corpus: Encoded) -> None:
        super().__init__(io.BytesIO(content))
        self.here = _here(corpus)

    def persistent_load(self, name: str) -> Encoded | Vocabulary:
        """What was left out."""
        return self.here[name]


def _here(corpus: Encoded) -> dict[str, Encoded | Vocabulary]:
    return {_CORPUS: corpus, _VOCABULARY: corpus.vocabulary}


def packed(content: Any) -> bytes:
    """A chain, or part of one, without its corpus."""
    found = io.BytesIO()
    _Packer(found, pickle.HIGHEST_PROTOCOL).dump(content)
    return found.getvalue()


def unpacked(content: bytes, corpus: Encoded) -> Any:
    """What was packed, with the corpus that is here."""
    return _Unpacker(content, corpus).load()


def unpacked_chain(content: bytes, corpus: Encoded) -> Chain:
    """A chain that was packed, with the corpus that is here."""
    chain = unpacked(content, corpus)
    assert isinstance(chain, Chain)
    return chain


def cargo_of(corpus: Encoded, *others: Encoded | GoldSpans | None) -> Cargo:
    """Sentences and what belongs to them, to be sent."""
    content = pickle.dumps((_bare(corpus), *others), pickle.HIGHEST_PROTOCOL)
    return Cargo(content, hashlib.sha256(content).hexdigest(), facts())


def opened(cargo: Cargo) -> tuple[Any, ...]:
    """What `cargo_of` was given."""
    check(cargo.facts, {"on " + platform.node(): facts()})
    if hashlib.sha256(cargo.content).hexdigest() != cargo.digest:
        raise DbpcfgError("the sentences reached a worker damaged: their digest is another one")
    found = pickle.loads(cargo.content)
    assert isinstance(found, tuple)
    return found


def _bare(corpus: Encoded) -> Encoded:
    """A corpus without what it has computed and remembers."""
    return Encoded(corpus.tokens, corpus.starts, corpus.vocabulary, corpus.places)


_held: dict[str, dict[Hashable, Any]] = {}
_over: set[str] = set()
"""Runs that are over: a call of one that was still under way leaves nothing behind."""
_lock = RLock()
_limits: list[Any] = []


def holdings(run: str) -> dict[Hashable, Any]:
    """What this worker holds of a run."""
    with _lock:
        if not _limits:  # as long as the process lives: calls would lift each other's limit
            _limits.append(one_blas_thread())
            _limits[0].__enter__()
        return {} if run in _over else _held.setdefault(run, {})


def once(run: str, name: Hashable, make: Callable[[], Any]) -> Any:
    """Something of a run, made when it is first asked for."""
    held = holdings(run)
    with _lock:
        if name not in held:
            held[name] = make()
        return held[name]


def forget(run: str) -> None:
    """Drop all that is held of a run, for good."""
    with _lock:
        _over.add(run)
        _held.pop(run, None)


def address() -> str:
    """The address of the worker that runs this call."""
    from distributed import get_worker

    return str(get_worker().address)
