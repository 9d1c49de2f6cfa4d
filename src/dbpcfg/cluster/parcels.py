"""Chains and sentences on their way between processes of one run.

A chain travels without its corpus and its vocabulary, which are there already. Parcels are only
exchanged between the processes of a running cluster; no file is ever read this way.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import platform
from dataclasses import dataclass
from typing import Any

from dbpcfg.cluster.agreement import Facts, check, facts
from dbpcfg.cluster.counts import Sparse, sparse
from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.gold import GoldSpans
from dbpcfg.parsing.spans import SpanCounts

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
