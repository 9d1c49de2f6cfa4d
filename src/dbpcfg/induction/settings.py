"""The settings of a chain and of a run: all that is needed to repeat it, as in ``config.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.induction.criteria import criteria
from dbpcfg.induction.learners import Learner, learners
from dbpcfg.induction.search import Rung, Schedule, rungs_of
from dbpcfg.io.files import atomic_write, read_errors
from dbpcfg.numerics.philox import stream
from dbpcfg.options import REQUIRED, ModelOptions, Option, SearchOptions, read_table
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.version import __version__

if TYPE_CHECKING:
    from dbpcfg.induction.start import Start

FORMAT, VERSION = "dbpcfg run", 2
_RUN = {
    "chains": Option("chains", int, REQUIRED, "", minimum=1),
    "trees": Option("trees", SearchOptions.options()["trees"].type, REQUIRED, ""),
    "select": Option("select", str, REQUIRED, ""),
    "budget": Option("budget", int | None, None, "", minimum=1),
    "why": Option("why", str, "", ""),
    "gold": Option("gold", tuple[str, ...], (), ""),
}
_CORPUS = {
    **{name: Option(name, int, 1, "", minimum=1) for name in ("sentences", "tokens", "forms")},
    **{name: Option(name, str, "", "") for name in ("digest", "age", "text")},
    **{
        name: Option(name, tuple[str, ...], (), "")
        for name in ("sources", "speakers", "exclude_speakers")
    },
}


def _gibbs() -> Learner:
    return learners["gibbs"]()


_NOT_GIVEN: dict[str, Any] = {name: one.default for name, one in ModelOptions.options().items()}


@dataclass(frozen=True)
class ChainSettings(ModelOptions):
    """The settings of a chain: with a corpus, all that its result depends on."""

    categories: int = _NOT_GIVEN["categories"]
    """K; if not given, the learner's default, as of D and the precision."""
    depth: int | None = _NOT_GIVEN["depth"]
    """D; None for no bound."""
    precision: Precision = _NOT_GIVEN["precision"]
    learner: Learner = field(default_factory=_gibbs)
    """How the grammar is learned."""
    chain: int = 0
    """The number of the chain in its run."""
    start: Start | None = None
    """What it begins with, if not with a grammar from the prior."""

    def __post_init__(self) -> None:
        for name in ("categories", "depth", "precision"):
            if getattr(self, name) == _NOT_GIVEN[name]:
                object.__setattr__(self, name, getattr(self.learner, f"default_{name}"))
        super().__post_init__()
        if self.depth is not None:
            check_depth(self.depth)
        stream(self.seed, self.chain)  # raises an error for an impossible seed
        if self.held_out == 1:
            raise DbpcfgError("held_out must be 0, or at least 2 to hold out every n-th sentence")
        self.learner.check(self)
        if self.start is not None:
            self.learner.check_start(self)

    @classmethod
    @cache
    def options(cls) -> dict[str, Option]:
        """The options of `ModelOptions`."""
        return ModelOptions.options()

    def table(self) -> dict[str, Any]:
        """The settings as files have them, the number of the chain apart."""
        return {"learner": self.learner.name, **super().table(), **self.learner.table()}

    @classmethod
    def of_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """The settings in a table of a file."""
        name = table.get("learner", "gibbs")
        if not isinstance(name, str):
            raise DbpcfgError(f"{where} learner must be a name, got {name!r:.80}")
        kind = learners[name]
        learner_options = {key: value for key, value in table.items() if key in kind.options()}
        rest = {key: table[key] for key in table if key not in learner_options and key != "learner"}
        model_options = ModelOptions.of_table(rest, where)
        shared = {key: getattr(model_options, key) for key in ModelOptions.options()}
        return cls(**shared, learner=kind.of_table(learner_options, where))


