"""The page's data on a run: the command that repeats it, its chains, where their trees differ."""

import shlex
from pathlib import Path

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.options import SearchOptions
from dbpcfg.parsing.derivations import CATEGORY
from dbpcfg.report.assemble import collect
from dbpcfg.report.runs import (
    EXAMPLES,
    LONGEST,
    _first_of,
    command,
    modes,
    overview,
    traces,
)
from tests.command import printed
from tests.report.small import TREES, make_run, unpack, write_treebank


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


def test_chains_with_the_same_trees_have_no_examples():
    """Of a learner whose posteriors are computed for the examples."""
    sentences = [Sentence(("a", "b"))] * 9
    run = dbpcfg.induce(sentences, K=3, learner="em", iterations=2, chains=2, quiet=True)
    assert [one["examples"] for one in modes(run)] == [[]]


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


# --- the overview ---------------------------------------------------------------------------------

USUAL: dict = {}
UNUSUAL = {
    **{"D": None, "trees": "best", "beta": 0.5, "sample_beta": True, "select": "variance"},
    **{"lowercase": False, "max_length": 6, "rare": 2, "scheme": "shape", "numbers": True},
}
RACE = {"chains": None, "iterations": None, "budget": 400}
OTHER_RACE = {**RACE, "chains": 4, "select": "heldout", "held_out": 7}


@pytest.mark.parametrize("options", [USUAL, UNUSUAL, OTHER_RACE])
def test_the_command_repeats_the_run(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_treebank(tmp_path / "text.mrg")
    path = make_run(tmp_path / "first run", **options)
    said = shlex.split(command(finished_run(path).configuration, path))
    assert said[:2] == ["dbpcfg", "induce"]
    assert said[-2:] == ["--out", str(path)]
    printed(*said[1:-1], "again", "--quiet")
    for name in ("trees.txt", "chains.tsv", "agreement.tsv"):
        assert (tmp_path / "again" / name).read_bytes() == (path / name).read_bytes()
    once, again = (
        [
            line
            for line in (run / "config.toml").read_text("utf-8").splitlines()
            if line[:3] != "why"
        ]
        for run in (path, tmp_path / "again")
    )  # why: the learner was chosen the first time, and is named now
    assert once == again


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (USUAL, "--chains 3 --iterations 30"),
        (RACE, "--budget 400"),
        ({**RACE, "chains": 2}, "--budget 400 --chains 2"),
        ({**RACE, "select": "variance"}, "--budget 400 --select variance"),
        ({**RACE, "select": "likelihood"}, "--budget 400"),
        ({"select": "agreement"}, "--chains 3 --iterations 30 --select agreement"),
        ({"iterations": None, "inference": "paper"}, "--inference paper --chains 3"),
    ],
)
def test_chains_and_their_length_are_said_as_they_were_asked_for(options, said):
    usual = {"chains": 3, "iterations": 30, **options}
    plan = InductionPlan("gibbs", search=SearchOptions(**usual))
    configuration = plan.configuration(ChainSettings(), usual.get("budget"))
    expected = f"dbpcfg induce TEXT -K 15 -D 2 {said} --seed 0 --learner gibbs --out run"
    assert command(configuration, Path("run")) == expected


def test_a_race_in_the_overview(race, race_path):
    found = overview(race, race_path)
    assert (found["chains"], found["survivors"]) == (5, 2)
    assert found["agreement"] == race.shared.agreement(race.best.settings.chain)
    settings = dict(found["settings"])
    assert settings["iterations"].startswith("500 for all chains together")
    assert settings["chain selected by"] == "mean log-posterior after burn-in"


def test_many_files_are_named_by_their_folder(run, run_path):
    corpus = run.configuration.corpus
    before = corpus["sources"]
    try:
        corpus["sources"] = [f"wsj/{n:02}/a.mrg" for n in range(9)]
        found = overview(run, run_path)
        assert found["sources"] == ["wsj"]
        corpus["sources"], corpus["speakers"] = ["a.cha", "b.cha"], ["MOT", "FAT"]
        assert "--speaker MOT --speaker FAT" in overview(run, run_path)["command"]
        del corpus["speakers"]
        corpus["sources"] = []
        assert "TEXT" in overview(run, run_path)["command"]
    finally:
        corpus["sources"] = before


@pytest.mark.parametrize(
    ("lengths", "chosen"),
    [
        ([9, 6, 4, 6, 8, 4], [2, 1, 4]),
        ([20, 3, 30], [1, 0, 2]),
        ([5, 5, 5, 5], [0, 1, 2]),
        ([1], [0]),
        ([], []),
    ],
)
def test_trees_to_begin_with_are_the_first_of_some_lengths(lengths, chosen):
    assert _first_of((4, 6, 8), np.array(lengths, dtype=np.int64)) == chosen
