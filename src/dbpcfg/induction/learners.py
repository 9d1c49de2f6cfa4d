"""The learners by their names: what one iteration of each does."""

from __future__ import annotations

from typing import Any, Protocol

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction import expectation, gibbs, neural
from dbpcfg.induction.gibbs import State
from dbpcfg.induction.settings import ChainSettings


class Step(Protocol):
    """One iteration of a chain: a pure function of its state."""

    def __call__(
        self,
        state: State,
        corpus: Encoded,
        settings: ChainSettings,
        threads: int = 1,
        trees: Any = None,
    ) -> State:
        """The chain after one more iteration."""


def step_of(settings: ChainSettings) -> Step:
    """The step of the learner that the settings name."""
    if settings.learner == "neural":
        return neural.step
    return gibbs.step if settings.learner == "gibbs" else expectation.step
