"""Lists of the ten strongest labels, in order; of equally strong ones the newest comes first."""

from __future__ import annotations

from dbpcfg.numerics.kernels import kernel
from dbpcfg.systems.ccl.arrays import Record, Single

LONGEST = 10

FIELDS = [("count", "i8"), ("labels", "i8", (LONGEST,)), ("strengths", "f4", (LONGEST,))]
"""The fields of a record that hold such a list."""


@kernel
def place(record: Record, at: int, label: int, strength: Single) -> None:
    """Put a label where it belongs.

    It was at position ``at`` and has become stronger, or is new: then ``at`` is the list's length.
    A new label that is weaker than all of a full list stays outside; otherwise the last one goes.
    """
    if at == record.count:
        if record.count < LONGEST:
            record.count += 1
        elif strength < record.strengths[LONGEST - 1]:
            return
        else:
            at = LONGEST - 1
    while at > 0 and record.strengths[at - 1] <= strength:
        record.labels[at] = record.labels[at - 1]
        record.strengths[at] = record.strengths[at - 1]
        at -= 1
    record.labels[at] = label
    record.strengths[at] = strength
