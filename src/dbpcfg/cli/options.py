"""Arguments and options that several commands share, and declared options as parameters.

A parameter of a command whose type is a group of options (``dbpcfg.options``) stands for all of
them: `takes_groups` gives the command those options, and the parameter the group with their values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from dbpcfg.errors import DbpcfgError
from dbpcfg.options import (
    LEARNERS,
    ExecutionOptions,
    Group,
    ModelOptions,
    Option,
    PreprocessingOptions,
    belongs_to,
)

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Run directory, model file, rule table, or example.")
]
Text = Annotated[
    list[str],
    typer.Argument(metavar="TEXT", help="Files, directories, patterns or -."),
]
TextOrInput = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT",
        help="Files, directories, patterns, - or sentences; standard input if not given.",
        show_default=False,
    ),
]


def declared(group: type[Group], name: str, of_learner: bool = False) -> Any:
    """What typer is to know of an option: all but its type."""
    one = group.options()[name]
    more: dict[str, Any] = {}
    flags = list(one.flags) or [f"--{one.key}"]
    if one.type is bool and (of_learner or one.default):
        flags = [f"--{one.key}/--no-{one.key}"]
    if one.type is bool and one.optional:
        flags = [f"--{one.key}/--keep-{one.key.removeprefix('no-')}"]
    if one.minimum is not None and one.type in (int, float) and not _or_none(one):
        more["min"] = one.type(one.minimum)
    help = one.help
    if of_learner:
        learners = belongs_to(one.name)
        help = f"{', '.join(learners)}: {help}" if len(learners) < len(LEARNERS) else help
        help += f" [{one.default}]" if one.default else ""
    return typer.Option(*flags, help=help, metavar=one.metavar, rich_help_panel=group.panel, **more)


def _or_none(one: Option) -> bool:
    """Whether a number or ``none`` is expected, where a number is the default."""
    return one.type is int and one.optional and one.default is not None


Lowercase = Annotated[bool, declared(PreprocessingOptions, "lowercase")]
MaxLength = Annotated[int | None, declared(PreprocessingOptions, "max_length")]
Punctuation = Annotated[
    Literal["auto", "tags", "characters", "both"], declared(PreprocessingOptions, "punctuation")
]
TokensOption = Annotated[
    Literal["space", "punctuation", "penn"] | None, declared(PreprocessingOptions, "tokens")
]
BracketsOption = Annotated[
    Literal["text", "trees"] | None, declared(PreprocessingOptions, "brackets")
]
Seed = Annotated[int, declared(ModelOptions, "seed")]
Threads = Annotated[int | None, declared(ExecutionOptions, "threads")]

Depth = Annotated[
    str | None,
    typer.Option(
        "-D",
        "--depth",
        help="Memory bound instead of the model's: at most this many fragments; 'none': no bound.",
    ),
]
UnknownWords = Annotated[
    float | None,
    typer.Option(
        "--unknown",
        help="Probability of unknown words under each category, instead of the model's. Rule "
        "tables have none.",
    ),
]

TableFormat = Annotated[
    Literal["text", "json", "latex"], typer.Option("--format", help="Format of tables.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")]

MAX_DIGITS = 18
"""Of a memory bound: Python does not read numbers of thousands of digits."""


def depth_bound(text: str) -> int | None:
    """Read the value of --depth: a number, or None for ``none``."""
    if text.lower() == "none":
        return None
    if not text.isdecimal() or len(text) > MAX_DIGITS or not int(text):
        raise DbpcfgError(
            f"--depth must be a number from 1 up, or 'none' for no bound, got {text!r:.80}"
        )
    return int(text)


@dataclass(frozen=True)
class LearnerChoice:
    """A learner's name and the options that were given for it: a parameter of commands."""

    learner: str = "auto"
    options: dict[str, Any] = field(default_factory=dict)


_Learner = Annotated[
    str,
    typer.Option(
        "--learner",
        help="How to learn: auto (chosen by the text), gibbs (sampling), em, vb (variational "
        "Bayes) or neural.",
        rich_help_panel="Model",
    ),
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="An option of a learner from another package.",
        rich_help_panel="Learner",
    ),
]


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the options of all groups among its parameters."""
    hints = get_type_hints(command, include_extras=True)
    parameters: dict[str, inspect.Parameter] = {}
    groups: dict[str, Any] = {}
    shown: dict[str, tuple[bool, list[str]]] = {}

    def add(name: str, annotation: Any, default: Any) -> None:
        parameters[name] = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )

    for name, own in inspect.signature(command).parameters.items():
        kind = hints[name]
        if kind is LearnerChoice:
            groups[name] = kind
            add("learner", _Learner, "auto")
            for learner, group in LEARNERS.items():
                for one in group.options().values():
                    if one.name not in parameters:
                        add(one.name, _annotation(group, one, of_learner=True), None)
                        shown[one.name] = False, []
                    shown[one.name][1].append(learner)
            add("set", _Set, None)
            shown["set"] = False, ["other"]
        elif isinstance(kind, type) and issubclass(kind, Group):
            groups[name] = kind
            for one in kind.options().values():
                add(one.name, _annotation(kind, one), _default(one))
                shown[one.name] = one.basic, []
        else:
            add(name, kind, own.default)

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = _learner(given) if kind is LearnerChoice else _group(kind, given)
        command(**given)

    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    many = LearnerChoice in groups.values()  # too many for one screen
    run.shown = shown if many else {}  # type: ignore[attr-defined]
    return run


def given_options(context: typer.Context, group: Group) -> dict[str, Any]:
    """The options of a group that are on the command line."""
    sources = {name: context.get_parameter_source(name) for name in group.options()}
    given = [name for name, one in sources.items() if one and one.name == "COMMANDLINE"]
    return {name: getattr(group, name) for name in given}


def _annotation(group: type[Group], one: Option, of_learner: bool = False) -> Any:
    """The type of a parameter for an option, with all that typer is to know of it."""
    kind: Any = one.type
    if get_origin(kind) is tuple:
        kind = list[str]
    elif _or_none(one) or get_origin(kind) not in (None, Literal):
        kind = str  # a number or something else
    if of_learner or one.default is None or get_origin(one.type) is tuple:
        kind = kind | None
    return Annotated[kind, declared(group, one.name, of_learner)]


def _default(one: Option) -> Any:
    if get_origin(one.type) is tuple:
        return None
    return str(one.default) if one.optional and one.default is not None else one.default


def _group(kind: type[Group], given: dict[str, Any]) -> Group:
    values = {}
    for name, one in kind.options().items():
        value = given.pop(name)
        if isinstance(value, str) and int in (one.type, *get_args(one.type)) and _whole(value):
            value = int(value)
        if value is not None:
            values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)


def _whole(text: str) -> bool:
    return text.isdecimal() and len(text) <= MAX_DIGITS


def _learner(given: dict[str, Any]) -> LearnerChoice:
    names = {name for group in LEARNERS.values() for name in group.options()}
    options = {name: value for name in sorted(names) if (value := given.pop(name)) is not None}
    learner, others = given.pop("learner"), given.pop("set") or []
    if others:
        from dbpcfg.induction.learners import learners

        known = learners[learner].options() if learner != "auto" else {}
        for text in others:
            name, equals, value = text.partition("=")
            if not equals or name not in known:
                listed = ", ".join(known) or "no options"
                raise DbpcfgError(f"--set {text}: the learner {learner} has {listed}")
            options[name] = _read(value)
    return LearnerChoice(learner, options)


def _read(text: str) -> Any:
    """A value as it is written in TOML, or a text."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
