"""Tables of measures in Python: of sentences, and of data frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Sized
from typing import Any

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import read_stimuli
from dbpcfg.io.progress import counted
from dbpcfg.model.stimuli import TableLayout, check_names, measure_stimuli
from dbpcfg.model.stimulus_frames import MeasuredTable, stimuli_of, with_measures
from dbpcfg.model.tabulation import SentenceRows, Tabulator

_PROGRESS = "sentences measured"


def measured_text(
    sentences: Iterable[Sentence],
    tabulator: Tabulator,
    end: bool = True,
    threads: int = 1,
    quiet: bool | None = None,
) -> MeasuredTable:
    """Measure sentences, in the columns of a tabulator.

    ``end``: whether there is a row for the end of each sentence.
    ``quiet``: whether no progress is shown; if not given, it is shown on a terminal or in a
    notebook.
    """
    total = len(sentences) if isinstance(sentences, Sized) else None
    given = (SentenceRows.of_tokens(one, end) for one in sentences)
    found = counted(tabulator.tabulate(given, threads), _PROGRESS, total, quiet)
    return MeasuredTable(tabulator.names, [row for one in found for row in one.rows])


def measured_frame(
    given: Any,
    layout: TableLayout,
    tabulator: Tabulator,
    keep: Sequence[str] | None = None,
    end: bool = True,
    threads: int = 1,
    quiet: bool | None = None,
) -> Any:
    """Measure a table.

    ``given``: A data frame, a list of dicts, or the path of a CSV or TSV file.
    ``keep``: the columns that the result has too; all if not given.
    ``end``: whether sentences in cells have a row for their end.
    ``quiet``: whether no progress is shown; if not given, it is shown on a terminal or in a
    notebook.
    Returns a data frame of the same kind, or a list of dicts.
    """
    is_path = isinstance(given, str | os.PathLike)
    table = read_stimuli(os.fspath(given)) if is_path else stimuli_of(given)
    kept = check_names(table, keep, tabulator.names)
    numbers, rows = measure_stimuli(
        table,
        layout,
        tabulator,
        end,
        threads,
        lambda found, total: counted(found, _PROGRESS, total, quiet),
    )
    return with_measures(given, table, kept, numbers, tabulator.names, rows)
