"""Waiting for the results of calls, with a client made up for it."""

from contextlib import nullcontext

import distributed
import pytest

from dbpcfg.cluster import calls
from dbpcfg.cluster.calls import ClusterLostError, results
from dbpcfg.errors import DbpcfgError


class MadeUpClient:
    """As much of a client as `results` needs."""

    def __init__(self, outcomes=(), workers=("a",), status="running"):
        self.outcomes, self.workers, self.status = list(outcomes), workers, status

    def as_current(self):
        return nullcontext()

    def gather(self, futures, asynchronous):
        return futures

    def sync(self, function, gathered, callback_timeout):
        outcome = self.outcomes.pop(0) if self.outcomes else "result"
        if isinstance(outcome, Exception):
            raise outcome
        return [outcome]

    def scheduler_info(self, n_workers):
        return {"workers": {address: {"nthreads": 2} for address in self.workers}}


@pytest.fixture(autouse=True)
def _nothing_to_wait_for(monkeypatch):
    monkeypatch.setattr(distributed, "wait", lambda futures, timeout: None)


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionResetError()], ids=repr)
def test_what_is_late_or_breaks_now_and_then_is_waited_for(error):
    assert results(MadeUpClient([error] * calls.MAX_BROKEN), []) == ["result"]


def test_connections_that_always_break():
    with pytest.raises(ConnectionResetError):
        results(MadeUpClient([ConnectionResetError()] * 10), [])


def test_no_workers_for_a_while(monkeypatch):
    monkeypatch.setattr(calls, "ABANDONED_SECONDS", 0.0)
    with pytest.raises(ClusterLostError, match="no workers"):
        results(MadeUpClient([TimeoutError()] * 1000, workers=()), [])


@pytest.mark.parametrize(
    ("client", "message"),
    [
        (MadeUpClient(status="closed"), "the connection to the scheduler is lost"),
        (MadeUpClient([calls.CancelledError()]), "the connection to the scheduler is lost"),
        (MadeUpClient([distributed.KilledWorker("call", None, 3)]), "workers keep dying"),
    ],
)
def test_what_ends_a_run(client, message):
    with pytest.raises(DbpcfgError, match=message):
        results(client, [])
