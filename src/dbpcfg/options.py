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
from dataclasses import MISSING, dataclass, field, fields
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

SMALLEST_BETA, LARGEST_BETA = 1e-12, 1e100
"""Beyond them, densities of beta are not numbers."""
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Option:
    """An option; ``exclusive_minimum`` is the only limit that is not itself allowed."""

    name: str
    kind: Any
    default: Any
    help: str
    flags: tuple[str, ...] = ()
    minimum: float | None = None
    exclusive_minimum: float | None = None
    maximum: float | None = None
    metavar: str | None = None
    basic: bool = False
    """Whether ``--help`` shows it without being asked for more."""

    @property
    def keyword(self) -> str:
        """Its name in Python and in files: K and D have a letter."""
        return self.flags[0].lstrip("-") if self.flags else self.name

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
        return self._in_words(self.type) + " or none" * self.optional

    def _in_words(self, kind: Any) -> str:
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Literal:
            return " or ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
        if origin in (Union, UnionType):
            return " or ".join(dict.fromkeys(map(self._in_words, parts)))
        if origin is tuple:
            return f"{self._in_words(parts[0])}, or a list of them"
        if origin is dict and get_origin(parts[1]) is dict:
            return "a table of tables"
        if kind not in (int, float):
            return _WORDS.get(kind, "a table")
        above, exclusive, most = self.minimum, self.exclusive_minimum, self.maximum
        limits = f" from {above:g} up" if above is not None else ""
        limits += f" above {exclusive:g}" if exclusive is not None else ""
        limits += f", at most {most:g}" if most is not None else ""
        return _WORDS[kind] + limits

    def checked(self, value: Any, name: str | None = None) -> Any:
        """The value as a plain one of the option's type; an error says what was expected."""
        if self.optional and (value is None or value == "none"):
            return None
        name = name or (f"{self.keyword} ({self.name})" if self.flags else self.name)
        found = _plain(value, self.type, name)
        each = found if isinstance(found, tuple) else (found,)
        if found is None or not all(map(self._in_range, each)):
            raise DbpcfgError(f"{name} must be {self.expected()}, got {value!r:.80}")
        return found

    def _in_range(self, value: Any) -> bool:
        if not isinstance(value, int | float):
            return True
        minimum = -math.inf if self.minimum is None else self.minimum
        exclusive_minimum = -math.inf if self.exclusive_minimum is None else self.exclusive_minimum
        maximum = math.inf if self.maximum is None else self.maximum
        finite = isinstance(value, int) or math.isfinite(value)
        return finite and minimum <= value <= maximum and exclusive_minimum < value


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _plain(value: Any, kind: Any, name: str) -> Any:
    """A value as a plain one of a type; None if it is not of it.

    ``name``: what messages call the value, should it be a table.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:  # as in other keys of files, a dash may stand for an underscore
        spelled = {spelling: one for one in parts for spelling in (one.replace("_", "-"), one)}
        return spelled.get(value) if isinstance(value, str) else None
    if origin in (Union, UnionType):
        found = (_plain(value, part, name) for part in parts)
        return next((one for one in found if one is not None), None)
    if origin is tuple:
        several = isinstance(value, list | tuple)
        many = value if several else [value]
        if parts[0] is str:
            return tuple(many) if all(isinstance(one, str) for one in many) else None
        names = [f"{name} {n}" if several else name for n in range(1, len(many) + 1)]
        plain = [_plain(one, parts[0], name) for one, name in zip(many, names)]
        return None if None in plain else tuple(plain)
    if origin is dict:
        fits = isinstance(value, dict)
        fits = fits and all(_plain(one, parts[1], name) is not None for one in value.values())
        return value if fits else None
    if isinstance(kind, type) and issubclass(kind, Group):
        group = kind.of_table(value, name) if isinstance(value, dict) else value
        return group if isinstance(group, kind) else None
    if kind is Any:
        return value
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


REQUIRED = MISSING
"""The default of an option that must be given."""


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
    def of_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """The options in a table of a file; messages begin with ``where``."""
        return cls(**read_table(table, cls.options(), where))

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


def read_table(table: Any, known: Mapping[str, Option], where: str) -> dict[str, Any]:
    """The checked values of a table of a file, by their names in ``known``.

    Keys may have dashes in place of underscores. Messages begin with ``where``, the name of the
    table; it is empty for a whole file.
    """
    if not isinstance(table, Mapping):
        raise DbpcfgError(f"{where} must be a table")
    found, begin = {}, f"{where}{'' if where.endswith(']') else ':'} " if where else ""
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            listed = ", ".join(one.replace("_", "-") for one in known)
            it = where or "the file"
            raise DbpcfgError(f"{it} has {key!r:.80}, which is not one of its options: {listed}")
        found[name] = known[name].checked(value, f"{begin}{key}")
    for name, one in known.items():
        if one.default is REQUIRED and name not in found:
            raise DbpcfgError(f"{where or 'the file'} has no {name.replace('_', '-')}")
    return found


@dataclass(frozen=True)
class FileOptions(Group):
    """How files of trees are read."""

    panel: ClassVar[str] = "Corpus"
    encoding: str | None = option(
        None, "Encoding of the input; if not given, UTF-8, or Latin-1 if it looks so."
    )
    skip_broken: bool = option(False, "Skip broken trees and sentences, and list them.")

    def how(self) -> dict[str, Any]:
        """The same as keywords of `dbpcfg.read`."""
        return {"encoding": self.encoding, "broken": "skip" if self.skip_broken else "error"}


@dataclass(frozen=True)
class FormatOptions(FileOptions):
    """How files of some format are read."""

    input_format: str | None = option(
        None, "Format of the text, such as penn, chat or conllu; recognised if not given."
    )

    def how(self) -> dict[str, Any]:
        """The same as keywords of `dbpcfg.read`."""
        return {**super().how(), "format": self.input_format}


@dataclass(frozen=True)
class ReadingOptions(FormatOptions):
    """How files of sentences are read."""

    speaker: tuple[str, ...] = option((), "Only this speaker, by code or role; may be repeated.")
    exclude_speaker: tuple[str, ...] = option(
        (),
        "Exclude this speaker; may be repeated. Default for CHAT and childes-db: the target child.",
    )
    age: str | None = option(
        None,
        "Only speech to children of this age, in months, as in 24-36 (CHAT, childes-db).",
        metavar="FROM-TO",
    )
    column: str | None = option(
        None,
        "TEXT is a table, CSV or TSV, with its sentences in this column. Default: gloss, as in "
        "childes-db.",
        flags=("--text",),
        metavar="COLUMN",
    )

    def how(self) -> dict[str, Any]:
        """The same as keywords of `dbpcfg.read`."""
        chosen = {"speakers": self.speaker, "exclude_speakers": self.exclude_speaker}
        found = {name: names or None for name, names in chosen.items()}
        return {**super().how(), **found, "age": self.age, "text": self.column}


@dataclass(frozen=True)
class PreprocessingOptions(Group):
    """How the words of sentences are prepared; by default they become lower case."""

    panel: ClassVar[str] = "Corpus"
    lowercase: bool = option(True, "Learn from words in lower case.")
    max_length: int | None = option(
        None,
        "Maximum sentence length in words; punctuation does not count.",
        minimum=1,
        basic=True,
    )
    punctuation: Literal["auto", "tags", "characters", "both"] = option(
        "auto", "How punctuation is recognised; auto: by tags if there are any."
    )
    numbers: bool = option(False, "Replace all numbers with one form.")
    rare: int | None = option(
        None,
        "Replace forms that occur at most this often with classes; 0: none.",
        minimum=0,
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
    punctuation_brackets: bool | None = option(
        None,
        "No constituent crosses a punctuation mark, unless it is made of whole stretches between "
        "marks.",
    )

    def table(self) -> dict[str, Any]:
        """Without brackets nothing is written about them."""
        found = super().table()
        return found if self.brackets else {k: v for k, v in found.items() if k != "brackets"}


@dataclass(frozen=True)
class ModelOptions(Group):
    """What all learners have."""

    panel: ClassVar[str] = "Model"
    categories: int | None = option(
        None,
        "Number of categories. Default: 15; neural: 60.",
        flags=("-K", "--categories"),
        minimum=1,
        basic=True,
    )
    depth: int | Literal["auto"] | None = option(
        "auto",
        "Memory bound: at most this many fragments; 'none': no bound; auto: 2, or 3 for neural.",
        flags=("-D", "--depth"),
        minimum=1,
        basic=True,
    )
    seed: int = option(0, "Random seed.", minimum=0, basic=True)
    precision: Literal["double", "single"] | None = option(
        None,
        "Precision of the chart; single is faster for K of 24 or more. Default: double; neural: "
        "single.",
    )
    held_out: int = option(
        0,
        "Hold out every N-th sentence, or stretch of one if learned from stretches: it is parsed, "
        "but not learned from.",
        metavar="N",
        minimum=0,
    )


@dataclass(frozen=True)
class LearnerOptions(Group):
    """The options of one learner."""

    panel: ClassVar[str] = "Learner"


@dataclass(frozen=True)
class GibbsOptions(LearnerOptions):
    """The Gibbs sampler of the paper."""

    beta: float = option(
        0.2, "Dirichlet parameter of all rules.", minimum=SMALLEST_BETA, maximum=LARGEST_BETA
    )
    exact: bool = option(False, "Take the bound's normaliser into account.")
    sample_beta: bool = option(False, "Sample beta too, starting from --beta.")
    parser: Literal["chart", "leftcorner"] = option(
        "chart", "Both sample from the same distribution; the chart is much faster."
    )


@dataclass(frozen=True)
class ExpectationOptions(LearnerOptions):
    """What EM and variational Bayes have in common."""

    beta: float = option(
        0.2,
        "Dirichlet parameter; for EM, of the initial grammar only.",
        minimum=SMALLEST_BETA,
        maximum=LARGEST_BETA,
    )
    batch: int = option(
        0,
        "Sentences per mini-batch; the grammar is updated after each. 0: the whole corpus.",
        minimum=0,
    )
    decay: float = option(
        0.7,
        "With --batch: the weight of mini-batch t is (t + 2)^-DECAY.",
        exclusive_minimum=0.5,
        maximum=1,
    )


@dataclass(frozen=True)
class EMOptions(ExpectationOptions):
    """Expectation maximisation."""

    exact: bool = option(False, "Take the bound's normaliser into account.")
    smoothing: float = option(0.0, "Constant added to each expected rule count.", minimum=0)


@dataclass(frozen=True)
class VariationalOptions(ExpectationOptions):
    """Variational Bayes."""


@dataclass(frozen=True)
class NeuralOptions(LearnerOptions):
    """The neural grammar of low rank."""

    exact: bool = option(True, "Take the bound's normaliser into account.")
    word_categories: int = option(
        0, "How many of the categories are word categories; 0: two thirds of them.", minimum=0
    )
    rank: int = option(0, "Rank of the binary rules; 0: the number of categories.", minimum=0)
    batch: int = option(
        0,
        "Sentences per mini-batch. 0: 64, and fewer for little speech.",
        minimum=0,
    )
    rate: float = option(0.003, "Learning rate.", exclusive_minimum=0)
    teacher: Literal["auto", "ccl", "none"] = option(
        "auto",
        "Whose brackets it learns from: those of the parser CCL, or nobody's. auto: ccl if they "
        "branch to the side of the language, but none "
        "for speech and for text with known brackets.",
    )
    stretch: int | None = option(
        None,
        "Learn from stretches between punctuation marks of at most this many words; 0: from whole "
        "sentences. Default: 15; 0 without a teacher.",
        minimum=0,
    )
    patience: int = option(
        5, "With --held-out: stop after this many iterations without improvement.", minimum=1
    )


LEARNERS: dict[str, type[LearnerOptions]] = {
    "gibbs": GibbsOptions,
    "em": EMOptions,
    "vb": VariationalOptions,
    "neural": NeuralOptions,
}
"""The options of the package's own learners."""


