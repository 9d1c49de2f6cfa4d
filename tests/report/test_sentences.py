"""What is packed must be the trees of the run, and the samples' own shares."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbpcfg
from dbpcfg.report.runs import depths, shares
from dbpcfg.report.sentences import Posterior, pack, preorder, same_words
from tests.oracle import truth
from tests.report.small import TREES, unpack
from tests.stores import memory_depth


@given(st.lists(st.integers(0, 2**32 - 1)) | st.lists(st.integers(0, 300)))
def test_packed_numbers_come_back_and_have_the_smallest_type(numbers):
    packed = pack(numbers)
    assert unpack(packed).tolist() == numbers
    most = max(numbers, default=0)
    assert packed["type"] == ("u1" if most < 256 else "u2" if most < 65536 else "u4")


def test_trees_and_posteriors_of_the_chosen_chain(run, data):
    packed = data["sentences"]
    nodes, posterior = list(unpack(packed["nodes"])), list(unpack(packed["posterior"]))
    words = [packed["words"][w] for w in unpack(packed["tokens"])]
    spans = run.best.spans
    for s, tree in enumerate(run.trees()):
        weights = spans.weights(s).sum(axis=2) / run.best.retained
        for span in tree.spans(preterminals=True):
            code = nodes.pop(0)
            assert packed["categories"][code // 2] == span.label
            assert code % 2 == (span.end - span.start == 1)
            if code % 2 == 0:
                assert posterior.pop(0) == round(100 * weights[span.start, span.end])
        assert [words.pop(0) for _ in range(len(tree))] == tree.words()
    assert not nodes
    assert not posterior
    assert not words


@pytest.mark.parametrize("learner", ["em", "vb"])
def test_posteriors_of_a_learner_without_samples(learner):
    """Under the grammar, by brute force; samples would all be 100 %."""
    run = dbpcfg.induce(
        [["a", "b", "b"], ["b", "a", "a", "b"], ["a", "a"]], K=2, D=1, learner=learner, iterations=2
    )
    posterior, grammar, words = (
        Posterior(run.best, run.corpus.forms),
        run.best.last.grammar,
        run.corpus.forms,
    )
    for s, n in enumerate(words.lengths):
        expected = truth(grammar, words.numbers(s).tolist(), 1).marginals.sum(axis=2)
        for i, j in itertools.combinations(range(n + 1), 2):
            found = posterior.of(np.array([s]), np.array([i]), np.array([j]))
            assert found[0] == round(100 * expected[i, j])
    assert not set(posterior.of(np.array([1]), np.array([1]), np.array([3]))) & {0, 100}


@pytest.mark.parametrize("counted", [True, False])
def test_posteriors_of_some_sentences(counted, monkeypatch):
    """In samples, or on average under the grammars where spans are too many to be counted."""
    if not counted:
        monkeypatch.setattr("dbpcfg.parsing.mbr.MAX_BYTES", 0)
    text = [["a", "b", "b"], ["b", "a", "a", "b"], ["a", "a"]]
    run = dbpcfg.induce(text, K=2, D=1, learner="gibbs", iterations=8, chains=1)
    chain, words = run.best, run.corpus.forms
    assert chain.spans.kept is counted
    assert len(chain.grammars) > 1
    every, some = Posterior(chain, words), Posterior(chain, words, [2, 1])
    for place, s in enumerate((2, 1)):
        n = int(words.lengths[s])
        marginals = [truth(G, words.numbers(s).tolist(), 1).marginals for G in chain.grammars]
        for i, j in itertools.combinations(range(n + 1), 2):
            (found,) = every.of(*(np.array([x]) for x in (s, i, j)))
            assert some.of(*(np.array([x]) for x in (place, i, j))) == [found]
            if counted:
                share = chain.spans.weights(s)[i, j].sum() / chain.retained
            else:
                share = np.mean([one.sum(axis=2)[i, j] for one in marginals])
            assert found == round(100 * share)


@pytest.mark.parametrize(
    ("made", "shown", "others"), [("run", "data", 2), ("race", "race_data", 1)]
)
def test_the_number_of_other_chains_that_have_each_bracket(made, shown, others, request):
    run, packed = request.getfixturevalue(made), request.getfixturevalue(shown)["sentences"]
    assert packed["others"] == others
    found = list(unpack(packed["shared"]))
    theirs = [run.trees(chain) for chain in run.survivors if chain is not run.best]
    for s, tree in enumerate(run.trees()):
        sets = [{(span.start, span.end) for span in trees[s].spans()} for trees in theirs]
        for span in tree.spans():
            assert found.pop(0) == sum((span.start, span.end) in one for one in sets)
    assert not found


def test_gold_trees_and_posteriors(run, gold, data):
    packed = data["sentences"]["gold"]
    labels = [packed["labels"][n] for n in unpack(packed["nodes"])]
    children, posterior = unpack(packed["children"]).tolist(), unpack(packed["posterior"])
    assert list(zip(labels, children)) == [node for tree in TREES for node in preorder(tree)]
    place = 0
    for s, tree in enumerate(TREES):
        weights = run.best.spans.weights(s).sum(axis=2) / run.best.retained
        marks = gold.punctuation[s]
        for span in tree.spans():

            def words(i, j, marks=marks):
                return [k for k in range(i, j) if not marks[k]]

            ours = words(span.start, span.end)
            shares = [
                weights[i, j]
                for i in range(len(tree))
                for j in range(i + 1, len(tree) + 1)
                if words(i, j) == ours
            ]
            assert posterior[place] == round(100 * max(shares))
            place += 1
    assert place == len(posterior)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_spans_over_the_same_words(marks, data):
    i = data.draw(st.integers(0, len(marks) - 1))
    j = data.draw(st.integers(i + 1, len(marks)))

    def words(i, j):
        return [k for k in range(i, j) if not marks[k]]

    everything = [(a, b) for a in range(len(marks)) for b in range(a + 1, len(marks) + 1)]
    same = [span for span in everything if words(*span) == words(i, j)]
    assert sorted(same_words(i, j, marks)) == (same if words(i, j) else [(i, j)])


def test_depths_are_those_of_the_store(run, data):
    trees, chosen = run.trees(), run.best.spans.decode()
    needed = [memory_depth(tree) for tree in trees]
    assert list(depths(chosen)) == needed
    assert data["memory"]["series"][0]["shares"] == shares(needed)
    assert shares([1, 3, 3, 3]) == [0.25, 0, 0.75]
