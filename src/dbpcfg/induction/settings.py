"""The settings of a chain, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any, Literal

import numpy as np

from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.levels import check_depth
from dbpcfg.grammar.pcfg import SMALLEST_BETA
from dbpcfg.numerics.philox import stream
from dbpcfg.parsing.chart.layout import Precision

_PLAIN: dict[str, Callable[[Any], float]] = {
    **dict.fromkeys(("categories", "seed", "chain"), index),
    **dict.fromkeys(("beta", "temperature"), float),
}


@dataclass(frozen=True)
class ChainSettings:
    """What a chain is, apart from its corpus and its state."""

    categories: int = 15
    """K."""
    depth: int | None = 2
    """D, the most fragments in memory; None for no bound."""
    beta: float = 0.2
    """β; where it starts, if it is sampled."""
    seed: int = 0
    chain: int = 0
    parser: Literal["chart", "leftcorner"] = "chart"
    precision: Precision = "double"
    """Of the chart's numbers: single is faster for many categories, and right to some 5 digits."""
    exact: bool = False
    """Whether the grammar's draw takes the bound's normaliser into account."""
    sample_beta: bool = False
    """Whether β is drawn in every iteration."""
    initial: Literal["prior", "left", "right"] = "prior"
    """Where chains start: a grammar from the prior, or one counted from branching trees."""
    anneal: int = 0
    """Over so many iterations, trees are drawn from grammars that are first flattened."""
    temperature: float = 5.0
    """How flat the first of them is: rules are raised to the power 1/temperature."""
    curriculum: int = 0
    """Iterations spent at each depth below the bound, from 1 up; 0 starts at the bound."""

    restarts: int = 0
    """Chains begin with so many short ones, and go on with the most probable of them."""
    restart_iterations: int = 20
    """How long each of these is."""

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
        stream(self.seed, self.chain)  # refuses what cannot be a seed
        if self.restarts < 0 or self.restart_iterations < 1:
            raise DbpcfgError("restarts must be 0 or more, of at least 1 iteration each")
        if self.parser not in ("chart", "leftcorner"):
            raise DbpcfgError(f"there is no parser {self.parser!r}; choose chart or leftcorner")
        if self.precision not in ("double", "single"):
            raise DbpcfgError(f"no precision {self.precision!r}; choose double or single")
        if self.parser == "leftcorner" and self.precision == "single":
            raise DbpcfgError("only the chart has single precision")
        if self.initial not in ("prior", "left", "right"):
            raise DbpcfgError(f"no way to start {self.initial!r}; choose prior, left or right")
        if self.parser == "leftcorner" and self.depth is None:
            raise DbpcfgError("the left-corner parser needs a depth bound; the chart does not")
        if self.anneal < 0 or self.curriculum < 0:
            raise DbpcfgError("anneal and curriculum are numbers of iterations, 0 or more")
        if not 1 <= self.temperature < np.inf:
            raise DbpcfgError(f"the temperature must be 1 or more, got {self.temperature}")

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
    def settled_from(self) -> int:
        """The first iteration with which restarts, curriculum and annealing are over."""
        steps = 0 if self.depth is None else (self.depth - 1) * self.curriculum
        return max(self.anneal, steps, self.restarts * self.restart_iterations)
