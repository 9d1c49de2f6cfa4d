"""The Gibbs sampler: states given distributions, distributions given states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.systems.uhhmm.backward import draw_states
from dbpcfg.systems.uhhmm.counts import count_events
from dbpcfg.systems.uhhmm.prior import Prior, draw_beta, draw_models
from dbpcfg.systems.uhhmm.steps import contract
from dbpcfg.systems.uhhmm.submodels import Size, SubModels, uniform, without_choice


@dataclass(frozen=True)
class StateSample:
    """A sample of all that is unknown."""

    iteration: int
    models: SubModels
    beta: Floats
    """β of tags."""
    states: Ints
    """``[token, 5]``, as in `backward`."""
    log_likelihood: float
    """Of the sentences given ``models``, states summed out."""


@dataclass(frozen=True)
class StateSampler:
    """A corpus and how it is sampled."""

    corpus: Encoded
    size: Size
    prior: Prior
    seed: int
    threads: int = 1
    """The result does not depend on it."""

    def first(self) -> StateSample:
        """Random states: those that are possible, drawn with all distributions uniform."""
        models = uniform(self.size)
        models = models if self.prior.faithful else without_choice(models)
        outcomes = self.prior.outcomes(self.size.G)
        beta = np.full(outcomes, 1.0 / outcomes)
        nothing = np.empty((0, 5), dtype=np.int32)
        return self._with_states(StateSample(0, models, beta, nothing, 0.0))

    def step(self, last: StateSample) -> StateSample:
        """Draw β, the distributions and all states, each given what was drawn before it."""
        iteration = last.iteration + 1
        counts = count_events(self.corpus, last.states, self.size)
        numbers = stream(self.seed, 0, iteration, Purpose.UHHMM_TABLES)
        beta = draw_beta(counts.pos, last.beta, self.prior, numbers)
        numbers = stream(self.seed, 0, iteration, Purpose.UHHMM_MODELS)
        models = draw_models(counts, beta, self.prior, numbers)
        return self._with_states(replace(last, iteration=iteration, models=models, beta=beta))

    def _with_states(self, sample: StateSample) -> StateSample:
        numbers = stream(self.seed, 0, sample.iteration, Purpose.UHHMM_STATES)
        steps = contract(sample.models, self.prior.faithful)
        states, logs = draw_states(self.corpus, steps, numbers, self.threads)
        return replace(sample, states=states, log_likelihood=float(logs.sum()))

    def sample(self) -> Iterator[StateSample]:
        """One sample after another; the first is that of iteration 1."""
        sample = self.first()
        while True:
            sample = self.step(sample)
            yield sample
