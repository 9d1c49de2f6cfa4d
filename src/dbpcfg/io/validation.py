"""Options from a file, TOML or JSON, checked against the dataclass that has them as fields."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dbpcfg.errors import DbpcfgError


def checked_table(content: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of a file, checked to be one.

    ``dict``: the table; empty if it is not there.
    """
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise DbpcfgError(f"[{name}] must be a table")
    return table


def checked_options(
    content: dict[str, Any], name: str, kind: type, known: Sequence[str] = ()
) -> dict[str, Any]:
    """The options in a table of a file, checked against the fields of a dataclass.

    ``known``: the fields that are allowed; all of them if empty.
    """
    table, hints = checked_table(content, name), get_type_hints(kind)
    for option, value in table.items():
        if option not in (known or hints):
            raise DbpcfgError(f"[{name}] has {option!r}, which is no option of it")
        if not _fits(value, hints[option]):
            raise DbpcfgError(f"[{name}] has {option} = {value!r}, which cannot be")
    return table


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value from a file is what a field is annotated with."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in parts
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is list:
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    return type(value) in ((int, float) if hint is float else (hint,))


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise an error if the value of an option is none of its choices."""
    if value not in choices:
        listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise DbpcfgError(f"{name} must be {listed}, got {value!r}")
