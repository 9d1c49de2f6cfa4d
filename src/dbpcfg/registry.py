"""What can be added from outside: readers, learners, criteria, systems, columns of surprisal.

Each kind has one `Registry`. The package's own entries are known by name and imported when first
used; a program adds one with `Registry.add`, another package by an entry point of the group
``dbpcfg.readers``, ``dbpcfg.learners`` and so on, whose object is the entry itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar

from dbpcfg.errors import DbpcfgError

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Entries of one kind by their names.

    ``builtin``: where each of the package's own entries is, as ``module:object`` below ``dbpcfg``.
    ``also``: other names that users can give.
    """

    by_group: ClassVar[dict[str, Registry[Any]]] = {}
    """All registries."""

    def __init__(
        self, kind: str, plural: str, builtin: Mapping[str, str], also: Iterable[str] = ()
    ) -> None:
        self.kind, self.group, self.builtin = kind, f"dbpcfg.{plural}", dict(builtin)
        self.also = tuple(also)
        self._added: dict[str, Entry] = {}
        self._loaded: dict[str, Entry] = {}
        self.by_group[self.group] = self

    def add(self, name: str, entry: Entry) -> Entry:
        """Add an entry, or replace it."""
        self._added[name] = entry
        return entry

    def names(self) -> list[str]:
        """The names of all entries, the package's own first."""
        return list(dict.fromkeys([*self.builtin, *self._added, *self._installed]))

    def __contains__(self, name: object) -> bool:
        known = name in self.builtin or name in self._added
        return known or name in self._installed

    def __getitem__(self, name: str) -> Entry:
        """The entry of a name, imported if it is not yet."""
        if name in self._added:
            return self._added[name]
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Any:
        if name in self.builtin:
            module, _, attribute = self.builtin[name].partition(":")
            return getattr(import_module(f"dbpcfg.{module}"), attribute)
        others = self._installed
        if name not in others:
            choices = [one for one in (*self.also, *self.names()) if one != name]
            raise DbpcfgError(f"no {self.kind} {name!r}; choose one of {', '.join(choices)}")
        return others[name].load()

    @cached_property
    def _installed(self) -> dict[str, Any]:
        """The entry points of other packages; looking for them takes milliseconds."""
        from importlib.metadata import entry_points

        return {point.name: point for point in entry_points(group=self.group)}


def added() -> list[tuple[str, str, Any]]:
    """What this program has added: the group, name and entry of each."""
    return [
        (group, name, entry)
        for group, registry in Registry.by_group.items()
        for name, entry in registry._added.items()
    ]