@dataclass(frozen=True)
class SearchOptions(Group):
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
        minimum=1,
        basic=True,
    )
    chains: int | None = option(
        None,
        "Number of chains; in a race, at the start. Default: depends on the budget; 4 without a "
        "race, 8 for neural if there is little speech.",
        minimum=1,
    )
    iterations: int | None = option(
        None,
        "Iterations of each chain, without a race; the second half is kept (em, vb, neural: only "
        "the last iteration). Default: 100 for em and vb, 5 to 30 for neural.",
        minimum=1,
        basic=True,
    )
    select: str | None = option(
        None,
        "Criterion for comparing chains: likelihood, posterior, variance, heldout (needs "
        "--held-out) or agreement. Default: likelihood; posterior for vb; heldout for em, vb and "
        "neural with --held-out.",
    )
    trees: Literal["mbr", "consensus", "best", "last"] | None = option(
        None,
        "Trees to write: MBR trees of the selected chain's kept samples; consensus trees, on which "
        "all chains that ran to the end vote; the sample of greatest likelihood, as in the paper; "
        "the last sample. Default: mbr; consensus for neural.",
    )


@dataclass(frozen=True)
class ExecutionOptions(Group):
    """Where a run is computed. Its result does not depend on any of this."""

    panel: ClassVar[str] = "Running"
    threads: int | None = option(
        None,
        "Number of processors; all if not given. Results do not depend on it.",
        minimum=1,
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
    spread: Literal["chains", "sentences"] | None = option(
        None,
        "On a cluster: chains in parallel, or the sentences of each chain over all workers. "
        "Default: depends on the size of the run.",
    )
    checkpoint: float = option(30.0, "Seconds between checkpoints of a chain.", minimum=0)


INDUCE: tuple[type[Group], ...] = (
    ModelOptions,
    *LEARNERS.values(),
    SearchOptions,
    PreprocessingOptions,
    ReadingOptions,
    ExecutionOptions,
)
"""The options of ``induce``."""


class ExecutionKeywords(TypedDict, total=False):
    """The keywords of `dbpcfg.resume` for type checkers."""

    threads: int | None
    workers: Literal["threads", "processes"]
    spread: Literal["chains", "sentences"] | None
    checkpoint: float


class InduceOptions(ExecutionKeywords, total=False):
    """The keywords of `dbpcfg.induce` for type checkers; a test compares them with the groups."""

    seed: int
    precision: Literal["double", "single"] | None
    held_out: int
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
    teacher: Literal["auto", "ccl", "none"]
    stretch: int | None
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
    punctuation_brackets: bool | None
    tokens: Literal["space", "punctuation", "penn"]
    brackets: Literal["text", "trees"] | None
    input_format: str | None
    encoding: str | None
    skip_broken: bool
    speaker: str | tuple[str, ...]
    exclude_speaker: str | tuple[str, ...]
    age: str | None
    text: str | None


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


def split_by_group(
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
