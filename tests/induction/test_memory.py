"""Runs that cannot fit into memory are refused before anything is written."""

from __future__ import annotations

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.induce import induce
from dbpcfg.io.machine import count_text, memory_limit, size_text
from tests.induction.small import SENTENCES


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"K": 5000}, r"would need [\d,]+ GiB of memory, and there are [\d,.]+ GiB"),
        ({"K": 1_000_000}, r"would need .* of memory"),
        ({"D": 1_000_000}, "the depth bound must be at most 10,000, got 1,000,000"),
        ({"D": 999_999_999}, "the depth bound must be at most 10,000, got 999,999,999"),
        ({"chains": 100_000_000, "iterations": 10}, r"would need [\d,]+ GiB of memory"),
        ({"K": 60, "D": 6, "parser": "leftcorner"}, "left-corner parser would need .* stores"),
    ],
    ids=str,
)
def test_what_cannot_fit(tmp_path, options, said):
    out = tmp_path / "runs" / "run"
    for where in (None, out):
        with pytest.raises(DbpcfgError, match=said) as error:
            induce(SENTENCES, out=where, **options)
        assert " 0 GiB" not in str(error.value)
        assert "\n" not in str(error.value)
    assert not out.parent.exists()


def test_usual_runs_fit(monkeypatch):
    monkeypatch.setattr("dbpcfg.induction.induce.memory_limit", lambda: 40 * 2**20)
    assert induce(SENTENCES, 3, chains=2, iterations=4).finished
    monkeypatch.setattr("dbpcfg.induction.induce.memory_limit", lambda: 2**10)
    with pytest.raises(DbpcfgError, match="would need 1 MiB of memory, and there are 1 MiB"):
        induce(SENTENCES, 3, chains=2, iterations=4)
    monkeypatch.setattr("dbpcfg.induction.induce.memory_limit", lambda: None)
    assert induce(SENTENCES, 3, chains=2, iterations=4).finished


def test_amounts_in_words():
    assert [size_text(n) for n in (0, 2**20, 2**30, 3 * 2**29, 931 * 2**30, 10**400)] == [
        *("1 MiB", "1 MiB", "1.0 GiB", "1.5 GiB", "931 GiB", "10^400 bytes")
    ]
    assert [count_text(n) for n in (225, 7 * 10**8, 10**4000)] == ["225", "7e+08", "10^4000"]
    assert (memory_limit() or 2**30) > 2**20
