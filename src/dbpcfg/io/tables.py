"""Tables: of results, as text, JSON, LaTeX or HTML; and lines of TSV and CSV files.

Percentages are stored as fractions: text and LaTeX show them with one decimal, as the paper does,
and JSON has them unrounded.  Undefined values (None or nan) are a dash, and null in JSON.

R, pandas and csv read the files with their defaults.  Text is quoted by double quotes, and a double
quote within is doubled, if it contains a line end or a quote, in TSV also a tab or ``#`` (R's
read.table takes ' for a quote as well, and # for a comment), in CSV also a comma or white space at
an end.  Numbers have 12 digits; infinity is ``Inf``, and nan an empty cell.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any, Literal, TypeAlias

from dbpcfg.errors import DbpcfgError

_SPECIAL_IN_TSV = re.compile("[\t\n\r\"'#]")
_SPECIAL_IN_CSV = re.compile('[,\n\r"]|^[ \t]|[ \t]$')


def line(cells: Iterable[object]) -> str:
    """A line of a TSV file, with its end."""
    return "\t".join(map(cell, cells)) + "\n"


def csv_line(cells: Iterable[object]) -> str:
    """A line of a CSV file, with its end."""
    return ",".join(cell(value, _SPECIAL_IN_CSV) for value in cells) + "\n"


def cell(value: object, special: re.Pattern[str] = _SPECIAL_IN_TSV) -> str:
    """A cell of such a line: text or a number."""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        if math.isinf(value):
            return "Inf" if value > 0 else "-Inf"
        return f"{value + 0.0:.12g}"  # −0 becomes 0
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if special.search(text) else text


def data_frame(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Any:
    """A data frame."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise DbpcfgError(
            "data frames need pandas, which is not installed: pip install pandas"
        ) from None
    return pandas.DataFrame(list(rows), columns=list(columns))


SPECIAL = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


Cell: TypeAlias = str | int | float | None
TableFormat: TypeAlias = Literal["text", "json", "latex"]

UNDEFINED = "–"

NARROWEST = 12
"""The least width of a wrapped column of text."""

_LATEX = {**SPECIAL, "|": r"\textbar\allowbreak{}", "–": "--", "−": "$-$"}


MAX_CHARACTERS = 200
"""The longest ``repr`` of an object that holds a corpus or a result."""


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun, such as 1 tree or 2,000 trees.

    ``nouns``: the plural, if it is not the noun and an s.
    """
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def shortened(text: str) -> str:
    """A text, cut if it is too long for a ``repr``."""
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 2]}…>"


def display_width(text: str) -> int:
    """The columns of a terminal that a text takes: two for each wide character, as of Chinese."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def percent(fraction: float | None, decimals: int = 1) -> str:
    """A fraction as a percentage, without the sign: 0.4784 is 47.8; None and nan are a dash."""
    return _number(None if fraction is None else 100 * fraction, decimals)


