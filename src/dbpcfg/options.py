"""Every option of induction, declared once: name, type, default, range, help.

A group of options is a dataclass whose fields are made by `option`. What it declares drives the
command line (``dbpcfg.cli.options``), keys of grid and recipe files, ``config.toml``, all checks,
the signature and documentation of `dbpcfg.induce`, and the tables of the guide. A learner's options
belong to that learner alone; what it does is in ``dbpcfg.induction.learners``.

Nothing is imported here but the standard library, so that ``dbpcfg --help`` is instant.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from operator import index
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypedDict,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from dbpcfg.errors import DbpcfgError

SMALLEST_BETA = 1e-12
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Option:
    """An option. ``least`` and ``most`` are values it may have, ``above`` is not."""

    name: str
    kind: Any
    default: Any
    help: str
    flags: tuple[str, ...] = ()
    least: float | None = None
    above: float | None = None
    most: float | None = None
    metavar: str | None = None
    basic: bool = False
    """Whether ``--help`` shows it without being asked for more."""

    @property
    def keyword(self) -> str:
        """Its name in Python and in files: K and D have a letter."""
        return self.flags[0][1:] if self.flags else self.name

    @property
    def key(self) -> str:
        """Its name in TOML files, and with two dashes on the command line."""
        return self.keyword.replace("_", "-")

    @property
    def optional(self) -> bool:
        """Whether None is a value."""
        return NoneType in get_args(self.kind)

    @property
    def type(self) -> Any:
        """Its type, None apart."""
        found = [part for part in get_args(self.kind) if part is not NoneType]
        return Union[tuple(found)] if self.optional else self.kind  # noqa: UP007

    @property
    def choices(self) -> tuple[str, ...]:
        """What it can be, if that is one of a few names."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    def expected(self) -> str:
        """What it can be, in words."""
        if self.choices:
            words = f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        else:
            several = get_origin(self.type) in (Union, UnionType)
            parts = get_args(self.type) if several else (self.type,)
            words = " or ".join(
                " or ".join(get_args(part))
                if get_origin(part) is Literal
                else _WORDS.get(part, "a text or a list of texts")
                for part in parts
            )
            limits = f" from {self.least:g} up" if self.least is not None else ""
            limits += f" above {self.above:g}" if self.above is not None else ""
            limits += f", at most {self.most:g}" if self.most is not None else ""
            words = words.replace(" number", f" number{limits}")
        return words + " or none" * self.optional

    def checked(self, value: Any, name: str | None = None) -> Any:
        """The value as a plain one of the option's type; an error says what was expected."""
        if self.optional and (value is None or value == "none"):
            return None
        found = _plain(value, self.type)
        if found is None or not self._in_range(found):
            name = name or (f"{self.keyword} ({self.name})" if self.flags else self.name)
            raise DbpcfgError(f"{name} must be {self.expected()}, got {value!r:.80}")
        return found

    def _in_range(self, value: Any) -> bool:
        if not isinstance(value, int | float):
            return True
        least = -math.inf if self.least is None else self.least
        above = -math.inf if self.above is None else self.above
        most = math.inf if self.most is None else self.most
        finite = isinstance(value, int) or math.isfinite(value)
        return finite and least <= value <= most and above < value


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _plain(value: Any, kind: Any) -> Any:
    """A value as a plain one of a type; None if it is not of it."""
    if get_origin(kind) is Literal:
        return value if isinstance(value, str) and value in get_args(kind) else None
    if get_origin(kind) in (Union, UnionType):
        found = (_plain(value, part) for part in get_args(kind))
        return next((one for one in found if one is not None), None)
    if get_origin(kind) is tuple:
        many = [value] if isinstance(value, str) else value
        fits = isinstance(many, list | tuple) and all(isinstance(one, str) for one in many)
        return tuple(many) if fits else None
    if kind is bool:
        return bool(value) if type(value).__name__ in ("bool", "bool_") else None
    if kind is str:
        return value if isinstance(value, str) and value.strip() else None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    if kind is int:
        return index(value) if isinstance(value, numbers.Integral) else None
    return float(value)


def _written(value: Any) -> str:
    return "none" if value is None else str(value)


def option(default: Any, help: str, **more: Any) -> Any:
    """A field of a group: its default, its help, and the other fields of `Option`."""
    return field(default=default, metadata={"option": {"help": help, **more}})


