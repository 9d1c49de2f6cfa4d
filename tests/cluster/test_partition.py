"""Shards are made of whole batches; what travels arrives as it was; who must not take part."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dbpcfg import Gibbs
from dbpcfg.cluster import connection
from dbpcfg.cluster.messages import (
    SentCorpus,
    SentCounts,
    check_same,
    environment,
    packed,
    sparse,
    unpacked,
)
from dbpcfg.cluster.shards import ShardedTrees, parts, rows_of
from dbpcfg.cluster.worker import PastIteration, ShardAnswer
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import RuleWeights, draw_from_prior
from dbpcfg.induction.chain import new_chain
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.parsing.chart.batches import batches
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.derivations import Derivations
from tests.cluster.small import SENTENCES

CORPUS = Encoded.from_sentences(SENTENCES)


def groups(corpus: Encoded, K: int, depth: int) -> list[tuple[int, ...]]:
    """The distinct sentences of each batch, by their numbers in the whole corpus."""
    B = batches(corpus, tables(draw_from_prior(K, corpus.vocabulary, 1.0, 0), depth))
    edges = zip(B.bounds[:-1], B.bounds[1:])
    return [tuple(corpus.items[B.distinct[first:last]].tolist()) for first, last in edges]


@pytest.mark.parametrize("shards", [1, 2, 4, 9, 50])
@pytest.mark.parametrize("depth", [1, 3])
def test_batches_of_shards_are_batches_of_the_corpus(monkeypatch, shards, depth):
    monkeypatch.setattr("dbpcfg.parsing.chart.batches.CHART_BYTES", 2**13)
    found = parts(CORPUS, ChainSettings(5, depth), shards)
    assert len(found) == shards if shards < 9 else len(found) <= shards
    assert sorted(np.concatenate(found).tolist()) == list(range(len(CORPUS)))
    whole = groups(CORPUS, 5, depth)
    there = [group for part in found for group in groups(CORPUS.part(part), 5, depth)]
    assert sorted(there) == sorted(whole)
    assert len(whole) > 6
    # Copies of a sentence are in one shard.
    words = [{tuple(SENTENCES[s]) for s in part.tolist()} for part in found]
    assert sum(map(len, words)) == len(set(map(tuple, SENTENCES)))


def test_how_a_run_is_spread(monkeypatch):
    """Chains side by side, unless threads would idle at much work, or a chain is too large."""

    def spread(chains: int) -> str:
        model = SimpleNamespace(learner=Gibbs(), categories=3)
        configuration = SimpleNamespace(chains=chains, model=model)
        return connection.spread_of(configuration, CORPUS, ["a", "a", "b"], None)[0]

    assert [spread(n) for n in (1, 2, 3, 4)] == ["chains"] * 4
    monkeypatch.setattr(connection, "SHARD_WORK", 1)
    assert [spread(n) for n in (1, 2, 3, 4)] == ["shards", "shards", "chains", "chains"]
    monkeypatch.setattr(connection, "WHOLE_BYTES", 1)
    assert [spread(n) for n in (1, 2, 3, 4)] == ["shards"] * 4


def test_shares_of_work_are_alike():
    found = parts(CORPUS, ChainSettings(5, 2), 2)
    words = [sum(len(SENTENCES[s]) for s in part.tolist()) for part in found]
    assert min(words) > 0.3 * sum(words)


def test_what_came_to_the_client_is_not_done_again_by_a_lost_shard(monkeypatch):
    everything, nodes = np.arange(len(CORPUS)), Derivations.empty(CORPUS).nodes
    rows = {"node_rows": lambda part: slice(None), "span_rows": lambda part: slice(None)}
    shards = SimpleNamespace(corpus=CORPUS, parts=[everything], **rows)
    trees = ShardedTrees(shards, new_chain(CORPUS, ChainSettings(3)))
    trees._past = [PastIteration(1, b"", counted=True), PastIteration(2, b"", kept=True)]
    trees._latest = PastIteration(3, b"", counted=True)
    assert [past.iteration for past in trees._saved(everything).past] == [1, 2, 3]
    answer = ShardAnswer("a", True, last=nodes, best=nodes)
    monkeypatch.setattr(trees, "_ask", lambda *_: [answer])
    trees.fetch()
    assert trees._saved(everything).past == ()


def test_rows():
    starts = np.array([0, 2, 5, 5, 9])
    assert rows_of(starts, np.array([1, 3])).tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert rows_of(starts, np.array([], dtype=np.int64)).tolist() == []


def test_counts():
    chance = np.random.default_rng(1)
    whole, sent = RuleWeights.zeros(3, 40), RuleWeights.zeros(3, 40)
    for most in (2, 2**33):
        counts = RuleWeights.zeros(3, 40)
        for part in (counts.root, counts.binary, counts.lexical):
            part[...] = chance.integers(0, most, part.shape) * (chance.random(part.shape) < 0.3)
        whole += counts
        SentCounts.of(counts).add_to(sent)
    for name in ("root", "binary", "lexical"):
        assert np.array_equal(getattr(whole, name), getattr(sent, name))
    few = np.zeros(1000, dtype=np.int64)
    few[[3, 77]] = 5
    assert sparse(few).values.nbytes + sparse(few).places.nbytes == 16
    assert sparse(np.ones(1000, dtype=np.int64)).places is None


def test_messages_leave_out_the_vocabulary():
    grammar = draw_from_prior(3, CORPUS.vocabulary, 0.2, 1, 0, 0)
    content = packed(grammar)
    found = unpacked(content, CORPUS)
    assert found.vocabulary is CORPUS.vocabulary
    assert np.array_equal(found.rows, grammar.rows)
    assert len(content) < 2 * grammar.rows.nbytes + 1000


def test_damaged_sentences_and_workers_of_another_version_are_noticed():
    sent = SentCorpus.of(CORPUS)
    assert np.array_equal(sent.read()[0].tokens, CORPUS.tokens)
    with pytest.raises(DbpcfgError, match="digest"):
        replace(sent, content=sent.content[:-9] + b"123456789").read()
    other = sent.environment._replace(version="9.9")
    with pytest.raises(DbpcfgError, match=r"this process has 9\.9: results would not be the same"):
        replace(sent, environment=other).read()


def test_kernels_and_processors():
    ours = environment()
    assert check_same(ours, {"tcp://a:1": environment()}) is None
    other = ours._replace(kernels="0123456789abcdef")
    with pytest.raises(DbpcfgError, match="tcp://b:2 has the sources of kernels 0123456789abcdef"):
        check_same(ours, {"tcp://a:1": ours, "tcp://b:2": other})
    warning = check_same(ours, {"tcp://a:1": ours._replace(processor="z80 ()")})
    assert "z80 ()" in warning
    assert "last bits" in warning
