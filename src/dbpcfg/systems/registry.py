"""Every system by name: what it is, who described it, its settings, and where its class is.

The class is imported when a system is made, perhaps in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, cast

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.race import BUDGET
from dbpcfg.systems.protocol import System

SystemSettings = Mapping[str, Any]
"""Settings of a system by name; values are those of JSON."""


@dataclass(frozen=True)
class SystemSpec:
    """The description of a system, from which `make` makes one."""

    name: str
    entry_point: str
    """The module and the class in it: ``package.module:Class``."""
    summary: str
    reference: str
    settings: SystemSettings = field(default_factory=dict)
    """All settings that the trees depend on, without the seed, and their defaults."""
    aliases: tuple[str, ...] = ()
    learns: bool = True
    """Whether it learns from the words. If so, punctuation stays in its input."""
    stochastic: bool = False
    """Whether another seed gives other trees."""
    threaded: bool = False
    """Whether it can use several threads; its trees do not depend on their number."""

    def make(self, seed: int = 0, threads: int | None = None, **settings: Any) -> System:
        """Make a system.

        ``threads``: processors to use, all if not given; ignored by systems that use one.
        """
        options = self.full_settings(settings)
        if self.stochastic:
            options["seed"] = seed
        if self.threaded:
            options["threads"] = threads
        module, _, name = self.entry_point.partition(":")
        return cast(System, getattr(import_module(module), name)(**options))

    def full_settings(self, settings: SystemSettings) -> dict[str, Any]:
        """All settings: those given, and the defaults of the others."""
        for name in settings:
            if name not in self.settings:
                has = ", ".join(self.settings) or "none"
                raise DbpcfgError(f"{self.name} has no setting {name!r}; it has: {has}")
        return {**self.settings, **settings}

    def check_settings(self, settings: SystemSettings) -> None:
        """Raise an error if a setting does not exist, or its value is of another type.

        ``settings``: settings that differ from the defaults, as a file has them.
        """
        self.full_settings(settings)
        for name, value in settings.items():
            default = self.settings[name]
            kinds = _TYPES.get(type(default), (type(default),))
            if type(value) not in kinds:
                wanted = _KINDS[type(default)].name
                raise DbpcfgError(
                    f"{name} of {self.name} is {wanted} ({default} if not given), got {value!r:.80}"
                )

    def parse_setting(self, text: str) -> tuple[str, Any]:
        """The name and the value of a setting that is written ``NAME=VALUE``.

        ``text``: the setting; its value is read as the type of the default.
        """
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise DbpcfgError(f"a setting is written NAME=VALUE, got {text!r}")
        self.full_settings({name: value})  # raises an error if there is no such setting
        default = self.settings[name]
        kind = _KINDS[type(default)]
        try:
            return name, kind.read(value)
        except ValueError:
            raise DbpcfgError(
                f"{name} of {self.name} is {kind.name} ({default} if not given), got {value!r}"
            ) from None


class _Kind(NamedTuple):
    """How settings of a type are read, and what they are called."""

    name: str
    read: Callable[[str], Any]


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


_KINDS: dict[type, _Kind] = {
    bool: _Kind("true or false", _truth),
    int: _Kind("a whole number", int),
    float: _Kind("a number", float),
    str: _Kind("a word", str),
    type(None): _Kind("a whole number", int),
}


_TYPES: dict[type, tuple[type, ...]] = {float: (int, float), type(None): (int,)}
"""The types of values in a file, where there is another than that of the default."""


def _branching(shape: str, summary: str, stochastic: bool = False) -> SystemSpec:
    return SystemSpec(
        name=shape,
        entry_point="dbpcfg.systems.branching:BranchingSystem",
        summary=summary,
        reference="baseline",
        settings={"shape": shape},
        learns=False,
        stochastic=stochastic,
    )


def _upparse(model: str, summary: str, *aliases: str) -> SystemSpec:
    return SystemSpec(
        name=f"upparse-{model}",
        entry_point="dbpcfg.systems.upparse:Upparse",
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
        entry_point="dbpcfg.systems.ccl:CCL",
        summary="incremental parser with common cover links",
        reference="Seginer (2007)",
        settings={"faithful": True, "currency_is_punctuation": False},
    ),
    _upparse("prlg", "cascaded chunkers, probabilistic right-linear grammar", "upparse"),
    _upparse("hmm", "cascaded chunkers, hidden Markov model"),
    SystemSpec(
        name="bmmm-dmv",
        entry_point="dbpcfg.systems.bmmm_dmv:BmmmDmv",
        summary="word classes and dependencies, learned in a loop",
        reference="Christodoulopoulos, Goldwater and Steedman (2012)",
        settings={
            **{"classes": 45, "generations": 10, "iterations": 500, "em": 20, "backoff": 0.66},
            "faithful": False,
        },
        stochastic=True,
    ),
    SystemSpec(
        name="uhhmm",
        entry_point="dbpcfg.systems.uhhmm:UHHMM",
        summary="hierarchical hidden Markov model, left-corner parser, Gibbs sampling",
        reference="Shain, Bryce, Jin, Krakovna, Doshi-Velez, Miller, Schuler and Schwartz (2016)",
        settings={
            **{"A": 4, "B": 4, "G": 8, "D": 2, "iterations": 1000},
            **{"trees": "last", "faithful": False},
        },
        stochastic=True,
        threaded=True,
    ),
    SystemSpec(
        name="dbpcfg",
        entry_point="dbpcfg.systems.dbpcfg:DbpcfgSystem",
        summary="depth-bounded PCFG, Gibbs sampling: this package's own",
        reference="Jin, Doshi-Velez, Miller, Schuler and Schwartz (2018)",
        settings={
            **{"K": 15, "D": 2, "budget": BUDGET, "chains": None, "iterations": None},
            **{"beta": 0.2, "rare": 0, "trees": "mbr"},
        },
        stochastic=True,
        threaded=True,
    ),
)
"""In the order of tables. ``dbpcfg`` runs as `dbpcfg.induce` does: a race, by default."""


PARTS = (
    SystemSpec(
        name="bmmm",
        entry_point="dbpcfg.systems.bmmm:BMMM",
        summary="word classes, Bayesian multinomial mixture over word types",
        reference="Christodoulopoulos, Goldwater and Steedman (2011)",
        settings={"classes": 45, "iterations": 500, "faithful": False},
        stochastic=True,
    ),
    SystemSpec(
        name="dmv",
        entry_point="dbpcfg.systems.dmv:DMV",
        summary="dependencies between tags, dependency model with valence",
        reference="Klein and Manning (2004)",
        settings={"iterations": 20, "backoff": 0.66},
    ),
)
"""The parts of BMMM+DMV. One gives tags and the other takes them, so they are not compared."""


def find(name: str, among: Iterable[SystemSpec] = SYSTEMS) -> SystemSpec:
    """Find a system by its name or alias."""
    specs = tuple(among)
    for spec in specs:
        if name.strip().lower() in (spec.name, *spec.aliases):
            return spec
    known = ", ".join(_with_aliases(spec) for spec in specs)
    raise DbpcfgError(f"there is no system {name!r}; choose from {known}")


def _with_aliases(spec: SystemSpec) -> str:
    return spec.name + "".join(f" (or {alias})" for alias in spec.aliases)
