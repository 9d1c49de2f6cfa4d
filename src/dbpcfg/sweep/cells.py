"""The cells of a grid: one run of one system on one corpus each.

A cell of dbpcfg has K, D, β and a seed; of other systems only those that draw random numbers have a
seed, and none has the rest, so they are not repeated over it. The name of a cell says what it is,
whatever else is in the grid: ``adam-K15-D2-b0.2-s0``, ``adam-ccl``, ``adam-random-s0``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.systems.registry import SystemSpec, find

OWN = "dbpcfg"
"""The system whose cells are run directories."""

_SEARCH: dict[str, Any] = {
    **dict.fromkeys(("budget", "chains", "iterations", "inference", "select")),
    "trees": "mbr",
}
_AXES = ("categories", "depth", "beta", "seed", "chain")
_DEFAULTS = {
    **_SEARCH,
    **{name: usual for name, usual in ChainSettings().recorded().items() if name not in _AXES},
}
"""Settings of dbpcfg that are the same in all cells, if the file does not have them."""


@dataclass(frozen=True)
class GridCorpus:
    """A corpus of a grid: its files, and how they are read and prepared."""

    name: str
    paths: tuple[str, ...]
    gold: tuple[str, ...] = ()
    """A treebank of the same sentences, if the corpus itself is none."""
    input_format: str | None = None
    skip_broken: bool = False
    encoding: str | None = None
    speaker: tuple[str, ...] = ()
    exclude_speaker: tuple[str, ...] = ()
    preparation: Preparation = field(default_factory=Preparation)


@dataclass(frozen=True)
class GridCell:
    """One cell: plain data, which can be sent to another process or machine."""

    number: int
    """Its place in the grid, from 1."""
    out: str
    """The directory of the sweep."""
    corpus: GridCorpus
    system: str
    K: int | None = None
    """As D and β, of dbpcfg only."""
    D: int | None = None
    """None for no bound."""
    beta: float | None = None
    seed: int | None = None
    """None for a system that draws no random numbers."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the grid file has: of dbpcfg by the names that `dbpcfg.induce` has for them, of
    another system by its own."""

    @property
    def own(self) -> bool:
        """Whether it is a run of dbpcfg, not of another system."""
        return self.system == OWN

    @property
    def name(self) -> str:
        """The name of its directory, which does not depend on the rest of the grid."""
        parts = [self.corpus.name]
        if self.own:
            assert self.beta is not None
            parts += [f"K{self.K}", f"D{depth_name(self.D)}", f"b{short(self.beta)}"]
        else:
            parts.append(self.system)
        return "-".join([*parts, *([] if self.seed is None else [f"s{self.seed}"])])

    @property
    def directory(self) -> Path:
        """Where its result is."""
        return Path(self.out) / self.name

    def settings(self) -> dict[str, Any]:
        """All that its result depends on, by the keys of the grid file; without the files."""
        corpus = self.corpus
        reading = {
            "input-format": corpus.input_format,
            "skip-broken": corpus.skip_broken,
            "encoding": corpus.encoding,
            "speaker": list(corpus.speaker),
            "exclude-speaker": list(corpus.exclude_speaker),
        }
        prepared = asdict(corpus.preparation)
        if not self.own:  # they get words, not classes of rare ones
            shared = ("lowercase", "max_length", "punctuation", "no_punctuation")
            prepared = {name: prepared[name] for name in shared}
        found = {"system": self.system, **prepared, **reading}
        if self.own:
            found |= {"K": self.K, "D": self.D, "beta": self.beta, **_DEFAULTS, **self.options}
        elif self.options:
            found["settings"] = dict(sorted(self.options.items()))
        return {
            name.replace("_", "-"): value for name, value in {**found, "seed": self.seed}.items()
        }


@dataclass(frozen=True)
class Grid:
    """A grid file."""

    path: Path
    out: Path
    """The directory of the sweep."""
    corpora: tuple[GridCorpus, ...]
    systems: tuple[SystemSpec, ...] = (find(OWN),)
    K: tuple[int, ...] = (15,)
    D: tuple[int | None, ...] = (2,)
    beta: tuple[float, ...] = (0.2,)
    seeds: tuple[int, ...] = (0,)
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of other systems than dbpcfg, by the name of the system."""

    def cells(self) -> list[GridCell]:
        """All cells, in the order of the file: by corpus, system, K, D, β and seed."""
        found = enumerate(self._cells(), start=1)
        return [GridCell(number, str(self.out), **cell) for number, cell in found]

    def _cells(self) -> Iterator[dict[str, Any]]:
        for corpus, spec in product(self.corpora, self.systems):
            cell = {"corpus": corpus, "system": spec.name}
            if spec.name == OWN:
                for K, D, beta, seed in product(self.K, self.D, self.beta, self.seeds):
                    axes = {"K": K, "D": D, "beta": beta, "seed": seed}
                    yield {**cell, **axes, "options": self.options}
            else:
                for number in self.seeds if spec.stochastic else (None,):
                    yield {**cell, "seed": number, "options": self.settings.get(spec.name, {})}


def depth_name(depth: int | None) -> str:
    """The name of a bound: its number, or ``none``."""
    return "none" if depth is None else str(depth)


def short(number: float) -> str:
    """A number in few digits, but not another one: 0.2, 1, 1e-05."""
    text = f"{number:g}"
    return text if float(text) == number else repr(number)
