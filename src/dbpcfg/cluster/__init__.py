"""Runs on a Dask cluster: the same bytes, computed elsewhere.

Needs ``pip install "dbpcfg[cluster]"``; nothing else in the package imports Dask.
"""

from __future__ import annotations

from dbpcfg.cluster.connection import connect

__all__ = ["connect"]