@dataclass(frozen=True)
class Group:
    """Options that belong together. Values are checked, and plain whatever was given."""

    panel: ClassVar[str] = "Options"
    """The heading of these options in help texts."""

    def __post_init__(self) -> None:
        for one in self.options().values():
            object.__setattr__(self, one.name, one.checked(getattr(self, one.name)))

    @classmethod
    @cache
    def options(cls) -> dict[str, Option]:
        """The options of the group by their names."""
        hints = get_type_hints(cls)
        return {
            one.name: Option(one.name, hints[one.name], one.default, **one.metadata["option"])
            for one in fields(cls)
            if "option" in one.metadata
        }

    @classmethod
    def of_table(cls, table: Mapping[str, Any], place: str) -> Self:
        """The options in a table of a file; ``place`` is its name in messages."""
        if not isinstance(table, dict):
            raise DbpcfgError(f"{place} must be a table")
        found = {}
        for name, value in table.items():
            if name not in cls.options():
                raise DbpcfgError(f"{place} has {name!r}, which is not one of its options")
            found[name] = cls.options()[name].checked(value, f"{place} {name}")
        return cls(**found)

    def changed(self) -> dict[str, Any]:
        """What is not as by default."""
        values = {name: getattr(self, name) for name in self.options()}
        return {name: v for name, v in values.items() if v != self.options()[name].default}

    def flags(self, leave_out: Iterable[str] = ()) -> list[str]:
        """The options of the command line for what is not as by default."""
        words: list[str] = []
        for name, value in self.changed().items():
            one = self.options()[name]
            if name in leave_out:
                continue
            flag = one.flags[0] if one.flags else f"--{one.key}"
            if isinstance(value, bool):
                words.append(flag if value else f"--no-{one.key}")
            else:
                many = value if isinstance(value, tuple) else [value]
                words += [word for each in many for word in (flag, _written(each))]
        return words

    def table(self) -> dict[str, Any]:
        """The options as a table of a TOML file, where None is written as ``none``."""
        return {
            name: list(value) if isinstance(value, tuple) else "none" if value is None else value
            for name, value in ((name, getattr(self, name)) for name in self.options())
            if value != ()
        }


@dataclass(frozen=True)
class Decoding(Group):
    """How files of trees are read."""

    panel: ClassVar[str] = "Corpus"
    encoding: str | None = option(None, "Encoding of the input; UTF-8 if not given.")
    skip_broken: bool = option(False, "Skip broken trees and sentences, and list them.")

    def how(self) -> dict[str, Any]:
        """The same as keywords of `dbpcfg.read`."""
        return {"encoding": self.encoding, "broken": "skip" if self.skip_broken else "error"}


@dataclass(frozen=True)
class FormatReading(Decoding):
    """How files of some format are read."""

    input_format: str | None = option(
        None, "Format of the text, such as penn, chat or conllu; recognised if not given."
    )

    def how(self) -> dict[str, Any]:
        """The same as keywords of `dbpcfg.read`."""
        return {**super().how(), "format": self.input_format}


@dataclass(frozen=True)
class Reading(FormatReading):
    """How files of sentences are read."""

    speaker: tuple[str, ...] = option((), "Only this speaker, by code or role; may be repeated.")
    exclude_speaker: tuple[str, ...] = option(
        (), "Exclude this speaker; may be repeated. Default for CHAT: the target child."
    )

    def how(self) -> dict[str, Any]:
        """The same as keywords of `dbpcfg.read`."""
        chosen = {"speakers": self.speaker, "exclude_speakers": self.exclude_speaker}
        return {**super().how(), **{name: found or None for name, found in chosen.items()}}


@dataclass(frozen=True)
class Preparing(Group):
    """How the words of sentences are prepared; by default they become lower case."""

    panel: ClassVar[str] = "Corpus"
    lowercase: bool = option(True, "Learn from words in lower case.")
    max_length: int | None = option(
        None,
        "Maximum sentence length in words; punctuation does not count.",
        least=1,
        basic=True,
    )
    punctuation: Literal["auto", "tags", "characters", "both"] = option(
        "auto", "How punctuation is recognised; auto: by tags if there are any."
    )
    numbers: bool = option(False, "Replace all numbers with one form.")
    rare: int | None = option(
        None,
        "Replace forms that occur at most this often with classes; 0: none.",
        least=0,
        basic=True,
    )
    scheme: Literal["suffix", "shape", "both", "one"] = option(
        "suffix", "Classes for rare forms: by suffix, by shape, by both, or a single class."
    )
    no_punctuation: bool | None = option(None, "Leave punctuation out.", basic=True)
    tokens: Literal["space", "punctuation", "penn"] = option(
        "space",
        "How plain text is split into words: at white space; at punctuation too; penn: and English "
        "clitics, as in do n't.",
        basic=True,
    )
    brackets: Literal["text", "trees"] | None = option(
        None,
        "Known constituents: text: in square brackets, as in [the dog] barked; trees: those of the "
        "trees, whatever their labels.",
    )

    def table(self) -> dict[str, Any]:
        """Without brackets nothing is written about them."""
        found = super().table()
        return found if self.brackets else {k: v for k, v in found.items() if k != "brackets"}


