"""Calls that Dask leaves hanging, and what a worker keeps; with clients made up for it."""

import asyncio
from collections import Counter

import pytest

from dbpcfg.cluster import calls, worker
from dbpcfg.cluster.calls import Call, ClusterLostError, Shared
from dbpcfg.cluster.chains import WholeChains
from dbpcfg.errors import DbpcfgError


class Sent:
    """A future that never fails, and has a result after so many looks."""

    status, key = "finished", "call"

    def __init__(self, looks=0, error=TimeoutError):
        self.looks, self.error = looks, error

    def result(self, timeout):
        self.looks -= 1
        if self.looks >= 0:
            raise self.error
        return "answer"

    def done(self):
        return False


class MadeUpClient:
    """As much of a client as calls need; what is scattered at first never arrives."""

    status = "running"

    def __init__(self, lost=0, unknown=0, futures=(), processing=()):
        self.unknown = unknown
        self.lost, self.futures, self.having = lost, list(futures), dict(processing)
        self.scattered, self.submitted = 0, []

    def sync(self, function, callback_timeout):
        return asyncio.run(asyncio.wait_for(function(), callback_timeout))

    async def scatter(self, content, hash, broadcast, asynchronous):
        self.scattered += 1
        if self.scattered <= self.lost:
            await asyncio.sleep(60)
        if self.scattered <= self.lost + self.unknown:
            raise KeyError("tcp://127.0.0.1:42107")
        return [Sent()]

    def submit(self, function, *arguments, **options):
        self.submitted.append(options.get("workers"))
        return self.futures.pop(0)

    def processing(self):
        return self.having

    def scheduler_info(self, n_workers):
        return {"workers": {"a": {}, "b": {}}}


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(calls, "SEND_SECONDS", 0.05)
    monkeypatch.setattr(calls, "_AGAIN_SECONDS", 0.0)


@pytest.mark.parametrize("lost", [{"lost": 2}, {"unknown": 2}], ids=str)
def test_what_never_arrives_or_goes_to_a_lost_worker_is_sent_again(lost):
    client = MadeUpClient(**lost)
    shared = Shared(client, b"corpus")
    assert isinstance(shared.future(), Sent)
    assert shared.future() is shared.future()
    assert client.scattered == 3


def test_sending_is_given_up_after_a_while(monkeypatch):
    monkeypatch.setattr(calls, "ABANDONED_SECONDS", 0.1)
    with pytest.raises(ClusterLostError, match="no workers"):
        Shared(MadeUpClient(lost=1000), b"corpus").future()


def test_a_call_that_no_worker_has_is_sent_again_with_its_data():
    client = MadeUpClient(futures=[Sent(looks=100), Sent()], processing={"a": ["another"]})
    assert Call(client, len, (), [Shared(client, b"corpus")], "a").result() == "answer"
    assert client.scattered == 2
    assert client.submitted == [["a"], ["a"]]


def test_a_call_that_is_missed_now_and_then_is_not_sent_again(monkeypatch):
    client, looks = MadeUpClient(futures=[Sent(looks=8)]), iter(range(8))
    monkeypatch.setattr(client, "processing", lambda: {"a": ["call"][: next(looks) % 2]})
    assert Call(client, len, (), [Shared(client, b"corpus")], "a").result() == "answer"
    assert client.scattered == 1


def test_a_call_whose_workers_die_is_sent_again_but_not_for_ever():
    from distributed import KilledWorker

    def dying(times):
        killed = KilledWorker("call", None, 3)
        return MadeUpClient(futures=[*(Sent(1, killed) for _ in range(times)), Sent()])

    assert Call(dying(calls.MOST_DEATHS - 1), len, ()).result() == "answer"
    with pytest.raises(DbpcfgError, match="keep dying during this run"):
        Call(dying(calls.MOST_DEATHS), len, ()).result()


@pytest.mark.parametrize("status", ["cancelled", "lost", "error"])
def test_what_was_sent_and_is_lost_is_sent_again(status):
    client = MadeUpClient()
    shared = Shared(client, b"corpus")
    shared.future().status = status
    assert shared.future().status == "finished"
    assert client.scattered == 2


def test_what_is_large_has_more_time_to_arrive():
    assert Shared(MadeUpClient(), bytes(10**7))._patience() == pytest.approx(10.05, rel=0.01)


def test_chains_go_to_the_worker_with_the_fewest_for_its_threads():
    chains = WholeChains(MadeUpClient(), "run", ["a", "a", "b"])
    for number in range(6):
        chains._workers[number] = chains._least_busy()
    assert Counter(chains._workers.values()) == {"a": 4, "b": 2}


def test_a_call_under_way_is_waited_for():
    client = MadeUpClient(futures=[Sent(looks=5)], processing={"a": ["call"]})
    assert Call(client, len, (), [Shared(client, b"corpus")], "a").result() == "answer"
    assert client.scattered == 1
    assert client.submitted == [["a"]]


def test_a_call_whose_worker_is_gone_may_run_anywhere():
    client = MadeUpClient(futures=[Sent(looks=1), Sent()], processing={"a": ["call"]})
    assert Call(client, len, (), (), "gone").result() == "answer"
    assert client.submitted == [["gone"], None]


def test_a_broken_connection_is_tried_again_but_not_for_ever():
    client = MadeUpClient(futures=[Sent(looks=calls.MOST_DEATHS, error=OSError)])
    assert Call(client, len, ()).result() == "answer"
    client = MadeUpClient(futures=[Sent(looks=100, error=ConnectionResetError)])
    with pytest.raises(ConnectionResetError):
        Call(client, len, ()).result()


def test_a_late_call_leaves_nothing_on_a_worker():
    worker.memory_of("some run")["trees"] = [1]
    assert worker.memory_of("some run") == {"trees": [1]}
    worker.forget("some run")
    assert worker.remembered("some run", "trees", lambda: [2]) == [2]
    assert "some run" not in worker._runs
