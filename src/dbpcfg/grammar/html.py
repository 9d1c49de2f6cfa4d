"""A grammar as an HTML table: for each category its most probable words and rules."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from dbpcfg.numerics.kernels import Floats

MOST = 8
"""Words, and rules, of each category that are shown."""

LEAST = 0.0005
"""What would be shown as 0.000 is left out."""

_SHARE = "opacity: 0.6; font-size: 85%"
_CELL = "text-align: left; vertical-align: top"


def most_probable(row: Floats, most: int = MOST) -> list[int]:
    """Numbers of the greatest entries of a row, greatest first."""
    order = np.argsort(-row, kind="stable")[:most]
    return [int(number) for number in order if row[number] >= LEAST]


def grammar_html(
    names: Sequence[str],
    words: Sequence[str],
    root: Floats,
    binary: Floats,
    lexical: Floats,
    most: int = MOST,
) -> str:
    """A table with a row for each category.

    Nothing in a word or a name is taken for HTML, and colours are those of the page.

    ``most``: the number of words, and of rules, of each category.
    """
    pairs = [f"{a} {b}" for a in names for b in names]
    heads = ["category", "T →", "words", "most probable words", "most probable rules"]
    rows = []
    for c, name in enumerate(names):
        cells = [
            f"<b>{escape(name)}</b>",
            f"{root[c]:.3f}",
            f"{lexical[c].sum():.3f}",
            _listed(words, lexical[c], most),
            _listed(pairs, binary[c].reshape(-1), most),
        ]
        rows.append("".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells))
    head = "".join(f'<th style="{_CELL}">{name}</th>' for name in heads)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<table><caption>Grammar of {len(names):,} categories over {len(words):,} words</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _listed(names: Sequence[str], row: Floats, most: int) -> str:
    return " &nbsp; ".join(
        f'{escape(names[n])} <span style="{_SHARE}">{row[n]:.3f}</span>'
        for n in most_probable(row, most)
    )
