"""What can be added from outside: readers, learners, criteria, systems, columns of surprisal.

Each kind has one `Registry`. The package's own entries are known by name and imported when first
used; a program adds one with `Registry.add`, another package by an entry point of the group
``dbpcfg.readers``, ``dbpcfg.learners`` and so on, whose object is the entry itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar

from dbpcfg.errors import DbpcfgError

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Entries of one kind by their names.

    ``own`` are the package's: where each is, as ``module:object`` below ``dbpcfg``.
    """

    def __init__(self, kind: str, plural: str, own: Mapping[str, str]) -> None:
        self.kind, self.group, self.own = kind, f"dbpcfg.{plural}", dict(own)
        self._added: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> Entry:
        """Add an entry, or replace it."""
        self._added[name] = entry
        return entry

    def names(self) -> list[str]:
        """The names of all entries: the package's own first."""
        return list(dict.fromkeys([*self.own, *self._added, *self._installed]))

    def __contains__(self, name: object) -> bool:
        known = name in self.own or name in self._added
        return known or name in self._installed

    def __getitem__(self, name: str) -> Entry:
        """The entry of a name, imported if it is not yet."""
        if name not in self._added:
            self._added[name] = self._load(name)
        return self._added[name]

    def _load(self, name: str) -> Any:
        if name in self.own:
            module, _, found = self.own[name].partition(":")
            return getattr(import_module(f"dbpcfg.{module}"), found)
        others = self._installed
        if name not in others:
            raise DbpcfgError(f"no {self.kind} {name!r}; choose one of {', '.join(self.names())}")
        return others[name].load()

    @cached_property
    def _installed(self) -> dict[str, Any]:
        """The entry points of other packages; looking for them takes milliseconds."""
        from importlib.metadata import entry_points

        return {point.name: point for point in entry_points(group=self.group)}
