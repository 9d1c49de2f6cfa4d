"""BMMM: word classes by a Bayesian multinomial mixture over word types.

Christos Christodoulopoulos, Sharon Goldwater and Mark Steedman: *A Bayesian mixture model for
part-of-speech induction using multiple features*, Proceedings of EMNLP 2011; with dependencies as
features: *Turning the pipeline into a loop: iterated unsupervised dependency parsing and PoS
induction*, Proceedings of the NAACL workshop on the induction of linguistic structure, 2012.

Every word *type* i has one of K classes, z_i, so all its tokens have the same tag.  There are one
or more sets of features f: n_ifv is how often feature v of set f occurs with type i.

    θ ~ Dirichlet(α, …, α)         z_i ~ θ
    φ_cf ~ Dirichlet(β_f, …, β_f)      each feature token of a type of class c ~ φ_cf

1. **Features** (`model`).  The neighbours of a word among the 100 most frequent types; and, given
   the heads and classes of a previous generation, the classes of heads and dependents.
2. **Sampler** (`sampler`).  θ and φ are integrated out.  The class of each type in turn is drawn
   again, given all others.
3. **Annealing** (`sampler.powers`).  Probabilities are raised to a power τ that goes from ½ to 1 in
   the first half of the iterations and above 1 at the end.
4. **Hyperparameters** (`model.step`).  Every five iterations there are five Metropolis–Hastings
   steps for α and each β_f.
5. **Answer**.  The classes of greatest probability among all samples (`model.log_posterior`).

With ``faithful`` the published program is followed, which differs from this in five points:

1. **Rescaled logarithms** (`sampler.sweep`).  If the probabilities of all classes for a type are
   below e⁻¹⁰⁰, as for every frequent type, their logarithms are divided so that the smallest is
   −100.  So these types are drawn from a much flatter distribution.
2. **NULL** (`model.context_features`).  The most frequent type counts as NULL too.
3. **Own counts first** (`model.faithful_log_posterior`).  In the posterior by which samples are
   compared, a type is scored after its own counts have been added.
4. **Stale posterior** (`model.step`).  Proposed hyperparameters are compared with the posterior
   before the first of the five rounds, even after one has been accepted; and the ratio of proposal
   densities is raised to the power τ too.
5. **Every fifth sample** (`sampler`) is compared with the best; the others are not.
"""

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
    join_features,
    number_types,
)
from dbpcfg.systems.bmmm.sampler import ClassSample, ClassSampler
from dbpcfg.systems.registry import require_fit


class Dependencies(NamedTuple):
    """The results of a previous generation for the same sentences."""

    heads: Sequence[ArrayLike]
    """For each sentence the position of each token's head, from 0; −1 for the root."""
    tags: Sequence[ArrayLike]
    """For each sentence the class of each token."""


class BMMM:
    """Bayesian multinomial mixture of word types (Christodoulopoulos et al. 2011).

    Words are not lower-cased. Punctuation is clustered like words.

    ``iterations``: the number of sweeps over all types. Fewer than 20 are not annealed at the end.
    ``faithful``: whether to follow the published program where it differs from its description (see
    `dbpcfg.systems.bmmm`). Results still differ from the program's, whose random numbers cannot be
    repeated.
    ``context_words``: the number of most frequent types that are features of their neighbours.
    ``alpha, beta``: the initial Dirichlet parameters of classes and of features, which are sampled.
    """

    name = "bmmm"
    summary = "word classes, Bayesian multinomial mixture over word types"
    reference = "Christodoulopoulos, Goldwater and Steedman (2011)"

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
        """Find the class of every type.

        ``dependencies``: heads and tags of a previous generation, as further features.
        ``generation``: the number of the generation, on which random numbers depend.
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
        self._fitted = text, sampler.sample(join_features(*sets), report)
        return self

    def tags(self) -> list[Longs]:
        """The class of each token, one array for each sentence."""
        text, sample = require_fit(self.name, self._fitted)
        return np.split(sample.z[text.tokens], np.cumsum(text.lengths)[:-1])

    @property
    def sample(self) -> ClassSample:
        """The best sample: the class of each type, its log posterior, and α and β."""
        return require_fit(self.name, self._fitted)[1]
