"""The settings of a chain, and of a run: everything needed to repeat it.

A run's settings are its ``config.toml``, which people read and programs check.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import check_depth
from dbpcfg.induction.criteria import criteria
from dbpcfg.induction.learners import Learner, learners
from dbpcfg.induction.search import Rung, Schedule, rungs_of
from dbpcfg.induction.start import Start
from dbpcfg.io.files import reading, written_whole
from dbpcfg.numerics.philox import stream
from dbpcfg.options import Chaining, Searching
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.version import __version__

FORMAT, VERSION = "dbpcfg run", 2


def _gibbs() -> Learner:
    return learners["gibbs"]()


def _usual(name: str) -> Any:
    """A declared option of which the learner knows the usual value."""
    declared = Chaining.__dataclass_fields__[name]
    return field(default=declared.default, metadata=declared.metadata)


@dataclass(frozen=True)
class ChainSettings(Chaining):
    """The settings of a chain: with a corpus, all that its result depends on."""

    categories: int = _usual("categories")
    """K; if not given, the learner's usual number."""
    depth: int | None = _usual("depth")
    """D, likewise; None for no bound."""
    precision: Precision = _usual("precision")  # noqa: RUF009
    learner: Learner = field(default_factory=_gibbs)
    """How the grammar is learned."""
    chain: int = 0
    """The number of the chain in its run."""
    start: Start | None = None
    """What it begins with, if not with a grammar from the prior."""

    def __post_init__(self) -> None:
        for name, given in (("categories", None), ("depth", "auto"), ("precision", None)):
            if getattr(self, name) == given:
                object.__setattr__(self, name, getattr(self.learner, f"usual_{name}"))
        super().__post_init__()
        if self.depth is not None:
            check_depth(self.depth)
        stream(self.seed, self.chain)  # raises an error for an impossible seed
        if self.aside == 1:
            raise DbpcfgError("aside must be 0, or at least 2 to hold out every n-th sentence")
        self.learner.check(self)
        if self.start is not None:
            self.learner.check_start(self)

    def table(self) -> dict[str, Any]:
        """The settings as files have them, the number of the chain apart."""
        return {"learner": self.learner.name, **super().table(), **self.learner.table()}

    @classmethod
    def of_table(cls, table: Mapping[str, Any], place: str) -> Self:
        """The settings in a table of a file."""
        name = table.get("learner", "gibbs")
        if not isinstance(name, str):
            raise DbpcfgError(f"{place} learner must be a name, got {name!r:.80}")
        kind = learners[name]
        own = {key: value for key, value in table.items() if key in kind.options()}
        rest = {key: table[key] for key in table if key not in own and key != "learner"}
        chaining = Chaining.of_table(rest, place)
        shared = {key: getattr(chaining, key) for key in Chaining.options()}
        return cls(**shared, learner=kind.of_table(own, place))


@dataclass(frozen=True)
class Configuration:
    """The settings of a run: model, chains, schedule, preparation and corpus."""

    model: ChainSettings
    """The settings of every chain, except its number."""
    schedule: Schedule
    preparation: Preparation
    chains: int = 4
    trees: str = "mbr"
    """How the trees of the selected chain are chosen."""
    budget: int | None = None
    """Iterations of all chains together, if they run a race; None if each runs to its end."""
    select: str = "likelihood"
    """What chains are compared by, in a race and at the end."""
    why: str = ""
    """Why the learner was chosen, if it was by the text."""
    corpus: dict[str, Any] = field(default_factory=dict)
    """Sources, speakers, numbers of sentences, tokens and forms, and a digest."""
    start: dict[str, str] = field(default_factory=dict)
    """The run that it started from, if it did, and a digest of what it had learned."""
    gold: tuple[str, ...] = ()
    """A treebank to score logged iterations against; never used for selection."""
    versions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.select not in criteria:
            raise DbpcfgError(f"no criterion {self.select!r} among {', '.join(criteria.names())}")
        if self.select == "heldout" and not self.model.aside:
            raise DbpcfgError("select = heldout needs held-out sentences: give aside")

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
        "preparation": one.preparation.table(),
        "corpus": one.corpus,
        **({"start": one.start} if one.start else {}),
        "versions": one.versions,
    }
    with written_whole(path) as file:
        file.write(tomli_w.dumps(content).encode())


def load_configuration(path: Path) -> Configuration:
    """Read the file, ``config.toml`` in a run's directory."""
    with reading(path, hint="is this a run?"):
        data = path.read_bytes()
    try:
        content = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise DbpcfgError(f"{path} is not TOML: {error}") from None
    with reading(path):
        kind = _table(content, "format")
        if kind.get("name") != FORMAT:
            raise DbpcfgError(f"its [format] does not say that it is a {FORMAT!r}")
        version = kind.get("version")
        if version is True or version != VERSION:
            raise DbpcfgError(
                f"a run of version {version!r}; this program reads version {VERSION}: "
                "use the version of dbpcfg that it was made with"
            )
        run = dict(_table(content, "run"))
        gold = _texts(run.pop("gold", []), "[run] gold")
        (why,) = _texts([run.pop("why", "")], "[run] why")
        searching = Searching.of_table(run, "[run]")
        if searching.chains is None or searching.select is None or searching.trees is None:
            raise DbpcfgError("[run] must have chains, select and trees")
        if isinstance(searching.budget, str):
            raise DbpcfgError("[run] budget must be a number of iterations")
        return Configuration(
            model=ChainSettings.of_table(_table(content, "model"), "[model]"),
            schedule=Schedule.of_table(_table(content, "schedule"), "[schedule]"),
            preparation=Preparation.of_table(_table(content, "preparation"), "[preparation]"),
            chains=searching.chains,
            trees=searching.trees,
            budget=searching.budget,
            select=searching.select,
            why=why,
            gold=tuple(gold),
            corpus=_checked_corpus(content),
            start=_checked_texts(content, "start"),
            versions=_checked_texts(content, "versions"),
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
    found = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    return tuple(map(int, found.group().split("."))) if found else ()


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise DbpcfgError(f"[{name}] must be a table")
    return table


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise DbpcfgError(f"{name} must be a list of texts, got {value!r:.80}")
    return value


def _checked_corpus(content: dict[str, Any]) -> dict[str, Any]:
    corpus = _table(content, "corpus")
    for name in ("sentences", "tokens", "forms"):
        number = corpus.get(name, 1)
        if type(number) is not int or number < 1:
            raise DbpcfgError(f"[corpus] {name} must be a number from 1 up, got {number!r:.80}")
    for name in ("sources", "speakers", "exclude_speakers"):
        _texts(corpus.get(name, []), f"[corpus] {name}")
    return corpus


def _checked_texts(content: dict[str, Any], table: str) -> dict[str, str]:
    found = _table(content, table)
    for name, text in found.items():
        if not isinstance(text, str):
            raise DbpcfgError(f"[{table}] {name} must be a text, got {text!r:.80}")
    return found