@dataclass(frozen=True)
class Chaining(Group):
    """What all learners have."""

    panel: ClassVar[str] = "Model"
    categories: int | None = option(
        None,
        "Number of categories. Default: 15; neural: 60.",
        flags=("-K", "--categories"),
        least=1,
        basic=True,
    )
    depth: int | Literal["auto"] | None = option(
        "auto",
        "Memory bound: at most this many fragments; 'none': no bound; auto: 2, or 3 for neural.",
        flags=("-D", "--depth"),
        least=1,
        basic=True,
    )
    seed: int = option(0, "Random seed.", least=0, basic=True)
    precision: Literal["double", "single"] | None = option(
        None,
        "Precision of the chart; single is faster for K of 24 or more. Default: double; neural: "
        "single.",
    )
    aside: int = option(
        0,
        "Hold out every N-th sentence: it is parsed, but not learned from.",
        metavar="N",
        least=0,
    )


@dataclass(frozen=True)
class LearnerOptions(Group):
    """The options of one learner."""

    panel: ClassVar[str] = "Learner"


@dataclass(frozen=True)
class GibbsOptions(LearnerOptions):
    """The Gibbs sampler of the paper."""

    beta: float = option(0.2, "Dirichlet parameter of all rules.", least=SMALLEST_BETA)
    exact: bool = option(False, "Take the bound's normaliser into account.")
    sample_beta: bool = option(False, "Sample beta too, starting from --beta.")
    parser: Literal["chart", "leftcorner"] = option(
        "chart", "Both sample from the same distribution; the chart is much faster."
    )


@dataclass(frozen=True)
class ExpectationOptions(LearnerOptions):
    """What EM and variational Bayes have in common."""

    beta: float = option(
        0.2, "Dirichlet parameter; for EM, of the initial grammar only.", least=SMALLEST_BETA
    )
    batch: int = option(
        0,
        "Sentences per mini-batch; the grammar is updated after each. 0: the whole corpus.",
        least=0,
    )
    decay: float = option(
        0.7, "With --batch: the weight of mini-batch t is (t + 2)^-DECAY.", above=0.5, most=1
    )


@dataclass(frozen=True)
class EMOptions(ExpectationOptions):
    """Expectation maximisation."""

    exact: bool = option(False, "Take the bound's normaliser into account.")
    smoothing: float = option(0.0, "Constant added to each expected rule count.", least=0)


@dataclass(frozen=True)
class VariationalOptions(ExpectationOptions):
    """Variational Bayes."""


@dataclass(frozen=True)
class NeuralOptions(LearnerOptions):
    """The neural grammar of low rank."""

    exact: bool = option(True, "Take the bound's normaliser into account.")
    word_categories: int = option(
        0, "How many of the categories are word categories; 0: two thirds of them.", least=0
    )
    rank: int = option(0, "Rank of the binary rules; 0: the number of categories.", least=0)
    batch: int = option(64, "Sentences per mini-batch.", least=1)
    rate: float = option(0.003, "Learning rate.", above=0)
    patience: int = option(
        5, "With --aside: stop after this many passes without improvement.", least=1
    )


LEARNERS: dict[str, type[LearnerOptions]] = {
    "gibbs": GibbsOptions,
    "em": EMOptions,
    "vb": VariationalOptions,
    "neural": NeuralOptions,
}
"""The options of the package's own learners."""


@dataclass(frozen=True)
class Searching(Group):
    """How many chains run, how long, and which one is selected."""

    panel: ClassVar[str] = "Chains"
    inference: Literal["race", "paper"] | None = option(
        None,
        "race: many chains start, and the best continue. paper: a few chains, each run for at "
        "least 500 iterations until its log-likelihood levels off, then 250 more. Default: race, "
        "unless --iterations is given.",
    )
    budget: int | str | None = option(
        None,
        "Budget of a race: iterations of all chains together, or a time such as 30min or 2h; 1500 "
        "if not given.",
        metavar="N|TIME",
        least=1,
        basic=True,
    )
    chains: int | None = option(
        None,
        "Number of chains; in a race, at the start. Default: depends on the budget; 4 without a "
        "race.",
        least=1,
    )
    iterations: int | None = option(
        None,
        "Iterations of each chain, without a race; the second half is kept (em, vb, neural: only "
        "the last iteration). Default: 100 for em and vb, 5 to 30 for neural.",
        least=1,
        basic=True,
    )
    select: str | None = option(
        None,
        "Criterion for comparing chains: likelihood, posterior, variance, heldout (needs --aside) "
        "or agreement. Default: likelihood; posterior for vb; heldout for em, vb and neural with "
        "--aside.",
    )
    trees: Literal["mbr", "consensus", "best", "last"] | None = option(
        None,
        "Trees to write: MBR trees of the selected chain's kept samples; consensus trees, on which "
        "all chains that ran to the end vote; the sample of greatest likelihood, as in the paper; "
        "the last sample. Default: mbr; consensus for neural.",
    )


