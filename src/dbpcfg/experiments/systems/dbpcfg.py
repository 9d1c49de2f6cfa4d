"""The depth-bounded PCFG of this package as one of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from dbpcfg.experiments.systems.registry import require_fit
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.induce import induce
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import BUDGET
from dbpcfg.induction.settings import Configuration
from dbpcfg.io.progress import Progress
from dbpcfg.trees.tree import Tree


class DbpcfgSystem:
    """The depth-bounded PCFG of this package (Jin et al. 2018).

    Words are taken as they are: lower-case them first. Trees are over all of them, punctuation
    included, and have the categories as labels.

    ``D``: the memory bound; None for none.
    ``iterations``: the iterations of each chain; if not given, chains run a race.
    ``budget``: the iterations of all chains of a race together; ignored if ``iterations`` is given.
    ``rare``: the number of occurrences up to which forms are replaced by classes; 0 keeps all.
    ``threads``: processors to use; all if not given.
    """

    name = "dbpcfg"
    summary = "depth-bounded PCFG, Gibbs sampling: this package's own"
    reference = "Jin, Doshi-Velez, Miller, Schuler and Schwartz (2018)"

    def __init__(
        self,
        K: int = 15,
        D: int | None = 2,
        budget: int | None = BUDGET,
        chains: int | None = None,
        iterations: int | None = None,
        beta: float = 0.2,
        rare: int = 0,
        trees: Literal["mbr", "consensus", "best", "last"] = "mbr",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self._options: dict[str, Any] = {
            **{"K": K, "D": D, "chains": chains, "iterations": iterations},
            **{"budget": budget if iterations is None else None, "beta": beta, "trees": trees},
            **{"seed": seed, "threads": threads, "lowercase": False, "rare": rare},
            "learner": "gibbs",
        }
        self._run: Run | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Run all chains.

        ``progress``: updated with the number of iterations of all chains together.
        """
        done: dict[int, int] = {}

        def planned(configuration: Configuration) -> None:
            if progress is not None:
                length = configuration.schedule.iterations
                progress.total = configuration.budget or (length and length * configuration.chains)

        def report(chain: Chain) -> None:
            done[chain.settings.chain] = chain.iteration
            if progress is not None:
                progress.update(sum(done.values()))

        self._run = induce(sentences, report=report, planned=planned, **self._options)
        return self

    @property
    def run(self) -> Run:
        """The run: its chains and its grammar."""
        return require_fit(self.name, self._run)

    def trees(self) -> list[Tree]:
        """A tree for every sentence, in order."""
        return self.run.trees()
