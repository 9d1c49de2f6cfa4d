"""The verdict on a run: what decides it, and what it says."""

from types import SimpleNamespace

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.consensus import SharedSpans
from dbpcfg.induction.induce import induce
from dbpcfg.induction.learners import learner_with
from dbpcfg.induction.verdict import Verdict, verdict_of
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.trees.brackets import read_tree
from tests.induction.small import SENTENCES, TREES
from tests.nodes import as_nodes

LEFT = "(X (X (X (X a) (X b)) (X c)) (X d))"
RIGHT = "(X (X a) (X (X b) (X (X c) (X d))))"
EVEN = "(X (X (X a) (X b)) (X (X c) (X d)))"
MIXED = "(X (X a) (X (X (X b) (X c)) (X d)))"


def derivations(texts: list[str]) -> Derivations:
    trees = [read_tree(text) for text in texts]
    corpus = Encoded.from_sentences([tree.words() for tree in trees])
    return Derivations(np.concatenate([as_nodes(tree, {"X": 0}) for tree in trees]), corpus)


def judged(
    *chains: list[str],
    copies: int = 500,
    learner: str = "neural",
    depth: int = 2,
    notes=(),
    voters: int | None = None,
) -> Verdict:
    """The verdict on chains with these trees, each so many times; those of the first are chosen."""
    shared = SharedSpans({n: derivations(own * copies) for n, own in enumerate(chains)})
    chains_run = [SimpleNamespace(settings=SimpleNamespace(chain=n)) for n in shared.trees]
    model = SimpleNamespace(learner=learner_with(learner, {}), depth=depth)
    return verdict_of(
        SimpleNamespace(
            shared=shared,
            answer=shared.trees[0],
            chains=chains_run,
            survivors=chains_run,
            trusted=chains_run[:voters],
            voting=True,
            side=None,
            corpus=SimpleNamespace(forms=shared.trees[0].corpus),
            configuration=SimpleNamespace(model=model),
            remarks=lambda: list(notes),
        )
    )


def test_chains_that_agree():
    found = judged([EVEN, RIGHT], [EVEN, RIGHT], [EVEN, RIGHT])
    assert (found.level, found.agreement, found.branching["right"]) == ("good", 1, 0.75)
    assert "two of 3 chains share 100% of their brackets on average" in found.trust
    assert "25% of the answer differs from right-branching trees" in found.trust
    assert found.advice == ""
    (_, (_, trust), (_, last)) = found.lines("LOOK HERE")
    assert trust == found.trust
    assert "LOOK HERE" in last
    assert "agree on what is wrong" in last  # agreement is no proof


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_answer_branches_to_one_side(side):
    chain = [{"left": LEFT, "right": RIGHT}[side]]
    found = judged(chain, chain, chain)
    assert found.level == "poor"
    assert found.trust.startswith("do not trust these trees")
    assert f"100% of their brackets are those of {side}-branching trees" in found.trust
    assert "another memory bound: -D 3" in found.advice
    assert "another memory bound: -D 2" in judged(chain, chain, depth=3).advice


def test_chains_that_do_not_agree():
    found = judged([EVEN], [MIXED], [EVEN])
    assert (found.level, found.agreement) == ("poor", pytest.approx(1 / 3))
    assert "do not trust these trees: two of 3 chains share only 33%" in found.trust
    assert "differs from" not in found.trust  # no matter


def test_chains_that_agree_in_part():
    most, other = [EVEN, EVEN, EVEN, MIXED], [EVEN, EVEN, EVEN, LEFT]
    found = judged(most, other)
    assert (found.level, found.agreement) == ("fair", pytest.approx(6 / 8 + 1 / 16, abs=0.07))
    assert found.trust.startswith("with care: the two chains share 75%")


def test_chains_that_do_not_vote_do_not_count():
    """Two agree, and one has trees of its own."""
    chains = [EVEN], [EVEN], [MIXED]
    assert judged(*chains).level == "poor"
    voted = judged(*chains, voters=2)
    assert (voted.level, voted.agreement) == ("good", 1)
    assert "the two chains that vote share 100%" in voted.trust
    alone = judged(*chains, voters=1)
    assert (alone.level, alone.agreement) == ("fair", None)
    assert "only one chain votes" in alone.trust


def test_chains_that_only_branch_to_one_side():
    """Many of them are worse than one of them."""
    good, bad = [*[EVEN] * 3, *[RIGHT] * 17], [RIGHT] * 20
    one = judged(good, good, good, bad)
    assert one.level == "fair"
    assert "1 of 4 chains hardly did more than branch to one side" in one.trust
    three = judged(good, bad, bad, bad)
    assert three.level == "poor"
    assert "3 of 4 chains" in three.trust


def test_one_chain():
    found = judged([EVEN, RIGHT])
    assert (found.level, found.agreement) == ("fair", None)
    assert "one chain" in found.trust
    assert "--chains 4" in found.advice


def test_a_chain_that_diverged():
    found = judged([EVEN, RIGHT], [EVEN, RIGHT], notes=["chain 1: learning diverged"])
    assert found.level == "fair"
    assert "chain 1: learning diverged" in found.trust


def test_nothing_to_find():
    found = judged(["(X (X a) (X b))"], ["(X (X a) (X b))"])
    assert (found.level, found.branching) == ("poor", {})
    assert "no brackets to find" in found.trust


@pytest.mark.parametrize(("copies", "said"), [(500, ""), (499, "998 sentences are few")])
def test_few_sentences(copies, said):
    advice = judged([EVEN, RIGHT], [EVEN, RIGHT], copies=copies).advice
    assert said in advice
    assert bool(said) == bool(advice)


def test_too_few_sentences_for_the_neural_grammar():
    found = judged([EVEN, RIGHT], [EVEN, RIGHT], copies=20, learner="gibbs")
    assert "40 sentences are too few: from 100 on, the neural grammar is used" in found.advice
    assert "by the sampler, as suits fewer than 100 sentences" in found.learned


@pytest.mark.parametrize("learner", ["gibbs", "em"])
def test_another_learner_is_advised(learner):
    found = judged([EVEN], [MIXED], copies=1000, learner=learner)
    assert "neural grammar" in found.advice
    assert f"--learner {learner}" in found.learned
    assert "neural" not in judged([EVEN], [MIXED], copies=1000).advice


def test_lines_are_wrapped_and_escaped():
    found = judged([EVEN], [MIXED], copies=20, learner="gibbs")
    lines = found.text("dbpcfg report <b> --open", 50).splitlines()
    assert max(map(len, lines)) <= 50
    assert [line[0] for line in lines if line[0] != " "] == ["l", "t", "n"]
    assert "&lt;b&gt;" in found.html("<b>")
    assert len(found.text().splitlines()) == 3


def test_gold_trees_make_no_difference():
    options = {"K": 3, "chains": 2, "iterations": 6, "learner": "em", "quiet": True}
    plain, scored = (induce(SENTENCES, **options, gold=gold) for gold in (None, TREES))
    assert plain.verdict == scored.verdict
    assert repr(plain).splitlines()[1:] == plain.verdict.text().splitlines()
    assert plain.verdict.trust in plain._repr_html_()
    assert plain.verdict.json()["trust"] == plain.verdict.trust
