"""Our own inducer in the place of any other system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.induce import induce
from dbpcfg.induction.run import Run
from dbpcfg.runtime.progress import Progress
from dbpcfg.trees.tree import Tree


class DbpcfgSystem:
    """The depth-bounded PCFG of this package (Jin et al. 2018).

    ``options`` are further ones of ``dbpcfg.induce``. Words are taken as they are: lower-case them
    first. Trees are over all of them, punctuation included, and have the categories as labels.
    """

    name = "dbpcfg"
    stochastic = True

    def __init__(
        self,
        K: int = 15,
        D: int | None = 2,
        *,
        chains: int = 4,
        iterations: int | None = None,
        seed: int = 0,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        self._options = {
            **{"K": K, "D": D, "chains": chains, "iterations": iterations},
            **{"seed": seed, "threads": threads, **options},
        }
        self._run: Run | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Run all chains; progress is told the iterations of all of them together."""
        done: dict[int, int] = {}
        if progress is not None and self._options["iterations"] is not None:
            progress.total = self._options["chains"] * self._options["iterations"]

        def report(chain: Chain) -> None:
            done[chain.settings.chain] = chain.iteration
            if progress is not None:
                progress.update(sum(done.values()))

        self._run = induce(
            sentences, preparation=Preparation(lowercase=False), report=report, **self._options
        )
        return self

    @property
    def run(self) -> Run:
        """The run: its chains, its grammar, and all that can be asked of it."""
        if self._run is None:
            raise DbpcfgError(f"{self.name} has not seen any sentences; call fit first")
        return self._run

    def trees(self) -> list[Tree]:
        """A tree for every sentence that was learnt from, in order."""
        return self.run.trees()
