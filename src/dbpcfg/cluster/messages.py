"""What travels between the client and its workers: sentences, chains, counts.

A chain travels without its corpus and its vocabulary, which are there already, and counts without
their zeros. Messages are only exchanged between the processes of a running cluster; no file is ever
read this way.

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
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.numerics.kernels import Floats, Ints
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
    for address, found in theirs.items():
        for name in Environment._fields[:-1]:
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
        self.here = {_CORPUS: corpus, _VOCABULARY: corpus.vocabulary}

    def persistent_load(self, name: str) -> object:
        """What was left out."""
        return self.here[name]


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


@dataclass(frozen=True)
class SentCorpus:
    """The sentences of a run, and what belongs to them, as bytes."""

    content: bytes
    digest: str
    environment: Environment
    """That of the client: a worker may have come after they were compared."""

    @classmethod
    def of(cls, corpus: Encoded, *others: Encoded | GoldSpans | None) -> SentCorpus:
        """Sentences to be sent, without what their object has computed and remembers."""
        bare = replace(corpus)
        content = pickle.dumps((bare, *others), pickle.HIGHEST_PROTOCOL)
        return cls(content, hashlib.sha256(content).hexdigest(), environment())

    def read(self) -> tuple[Any, ...]:
        """What `of` was given."""
        check_same(self.environment, {"on " + platform.node(): environment()})
        if hashlib.sha256(self.content).hexdigest() != self.digest:
            raise DbpcfgError("the sentences reached a worker damaged: their digest is another one")
        found = pickle.loads(self.content)
        assert isinstance(found, tuple)
        return found
