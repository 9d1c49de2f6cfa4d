"""Chains in a few numbers: summaries, whether they agree, and the spans that they share."""

import math
import os
from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.consensus import SharedSpans
from dbpcfg.induction.induce import induce
from dbpcfg.induction.summary import Convergence, convergence, summary_of
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.consensus import Consensus
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.labels import ITERATIONS, PRIOR, LatentClasses
from dbpcfg.report.runs import overview, traces
from dbpcfg.systems.branching import branching_tree
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
        for name in ("mean_log_likelihood", "best_log_likelihood"):
            assert row[name] == trace[name] == float(file[name]) == getattr(summary, name)
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
    assert found.words() == "the log-likelihoods have converged"


def test_chains_that_do_not():
    found = convergence(chains(4, 500, shift=1.0))
    assert found.rhat > 1.1
    assert found.effective_samples < 100
    assert "different modes" in found.words()


def test_traces_of_different_lengths_end_together():
    long, short = chains(1, 300)[0], chains(1, 100)[0]
    assert convergence([[-9999.0] * 50 + long, short]) == convergence([long[-100:], short])


@pytest.mark.parametrize("traces", [[], [[]], [[-1.0, -2.0, -3.0]] * 2, [[-1.0] * 9, [-1.0] * 3]])
def test_too_short_to_tell(traces):
    found = convergence(traces)
    assert np.isnan(found.rhat)
    assert np.isnan(found.effective_samples)
    assert found.chains == len(traces)


def test_words():
    alone = convergence(chains(1, 400))
    assert np.isnan(alone.rhat)
    assert alone.effective_samples > 200
    assert alone.words() == "one chain cannot be checked against others: run several"
    assert Convergence(np.nan, 9, 2).words() == "too few iterations to compare the chains"
    assert "nearly converged" in Convergence(1.05, 9, 2).words()


# --- shared spans, against sets of spans ----------------------------------------------------------


def derivations(trees: list[Tree]) -> Derivations:
    """Trees as chains have them."""
    corpus = Encoded.from_sentences([tree.words() for tree in trees])
    labels = {"X": 0} | {f"X{c}": c for c in range(6)}
    nodes = [as_nodes(tree, labels) for tree in trees]
    return Derivations(np.concatenate(nodes), corpus)


def consensus(*chains: Derivations) -> Derivations:
    """Of chains that all vote, the selected one first."""
    return Consensus().learn(chains)[0]


def latent_classes(labels: np.ndarray) -> np.ndarray:
    """The classes of phrases from which they are learned."""
    return LatentClasses.learn(labels).of(labels)


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


def common(some: list[Tree], others: list[Tree]) -> list[int]:
    """[s]: how many spans two chains have in common."""
    return [len(set(spans(a)) & set(spans(b))) for a, b in zip(some, others, strict=True)]


@given(lengths, st.lists(st.integers(0, 2**32), min_size=1, max_size=4))
def test_agreement_is_that_of_sets(lengths, seeds):
    # Numbers of chains need not begin with 0 or be in order: others may have been dropped.
    trees = {7 * n % 5: random_trees(lengths, seed) for n, seed in enumerate(seeds)}
    shared = SharedSpans({n: derivations(found) for n, found in trees.items()})
    sizes = [len(spans(tree)) for tree in next(iter(trees.values()))]
    assert list(shared.spans) == sizes
    pairs = {(a, b): common(trees[a], trees[b]) for a in trees for b in trees if a != b}
    f1 = {pair: sum(found) / sum(sizes) if any(sizes) else np.nan for pair, found in pairs.items()}
    for pair, expected in f1.items():
        assert shared.between(*pair) == pytest.approx(expected, nan_ok=True)
    if not pairs or not any(sizes):
        assert shared.agreement() is None
        assert np.isnan(shared.sentences()).all()
        return
    assert shared.agreement() == pytest.approx(mean(list(f1.values())))
    for chain in trees:
        own = [found for pair, found in f1.items() if pair[0] == chain]
        assert shared.agreement(chain) == pytest.approx(mean(own))
    each = [mean([found[s] for found in pairs.values()]) for s in range(len(sizes))]
    expected = [n / size if size else np.nan for n, size in zip(each, sizes, strict=True)]
    np.testing.assert_allclose(shared.sentences(), expected)


