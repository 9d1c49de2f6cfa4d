"""Everything needed to repeat a run, as a TOML file that people read and programs check."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import TreeChoice
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.criteria import Criterion
from dbpcfg.induction.race import Rung, plan
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.files import reading, written_whole
from dbpcfg.io.validation import check_choice, checked_options, checked_table
from dbpcfg.version import __version__

FORMAT, VERSION = "dbpcfg run", 1
_RUN = ("chains", "trees", "gold", "select", "budget")


@dataclass(frozen=True)
class Configuration:
    """The settings of a run: model, chains, schedule, preparation and corpus."""

    model: ChainSettings
    """The settings of every chain, except its number."""
    schedule: Schedule
    preparation: Preparation
    chains: int = 4
    trees: TreeChoice = "mbr"
    """How the trees of the selected chain are chosen."""
    budget: int | None = None
    """Iterations of all chains together, if they run a race; None if each runs to its end."""
    select: Criterion = "likelihood"
    """What chains are compared by, in a race and at the end."""
    corpus: dict[str, Any] = field(default_factory=dict)
    """Sources, speakers, numbers of sentences, tokens and forms, and a digest."""
    gold: list[str] = field(default_factory=list)
    """A treebank to score logged iterations against; never used for selection."""
    versions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.chains < 1:
            raise DbpcfgError(f"there must be at least 1 chain, got {self.chains}")
        check_choice("trees", self.trees, get_args(TreeChoice))
        check_choice("select", self.select, get_args(Criterion))
        if self.select == "heldout" and not self.model.aside:
            raise DbpcfgError("select = heldout needs sentences that are kept aside: give aside")
        preliminary, counted = self.model.preliminary_iterations, self.schedule.latest_burn_in
        if preliminary > counted:
            raise DbpcfgError(
                f"restarts, annealing and curriculum take {preliminary} iterations, but samples "
                f"count from {counted} on: run longer"
            )

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The rungs of the race; none if there is no race."""
        if self.budget is None:
            return ()
        return plan(self.budget, self.model.preliminary_iterations, self.chains)

    def chain(self, number: int) -> ChainSettings:
        """The settings of one chain."""
        return ChainSettings(**{**asdict(self.model), "chain": number})


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
    """Write the file; options that are None are left out, as TOML has no null."""
    import tomli_w

    content = {
        "format": {"name": FORMAT, "version": VERSION},
        "run": {
            "chains": configuration.chains,
            "trees": configuration.trees,
            "gold": configuration.gold,
            "select": configuration.select,
            **({} if configuration.budget is None else {"budget": configuration.budget}),
        },
        "model": {
            k: v
            for k, v in configuration.model.recorded().items()
            if k != "chain" and v is not None
        },
        "schedule": _without_none(configuration.schedule),
        "preparation": _without_none(configuration.preparation),
        "corpus": configuration.corpus,
        "versions": configuration.versions,
    }
    with written_whole(path) as file:
        file.write(tomli_w.dumps(content).encode())


def load_configuration(path: Path) -> Configuration:
    """Read the file."""
    with reading(path, hint="is this a run?"):
        data = path.read_bytes()
    try:
        content = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise DbpcfgError(f"{path} is not TOML: {error}") from None
    with reading(path):
        kind = checked_table(content, "format")
        if kind.get("name") != FORMAT:
            raise DbpcfgError(f"its [format] does not say that it is a {FORMAT!r}")
        version = kind.get("version")
        if version is True or version != VERSION:
            raise DbpcfgError(
                f"a run of version {version!r}; this program reads version {VERSION}: "
                "use the version of dbpcfg that it was made with"
            )
        return Configuration(
            model=ChainSettings(
                **{"depth": None, **checked_options(content, "model", ChainSettings)}
            ),
            schedule=Schedule(**checked_options(content, "schedule", Schedule)),
            preparation=Preparation(**checked_options(content, "preparation", Preparation)),
            **checked_options(content, "run", Configuration, _RUN),
            corpus=_checked_corpus(content),
            versions=_checked_versions(content),
        )


def check_version(configuration: Configuration) -> None:
    """Raise an error if a run was made by a later version: its result might be another one here.

    ``configuration``: the settings of the run, with the versions that it was made with.
    """
    made_by = configuration.versions.get("dbpcfg", __version__)
    if _release(made_by) > _release(__version__):
        raise DbpcfgError(
            f"a run of dbpcfg {made_by}, and this is {__version__}: resume it with that version"
        )


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version before ``dev``, ``rc`` and the like."""
    found = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    return tuple(map(int, found.group().split("."))) if found else ()


def _checked_corpus(content: dict[str, Any]) -> dict[str, Any]:
    corpus = checked_table(content, "corpus")
    for name in ("sentences", "tokens", "forms"):
        number = corpus.get(name, 1)
        if type(number) is not int or number < 1:
            raise DbpcfgError(f"[corpus] has {name} = {number!r:.80}, which cannot be")
    for name in ("sources", "speakers", "exclude_speakers"):
        texts = corpus.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise DbpcfgError(f"[corpus] has {name} = {texts!r:.80}, which cannot be")
    return corpus


def _checked_versions(content: dict[str, Any]) -> dict[str, str]:
    versions = checked_table(content, "versions")
    for name, version in versions.items():
        if not isinstance(version, str):
            raise DbpcfgError(f"[versions] has {name} = {version!r:.80}, which cannot be")
    return versions


def _without_none(options: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(options).items() if value is not None}
