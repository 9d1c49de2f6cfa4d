"""What `dbpcfg surprisal` says of a text once it is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbpcfg.model.incremental import MeasuredSentence


@dataclass
class Summary:
    """Counts over the sentences of a table, for notes to the user."""

    words: int = 0
    grammars: int = 1
    """Over which measures are averaged."""
    classes: int = 0
    """Words that the model sees as classes."""
    unknown: int = 0
    impossible: int = 0
    """Sentences with an impossible word, or end."""
    first: str = ""
    """The place of the first of these words."""

    def add(self, measured: Sequence[MeasuredSentence]) -> None:
        """Add a sentence, measured under each grammar."""
        kinds = [form.kind for form in measured[0].forms]
        self.grammars = len(measured)
        self.words += len(kinds)
        self.classes += kinds.count("class")
        self.unknown += kinds.count("unknown")
        for one in measured:
            if not math.isfinite(one.surprisal[-1]):
                token = one.surprisal.tolist().index(math.inf) + 1
                self.first = self.first or _place(one, token)
                self.impossible += 1
                break

    def notes(self) -> list[str]:
        """Return the notes, one line each."""
        notes = [
            f"{self.words:,} words; {self.unknown:,} unknown to the model, {self.classes:,} "
            "replaced by classes"
        ]
        if self.grammars > 1:
            notes.append(f"means and standard deviations over {self.grammars:,} grammars")
        if self.impossible:
            notes.append(
                f"{_sentences(self.impossible)} probability zero: surprisal is Inf at the "
                f"impossible word, cells are empty afterwards; first {self.first}"
            )
        return notes


def _sentences(number: int) -> str:
    return "1 sentence has" if number == 1 else f"{number:,} sentences have"


def _place(one: MeasuredSentence, token: int) -> str:
    word = (*one.sentence.words, "</s>")[token - 1]
    return f"{one.sentence.place}, token {token}, {word!r}"
