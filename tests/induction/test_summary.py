"""Chains in a few numbers: summaries, whether they agree, and the spans that they share."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.experiments.systems.branching import branching_tree
from dbpcfg.induction.induce import induce
from dbpcfg.induction.summary import Convergence, SharedSpans, convergence, summary_of
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.report.runs import traces
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree
from tests.induction.small import CORPUS, SENTENCES, TREES, run
from tests.nodes import as_nodes

RNG = np.random.default_rng(5)


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


# --- do chains agree? -----------------------------------------------------------------------------


def chains(number: int, length: int, shift: float = 0.0) -> list[list[float]]:
    draws = RNG.standard_normal((number, length)) + shift * np.arange(number)[:, None]
    return (draws - 1000).tolist()


def test_chains_that_agree():
    found = convergence(chains(4, 500))
    assert found.rhat == pytest.approx(1, abs=0.01)
    assert found.effective_samples == pytest.approx(2000, rel=0.2)
    assert found.verdict() == "the chains agree"


def test_chains_that_do_not():
    found = convergence(chains(4, 500, shift=1.0))
    assert found.rhat > 1.1
    assert found.effective_samples < 100
    assert found.verdict().startswith("the chains disagree")


def test_traces_of_different_lengths_end_together():
    long, short = chains(1, 300)[0], chains(1, 100)[0]
    assert convergence([[-9999.0] * 50 + long, short]) == convergence([long[-100:], short])


@pytest.mark.parametrize("traces", [[], [[]], [[-1.0, -2.0, -3.0]] * 2, [[-1.0] * 9, [-1.0] * 3]])
def test_too_short_to_tell(traces):
    found = convergence(traces)
    assert np.isnan(found.rhat)
    assert np.isnan(found.effective_samples)
    assert found.chains == len(traces)


def test_verdicts():
    alone = convergence(chains(1, 400))
    assert np.isnan(alone.rhat)
    assert alone.effective_samples > 200
    assert alone.verdict() == "one chain cannot be checked against others: run several"
    assert Convergence(np.nan, 9, 2).verdict() == "too few iterations to compare the chains"
    assert "nearly agree" in Convergence(1.05, 9, 2).verdict()


# --- shared spans, against sets of spans ----------------------------------------------------------


def derivations(trees: list[Tree]) -> Derivations:
    """Trees as chains have them."""
    corpus = Encoded.from_sentences([tree.words() for tree in trees])
    labels = {"X": 0} | {f"X{c}": c for c in range(6)}
    nodes = [as_nodes(tree, labels) for tree in trees]
    return Derivations(np.concatenate(nodes), corpus)


def random_trees(lengths: list[int], seed: int) -> list[Tree]:
    numbers = stream(seed, purpose=Purpose.BASELINE)
    sentences = [[f"w{i}" for i in range(n)] for n in lengths]
    return [branching_tree("random", words, numbers, s) for s, words in enumerate(sentences)]


def spans(tree: Tree) -> list[tuple[int, int]]:
    """In pre-order, those that count."""
    every = [(span.start, span.end) for span in tree.spans()]
    return [(i, j) for i, j in every if 1 < j - i < len(tree)]


def mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


lengths = st.lists(st.integers(1, 8), min_size=1, max_size=6)


@given(lengths, st.lists(st.integers(0, 2**32), min_size=1, max_size=4))
def test_shares_are_those_of_sets(lengths, seeds):
    # Numbers of chains need not begin with 0 or be in order: others may have been dropped.
    trees = {7 * n % 5: random_trees(lengths, seed) for n, seed in enumerate(seeds)}
    shared = SharedSpans({n: derivations(found) for n, found in trees.items()})
    assert list(shared.spans) == [len(spans(tree)) for tree in next(iter(trees.values()))]
    for chain, own in trees.items():
        others = [n for n in trees if n != chain]
        nodes, means = [], []
        for s, tree in enumerate(own):
            theirs = [set(spans(trees[other][s])) for other in others]
            of = {span: mean([span in one for one in theirs]) for span in spans(tree)}
            every = [(span.start, span.end) for span in tree.spans(preterminals=True)]
            nodes += [of.get(span, np.nan) for span in every]
            means.append(mean(list(of.values())))
        np.testing.assert_allclose(shared.shares(shared.trees[chain], others), nodes)
        np.testing.assert_allclose(shared.sentences(shared.trees[chain], others), means)
        agreements = []
        for other in others:
            both = zip(own, trees[other], strict=True)
            common = sum(len(set(spans(a)) & set(spans(b))) for a, b in both)
            number = sum(len(spans(tree)) for tree in own)
            assert shared.between(chain, other) == pytest.approx(
                common / number if number else np.nan, nan_ok=True
            )
            assert shared.between(chain, other) == pytest.approx(
                shared.between(other, chain), nan_ok=True
            )
            agreements.append(shared.between(chain, other))
        if agreements and number:
            assert shared.agreement(chain) == pytest.approx(mean(agreements))
        else:
            assert shared.agreement(chain) is None


def test_words_and_whole_sentences_are_left_out():
    left = Tree("X", [Tree("X", [Tree("X", ["a"]), Tree("X", ["b"])]), Tree("X", ["c"])])
    right = Tree("X", [Tree("X", ["a"]), Tree("X", [Tree("X", ["b"]), Tree("X", ["c"])])])
    shared = SharedSpans({0: derivations([left]), 1: derivations([right]), 2: derivations([left])})
    nan = np.nan
    np.testing.assert_array_equal(shared.shares(shared.trees[0], [1, 2]), [nan, 0.5, nan, nan, nan])
    np.testing.assert_array_equal(shared.shares(shared.trees[0], [2]), [nan, 1, nan, nan, nan])
    np.testing.assert_array_equal(shared.shares(shared.trees[1], [0, 2]), [nan, nan, 0, nan, nan])
    assert [shared.agreement(chain) for chain in range(3)] == [0.5, 0, 0.5]


@given(lengths, st.lists(st.integers(0, 2**32), min_size=2, max_size=4))
def test_no_tree_has_more_votes_than_the_consensus(lengths, seeds):
    trees = {n: random_trees(lengths, seed) for n, seed in enumerate(seeds)}
    shared = SharedSpans({n: derivations(found) for n, found in trees.items()})
    found = list(shared.consensus(0).trees())
    for s, tree in enumerate(found):
        votes = Counter(span for own in trees.values() for span in spans(own[s]))
        votes.update(spans(trees[0][s]))  # the selected chain decides ties: half a vote more
        votes.update(span for own in trees.values() for span in spans(own[s]))
        n = len(tree)
        assert sum(votes[span] for span in spans(tree)) == most_votes(votes, 0, n, n)


def most_votes(votes: Counter, i: int, j: int, n: int) -> int:
    below = [most_votes(votes, i, k, n) + most_votes(votes, k, j, n) for k in range(i + 1, j)]
    return votes[i, j] * (1 < j - i < n) + max(below, default=0)


def test_labels_of_the_consensus_are_the_selected_chains():
    own, same = "(X0 (X3 (X2 b) (X3 c)) (X1 a))", "(X4 (X5 (X0 b) (X3 c)) (X1 a))"
    first = ["(X0 (X1 a) (X0 (X2 b) (X3 c)))", "(X0 (X0 (X2 b) (X3 c)) (X1 a))", own]
    other = ["(X4 (X5 (X1 a) (X0 b)) (X3 c))", same, same]
    first, other = [[read_tree(text) for text in texts] for texts in (first, other)]
    shared = SharedSpans({n: derivations(found) for n, found in enumerate((first, other, other))})
    found = list(map(str, shared.consensus(0).trees()))
    assert found == ["(X0 (X0 (X1 a) (X2 b)) (X3 c))", "(X0 (X0 (X2 b) (X3 c)) (X1 a))", own]
    assert next(map(str, shared.consensus(1).trees())) == "(X4 (X5 (X1 a) (X0 b)) (X3 c))"


def test_remarks():
    left = read_tree("(X (X (X (X a) (X b)) (X c)) (X d))")
    right = read_tree("(X (X a) (X (X b) (X (X c) (X d))))")
    shared = SharedSpans({n: derivations([one]) for n, one in enumerate((left, right, right))})
    trees = shared.trees
    assert list(shared.remarks(trees[1], [2])) == [
        "the chains share 100% of the brackets",
        "100% of the brackets are those of right-branching trees: hardly more was found than that",
    ]
    said = " ".join(shared.remarks(trees[0], [1, 2]))
    assert "share 0% of the brackets: the trees depend on the chain" in said
    assert "left-branching" in said
    even = derivations([read_tree("(X (X (X a) (X b)) (X (X c) (X d)))")])
    assert not list(SharedSpans({0: even}).remarks(even, []))


@pytest.mark.parametrize(
    ("options", "number"),
    [
        ({"chains": 3, "iterations": 10}, 2),
        ({"chains": 3, "iterations": 10, "trees": "consensus"}, 3),
        ({"budget": 400}, 1),
        ({"chains": 1, "iterations": 10}, 0),
    ],
    ids=["three", "consensus", "race", "one"],
)
def test_the_file_has_the_shares_of_the_selected_trees(options, number, tmp_path):
    path = tmp_path / "run"
    text = [["a"], ["a", "b"], *SENTENCES]
    run = induce(text, K=3, out=path, **options)
    head, *lines = (path / "agreement.tsv").read_text().splitlines()
    assert head.split("\t") == ["sentence", "words", "spans", "shared"]
    voting = "trees" in options
    others = [run.trees(chain) for chain in run.survivors if voting or chain is not run.best]
    assert len(others) == number
    for s, (line, tree) in enumerate(zip(lines, run.trees(), strict=True)):
        *counts, share = line.split("\t")
        own = spans(tree)
        expected = mean([mean([span in spans(t[s]) for t in others]) for span in own])
        assert list(map(int, counts)) == [s + 1, len(tree), len(own)]
        if np.isnan(expected):
            assert share == ""
        else:
            assert float(share) == pytest.approx(expected)