def _number(value: float | None, decimals: int) -> str:
    return UNDEFINED if value is None or math.isnan(value) else f"{value:.{decimals}f}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    """The heading."""
    kind: Literal["text", "count", "percent", "score", "number"] = "text"
    """What its cells are; a score is a percentage, the greater the better."""
    key: str = ""
    """The key of its cells in JSON; by default made from the heading."""
    decimals: int = 1
    """Digits after the point, of percentages and numbers."""

    @property
    def json_key(self) -> str:
        """The key of the column's cells in JSON."""
        return self.key or re.sub(r"\W+", "_", self.name.lower()).strip("_")

    def show(self, cell: Cell) -> str:
        """A cell as text."""
        if cell is None or isinstance(cell, str):
            return UNDEFINED if cell is None else cell
        if self.kind in ("percent", "score"):
            return percent(cell, self.decimals)
        return _number(cell, self.decimals if self.kind == "number" else 0)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of results."""

    title: str
    """The heading; may be empty."""
    columns: Sequence[Column]
    """The columns; their JSON keys differ."""
    rows: Sequence[Sequence[Cell]]
    """Rows of one cell for each column."""
    notes: Sequence[str] = ()
    """Lines below the table, such as the signature of the scores."""

    def __str__(self) -> str:
        return self.text()

    def _shown(self) -> list[list[str]]:
        head = [column.name for column in self.columns]
        return [head, *([c.show(cell) for c, cell in zip(self.columns, row)] for row in self.rows)]

    def text(self, width: int | None = None) -> str:
        """The table as text, numbers aligned to the right.

        ``width``: of lines: if the table is wider, texts are wrapped, and if that is not enough,
        the columns are divided into several parts. None for any width.
        """
        lines = self._shown()
        widths = [max(map(display_width, cells)) for cells in zip(*lines)]
        notes: Iterable[str] = self.notes
        if width is not None:
            texts = [n for n, column in enumerate(self.columns) if column.kind == "text"]
            widths = _narrowed(widths, texts, width)
            notes = [part for note in notes for part in _wrapped(note, width)]
        blocks = [self._block(lines, widths, chosen) for chosen in _parts(widths, width)]
        return "\n".join([*filter(None, [self.title]), "\n\n".join(blocks), *notes])

    def _block(self, lines: list[list[str]], widths: list[int], chosen: list[int]) -> str:
        """Some of the columns, with a line below the headings."""
        text: list[str] = []
        for cells in lines:
            wrapped = {n: _wrapped(cells[n], widths[n]) for n in chosen}
            for row in range(max(map(len, wrapped.values()))):
                padded = []
                for n, parts in wrapped.items():
                    cell = parts[row] if row < len(parts) else ""
                    blanks = " " * (widths[n] - display_width(cell))
                    pair = (cell, blanks) if self.columns[n].kind == "text" else (blanks, cell)
                    padded.append("".join(pair))
                text.append("  ".join(padded).rstrip())
            if cells is lines[0]:
                text.append("  ".join("-" * widths[n] for n in chosen))
        return "\n".join(text)

    def html(self) -> str:
        """The table for a page or a notebook; cells are escaped."""
        head, *body = [[escape(cell) for cell in line] for line in self._shown()]
        sides = ["left" if column.kind == "text" else "right" for column in self.columns]

        def row(cells: list[str], tag: str) -> str:
            styled = (
                f'<{tag} style="text-align: {side}">{cell}</{tag}>'
                for side, cell in zip(sides, cells)
            )
            return f"<tr>{''.join(styled)}</tr>"

        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        rows = "".join(row(cells, "td") for cells in body)
        table = f"<table>{caption}<thead>{row(head, 'th')}</thead><tbody>{rows}</tbody></table>"
        notes = "<br>".join(map(escape, self.notes))
        return table + (f"<div><small>{notes}</small></div>" if notes else "")

    def _repr_html_(self) -> str:
        return self.html()

    def to_frame(self) -> Any:
        """The rows as a pandas data frame, numbers unrounded."""
        keys = [column.json_key for column in self.columns]
        return data_frame(keys, self.rows)

    def json(self) -> dict[str, object]:
        """The table as JSON: rows by key, numbers unrounded."""
        keys = [column.json_key for column in self.columns]
        rows = [dict(zip(keys, map(_plain, row))) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def latex(self) -> str:
        """A ``table`` for LaTeX with the package booktabs; the best of several scores is bold."""
        head, *body = [[_escape(cell) for cell in line] for line in self._shown()]
        for n, column in enumerate(self.columns):
            floats = [cell for row in self.rows if isinstance(cell := row[n], float)]
            scores = [score for score in floats if not math.isnan(score)]
            if column.kind == "score" and len(scores) > 1:
                best = column.show(max(scores))
                for cells in body:
                    cells[n] = rf"\textbf{{{best}}}" if cells[n] == best else cells[n]
        align = "".join("l" if column.kind == "text" else "r" for column in self.columns)
        label = "-".join(re.findall("[a-z0-9]+", self.title.lower()))
        notes = r" \par ".join(map(_escape, self.notes))
        small = r"\footnotesize\raggedright"
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\begin{{tabular}}{{{align}}}",
                r"\toprule",
                " & ".join(head) + r" \\",
                r"\midrule",
                *(" & ".join(cells) + r" \\" for cells in body),
                r"\bottomrule",
                r"\end{tabular}",
                *(
                    [r"\par\smallskip", rf"\parbox{{\linewidth}}{{{small} {notes}}}"]
                    if notes
                    else []
                ),
                *([rf"\caption{{{_escape(self.title)}}}"] if self.title else []),
                *([rf"\label{{tab:{label}}}"] if label else []),
                r"\end{table}",
            ]
        )


def _narrowed(widths: list[int], texts: list[int], width: int) -> list[int]:
    """Widths of columns with the widest texts wrapped, as far as that is needed and possible."""
    widths = list(widths)
    while sum(widths) + 2 * (len(widths) - 1) > width and texts:
        widest = max(texts, key=lambda n: widths[n])
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _parts(widths: list[int], width: int | None) -> list[list[int]]:
    """Numbers of the columns of each part; the first column is in all of them."""
    if width is None:
        return [list(range(len(widths)))]
    parts: list[list[int]] = [[0]]
    for n in range(1, len(widths)):
        used = sum(widths[m] + 2 for m in parts[-1])
        if used + widths[n] > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(n)
    return parts


def _wrapped(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def render(tables: Iterable[Table], format: TableFormat = "text", width: int | None = None) -> str:
    """Write tables as one text.

    ``width``: characters in a line of text; None for any.
    """
    tables = list(tables)
    if format == "text":
        return "\n\n".join(table.text(width) for table in tables)
    if format == "latex":
        return "\n\n".join(table.latex() for table in tables)
    if format == "json":
        return json.dumps([table.json() for table in tables], indent=2, ensure_ascii=False)
    raise DbpcfgError(f"format must be text, json or latex, not {format!r}")


def html(summary: str, tables: Iterable[Table] = (), more: str = "") -> str:
    """Tables below a line of text, for notebooks.

    ``more``: HTML between them.
    """
    return "".join([f"<div>{escape(summary)}</div>", more, *(table.html() for table in tables)])


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