@given(lengths, st.lists(st.integers(0, 2**32), min_size=1, max_size=4), st.integers(0, 2**32))
def test_votes_are_those_of_sets(lengths, seeds, seed):
    trees = {n: random_trees(lengths, one) for n, one in enumerate(seeds)}
    shared = SharedSpans({n: derivations(found) for n, found in trees.items()})
    voted = random_trees(lengths, seed)
    expected = []
    for s, tree in enumerate(voted):
        votes = Counter(span for own in trees.values() for span in spans(own[s]))
        every = [(span.start, span.end) for span in tree.spans(preterminals=True)]
        counted = set(spans(tree))
        expected += [votes[span] if span in counted else len(trees) for span in every]
    assert list(shared.votes(derivations(voted))) == expected


def test_words_and_whole_sentences_are_left_out():
    left = Tree("X", [Tree("X", [Tree("X", ["a"]), Tree("X", ["b"])]), Tree("X", ["c"])])
    right = Tree("X", [Tree("X", ["a"]), Tree("X", [Tree("X", ["b"]), Tree("X", ["c"])])])
    shared = SharedSpans({0: derivations([left]), 1: derivations([right]), 2: derivations([left])})
    assert list(shared.votes(shared.trees[0])) == [3, 2, 3, 3, 3]
    assert list(shared.votes(shared.trees[1])) == [3, 3, 1, 3, 3]
    assert [shared.agreement(chain) for chain in range(3)] == [0.5, 0, 0.5]
    assert shared.agreement() == pytest.approx(1 / 3)


@given(lengths, st.lists(st.integers(0, 2**32), min_size=2, max_size=4))
def test_no_tree_has_more_votes_than_the_consensus(lengths, seeds):
    trees = {n: random_trees(lengths, seed) for n, seed in enumerate(seeds)}
    found = list(consensus(*map(derivations, trees.values())).trees())
    for s, tree in enumerate(found):
        votes = Counter(span for own in trees.values() for span in spans(own[s]))
        votes.update(spans(trees[0][s]))  # the selected chain decides ties: half a vote more
        votes.update(span for own in trees.values() for span in spans(own[s]))
        n = len(tree)
        assert sum(votes[span] for span in spans(tree)) == most_votes(votes, 0, n, n)


def most_votes(votes: Counter, i: int, j: int, n: int) -> int:
    below = [most_votes(votes, i, k, n) + most_votes(votes, k, j, n) for k in range(i + 1, j)]
    return votes[i, j] * (1 < j - i < n) + max(below, default=0)


def test_labels_are_voted_on():
    """One chain confuses two classes; the others do not, but name them otherwise."""
    numbers = np.random.default_rng(3)
    true = numbers.integers(0, 2, 600)
    noisy = np.where(numbers.random(600) < 0.2, 1 - true, true)
    labels = np.stack([noisy, 4 - true, 1 - true], axis=1)
    labels[numbers.random((600, 3)) < 0.1] = -1
    labels[0] = [-1, 4, 1]
    classes = latent_classes(labels)
    assert (classes == true).mean() > 0.97 > (noisy == true).mean() + 0.1
    alone, most = latent_classes(labels[:, :1]), np.bincount(noisy[labels[:, 0] >= 0]).argmax()
    assert alone.tolist() == np.where(labels[:, 0] < 0, most, labels[:, 0]).tolist()
    assert len(latent_classes(labels[:0])) == 0


