"""DMV on sentences of tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import Longs
from dbpcfg.runtime.progress import Progress
from dbpcfg.systems.checks import require_fit
from dbpcfg.systems.dmv.initial import initial_parameters
from dbpcfg.systems.dmv.outside import expected_counts
from dbpcfg.systems.dmv.parameters import Parameters, estimate, for_decoding, no_counts
from dbpcfg.systems.dmv.tags import tag_sequences
from dbpcfg.systems.dmv.viterbi import best_heads


class DMV:
    """The dependency model with valence (Klein and Manning 2004), trained by EM.

    Nothing is random.

    ``backoff``: b of the smoothing of dependents (see `parameters.estimate`), which adds b / (1 −
    b) pseudo-counts. With 0 this is plain EM, whose likelihood never falls.
    """

    def __init__(self, iterations: int = 20, backoff: float = 0.66) -> None:
        if iterations < 0:
            raise DbpcfgError(f"iterations must be 0 or more, not {iterations!r}")
        if not 0 <= backoff < 1:
            raise DbpcfgError(f"backoff must be at least 0 and below 1, not {backoff!r}")
        self.iterations, self.backoff = iterations, backoff
        self.log_likelihoods: list[float] = []
        """Of all sentences, before each iteration."""
        self._parameters: Parameters | None = None
        self._heads: list[Longs] | None = None

    def fit(self, tags: Sequence[Sequence[int] | Longs], progress: Progress | None = None) -> Self:
        """Learn from tags, then find the heads of the same sentences.

        ``tags``: the tags of each sentence, integers; `number_tags` makes them from any other tags.
        """
        corpus = tag_sequences(tags)
        parameters = initial_parameters(
            corpus.split(corpus.tags), corpus.weights.tolist(), corpus.number
        )
        self.log_likelihoods = []
        for iteration in range(self.iterations):
            counts = no_counts(corpus.number)
            self.log_likelihoods.append(
                expected_counts(corpus.tags, corpus.ends, corpus.weights, parameters, counts)
            )
            parameters = estimate(counts, self.backoff)
            if progress is not None:
                progress.update(iteration + 1)
        self._parameters = parameters
        heads = corpus.split(best_heads(corpus.tags, corpus.ends, for_decoding(parameters)))
        self._heads = [heads[number] for number in corpus.sequence_of]
        return self

    @property
    def parameters(self) -> Parameters:
        """The parameters after the last iteration; tags are in the order of their numbers."""
        return require_fit("dmv", self._parameters)

    def heads(self) -> list[Longs]:
        """For each sentence the position of every word's head, from 0; −1 for the root."""
        return [heads.copy() for heads in require_fit("dmv", self._heads)]
