"""The settings of a chain, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from operator import index
from typing import Any, Literal, get_args

import numpy as np

from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.grammar.pcfg import SMALLEST_BETA
from dbpcfg.io.validation import check_choice
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.layout import Precision

ParserName = Literal["chart", "leftcorner"]
Initial = Literal["prior", "left", "right"]
LearnerName = Literal["gibbs", "em", "vb", "neural"]

_CHOICES = {
    "parser": get_args(ParserName),
    "precision": get_args(Precision),
    "initial": get_args(Initial),
    "learner": get_args(LearnerName),
}
_PLAIN: dict[str, Callable[[Any], float]] = {
    **dict.fromkeys(
        ("categories", "seed", "chain", "batch", "word_categories", "rank", "patience"), index
    ),
    **dict.fromkeys(("beta", "temperature", "smoothing", "step", "rate"), float),
}


@dataclass(frozen=True)
class ChainSettings:
    """The settings of a chain: with a corpus, all that its result depends on."""

    categories: int = 15
    """K."""
    depth: int | None = 2
    """D, the greatest number of fragments in memory; None for no bound."""
    beta: float = 0.2
    """β; its initial value, if it is sampled."""
    seed: int = 0
    """Of the random numbers."""
    chain: int = 0
    """The number of the chain in its run."""
    parser: ParserName = "chart"
    """What samples trees. Both draw from the same distribution; the chart is much faster."""
    precision: Precision = "double"
    """Of the chart: single is faster for many categories, and accurate to about 5 digits."""
    exact: bool = False
    """Whether the grammar's draw takes the bound's normaliser into account."""
    sample_beta: bool = False
    """Whether β is drawn in every iteration."""
    initial: Initial = "prior"
    """Where chains start: a grammar from the prior, or one counted from branching trees."""
    anneal: int = 0
    """The number of iterations in which trees are drawn from a flattened grammar."""
    temperature: float = 5.0
    """How flat it is at first: rule probabilities are raised to the power 1/temperature."""
    curriculum: int = 0
    """Iterations spent at each depth below the bound, from 1 up; 0 starts at the bound."""
    restarts: int = 0
    """The number of short chains that a chain begins with; it continues the most probable one."""
    restart_iterations: int = 20
    """The length of each of them."""
    aside: int = 0
    """Every n-th sentence is kept aside: it gets trees, but nothing is learned from them."""
    learner: LearnerName = "gibbs"
    """How the grammar is learned: by sampling, EM, variational Bayes, or as a neural network."""
    batch: int = 0
    """Sentences in a mini-batch; 0 for all of them with EM and VB, for 32 with a network."""
    step: float = 0.7
    """With mini-batches: α, the t-th of which has the weight (t + 2)^−α."""
    smoothing: float = 0.0
    """EM: what is added to the expected count of each rule."""
    word_categories: int = 0
    """Neural: how many of the categories are those of words; 0 for two thirds."""
    rank: int = 0
    """Neural: the number of hidden symbols of binary rules; 0 for as many as categories."""
    rate: float = 0.002
    """Neural: the size of steps."""
    patience: int = 5
    """Neural, with sentences kept aside: passes without a better grammar before it stops."""

    def __post_init__(self) -> None:
        # Plain numbers, whatever was given: a run must read back as it was written.
        for name, plain in _PLAIN.items():
            object.__setattr__(self, name, plain(getattr(self, name)))
        if self.categories < 1:
            raise GrammarError(f"a grammar needs at least one category, got {self.categories}")
        if self.depth is not None:
            object.__setattr__(self, "depth", check_depth(index(self.depth)))
        if not SMALLEST_BETA <= self.beta < np.inf:
            raise GrammarError(
                f"beta must be a positive number, {SMALLEST_BETA} or more, got {self.beta}"
            )
        stream(self.seed, self.chain)  # raises an error for an impossible seed
        if self.restarts < 0 or self.restart_iterations < 1:
            raise DbpcfgError("restarts must be 0 or more, of at least 1 iteration each")
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if self.parser == "leftcorner" and self.precision == "single":
            raise DbpcfgError("only the chart has single precision")
        if self.parser == "leftcorner" and self.depth is None:
            raise DbpcfgError("the left-corner parser needs a depth bound; the chart does not")
        if self.aside < 0 or self.aside == 1:
            raise DbpcfgError(
                f"aside is 0, or n of 2 or more to keep every n-th sentence aside, got {self.aside}"
            )
        if self.anneal < 0 or self.curriculum < 0:
            raise DbpcfgError("anneal and curriculum are numbers of iterations, 0 or more")
        if not 1 <= self.temperature < np.inf:
            raise DbpcfgError(f"the temperature must be 1 or more, got {self.temperature}")
        self._check_learner()

    def _check_learner(self) -> None:
        if self.batch < 0:
            raise DbpcfgError(f"batch is a number of sentences, 0 for all, got {self.batch}")
        if not 0.5 < self.step <= 1:
            raise DbpcfgError(f"step must be above 0.5 and at most 1, got {self.step}")
        if not 0 <= self.smoothing < np.inf:
            raise DbpcfgError(f"smoothing must be 0 or more, got {self.smoothing}")
        if self.learner == "neural":
            self._check_neural()
        elif self.word_categories or self.rank:
            raise DbpcfgError("word categories and rank are for the learner neural only")
        if self.learner == "gibbs":
            if self.batch or self.smoothing:
                raise DbpcfgError("batch and smoothing are for the learners em and vb, not gibbs")
            return
        if self.parser != "chart":
            raise DbpcfgError(f"the learner {self.learner} needs the chart as its parser")
        if self.sample_beta:
            raise DbpcfgError("beta is sampled by the learner gibbs only")
        if self.learner == "vb" and (self.exact or self.smoothing):
            raise DbpcfgError("exact and smoothing are not for the learner vb")

    def _check_neural(self) -> None:
        if not 0 <= self.word_categories < self.categories or self.categories < 2:
            raise DbpcfgError(
                "the learner neural needs a category of phrases and one of words, got "
                f"{self.categories} categories, of which {self.word_categories} are of words"
            )
        if self.rank < 0 or self.patience < 1:
            raise DbpcfgError(
                f"the rank must be 0 or more, patience 1 or more, got {self.rank} "
                f"and {self.patience}"
            )
        if not 0 < self.rate < np.inf:
            raise DbpcfgError(f"the rate must be a positive number, got {self.rate}")
        others = ("smoothing", "restarts", "anneal", "curriculum")
        given = [name for name in others if getattr(self, name)]
        given += ["initial"] * (self.initial != "prior")
        if given:
            raise DbpcfgError(f"{given[0]} is not for the learner neural")

    @property
    def words_categories(self) -> int:
        """P, how many of the categories of a neural grammar are those of words."""
        return self.word_categories or min(self.categories - 1, round(2 * self.categories / 3))

    @property
    def hidden_symbols(self) -> int:
        """R, the rank of a neural grammar's rules."""
        return self.rank or self.categories

    @property
    def samples(self) -> bool:
        """Whether the learner samples trees; of others only the last grammar counts."""
        return self.learner == "gibbs"

    def recorded(self) -> dict[str, Any]:
        """The settings as files have them: options of other learners are left out of the sampler's.

        So the files of a sampler are the same as before there were others.
        """
        found = asdict(self)
        if self.learner == "gibbs":
            for name in ("learner", "batch", "step", "smoothing"):
                del found[name]
        if self.learner != "neural":
            for name in ("word_categories", "rank", "rate", "patience"):
                del found[name]
        return found

    def depth_at(self, iteration: int) -> int | None:
        """The bound in force in an iteration."""
        if self.depth is None or not self.curriculum:
            return self.depth
        return min(self.depth, 1 + iteration // self.curriculum)

    def temperature_at(self, iteration: int) -> float:
        """The temperature of an iteration: falling to 1, by equal factors."""
        if iteration >= self.anneal:
            return 1.0
        return float(self.temperature ** (1 - iteration / self.anneal))

    @property
    def preliminary_iterations(self) -> int:
        """Iterations until restarts, curriculum and annealing are over."""
        steps = 0 if self.depth is None else (self.depth - 1) * self.curriculum
        return max(self.anneal, steps, self.restarts * self.restart_iterations)


def settings_for(learner: str = "gibbs", **given: Any) -> ChainSettings:
    """The settings of a chain, with defaults that suit the learner.

    ``**given``: other fields of `ChainSettings`. ``categories`` and ``exact`` may be None, or
    missing: the neural grammar has 120 categories and is exact, others have 15 and are not.
    """
    usual = {"categories": 120, "exact": True} if learner == "neural" else {}
    asked = {
        name: value
        for name, value in given.items()
        if value is not None or name not in ("categories", "exact")
    }
    return ChainSettings(**{"learner": learner, **usual, **asked})