def classes_by_hand(labels: np.ndarray) -> list[int]:
    """The same mixture, span by span."""
    spans, chains, K = labels.tolist(), range(labels.shape[1]), int(labels.max()) + 1
    weights = [[float(z == own[0]) for z in range(K)] for own in spans]
    for _ in range(ITERATIONS):
        classes = [sum(w[z] for w in weights) + PRIOR for z in range(K)]
        uses = {(c, label, z): PRIOR for c in chains for label in range(K) for z in range(K)}
        for own, w in zip(spans, weights):
            for c, z in product(chains, range(K)):
                uses[c, own[c], z] = uses.get((c, own[c], z), 0.0) + w[z]
        totals = {(c, z): sum(uses[c, x, z] for x in range(K)) for c in chains for z in range(K)}
        for own, w in zip(spans, weights):
            for z in range(K):
                shares = [uses[c, own[c], z] / totals[c, z] for c in chains if own[c] >= 0]
                w[z] = classes[z] * math.prod(shares)
            w[:] = [x / sum(w) for x in w]
    return [max(range(K), key=w.__getitem__) for w in weights]


@pytest.mark.parametrize("seed", range(3))
def test_classes_are_those_of_the_mixture(seed):
    """Where labels are of very different frequency, and chains often disagree."""
    numbers = np.random.default_rng(seed)
    true = numbers.choice(3, 60, p=[0.7, 0.2, 0.1])
    own = np.where(numbers.random((60, 3)) < 0.35, numbers.integers(0, 3, (60, 3)), true[:, None])
    own[numbers.random((60, 3)) < 0.2] = -1
    found = latent_classes(own)
    assert found.tolist() == classes_by_hand(own)
    assert len(set(found.tolist())) > 1


def branching(text: str, side: str, brackets=()) -> float:
    """The share of brackets that trees of this side have."""
    trees = derivations([read_tree(text)])
    trees = replace(trees, corpus=trees.corpus.with_brackets([brackets]))
    return SharedSpans({0: trees}).branching(trees)[side]


def test_branching_is_judged_within_known_brackets():
    right = "(X0 (X0 a) (X0 (X0 b) (X0 (X0 c) (X0 d))))"
    assert (branching(right, "right"), branching(right, "left")) == (1, 0)
    split = "(X0 (X0 (X0 a) (X0 (X0 b) (X0 c))) (X0 (X0 d) (X0 (X0 e) (X0 f))))"
    assert branching(split, "right") == 2 / 4
    assert branching(split, "right", [(0, 3), (3, 6)]) == 1
    assert branching(split, "left", [(0, 3), (3, 6)]) == 0


def test_chains_that_branch_to_one_side_do_not_vote():
    right = ["(X0 (X0 a) (X0 (X0 b) (X0 (X0 c) (X0 d))))"]
    other = ["(X0 (X0 (X0 a) (X0 b)) (X0 (X0 c) (X0 d)))"]
    trees = {
        n: derivations(list(map(read_tree, one))) for n, one in enumerate((right, other, right))
    }
    shared = SharedSpans(trees)
    assert shared.one_sided == [0, 2]
    assert next(map(str, consensus(trees[1]).trees())) == other[0]


def test_labels_of_the_consensus_are_named_as_by_the_selected_chain():
    own, same = "(X0 (X3 (X2 b) (X3 c)) (X1 a))", "(X4 (X5 (X0 b) (X3 c)) (X1 a))"
    first = ["(X0 (X1 a) (X0 (X2 b) (X3 c)))", "(X0 (X3 (X2 b) (X3 c)) (X1 a))", own]
    other = ["(X4 (X5 (X1 a) (X0 b)) (X3 c))", same, same]
    first, other = [[read_tree(text) for text in texts] for texts in (first, other)]
    first, other = derivations(first), derivations(other)
    found = list(map(str, consensus(first, other, other).trees()))
    # What the others call X5 is X3 or X0 to the first, and what it calls X0 is mostly their X4.
    assert found == ["(X0 (X3 (X1 a) (X2 b)) (X3 c))", "(X0 (X3 (X2 b) (X3 c)) (X1 a))", own]
    assert (
        next(map(str, consensus(other, first, other).trees())) == "(X4 (X5 (X1 a) (X0 b)) (X3 c))"
    )