@dataclass(frozen=True)
class Running(Group):
    """Where a run is computed. Its result does not depend on any of this."""

    panel: ClassVar[str] = "Running"
    threads: int | None = option(
        None,
        "Number of processors; all if not given. Results do not depend on it.",
        least=1,
        basic=True,
    )
    workers: Literal["threads", "processes"] = option(
        "threads", "How chains run in parallel; processes suit many small chains."
    )
    cluster: str | None = option(
        None,
        "Run on a Dask cluster: N processes on this machine, a scheduler such as tcp://host:8786, "
        "or a .toml file that describes a batch system.",
        metavar="local:N|ADDRESS|FILE",
    )
    spread: Literal["chains", "shards"] | None = option(
        None,
        "On a cluster: chains in parallel, or the sentences of each chain in shards. Default: "
        "depends on the size of the run.",
    )
    checkpoint: float = option(30.0, "Seconds between checkpoints of a chain.", least=0)


INDUCE: tuple[type[Group], ...] = (
    Chaining,
    *LEARNERS.values(),
    Searching,
    Preparing,
    Reading,
    Running,
)
"""The options of ``induce``."""


class InduceOptions(TypedDict, total=False):
    """The keywords of `dbpcfg.induce` for type checkers; a test compares them with the groups."""

    seed: int
    precision: Literal["double", "single"] | None
    aside: int
    beta: float
    exact: bool
    sample_beta: bool
    parser: Literal["chart", "leftcorner"]
    batch: int
    decay: float
    smoothing: float
    word_categories: int
    rank: int
    rate: float
    patience: int
    inference: Literal["race", "paper"] | None
    budget: int | str | None
    chains: int | None
    iterations: int | None
    select: str | None
    trees: Literal["mbr", "consensus", "best", "last"] | None
    lowercase: bool
    max_length: int | None
    punctuation: Literal["auto", "tags", "characters", "both"]
    numbers: bool
    rare: int | None
    scheme: Literal["suffix", "shape", "both", "one"]
    no_punctuation: bool | None
    tokens: Literal["space", "punctuation", "penn"]
    brackets: Literal["text", "trees"] | None
    input_format: str | None
    encoding: str | None
    skip_broken: bool
    speaker: str | tuple[str, ...]
    exclude_speaker: str | tuple[str, ...]
    threads: int | None
    workers: Literal["threads", "processes"]
    spread: Literal["chains", "shards"] | None
    checkpoint: float


def belongs_to(name: str) -> list[str]:
    """The learners that have an option."""
    return [learner for learner, group in LEARNERS.items() if name in group.options()]


def described(name: str) -> str:
    """The help of an option of `dbpcfg.induce`, with the learners that it is for."""
    learners = belongs_to(name)
    found = next(group.options()[name] for group in INDUCE if name in group.options())
    defaults = {repr(LEARNERS[one].options()[name].default) for one in learners}
    usual = (
        f" Default: {found.default!r}." if len(defaults) < 2 and found.default is not None else ""
    )
    only = f"{', '.join(learners)}: " if learners and len(learners) < len(LEARNERS) else ""
    return only + found.help + usual


def keywords(groups: Iterable[type[Group]]) -> dict[str, Option]:
    """The options of groups by their names in Python; of a name's options the first."""
    found: dict[str, Option] = {}
    for group in groups:
        for one in group.options().values():
            found.setdefault(one.keyword, one)
    return found


def with_keywords(groups: Iterable[type[Group]]) -> Callable[[Function], Function]:
    """Decorate a function that takes ``**options``: its signature and docstring name them all."""
    offered = keywords(groups)

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        new = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if belongs_to(one.name) else one.default,
                annotation=one.kind,
            )
            for name, one in offered.items()
            if name not in signature.parameters
        ]
        cast(Any, function).__signature__ = signature.replace(parameters=[*own, *new])
        lines = "".join(f"    {p.name}\n        {described(offered[p.name].name)}\n" for p in new)
        function.__doc__ = (function.__doc__ or "").replace("    **options\n", lines)
        return function

    return decorate


def sorted_out(
    given: Mapping[str, Any], groups: Iterable[type[Group]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Keywords by the group they belong to, with the names of its fields; and those of no group."""
    found, rest = [], dict(given)
    for group in groups:
        names = {one.keyword: one.name for one in group.options().values()}
        found.append({names[name]: rest.pop(name) for name in given if name in names})
    return found, rest


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise an error if the value of an option is none of its choices."""
    if value not in choices:
        listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise DbpcfgError(f"{name} must be {listed}, got {value!r}")