@dataclass(frozen=True)
class Configuration:
    """The settings of a run, once its text is known; ``config.toml`` has them."""

    model: ChainSettings
    """The settings of every chain, except its number."""
    schedule: Schedule
    preprocessing: Preprocessing
    chains: int = 4
    trees: str = "mbr"
    """How the trees of the selected chain are chosen."""
    budget: int | None = None
    """Iterations of all chains together, if they run a race; None if each runs to its end."""
    select: str = "likelihood"
    """What chains are compared by, in a race and at the end."""
    why: str = ""
    """Why the learner was chosen, if ``"auto"`` chose it."""
    corpus: dict[str, Any] = field(default_factory=dict)
    """Sources, speakers, numbers of sentences, tokens and forms, and a digest."""
    start: dict[str, str] = field(default_factory=dict)
    """The run that it started from, if it did, and a digest of what it had learned."""
    gold: tuple[str, ...] = ()
    """A treebank to score logged iterations against; never used for selection."""
    versions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.select not in criteria:
            known = ", ".join(criteria.names())
            raise DbpcfgError(f"no criterion {self.select!r}; choose one of {known}")
        if self.select == "heldout" and not self.model.held_out:
            raise DbpcfgError("select = heldout needs held-out sentences: give held_out")

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The rungs of the race; none if there is no race."""
        return () if self.budget is None else rungs_of(self.budget, self.chains)

    def chain(self, number: int) -> ChainSettings:
        """The settings of one chain."""
        return replace(self.model, chain=number)


def versions() -> dict[str, str]:
    """The versions that may matter for repeating a run."""
    import platform

    import numba
    import numpy
    import scipy

    return {
        "dbpcfg": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }


def save_configuration(configuration: Configuration, path: Path) -> None:
    """Write the file."""
    import tomli_w

    one = configuration
    content = {
        "format": {"name": FORMAT, "version": VERSION},
        "run": {
            **{"chains": one.chains, "trees": one.trees, "select": one.select},
            **({} if one.budget is None else {"budget": one.budget}),
            **({"why": one.why} if one.why else {}),
            "gold": list(one.gold),
        },
        "model": one.model.table(),
        "schedule": one.schedule.table(),
        "preprocessing": one.preprocessing.table(),
        "corpus": one.corpus,
        **({"start": one.start} if one.start else {}),
        "versions": one.versions,
    }
    with atomic_write(path) as file:
        file.write(tomli_w.dumps(content).encode())


def load_configuration(path: Path) -> Configuration:
    """Read the file, ``config.toml`` in a run's directory."""
    with read_errors(path, hint="is this a run?"):
        data = path.read_bytes()
    try:
        content = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise DbpcfgError(f"{path} is not TOML: {error}") from None
    with read_errors(path):
        kind = _table(content, "format")
        if kind.get("name") != FORMAT:
            raise DbpcfgError(f"its [format] does not say that it is a {FORMAT!r}")
        version = kind.get("version")
        if version is True or version != VERSION:
            raise DbpcfgError(
                f"a run of version {version!r}; this program reads version {VERSION}: "
                "use the version of dbpcfg that it was made with"
            )
        run = read_table(_table(content, "run"), _RUN, "[run]")
        corpus, start, made_by = (_table(content, name) for name in ("corpus", "start", "versions"))
        read_table(corpus, _CORPUS, "[corpus]")
        for name, texts in (("[start]", start), ("[versions]", made_by)):
            read_table(texts, {key: Option(key, str, "", "") for key in texts}, name)
        prepared = _table(content, "preprocessing")
        return Configuration(
            model=ChainSettings.of_table(_table(content, "model"), "[model]"),
            schedule=Schedule.of_table(_table(content, "schedule"), "[schedule]"),
            preprocessing=Preprocessing.of_table(prepared, "[preprocessing]"),
            corpus=corpus,
            start=start,
            versions=made_by,
            **run,
        )


def check_version(configuration: Configuration) -> None:
    """Raise an error if a run was made by a later version: its result might be another one here."""
    made_by = configuration.versions.get("dbpcfg", __version__)
    if _release(made_by) > _release(__version__):
        raise DbpcfgError(
            f"a run of dbpcfg {made_by}, and this is {__version__}: resume it with that version"
        )


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version before ``dev``, ``rc`` and the like."""
    numbers = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    return tuple(map(int, numbers.group().split("."))) if numbers else ()


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise DbpcfgError(f"[{name}] must be a table")
    return table
