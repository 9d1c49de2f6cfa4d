"""The interface of both parsers, and the checks that both make."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats
from dbpcfg.numerics.philox import Stream
from dbpcfg.parsing.derivations import Derivations


class Parser(Protocol):
    """A grammar and a bound, ready for sentences."""

    grammar: Grammar
    depth: int | None

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence."""

    def sample(self, corpus: Encoded, numbers: Stream) -> tuple[Derivations, Floats]:
        """A tree from the posterior of every sentence, and every log P(sentence)."""

    def best(self, corpus: Encoded) -> tuple[Derivations, Floats]:
        """The most probable tree of every sentence, and log P(tree, sentence) of each."""


class SpanParser(Protocol):
    """What is needed of a parser for probabilities of sentences and MBR trees."""

    @property
    def log_fitting_mass(self) -> float:
        """log Z: the logarithm of the probability that a tree fits the bound; 0 without a bound."""

    def log_probabilities(self, corpus: Encoded) -> Floats:
        """log P(sentence) of every sentence."""

    def posteriors(self, corpus: Encoded, negligible: float) -> tuple[Floats, Floats]:
        """Posterior probabilities of all labelled spans, and every log P(sentence)."""


def check_vocabulary(grammar: Grammar, corpus: Encoded) -> None:
    """Raise a DbpcfgError if a corpus is numbered by another vocabulary than the grammar's."""
    if corpus.vocabulary.words != grammar.vocabulary.words:
        raise DbpcfgError(
            "the corpus is numbered by another vocabulary than the grammar's; "
            "make it with grammar.vocabulary.encode(sentences)"
        )


def check_parsable(grammar: Grammar, corpus: Encoded, logs: Floats) -> None:
    """Raise an UnparsableError, with the reason, if a sentence has probability zero."""
    impossible = np.flatnonzero(np.isneginf(logs))
    if not len(impossible):
        return
    sentence = int(impossible[0])
    words = corpus[sentence]
    emitted = grammar.lexical.max(axis=0) > 0
    silent = [word for word in words if not emitted[grammar.vocabulary.index[word]]]
    shown = " ".join(words[:12]) + (" …" if len(words) > 12 else "")
    reason = f"no category can emit {silent[0]!r}" if silent else "no tree of it fits the bound"
    raise UnparsableError(f"sentence {sentence + 1} ({shown}) has probability zero: {reason}")
