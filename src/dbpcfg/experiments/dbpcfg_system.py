"""The depth-bounded PCFG of this package as one of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from dbpcfg.induction.auto import AUTO
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.induce import induce
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import Configuration
from dbpcfg.io.progress import Progress
from dbpcfg.systems.registry import require_fit
from dbpcfg.trees.tree import Tree


class DbpcfgSystem:
    """The depth-bounded PCFG of this package (Jin et al. 2018).

    Words are taken as they are: lower-case them first. Trees are over all of them, punctuation
    included, and have the categories as labels.

    ``learner``: ``"auto"`` chooses it, and all settings that are not given, by the text.
    ``D``: the memory bound, or ``"none"``.
    ``iterations``: the iterations of each chain; if not given, chains run a race, or have the
    learner's default length.
    ``budget``: the iterations of all chains of a race together; ignored if ``iterations`` is given.
    ``rare``: forms that occur at most this often are replaced by classes; 0 keeps all forms,
    unless the learner is ``"auto"``.
    ``threads``: processors to use; all if not given.
    """

    name = "dbpcfg"
    summary = "depth-bounded PCFG: this package's own"
    reference = "Jin, Doshi-Velez, Miller, Schuler and Schwartz (2018)"

    def __init__(
        self,
        learner: str = AUTO,
        K: int | None = None,
        D: int | str | None = "auto",
        budget: int | None = None,
        chains: int | None = None,
        iterations: int | None = None,
        beta: float = 0.2,
        rare: int = 0,
        trees: str = "auto",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        bound = int(D) if isinstance(D, str) and D.isdecimal() else D
        self._options: dict[str, Any] = {
            **{"learner": learner, "K": K, "D": bound},
            **{"chains": chains, "iterations": iterations, "seed": seed, "threads": threads},
            **{"budget": budget if iterations is None else None, "lowercase": False},
            **({"beta": beta} if beta != 0.2 else {}),  # some learners have no beta
            **({"rare": rare} if rare else {}),
            **({"trees": trees} if trees != "auto" else {}),
        }
        self._run: Run | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Run all chains.

        ``progress``: updated with the number of iterations of all chains together.
        """
        iterations: dict[int, int] = {}

        def on_plan(configuration: Configuration) -> None:
            if progress is not None:
                length = configuration.schedule.iterations
                progress.total = configuration.budget or (length and length * configuration.chains)

        def on_progress(chain: Chain) -> None:
            iterations[chain.settings.chain] = chain.iteration
            if progress is not None:
                progress.update(sum(iterations.values()))

        self._run = induce(sentences, on_progress=on_progress, on_plan=on_plan, **self._options)
        return self

    @property
    def run(self) -> Run:
        """The run: its chains and its grammar."""
        return require_fit(self.name, self._run)

    def trees(self) -> list[Tree]:
        """A tree for every sentence, in order."""
        return self.run.trees()
