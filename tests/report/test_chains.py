"""What the page says of chains is what the run says of them."""

from __future__ import annotations

import pytest

from dbpcfg.report.runs import traces


@pytest.mark.parametrize(("name", "kept"), [("run", 3), ("race", 2)])
def test_every_chain_with_all_that_it_is_compared_by(name, kept, request):
    run = request.getfixturevalue(name)
    found = traces(run)
    for one, chain, summary in zip(found["chains"], run.chains, run.summaries(), strict=True):
        assert one["logs"] == [round(log, 2) for log in chain.logs]
        assert one["survived"] == (chain in run.survivors)
        assert one["posterior"] == chain.goodness("posterior")
        assert one["variance"] == -chain.goodness("variance")
        assert one["heldout"] == (chain.goodness("heldout") if name == "race" else None)
        assert one["agreement"] == summary.agreement
        assert (one["agreement"] is None) != one["survived"]
    assert sum(one["survived"] for one in found["chains"]) == kept
    assert found["retained"] == sum(chain.retained for chain in run.survivors)


def test_the_rungs_and_what_is_selected_by(run, race):
    assert traces(run)["rungs"] == []
    assert traces(run)["selected_by"] == "mean log-likelihood after burn-in"
    found = traces(race)
    assert [rung["chains"] for rung in found["rungs"]] == [5, 2]
    ends = {one["iterations"] for one in found["chains"]}
    assert ends == {rung["iterations"] for rung in found["rungs"]}
    assert found["selected_by"] == "mean log-posterior after burn-in"
