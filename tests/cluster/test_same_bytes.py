"""A run on a cluster writes the bytes of the local run, however it is spread."""

from itertools import count
from types import SimpleNamespace

import pytest

import dbpcfg
from dbpcfg.cluster import chains as remote_chains
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import chains
from dbpcfg.trees.tree import Tree
from tests.cluster.small import OPTIONS, SENTENCES, start
from tests.induction.small import chain_bits, written

GOLD = [Tree("S", tuple(Tree("X", (word,)) for word in words)) for words in SENTENCES]
RACE = {"inference": "race", "budget": 240, "chains": 3, "iterations": None}
RUNS = {
    "plain": {},
    "everything drawn": {"exact": True, "sample_beta": True, "aside": 7},
    "single precision": {"precision": "single", "K": 5, "D": 3},
    "left-corner": {"parser": "leftcorner", "K": 2, "iterations": 6},
    "no bound, scores": {"D": None, "gold": GOLD, "iterations": 20, "trees": "best"},
    "a race": {**RACE, "sentences": 40},
    "known brackets": {"known": True, "sentences": 150},
    "few sentences, last trees": {"trees": "last", "sentences": 2},
    "beta that rounds rules to zero": {"beta": 1e-3, "precision": "single"},
}
LEARNERS = {
    "em": {"learner": "em", "batch": 50, "known": True},
    "vb": {"learner": "vb", "aside": 7},
    "neural": {"learner": "neural", "K": 6, "iterations": 3, "sentences": 60},
}


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Local runs, each once."""
    found = {}

    def run(name: str):
        if name not in found:
            path = tmp_path_factory.mktemp("local") / "run"
            induce(path, name)
            found[name] = written(path)
        return found[name]

    return run


def induce(path, name: str, **changed):
    options = {**OPTIONS, **{**RUNS, **LEARNERS}[name], **changed}
    sentences = SENTENCES[: options.pop("sentences", None)]
    if options.pop("known", False):
        sentences = [Sentence(tuple(s), brackets=((0, 2),) * (len(s) > 3)) for s in sentences]
    return dbpcfg.induce(sentences, out=path, **options)


@pytest.mark.parametrize("spread", ["chains", "shards"])
@pytest.mark.parametrize("name", RUNS)
def test_two_workers(cluster_of, local, tmp_path, name, spread):
    cluster = cluster_of(2, spread)
    assert induce(tmp_path / "run", name, cluster=cluster).finished
    assert written(tmp_path / "run") == local(name)
    how = "side by side" if spread == "chains" else "2 shards"
    assert [how in line for line in cluster.lines] == [True]


@pytest.mark.parametrize("name", LEARNERS)
def test_other_learners(cluster_of, local, tmp_path, name):
    """Their chains are side by side whatever their size; they have no shards."""
    assert induce(tmp_path / "run", name, cluster=cluster_of(2)).finished
    assert written(tmp_path / "run") == local(name)
    with pytest.raises(DbpcfgError, match="shards are for the learner gibbs"):
        induce(None, name, cluster=cluster_of(2, "shards"))


@pytest.mark.parametrize(("name", "spread"), [("plain", "shards"), ("neural", "chains")])
def test_in_stages(cluster_of, tmp_path, name, spread):
    more = [[*words, "new"] for words in SENTENCES[:40]]
    before = induce(None, name)
    options = {"start": before, "chains": 2, "iterations": 4}
    dbpcfg.induce(more, out=tmp_path / "here", **options)
    dbpcfg.induce(more, out=tmp_path / "there", cluster=cluster_of(2, spread), **options)
    assert written(tmp_path / "there") == written(tmp_path / "here")


@pytest.mark.parametrize("spread", ["chains", "shards"])
def test_four_workers(cluster_of, local, tmp_path, spread):
    name = "everything drawn"
    induce(tmp_path / "run", name, cluster=cluster_of(4, spread), checkpoint=0)
    assert written(tmp_path / "run") == local(name)


@pytest.mark.parametrize("spread", ["chains", "shards"])
def test_in_memory(cluster_of, spread):
    options = RACE if spread == "chains" else {}
    here, there = start(None, **options), start(None, cluster=cluster_of(2, spread), **options)
    assert list(map(chain_bits, there.chains)) == list(map(chain_bits, here.chains))
    assert there.trees() == here.trees()


@pytest.mark.parametrize("spread", ["chains", "shards"])
def test_stopped_again_and_again_here_and_there(cluster_of, local, tmp_path, spread, monkeypatch):
    monkeypatch.setattr(chains, "BLOCK_SECONDS", 0.0)
    cluster, path, stops = cluster_of(2, spread), tmp_path / "run", 0
    run = induce(path, "plain", cluster=cluster, checkpoint=0, stopping=lambda: True)
    while not run.finished:
        stops += 1
        options = {"cluster": cluster if stops % 3 else None, "checkpoint": 0}
        run = dbpcfg.resume(path, stopping=lambda: True, **options)
    assert stops > 5
    assert written(path) == local("plain")


def test_what_is_reported_has_the_traces(cluster_of, monkeypatch):
    monkeypatch.setattr(chains, "BLOCK_SECONDS", 0.0)
    seen = []

    def report(chain):
        assert len(chain.logs) == len(chain.betas) == chain.iteration
        assert all(len(values) == chain.iteration for values in chain.measures.values())
        seen.append((chain.settings.chain, chain.iteration, chain.burn_in))

    start(None, cluster=cluster_of(2, "chains"), report=report)
    assert sorted(seen) == [(c, n, 6 if n > 6 else None) for c in (0, 1) for n in range(1, 13)]


def test_whole_chains_travel_at_checkpoints_only(cluster_of, tmp_path, monkeypatch):
    monkeypatch.setattr(chains, "BLOCK_SECONDS", 0.0)
    came = []
    unpack = remote_chains.unpacked_chain
    monkeypatch.setattr(
        remote_chains, "unpacked_chain", lambda *given: came.append(1) or unpack(*given)
    )
    start(tmp_path / "run", cluster=cluster_of(2, "chains"))
    assert len(came) == OPTIONS["chains"]
    came.clear()
    ticks = count()  # two for each of 12 blocks, and one when a chain has come
    monkeypatch.setattr(remote_chains, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    start(None, cluster=cluster_of(2, "chains"), chains=1, checkpoint=8)
    assert len(came) == 3


def test_workers_forget_a_run(cluster_of):
    cluster = cluster_of(2, "shards")
    start(None, cluster=cluster)
    assert set(cluster.client.run(_remembered).values()) == {0}


def _remembered() -> int:
    from dbpcfg.cluster import worker

    return len(worker._runs)
