"""The card of a model: what it was learned from and how, kept in its file.

It has names of files without their folders, and no sentence of the text. Keys are texts; values
are texts, numbers, or lists of texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbpcfg.io.archive import ArchiveError
from dbpcfg.io.tables import Column, Table

SHOWN = 3
"""Items of a list that a table names."""


def checked(card: Any) -> dict[str, Any]:
    """A card that was read from a file, or an error if it is none."""
    if isinstance(card, dict) and all(map(_is_value, card.values())):
        return card
    raise ArchiveError(
        f"its card must have texts, numbers and lists of texts by their names, got {card!r:.80}"
    )


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(one, str) for one in value)
    return type(value) in (str, int, float)


def card_table(card: Mapping[str, Any]) -> Table:
    """A row for each thing that is known."""
    rows = [(_clean(name.replace("_", " ")), _clean(_shown(value))) for name, value in card.items()]
    return Table("Card", [Column("what", key="name"), Column("", key="value")], rows)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        more = len(value) - SHOWN
        return ", ".join(value[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _clean(text: str) -> str:
    """A text without control characters, which a damaged file can have."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
