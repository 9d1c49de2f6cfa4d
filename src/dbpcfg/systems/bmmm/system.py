"""BMMM as a tagger: word classes for sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Longs
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.systems.bmmm.model import (
    Text,
    context_features,
    dependency_features,
    number_types,
    stacked,
)
from dbpcfg.systems.bmmm.sampler import ClassSample, ClassSampler
from dbpcfg.systems.registry import require_fit


class Dependencies(NamedTuple):
    """What a previous generation found for the same sentences."""

    heads: Sequence[ArrayLike]
    """For each sentence the position of each token's head, from 0; −1 for the root."""
    tags: Sequence[ArrayLike]
    """For each sentence the class of each token."""


class BMMM:
    """Bayesian multinomial mixture of word types (Christodoulopoulos et al. 2011).

    Words are taken as they are: lower-case them first. Punctuation is clustered like words.

    ``iterations``: the number of sweeps over all types. Fewer than 20 are not annealed at the end.
    ``faithful``: whether to do what the published program does where it differs from its
    description (see `dbpcfg.systems.bmmm.faithful`). Results are still not those of the program,
    whose random numbers cannot be repeated.
    ``context_words``: the number of most frequent types that are features of their neighbours.
    ``alpha, beta``: the Dirichlet parameters of classes and of features at the start; they are
    sampled.
    """

    name = "bmmm"
    stochastic = True

    def __init__(
        self,
        classes: int = 45,
        iterations: int = 500,
        seed: int = 0,
        faithful: bool = False,
        *,
        context_words: int = 100,
        alpha: float = 0.1,
        beta: float = 0.1,
    ) -> None:
        for name, number in (
            ("classes", classes),
            ("iterations", iterations),
            ("context_words", context_words),
        ):
            if not isinstance(number, int | np.integer) or number < 1:
                raise DbpcfgError(f"{name} must be a whole number of at least 1, not {number!r}")
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not 0 < value < math.inf:
                raise DbpcfgError(f"{name} must be a number above 0, not {value!r}")
        stream(seed, 0, iterations, Purpose.BMMM)  # raises an error if the seed is out of range
        self.classes = int(classes)
        self.iterations = int(iterations)
        self.seed = seed
        self.faithful = faithful
        self.context_words = int(context_words)
        self.alpha = alpha
        self.beta = beta
        self._fitted: tuple[Text, ClassSample] | None = None

    def fit(
        self,
        sentences: Sequence[Sequence[str]],
        progress: Progress | None = None,
        dependencies: Dependencies | tuple[Sequence[ArrayLike], Sequence[ArrayLike]] | None = None,
        generation: int = 0,
    ) -> Self:
        """Find the class of every type, from the start.

        ``dependencies``: heads and tags of a previous generation, for features beside the context.
        ``generation``: the number of the generation; each draws other random numbers with the same
        seed.
        """
        text = number_types(sentences)
        sets = [context_features(text, self.context_words, self.faithful)]
        if dependencies is not None:
            heads, tags = dependencies
            sets.append(dependency_features(text, heads, tags, self.classes))
        sampler = ClassSampler(
            self.classes,
            self.iterations,
            self.seed,
            generation,
            self.faithful,
            self.alpha,
            self.beta,
        )
        report = (lambda number: None) if progress is None else progress.update
        self._fitted = text, sampler.sample(stacked(*sets), report)
        return self

    def tags(self) -> list[Longs]:
        """The class of each token, one array for each sentence, in order."""
        text, sample = require_fit(self.name, self._fitted)
        return np.split(sample.z[text.tokens], np.cumsum(text.lengths)[:-1])

    def classes_of_types(self) -> dict[str, int]:
        """The class of each type, types in the order of their first occurrence."""
        text, sample = require_fit(self.name, self._fitted)
        return dict(zip(text.vocabulary, map(int, sample.z), strict=True))

    @property
    def sample(self) -> ClassSample:
        """The best sample: the class of each type, its log posterior, and α and β."""
        return require_fit(self.name, self._fitted)[1]
