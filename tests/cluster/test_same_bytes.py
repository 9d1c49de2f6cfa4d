"""A run on a cluster writes the bytes of the local run, however it is spread."""

from itertools import count
from types import SimpleNamespace

import pytest

import dbpcfg
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import chains, search
from dbpcfg.induction.learners.expectation import EM
from dbpcfg.trees.tree import Tree
from tests.cluster.small import OPTIONS, SENTENCES, start
from tests.induction.small import chain_bits, written

GOLD = [Tree("S", tuple(Tree("X", (word,)) for word in words)) for words in SENTENCES]
RACE = {"inference": "race", "budget": 240, "chains": 3, "iterations": None}
RUNS = {
    "plain": {},
    "everything drawn": {"exact": True, "sample_beta": True, "held_out": 7},
    "single precision": {"precision": "single", "K": 5, "D": 3},
    "left-corner": {"parser": "leftcorner", "K": 2, "iterations": 6},
    "no bound, scores": {"D": None, "gold": GOLD, "iterations": 20, "trees": "best"},
    "a race": {**RACE, "sentences": 40},
    "known brackets": {"known": True, "sentences": 150},
    "few sentences, last trees": {"trees": "last", "sentences": 2},
    "beta that rounds rules to zero": {"beta": 1e-3, "precision": "single"},
    "em": {"learner": "em", "batch": 50, "known": True},
    "vb": {"learner": "vb", "held_out": 7},
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
    options = {**OPTIONS, **RUNS[name], **changed}
    sentences = SENTENCES[: options.pop("sentences", None)]
    if options.pop("known", False):
        sentences = [Sentence(tuple(s), brackets=((0, 2),) * (len(s) > 3)) for s in sentences]
    return dbpcfg.induce(sentences, out=path, **options)


@pytest.mark.parametrize(
    ("name", "spread"),
    [
        *((name, "sentences") for name in RUNS),
        *((name, "chains") for name in ("everything drawn", "no bound, scores", "a race", "vb")),
        ("neural", "chains"),
    ],
)
def test_two_workers(cluster_of, local, tmp_path, name, spread):
    cluster = cluster_of(2, spread)
    assert induce(tmp_path / "run", name, cluster=cluster).finished
    assert written(tmp_path / "run") == local(name)
    how = "side by side" if spread == "chains" else "sentences in 2 parts"
    assert [how in line for line in cluster.lines] == [True]


@pytest.mark.parametrize("name", ["single precision", "em", "neural"])
def test_many_parts(cluster_of, tmp_path, name, small_blocks):
    """Blocks are divided too, and spans are too many to count: trees follow from grammars."""
    here = induce(tmp_path / "here", name)
    assert not here.best.spans.kept
    induce(tmp_path / "there", name, cluster=cluster_of(4, "sentences"), checkpoint=0)
    assert written(tmp_path / "there") == written(tmp_path / "here")


@pytest.mark.parametrize("held_out", [0, 4])
def test_a_large_text_on_four_workers(cluster_of, tmp_path, small_blocks, monkeypatch, held_out):
    """Iterations are parts of a pass, and measured on a sample, in the blocks of four workers."""
    for name, value in (("LARGE", 50), ("PART", 40), ("SAMPLE", 30)):
        monkeypatch.setattr(f"dbpcfg.induction.learners.neural.{name}", value)
    given = {"batch": 20, "iterations": 5, "sentences": None, "held_out": held_out}
    run = induce(tmp_path / "here", "neural", **given)
    assert run.configuration.model.learner.parts(len(run.corpus.forms)) > 2
    cluster = cluster_of(4, "sentences")
    induce(tmp_path / "there", "neural", cluster=cluster, checkpoint=0, **given)
    assert written(tmp_path / "there") == written(tmp_path / "here")
    assert any("sentences in 4 parts" in line for line in cluster.lines)


@pytest.fixture
def small_blocks(monkeypatch):
    """For workers that are threads of this process."""
    monkeypatch.setattr("dbpcfg.parsing.chart.batches.CHART_BYTES", 2**13)
    monkeypatch.setattr("dbpcfg.parsing.chart.expectation.BLOCK_CELLS", 100)
    monkeypatch.setattr("dbpcfg.parsing.lowrank.blocks.BLOCK_BYTES", 2**14)
    monkeypatch.setattr("dbpcfg.parsing.mbr.MAX_BYTES", 19_000)
    monkeypatch.setattr("dbpcfg.induction.trees.BATCH", 30)


def test_a_learner_that_is_not_divisible(cluster_of, monkeypatch):
    monkeypatch.setattr(EM, "divisible", False)
    with pytest.raises(DbpcfgError, match="the learner em cannot spread sentences"):
        induce(None, "em", cluster=cluster_of(2, "sentences"))


@pytest.mark.parametrize(("name", "spread"), [("plain", "sentences"), ("neural", "chains")])
def test_in_stages(cluster_of, tmp_path, name, spread):
    more = [[*words, "new"] for words in SENTENCES[:40]]
    before = induce(None, name)
    options = {"start": before, "chains": 2, "iterations": 4}
    dbpcfg.induce(more, out=tmp_path / "here", **options)
    dbpcfg.induce(more, out=tmp_path / "there", cluster=cluster_of(2, spread), **options)
    assert written(tmp_path / "there") == written(tmp_path / "here")


@pytest.mark.parametrize("spread", ["chains", "sentences"])
def test_in_memory(cluster_of, spread):
    options = RACE if spread == "chains" else {}
    here, there = start(None, **options), start(None, cluster=cluster_of(2, spread), **options)
    assert list(map(chain_bits, there.chains)) == list(map(chain_bits, here.chains))
    assert there.trees() == here.trees()


@pytest.mark.parametrize("spread", ["chains", "sentences"])
def test_stopped_again_and_again_here_and_there(cluster_of, local, tmp_path, spread, monkeypatch):
    monkeypatch.setattr(chains, "BLOCK_SECONDS", 0.0)
    cluster, path, stops = cluster_of(2, spread), tmp_path / "run", 0
    run = induce(path, "plain", cluster=cluster, checkpoint=0, should_stop=lambda: True)
    while not run.finished:
        stops += 1
        options = {"cluster": cluster if stops % 3 else None, "checkpoint": 0}
        run = dbpcfg.resume(path, should_stop=lambda: True, **options)
    assert stops > 5
    assert written(path) == local("plain")


def test_what_is_reported_has_the_traces(cluster_of, monkeypatch):
    monkeypatch.setattr(chains, "BLOCK_SECONDS", 0.0)
    seen = []

    def report(chain):
        assert len(chain.logs) == len(chain.betas) == chain.iteration
        assert all(len(values) == chain.iteration for values in chain.measures.values())
        seen.append((chain.settings.chain, chain.iteration, chain.burn_in))

    start(None, cluster=cluster_of(2, "chains"), on_progress=report)
    assert sorted(seen) == [(c, n, 6 if n > 6 else None) for c in (0, 1) for n in range(1, 13)]


class Planned(Exception):
    """What ends a run before it begins."""


@pytest.mark.parametrize(
    ("spread", "budget"), [("sentences", 4 * 545), ("chains", 1529), (None, 1529)]
)
def test_a_time_is_that_of_the_cluster(cluster_of, spread, budget, monkeypatch):
    """By a clock that says that an iteration takes a tenth of a second."""
    configurations = []

    def on_plan(configuration):
        configurations.append(configuration)
        raise Planned

    for where in ({"threads": 1}, {"cluster": cluster_of(4, spread)}):
        ticks = count()
        clock = SimpleNamespace(perf_counter=lambda now=ticks: next(now) / 10)
        monkeypatch.setattr(search, "time", clock)
        given = {**OPTIONS, "iterations": None, "chains": None, "budget": "1min", **where}
        with pytest.raises(Planned):
            dbpcfg.induce(SENTENCES[:20], on_plan=on_plan, **given)
    here, there = configurations
    assert here.budget == 545
    assert there.budget == budget
