"""Rows as data frames of pandas, which need not be installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from dbpcfg.errors import DbpcfgError


def data_frame(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Any:
    """A data frame."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise DbpcfgError(
            "data frames need pandas, which is not installed: pip install pandas"
        ) from None
    return pandas.DataFrame(list(rows), columns=list(columns))
