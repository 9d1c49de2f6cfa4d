"""Parts are made of whole batches; what travels arrives as it was; who must not take part."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dbpcfg.cluster import connection
from dbpcfg.cluster.messages import (
    Message,
    begin_call,
    check_same,
    environment,
    packed,
    unpacked,
)
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import draw_from_prior
from dbpcfg.induction.learners.neural import InFactorBlocks
from dbpcfg.induction.mapping import InBatches, InBlocks, rows_of
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.induction.trees import InOrder
from dbpcfg.parsing.chart.batches import batches
from dbpcfg.parsing.chart.layout import tables
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.lowrank.blocks import block_edges
from tests.cluster.small import SENTENCES

CORPUS = Encoded.from_sentences(SENTENCES)


def groups(corpus: Encoded, K: int, depth: int) -> list[tuple[int, ...]]:
    """The distinct sentences of each batch, by their numbers in the whole corpus."""
    B = batches(corpus, tables(draw_from_prior(K, corpus.vocabulary, 1.0, 0), depth))
    edges = zip(B.bounds[:-1], B.bounds[1:])
    return [tuple(corpus.sentence_ids[B.distinct[first:last]].tolist()) for first, last in edges]


@pytest.mark.parametrize("most", [1, 2, 4, 9, 50])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", [InBatches, InBlocks])
def test_batches_of_parts_are_batches_of_the_corpus(monkeypatch, kind, most, depth):
    monkeypatch.setattr("dbpcfg.parsing.chart.batches.CHART_BYTES", 2**13)
    monkeypatch.setattr("dbpcfg.parsing.chart.expectation.BLOCK_CELLS", 100)
    parts = kind(5, depth)(CORPUS, most)
    assert len(parts) == most if most < 4 else len(parts) <= most
    numbers = [part.sentences.sentence_ids for part in parts]
    assert sorted(np.concatenate(numbers).tolist()) == list(range(len(CORPUS)))
    whole = groups(CORPUS, 5, depth)
    there = [group for part in parts for group in groups(part.sentences, 5, depth)]
    assert sorted(there) == sorted(whole)
    assert len(whole) > 6
    # Copies of a sentence are in one part.
    words = [{tuple(SENTENCES[s]) for s in own.tolist()} for own in numbers]
    assert sum(map(len, words)) == len(set(map(tuple, SENTENCES)))


@pytest.mark.parametrize("most", [2, 5])
def test_blocks_of_parts_are_blocks_of_the_corpus(monkeypatch, most):
    monkeypatch.setattr("dbpcfg.parsing.chart.expectation.BLOCK_CELLS", 100)
    parser = ChartParser(draw_from_prior(5, CORPUS.vocabulary, 1.0, 0), 2)
    blocks, _ = parser.count_blocks(CORPUS)
    parts = InBlocks(5, 2)(CORPUS, most)
    own = [parser.count_blocks(part.sentences, edges=part.blocks)[0] for part in parts]
    there = [block for some in own for block in some]
    assert len(blocks) == len(there) > len(parts) == most
    for (words, counted), (others, same) in zip(blocks, there, strict=True):
        assert np.array_equal(words, others)
        assert all(np.array_equal(x, y) for x, y in zip(counted, same, strict=True))


@pytest.mark.parametrize("most", [2, 5])
def test_blocks_in_rank_space(monkeypatch, most):
    monkeypatch.setattr("dbpcfg.parsing.lowrank.blocks.BLOCK_BYTES", 2**13)
    edges = block_edges(CORPUS, 64)
    parts = InFactorBlocks(64)(CORPUS, most)
    assert len(edges) - 1 > len(parts) == most
    own = [np.diff(block_edges(part.sentences, 64)).tolist() for part in parts]
    assert [size for sizes in own for size in sizes] == np.diff(edges).tolist()


def test_sentences_are_decoded_together_as_in_the_corpus():
    parts = InOrder(70)(CORPUS, 3)
    assert [len(part.sentences) for part in parts] == [140, 140, 20]
    assert [part.sentences.sentence_ids[0] for part in parts] == [0, 140, 280]


def test_how_a_run_is_spread(monkeypatch):
    """Chains side by side, unless threads would idle at much work, or a chain is too large."""

    def spread(chains: int) -> str:
        model = ChainSettings(3, 2)
        configuration = SimpleNamespace(chains=chains, model=model)
        return connection.spread_of(configuration, CORPUS, {"a": 2, "b": 1}, None)[0]

    assert [spread(n) for n in (1, 2, 3, 4)] == ["chains"] * 4
    monkeypatch.setattr(connection, "SPREAD_WORK", 1)
    assert [spread(n) for n in (1, 2, 3, 4)] == ["sentences", "sentences", "chains", "chains"]
    monkeypatch.setattr(connection, "WHOLE_BYTES", 1)
    assert [spread(n) for n in (1, 2, 3, 4)] == ["sentences"] * 4


def test_shares_of_work_are_alike():
    words = [len(part.sentences.tokens) for part in InBatches(5, 2)(CORPUS, 2)]
    assert min(words) > 0.3 * sum(words)


def test_rows():
    starts = np.array([0, 2, 5, 5, 9])
    assert rows_of(starts, np.array([1, 3])).tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert rows_of(starts, np.array([], dtype=np.int64)).tolist() == []


def test_messages_leave_out_zeros_and_what_is_known():
    few, many = np.zeros((40, 50)), np.ones((40, 50))
    few[3, 7], few[5, 9] = -0.0, 2.0
    for array in (few, many, np.asfortranarray(few), few.astype(np.int32), few[:, ::2]):
        found = unpacked(packed(array))
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.tobytes() == array.tobytes()
    assert len(packed(few)) < 400
    grammar = draw_from_prior(3, CORPUS.vocabulary, 0.2, 1, 0, 0)
    content = packed(grammar, CORPUS.vocabulary)
    found = unpacked(content, CORPUS.vocabulary)
    assert found.vocabulary is CORPUS.vocabulary
    assert np.array_equal(found.rows, grammar.rows)
    assert len(content) < 2 * grammar.rows.nbytes + 1000


def test_damaged_sentences_and_workers_of_another_version_are_noticed():
    sent = Message.of(CORPUS)
    assert np.array_equal(sent.read().tokens, CORPUS.tokens)
    with pytest.raises(DbpcfgError, match="digest"):
        replace(sent, content=sent.content[:-9] + b"123456789").read()
    with pytest.raises(DbpcfgError, match=r"this process has 9\.9: results would not be the same"):
        begin_call(environment()._replace(version="9.9"))


def test_kernels_and_processors():
    ours = environment()
    assert check_same(ours, {"tcp://a:1": environment()}) is None
    other = ours._replace(kernels="0123456789abcdef")
    with pytest.raises(DbpcfgError, match="tcp://b:2 has the sources of kernels 0123456789abcdef"):
        check_same(ours, {"tcp://a:1": ours, "tcp://b:2": other})
    warning = check_same(ours, {"tcp://a:1": ours._replace(processor="z80 ()")})
    assert "z80 ()" in warning
    assert "last bits" in warning
