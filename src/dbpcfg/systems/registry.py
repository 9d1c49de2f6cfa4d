"""Every system by name: how to make one, what it is, and who described it.

A system is made where it is needed, maybe in another process; here is only where to find it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

from dbpcfg.errors import DbpcfgError
from dbpcfg.systems.protocol import System

SystemSettings = Mapping[str, Any]
"""Options of a system by name: numbers, words, truth values and None, as JSON has them."""


@dataclass(frozen=True)
class SystemSpec:
    """A kind of system, from which `make` makes one."""

    name: str
    home: str
    """The module and the class in it, such as ``package.module:Class``."""
    summary: str
    reference: str
    settings: SystemSettings = field(default_factory=dict)
    """All options that decide what trees come out, but for the seed, and what they are here."""
    aliases: tuple[str, ...] = ()
    learns: bool = True
    """Learns from words, so punctuation stays in; the others get words to put brackets around."""
    stochastic: bool = False
    """Another seed gives other trees."""
    threaded: bool = False
    """Can use several threads, with the same trees for any number."""

    def make(self, seed: int = 0, threads: int | None = None, **settings: Any) -> System:
        """A system that has seen nothing yet, with other settings where given."""
        chosen = self.chosen(settings)
        if self.stochastic:
            chosen["seed"] = seed
        if self.threaded:
            chosen["threads"] = threads
        module, _, name = self.home.partition(":")
        return cast(System, getattr(import_module(module), name)(**chosen))

    def chosen(self, settings: SystemSettings) -> dict[str, Any]:
        """All settings, some of them as given; one that the system does not have is refused."""
        for name in settings:
            if name not in self.settings:
                has = ", ".join(self.settings) or "none"
                raise DbpcfgError(f"{self.name} has no setting {name!r}; it has: {has}")
        return {**self.settings, **settings}


def _branching(shape: str, summary: str, stochastic: bool = False) -> SystemSpec:
    return SystemSpec(
        name=shape,
        home="dbpcfg.systems.branching:BranchingSystem",
        summary=summary,
        reference="baseline",
        settings={"shape": shape},
        learns=False,
        stochastic=stochastic,
    )


def _upparse(model: str, summary: str, *aliases: str) -> SystemSpec:
    return SystemSpec(
        name=f"upparse-{model}",
        home="dbpcfg.systems.upparse:Upparse",
        summary=summary,
        reference="Ponvert, Baldridge and Erk (2011)",
        settings={"model": model, "smoothing": 0.1, "tolerance": 1e-4},
        aliases=aliases,
    )


SYSTEMS = (
    _branching("right", "(a (b (c d))), no learning: strong for English"),
    _branching("left", "(((a b) c) d), no learning"),
    _branching("balanced", "((a b) (c d)), no learning"),
    _branching("random", "any binary tree with equal probability, no learning", stochastic=True),
    SystemSpec(
        name="ccl",
        home="dbpcfg.systems.ccl:CCL",
        summary="incremental parser with common cover links",
        reference="Seginer (2007)",
        settings={"faithful": True, "currency_is_punctuation": False},
    ),
    _upparse("prlg", "cascaded chunkers, probabilistic right-linear grammar", "upparse"),
    _upparse("hmm", "cascaded chunkers, hidden Markov model"),
    SystemSpec(
        name="dbpcfg",
        home="dbpcfg.systems.dbpcfg:DbpcfgSystem",
        summary="depth-bounded PCFG, Gibbs sampling: this package's own",
        reference="Jin, Doshi-Velez, Miller, Schuler and Schwartz (2018)",
        settings={"K": 15, "D": 2, "chains": 4, "iterations": 200, "beta": 0.2, "trees": "mbr"},
        stochastic=True,
        threaded=True,
    ),
)
"""In the order of tables. Our own runs about a quarter of the paper's iterations: ask for more."""


def find(name: str, among: Iterable[SystemSpec] = SYSTEMS) -> SystemSpec:
    """The kind of a name or alias, in small or capital letters."""
    kinds = tuple(among)
    for kind in kinds:
        if name.strip().lower() in (kind.name, *kind.aliases):
            return kind
    known = ", ".join(_with_aliases(kind) for kind in kinds)
    raise DbpcfgError(f"there is no system {name!r}; choose from {known}")


def _with_aliases(kind: SystemSpec) -> str:
    return kind.name + "".join(f" (or {alias})" for alias in kind.aliases)