def test_a_consensus_does_not_flatter_the_chains():
    """Two of three chains have each bracket of the consensus, but no two chains share many."""
    texts = [
        ["(X (X (X a) (X b)) (X c))", "(X (X a) (X (X b) (X c)))", "(X (X (X a) (X b)) (X c))"],
        ["(X (X (X a) (X b)) (X c))", "(X (X (X a) (X b)) (X c))", "(X (X a) (X (X b) (X c)))"],
        ["(X (X a) (X (X b) (X c)))", "(X (X (X a) (X b)) (X c))", "(X (X (X a) (X b)) (X c))"],
    ]
    trees = [derivations([read_tree(text) for text in own]) for own in texts]
    shared = SharedSpans(dict(enumerate(trees)))
    assert shared.agreement() == pytest.approx(1 / 3)
    votes = consensus(*trees)
    assert SharedSpans({0: shared.trees[0], 1: votes}).agreement() > 0.6


def test_one_number_everywhere(tmp_path):
    options = {"chains": 3, "iterations": 10, "trees": "consensus", "learner": "em"}
    run = induce(SENTENCES, K=3, out=tmp_path / "run", **options)
    trees = [run.trees(chain) for chain in run.survivors]
    sizes = [len(spans(tree)) for tree in trees[0]]
    pairs = [common(a, b) for a, b in combinations(trees, 2)]
    expected = mean([sum(found) / sum(sizes) for found in pairs])
    assert expected < 0.99
    assert run.shared.agreement() == pytest.approx(expected)
    assert mean([one.agreement for one in run.summaries()]) == pytest.approx(expected)
    assert overview(run, tmp_path / "run")["agreement"] == pytest.approx(expected)
    assert run.verdict.agreement == pytest.approx(expected)
    assert f"{expected:.0%} of their brackets" in run.verdict.trust
    lines = (tmp_path / "run/agreement.tsv").read_text().splitlines()[1:]
    each = [line.split("\t") for line in lines]
    found = sum(int(spans) * float(share) for *_, spans, share in each if share) / sum(sizes)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    "options",
    [
        {"chains": 3, "iterations": 10},
        {"chains": 3, "iterations": 10, "trees": "consensus"},
        {"budget": 400},
        {"chains": 1, "iterations": 10},
    ],
    ids=["three", "consensus", "race", "one"],
)
def test_the_file_has_the_agreement_on_each_sentence(options, tmp_path):
    path = tmp_path / "run"
    text = [["a"], ["a", "b"], *SENTENCES]
    run = induce(text, K=3, out=path, **options)
    head, *lines = (path / "agreement.tsv").read_text().splitlines()
    assert head.split("\t") == ["sentence", "words", "spans", "agreement"]
    pairs = list(combinations([run.trees(chain) for chain in run.survivors], 2))
    for s, (line, tree) in enumerate(zip(lines, run.trees(), strict=True)):
        *counts, share = line.split("\t")
        assert list(map(int, counts)) == [s + 1, len(tree), len(spans(tree))]
        if not pairs or not spans(tree):
            assert share == ""
        else:
            expected = mean([common(a, b)[s] / len(spans(tree)) for a, b in pairs])
            assert float(share) == pytest.approx(expected)


def test_a_card_has_names_of_files_but_no_folders(tmp_path):
    """Names that are not UTF-8 are escaped, as they could not be written."""
    file = tmp_path / os.fsdecode(b"t\xff.txt")
    try:
        file.write_text("\n".join(map(" ".join, SENTENCES)))
    except OSError:
        pytest.skip("names of files are UTF-8 here")
    treebank = [Tree("S", tuple(Tree("X", (word,)) for word in words)) for words in SENTENCES]
    run = induce(
        file, K=3, iterations=10, chains=2, gold=treebank, out=tmp_path / "run", learner="gibbs"
    )
    card = run.model.card
    assert card["learned_from"] == ["t\\udcff.txt"]
    assert str(tmp_path) not in str(card)
    assert (card["sentences"], card["chains"], card["iterations"]) == (len(SENTENCES), 2, 10)
    assert card["f1_not_used_for_selection"] == run.best.scores[10]
    assert dbpcfg.load(tmp_path / "run").card == card
