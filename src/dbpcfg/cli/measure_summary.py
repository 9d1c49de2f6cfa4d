"""What `dbpcfg surprisal` says of a text once it is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbpcfg.model.beam_error import BeamSample
    from dbpcfg.model.measures import WordMeasures
    from dbpcfg.model.tabulation import Tabulated


@dataclass
class Summary:
    """Counts over the sentences of a table, for notes to the user."""

    beam_sample: BeamSample | None = None
    """Sentences on which the error of the beam is measured; None if it is not."""
    words: int = 0
    grammars: int = 1
    """Over which measures are averaged."""
    classes: int = 0
    """Words that the model sees as classes."""
    unknown: int = 0
    lost: float = 0.0
    """The sum, over words, of the probability that the beam dropped."""
    worst: WordMeasures | None = None
    """The row at which it dropped most."""
    impossible: int = 0
    """Sentences of probability zero."""
    first_impossible: WordMeasures | None = None
    fallen: int = 0
    """Sentences of which the beam kept no memory state."""
    first_fallen: WordMeasures | None = None

    def add(self, one: Tabulated) -> None:
        """Add a sentence."""
        if self.beam_sample is not None:
            self.beam_sample.add(one.sentence, one.measured)
        each = [measured.rows for measured in one.measured]
        self.grammars = len(each)
        self.words += len(each[0]) - 1
        self.classes += sum(row.kind == "class" for row in each[0])
        self.unknown += sum(row.kind == "unknown" for row in each[0])
        unknown = [row for rows in each if (row := self._add_lost(rows)) is not None]
        impossible = [row for row in unknown if math.isinf(row.surprisal)]
        if impossible:
            self.impossible += 1
            self.first_impossible = self.first_impossible or impossible[0]
        elif unknown:
            self.fallen += 1
            self.first_fallen = self.first_fallen or unknown[0]

    def _add_lost(self, rows: Sequence[WordMeasures]) -> WordMeasures | None:
        """Add what the beam dropped; return the first row without a surprisal, if there is one."""
        for row in rows:
            if not math.isfinite(row.surprisal):
                return row
            self.lost += row.lost
            if self.worst is None or row.lost > self.worst.lost:
                self.worst = row
        return None

    def notes(self, beam: int, threads: int = 1) -> list[str]:
        """Return the notes, one line each.

        ``beam``: the number of memory states that were kept; 0 for all.
        ``threads``: the number of threads for the error of the beam.
        """
        notes = [
            f"{self.words:,} words; {self.unknown:,} unknown to the model, {self.classes:,} "
            "replaced by classes"
        ]
        if self.grammars > 1:
            notes.append(f"means and standard deviations over {self.grammars:,} grammars")
        if beam and self.worst is not None:
            mean = self.lost / (self.words * self.grammars)
            notes.append(
                f"beam of {beam:,}: on average {mean:.2g} of the probability was "
                f"dropped at a word, {self.worst.lost:.2g} at most ({_place(self.worst)})"
            )
        if self.beam_sample is not None and self.words:
            notes.append(_error_note(self.beam_sample, threads))
        if self.first_impossible is not None:
            notes.append(
                f"{_sentences(self.impossible)} probability zero: surprisal is Inf at the "
                f"impossible word, cells are empty afterwards; "
                f"first {_place(self.first_impossible)}"
            )
        if self.first_fallen is not None:
            notes.append(
                f"{_sentences(self.fallen)} fallen out of the beam, cells are empty afterwards; "
                f"first {_place(self.first_fallen)}; try --beam {10 * beam}"
            )
        return notes


def _error_note(sample: BeamSample, threads: int) -> str:
    error = sample.error(threads, quiet=False)
    if error is not None:
        some = "1 sentence" if error.sentences == 1 else f"{error.sentences:,} sentences"
        return (
            f"error of the beam, on {some} with all memory states: surprisal differs by "
            f"{error.mean:.2g} bits on average, {error.greatest:.2g} at most "
            f"({error.source}:{error.line}, token {error.token}); --no-beam-error saves the time"
        )
    if not sample.affordable:
        return "error of the beam: not measured, all memory states would need too much memory"
    return "error of the beam: not measured, no surprisal of the sample is known"


def _sentences(number: int) -> str:
    return "1 sentence has" if number == 1 else f"{number:,} sentences have"


def _place(row: WordMeasures) -> str:
    return f"{row.source}:{row.line}, token {row.token}, {row.word!r}"
