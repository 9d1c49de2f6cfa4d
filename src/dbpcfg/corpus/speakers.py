"""Whose speech is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from dbpcfg.errors import DbpcfgError

__all__ = ["Speakers"]


@dataclass(slots=True)
class Speakers:
    """A choice of speakers.

    A speaker has several names, such as the code ``MOT`` and the role ``Mother``; any of them
    counts, in capitals or not. With neither `only` nor `without` the choice is the format's.
    """

    only: tuple[str, ...] | None = None
    """Those to read; None: everyone."""
    without: tuple[str, ...] | None = None
    """Those to leave out."""
    heard: dict[str, None] = field(default_factory=dict)
    """Every name seen so far, in order."""

    @classmethod
    def of(cls, only: Iterable[str] | None, without: Iterable[str] | None) -> Speakers:
        """Make a choice from lists of names.

        ``only``: speakers to read; a single name needs no list.
        """
        return cls(_names(only), _names(without))

    @property
    def by_default(self) -> bool:
        """Whether no choice was made."""
        return self.only is None and self.without is None

    def take(self, names: Collection[str]) -> bool:
        """Whether a speaker with these names is chosen."""
        self.heard.update(dict.fromkeys(names))
        folded = {name.casefold() for name in names}
        if self.only is not None and folded.isdisjoint(map(str.casefold, self.only)):
            return False
        return self.without is None or folded.isdisjoint(map(str.casefold, self.without))

    def check(self) -> None:
        """Raise an error if nobody has a chosen name: most likely it is a typing error."""
        folded = {name.casefold() for name in self.heard}
        for name in (self.only or ()) + (self.without or ()):
            if name.casefold() not in folded:
                known = ", ".join(sorted(self.heard)) or "the files name nobody"
                raise DbpcfgError(f"no speaker is called {name!r}; these speak: {known}")


def _names(names: Iterable[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)
