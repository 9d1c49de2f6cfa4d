"""A recipe: what a published table is of, how to run it again, and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbpcfg.reproduce.keys import Analysis, Measure
from dbpcfg.sweep.cells import OWN


@dataclass(frozen=True)
class Selection:
    """Which sentences of a treebank."""

    max_length: int | None = None
    """Only sentences of at most so many words, punctuation not counted."""
    half: str | None = None
    """``"first"`` or ``"second"`` half of these; None for all."""


@dataclass(frozen=True)
class RecipeCorpus:
    """The corpus of a recipe."""

    name: str
    paths: tuple[str, ...] = ()
    """Its files, if the recipe has them; the user gives them otherwise."""
    synthetic: str | None = None
    """The synthetic corpus that is made, if it is one."""
    sentences: int = 200
    """As the next two, of a synthetic corpus."""
    vocabulary: int = 50
    seed: int = 0
    needs: str = "a treebank"
    """The treebank that the user has to give, in words."""
    selection: Selection = field(default_factory=Selection)
    without: Selection | None = None
    """Sentences that are left out: a development set."""
    preparation: Mapping[str, Any] = field(default_factory=dict)
    """How it is read and prepared, by the keys of a grid file."""


@dataclass(frozen=True)
class ScoreSet:
    """Sentences that are scored: all, or those of at most so many words."""

    name: str
    max_length: int | None = None


@dataclass(frozen=True)
class RecipeRow:
    """A row of the table that is run again."""

    name: str
    system: str | None = None
    """The name of the system; None if there are trees."""
    trees: str | None = None
    """A file with trees of another program, one for each sentence."""
    axes: Mapping[str, Any] = field(default_factory=dict)
    """K, D and beta of dbpcfg, by the keys of a grid file."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of another system."""
    baseline: bool = False
    """Whether it learns nothing, and so is no rival."""

    @property
    def own(self) -> bool:
        """Whether it is dbpcfg."""
        return self.system == OWN


@dataclass(frozen=True)
class Published:
    """Figures of a publication, as percentages."""

    name: str
    source: str
    """The table and row, or the sentence, that they are quoted from."""
    figures: Mapping[str, float]
    """By measure, or ``share`` and ``sentences`` of a memory depth."""
    score: str | None = None
    """The name of the score set; None for the first."""
    row: str = ""
    """The row of ours that it is compared with."""
    flattened: bool = False
    depth: int | None = None
    least_depth: int | None = None
    """The least of several depths that are counted together."""


@dataclass(frozen=True)
class Quick:
    """What is different in a quick run."""

    sentences: int | None = None
    """At most so many, evenly spaced over the corpus."""
    seeds: Sequence[int] = ()
    paper: Mapping[str, Any] = field(default_factory=dict)
    default: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of other systems, by system."""


@dataclass(frozen=True)
class Recipe:
    """A recipe."""

    path: Path
    title: str
    reference: str
    """The publication."""
    table: str
    """Its table."""
    corpus: RecipeCorpus
    analysis: Analysis = "scores"
    seeds: tuple[int, ...] = (0,)
    measures: tuple[Measure, ...] = ("precision", "recall", "f1")
    flatten: bool = False
    """Whether trees of systems with labelled binary trees are scored flattened, too."""
    notes: tuple[str, ...] = ()
    paper: Mapping[str, Any] | None = None
    """How dbpcfg searches as in the paper: every chain to its end. None: it does not."""
    default: Mapping[str, Any] | None = None
    """How dbpcfg searches for our default answer. None: it does not."""
    quick: Quick = field(default_factory=Quick)
    scores: tuple[ScoreSet, ...] = ()
    rows: tuple[RecipeRow, ...] = ()
    published: tuple[Published, ...] = ()
    is_quick: bool = False

    @property
    def name(self) -> str:
        """Its name: that of the file."""
        return self.path.stem

    @property
    def main(self) -> Measure:
        """The measure by which runs are ranked: F1, or the first."""
        return "f1" if "f1" in self.measures else self.measures[0]

    def published_of(self, score: ScoreSet) -> list[Published]:
        """The published rows of a score set."""
        first = self.scores[0].name
        return [one for one in self.published if (one.score or first) == score.name]
