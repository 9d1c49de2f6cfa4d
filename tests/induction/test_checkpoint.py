"""A chain as a file: nothing is lost, and nothing else is taken for one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import checkpoint
from dbpcfg.induction.chain import Chain, advance, new_chain
from dbpcfg.induction.checkpoint import load_chain, save_chain
from dbpcfg.induction.search import Schedule
from dbpcfg.io.archive import read_archive, write_archive
from dbpcfg.parsing import mbr as spans
from tests.induction.small import CORPUS, SENTENCES, chain_bits, refuses_damage, run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chain.npz"


def again(chain: Chain, path) -> Chain:
    save_chain(chain, CORPUS, path)
    return load_chain(path, CORPUS, chain.settings)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sample_beta": True, "exact": True},
        {"depth": None, "beta": 1},
        {"restarts": 2, "restart_iterations": 4, "anneal": 5, "curriculum": 3},
        {"initial": "left", "parser": "leftcorner", "chain": 2, "seed": 2**64 - 1},
    ],
    ids=str,
)
def test_a_round_trip_after_any_iteration(options, path):
    """Saved and read back after every iteration, a chain ends as one that never was."""
    schedule = Schedule(18)
    whole = run(schedule, **options)
    chain = advance(new_chain(CORPUS, whole.settings), CORPUS, schedule, seconds=0)
    while not chain.finished(schedule):
        found = again(chain, path)
        assert chain_bits(found) == chain_bits(chain)
        chain = advance(found, CORPUS, schedule, seconds=0)
    assert chain_bits(again(chain, path)) == chain_bits(whole)
    assert repr(chain.betas) == repr(whole.betas)  # as the trace prints them


def test_scores_and_same_bytes(path):
    chain = run(6)
    chain.scores = {10: 1 / 3, 20: 0.0}
    assert again(chain, path).scores == chain.scores
    first = path.read_bytes()
    save_chain(load_chain(path, CORPUS, chain.settings), CORPUS, path)
    assert path.read_bytes() == first


def test_damage(path):
    chain = run(4)
    save_chain(chain, CORPUS, path)
    refuses_damage(
        path,
        lambda: load_chain(path, CORPUS, chain.settings),
        lambda found: chain_bits(found) == chain_bits(chain),
    )


@pytest.mark.parametrize(
    "changed",
    [{"chain": 1}, {"seed": 1}, {"beta": 0.3}, {"depth": 1}, {"exact": True}, {"categories": 4}],
    ids=str,
)
def test_other_settings(path, changed):
    chain = run(3)
    save_chain(chain, CORPUS, path)
    with pytest.raises(DbpcfgError, match=f"{path}: it is of a chain with other settings"):
        load_chain(path, CORPUS, replace(chain.settings, **changed))


def test_another_corpus(path):
    chain = run(3)
    save_chain(chain, CORPUS, path)
    shuffled = Encoded.from_sentences(SENTENCES[::-1])
    renamed = Encoded.from_sentences([[word.upper() for word in words] for words in SENTENCES])
    for corpus in (shuffled, renamed, Encoded.from_sentences(SENTENCES[1:])):
        with pytest.raises(DbpcfgError, match=f"{path}: it is of a chain over another corpus"):
            load_chain(path, corpus, chain.settings)


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        ({"iteration": 5}, {}),
        ({"iteration": "x"}, {}),
        ({"best": [1]}, {}),
        ({"scores": [1, 2]}, {}),
        ({"version": 1}, {}),
        ({"format": "dbpcfg corpus"}, {}),
        ({}, {"betas": 2}),
        ({}, {"spans": 5}),
        ({}, {"last_nodes": 5}),
        ({}, {"binary": 1}),
    ],
    ids=str,
)
def test_content_that_cannot_be(path, header, arrays):
    """Files that are whole but not what they should be: a changed header, arrays cut short."""
    chain = run(4)
    save_chain(chain, CORPUS, path)
    kind, version = checkpoint.FORMAT, checkpoint.VERSION
    old_header, old_arrays = read_archive(path, kind, version, checkpoint._DTYPES)
    for name, length in arrays.items():
        old_arrays[name] = old_arrays[name][:length]
    write_archive(path, kind, version, {**old_header, **header}, old_arrays)
    with pytest.raises(DbpcfgError, match=f"^{path}: "):
        load_chain(path, CORPUS, chain.settings)


def test_a_chain_over_a_corpus_whose_spans_are_too_many(monkeypatch, tmp_path):
    """It has no counts of spans, and is read back all the same."""
    monkeypatch.setattr(spans, "MOST_BYTES", 1000)
    chain = run(10)
    assert chain.spans.counts.size == 0
    save_chain(chain, CORPUS, tmp_path / "chain.npz")
    found = load_chain(tmp_path / "chain.npz", CORPUS, chain.settings)
    assert chain_bits(found) == chain_bits(chain)
