"""A plot of all runs and the published figures, as SVG that a page holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _LABELS, _RIGHT, _ROW, _TOP, _BOTTOM = 820, 270, 30, 26, 12, 44
_STEPS = (1, 2, 5, 10, 20)
"""Percentages between two lines."""
_MOST_LINES = 9


class StripRow(NamedTuple):
    """A row of the plot."""

    label: str
    values: Sequence[float]
    """Percentages, a circle for each."""
    published: float | None = None
    """A percentage, a diamond."""


def strip_plot(rows: Sequence[StripRow], axis: str) -> str:
    """Draw rows of points.

    Returns the element ``svg``; empty if there is nothing to draw.
    """
    numbers = [x for row in rows for x in (*row.values, row.published) if x is not None]
    if not numbers:
        return ""
    step = _step(min(numbers), max(numbers))
    low, high = (math.floor(min(numbers) / step) * step, math.ceil(max(numbers) / step) * step)
    high = max(high, low + step)
    height = _TOP + _ROW * len(rows) + _BOTTOM

    def x(value: float) -> float:
        return _LABELS + (value - low) / (high - low) * (_WIDTH - _LABELS - _RIGHT)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" '
        f'aria-label="{escape(axis)} of every run, and published figures" class="strips">'
    ]
    bottom = height - _BOTTOM
    for line in range(round((high - low) / step) + 1):
        value = low + line * step
        parts.append(
            f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{_TOP}" '
            f'y2="{bottom}"/><text class="tick" x="{x(value):.1f}" y="{bottom + 16}" '
            f'text-anchor="middle">{value:g}</text>'
        )
    for number, row in enumerate(rows):
        parts += _row(row, _TOP + _ROW * number + _ROW / 2, x)
    middle = (x(low) + x(high)) / 2
    parts.append(
        f'<text class="tick" x="{middle:.1f}" y="{bottom + 34}" text-anchor="middle">'
        f"{escape(axis)} (%); ○ ours, ◆ published</text></svg>"
    )
    return "".join(parts)


def _row(row: StripRow, y: float, x: Callable[[float], float]) -> list[str]:
    parts = [
        f'<text x="{_LABELS - 14}" y="{y + 4:.1f}" text-anchor="end">{escape(row.label)}</text>'
    ]
    if row.values:
        ends = x(min(row.values)), x(max(row.values))
        parts.append(
            f'<line class="range" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    if row.published is not None:  # below circles, which can be seen through
        at, r = x(row.published), 7
        parts.append(
            f'<path class="published" d="M{at:.1f} {y - r:.1f}l{r} {r}l{-r} {r}l{-r} {-r}z">'
            f"<title>published {row.published:g}</title></path>"
        )
    parts += [
        f'<circle cx="{x(value):.1f}" cy="{y:.1f}" r="4.5"><title>{value:.1f}</title></circle>'
        for value in row.values
    ]
    return parts


def _step(low: float, high: float) -> int:
    for step in _STEPS:
        if (high - low) / step <= _MOST_LINES:
            return step
    return _STEPS[-1]
