"""What the page says of chains is what the run says of them; where the trees of others differ."""

import numpy as np
import pytest

from dbpcfg.induction.directory import finished_run
from dbpcfg.parsing.derivations import CATEGORY
from dbpcfg.report.assemble import collect
from dbpcfg.report.runs import EXAMPLES, LONGEST, modes, traces
from tests.report.small import TREES, make_run, unpack


def spans(tree):
    """The spans that count."""
    return {(s.start, s.end) for s in tree.spans() if s.end - s.start < len(tree)}


@pytest.mark.parametrize("name", ["run", "race"])
def test_examples_are_the_short_sentences_of_fewest_common_brackets(name, request):
    run = request.getfixturevalue(name)
    own = run.trees()
    found = modes(run)
    others = [chain for chain in run.survivors if chain is not run.best]
    others.sort(key=run.goodness, reverse=True)  # the next-best mode first
    assert [mode["chain"] for mode in found] == [chain.settings.chain for chain in others]
    for mode, chain in zip(found, others, strict=True):
        theirs = run.trees(chain)
        pairs = [(spans(a), spans(b)) for a, b in zip(own, theirs, strict=True)]
        common = sum(len(a & b) for a, b in pairs)
        assert mode["agreement"] == pytest.approx(common / sum(len(a) for a, _ in pairs))
        assert mode["different"] == sum(a != b for a, b in pairs)
        share = {s: len(a & b) / len(a) for s, (a, b) in enumerate(pairs) if a != b}
        chosen = [example["sentence"] for example in mode["examples"]]
        assert 0 < len(chosen) <= EXAMPLES
        assert len({tuple(own[s].words()) for s in chosen}) == len(chosen)
        short = [s for s in share if len(own[s]) <= LONGEST]
        assert set(chosen) <= set(short)
        worst = max(share[s] for s in chosen)
        words = {tuple(own[s].words()) for s in chosen}
        assert all(share[s] >= worst for s in short if tuple(own[s].words()) not in words)
        for example in mode["examples"]:
            s = example["sentence"]
            a, b = pairs[s]
            assert (example["common"], example["spans"]) == (len(a & b), len(a))
            nodes = run.shared.trees[chain.settings.chain][s]
            is_word = nodes[:, 1] - nodes[:, 0] == 1
            assert list(unpack(example["nodes"])) == list(2 * nodes[:, CATEGORY] + is_word)
            weights = chain.spans.weights(s).sum(axis=2) / chain.retained
            expected = [round(100 * weights[t.start, t.end]) for t in theirs[s].spans()]
            assert list(unpack(example["posterior"])) == expected


def test_one_chain_has_no_other_mode(tmp_path):
    path = make_run(tmp_path / "run", chains=1, iterations=4)
    data = collect(finished_run(path), path)
    assert data["modes"] == []
    assert "shared" not in data["sentences"]
    assert data["run"]["agreement"] is None


def test_long_sentences_are_examples_only_if_there_are_no_short_ones(tmp_path):
    long = [t for t in TREES if len(t) > 6]
    text = [type(t)("S", [t, t, t]) for t in long[:6]]
    assert min(len(t) for t in text) > LONGEST
    path = make_run(tmp_path / "run", text, chains=2, iterations=4)
    (mode,) = modes(finished_run(path))
    lengths = [len(text[example["sentence"]]) for example in mode["examples"]]
    assert lengths == sorted(lengths)
    assert lengths


@pytest.mark.parametrize(("name", "kept"), [("run", 3), ("race", 2)])
def test_every_chain_with_all_that_it_is_compared_by(name, kept, request):
    run = request.getfixturevalue(name)
    found = traces(run)
    for one, chain, summary in zip(found["chains"], run.chains, run.summaries(), strict=True):
        assert one["logs"] == [round(log, 2) for log in chain.logs]
        assert one["survived"] == (chain in run.survivors)
        for measure in ("posterior", "variance", "heldout"):
            counted = chain.trace(measure)[-max(1, chain.retained) :]
            known = measure != "heldout" or name == "race"
            assert one[measure] == (np.mean(counted) if known else None)
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
