"""Clusters of two and of four worker processes, which tests share."""

from contextlib import ExitStack

import pytest

from dbpcfg.cluster import connect


@pytest.fixture(scope="package")
def cluster_of():
    """A cluster with a number of workers, spreading runs in a given way."""
    found = {}
    with ExitStack() as stack:

        def cluster(workers: int, spread: str | None = None):
            if workers not in found:
                found[workers] = stack.enter_context(connect(f"local:{workers}"))
            found[workers].spread = spread
            found[workers].lines = []
            found[workers].announce = found[workers].lines.append
            return found[workers]

        yield cluster
