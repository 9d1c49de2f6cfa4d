"""Checks that systems have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from dbpcfg.errors import DbpcfgError

T = TypeVar("T")


def check_sentences(sentences: Sequence[Sequence[str]]) -> None:
    """Raise an error if a sentence is empty, or a text instead of a list of words."""
    for number, sentence in enumerate(sentences, start=1):
        if not sentence:
            raise DbpcfgError(f"sentence {number} has no words; leave empty sentences out")
        if isinstance(sentence, str):
            raise DbpcfgError(
                f"sentence {number} is one text; give its words, as with text.split()"
            )


def require_fit(name: str, fitted: T | None) -> T:
    """Raise an error if a system has nothing yet because ``fit`` was not called.

    ``fitted``: what ``fit`` leaves behind; None before.
    """
    if fitted is None:
        raise DbpcfgError(f"{name} has not seen any sentences; call fit first")
    return fitted
