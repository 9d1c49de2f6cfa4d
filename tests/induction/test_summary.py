"""The summary of chains: its numbers, and that table, file and report agree on them."""

from __future__ import annotations

import numpy as np
import pytest

from dbpcfg.induction.induce import induce
from dbpcfg.induction.summary import summary_of
from dbpcfg.report.runs import traces
from tests.induction.small import CORPUS, SENTENCES, TREES, run


def test_numbers_are_those_of_the_trace():
    chain = run(9)
    summary = summary_of(chain, len(CORPUS.tokens), selected=True, survived=True, agreement=0.5)
    counted = chain.logs[4:]
    assert (summary.chain, summary.iterations, summary.burn_in) == (0, 9, 4)
    assert summary.mean_log_likelihood == np.mean(counted)
    assert summary.sd == np.std(counted)
    assert summary.per_token == np.mean(counted) / len(CORPUS.tokens)
    assert summary.best_log_likelihood == max(counted)
    assert summary.last_f1 is None
    assert summary.selected
    assert summary.survived
    assert summary.posterior == np.mean(chain.measures["posterior"][4:])
    assert summary.variance == np.mean(chain.measures["variance"][4:])
    assert (summary.heldout, summary.agreement) == (None, 0.5)


def test_before_any_iteration_counts():
    chain = run(9)
    chain.burn_in = None
    summary = summary_of(chain, 10, selected=False, survived=False, agreement=None)
    assert (summary.mean_log_likelihood, summary.sd) == (chain.logs[-1], 0.0)


@pytest.mark.parametrize("gold", [None, TREES], ids=["without gold", "with gold"])
def test_table_file_and_report_agree(tmp_path, gold):
    made = induce(SENTENCES, K=3, chains=3, iterations=10, gold=gold, out=tmp_path / "run")
    summaries = made.summaries()
    assert [summary.selected for summary in summaries] == [c is made.best for c in made.chains]
    assert all((summary.last_f1 is None) == (gold is None) for summary in summaries)
    shown = made.table().json()["rows"]
    head, *lines = (tmp_path / "run/chains.tsv").read_text().splitlines()
    for summary, row, line, trace in zip(summaries, shown, lines, traces(made)["chains"]):
        file = dict(zip(head.split("\t"), line.split("\t")))
        for name in ("chain", "iterations", "burn_in"):
            assert row[name] == trace[name] == int(file[name]) == getattr(summary, name)
        for name, short in (("mean_log_likelihood", "mean"), ("best_log_likelihood", "greatest")):
            assert row[name] == trace[short] == float(file[name]) == getattr(summary, name)
        assert row["sd"] == trace["sd"] == float(file["sd"]) == summary.sd
        assert row["per_token"] == trace["per_token"] == summary.per_token
        assert row.get("last_f1") == summary.last_f1
        for name in ("posterior", "variance", "agreement"):
            assert row[name] == float(file[name]) == getattr(summary, name)
        assert (row["selected"] == "*") == trace["selected"] == (file["selected"] == "1")
        assert trace["selected"] == summary.selected
