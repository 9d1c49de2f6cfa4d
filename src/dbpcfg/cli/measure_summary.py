"""What `dbpcfg surprisal` says of a text once it is measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbpcfg.model.incremental import BeamSample, MeasuredSentence


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
    worst: tuple[float, str] | None = None
    """The most that it dropped, and where."""
    broken_off: Counter[str] = field(default_factory=Counter)
    """Sentences with an impossible word, and those of which the beam kept no memory state."""
    first: dict[str, str] = field(default_factory=dict)
    """The place of the first of each."""

    def add(self, measured: Sequence[MeasuredSentence]) -> None:
        """Add a sentence, measured under each grammar."""
        if self.beam_sample is not None:
            self.beam_sample.add(measured)
        kinds = [form.kind for form in measured[0].forms]
        self.grammars = len(measured)
        self.words += len(kinds)
        self.classes += kinds.count("class")
        self.unknown += kinds.count("unknown")
        ends = [end for one in measured if (end := self._add_lost(one)) is not None]
        if ends:
            impossible = [end for end in ends if math.isinf(end[0])]
            why = "impossible" if impossible else "fallen"
            self.broken_off[why] += 1
            self.first.setdefault(why, (impossible or ends)[0][1])

    def _add_lost(self, one: MeasuredSentence) -> tuple[float, str] | None:
        """Add what the beam dropped; the first surprisal that is no number, and its place."""
        for token, (surprisal, lost) in enumerate(
            zip(one.surprisal.tolist(), one.trace.lost.tolist()), start=1
        ):
            if not math.isfinite(surprisal):
                return surprisal, _place(one, token)
            self.lost += lost
            if self.worst is None or lost > self.worst[0]:
                self.worst = lost, _place(one, token)
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
                f"dropped at a word, {self.worst[0]:.2g} at most ({self.worst[1]})"
            )
        if self.beam_sample is not None and self.words:
            notes.append(_error_note(self.beam_sample, threads))
        if "impossible" in self.first:
            notes.append(
                f"{_sentences(self.broken_off['impossible'])} probability zero: surprisal is Inf "
                "at the impossible word, cells are empty afterwards; "
                f"first {self.first['impossible']}"
            )
        if "fallen" in self.first:
            notes.append(
                f"{_sentences(self.broken_off['fallen'])} fallen out of the beam, cells are empty "
                f"afterwards; first {self.first['fallen']}; try --beam {10 * beam}"
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


def _place(one: MeasuredSentence, token: int) -> str:
    word = (*one.sentence.words, "</s>")[token - 1]
    return f"{one.sentence.place}, token {token}, {word!r}"
