"""Clusters that tests share: of two worker processes, and of four workers that are threads."""

from contextlib import ExitStack

import pytest

from dbpcfg.cluster import connect
from tests.cluster.small import threads


@pytest.fixture(scope="package")
def cluster_of():
    """A cluster with a number of workers, spreading runs in a given way."""
    found = {}
    with ExitStack() as stack:

        def cluster(workers: int, spread: str | None = None):
            if workers not in found:
                where = "local:2" if workers == 2 else stack.enter_context(threads(workers))
                found[workers] = stack.enter_context(connect(where))
            found[workers].spread = spread
            found[workers].lines = []
            found[workers].announce = found[workers].lines.append
            return found[workers]

        yield cluster
