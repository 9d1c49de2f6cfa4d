"""The side to which a language branches, trees that do, and what happens to chains that do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbpcfg
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees, utterances
from dbpcfg.induction.consensus import SharedSpans
from dbpcfg.parsing.consensus import Consensus
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.direction import branching_side, branching_trees, follows


def encoded(lines) -> Encoded:
    return Encoded.from_sentences(lines)


def noun_phrases(first=("the", "a"), nouns=40):
    return [[first[k % len(first)], f"noun{k % nouns}"] for k in range(200)]


def test_varied_words_are_at_the_side_to_which_phrases_branch():
    assert branching_side(encoded(noun_phrases())) == "right"
    assert branching_side(encoded([line[::-1] for line in noun_phrases()])) == "left"


def test_edges_that_hardly_differ_show_nothing():
    same = [[f"w{k % 40}", "x", f"w{(k + 7) % 40}"] for k in range(200)]
    assert branching_side(encoded(same)) is None


def test_a_formal_language_shows_nothing():
    """Though the edges of the paper's corpora differ."""
    for name in ("left", "right", "center"):
        words = [tree.words() for tree in synthetic_trees(name, seed=0)]
        assert branching_side(encoded(words)) is None
    few = noun_phrases(nouns=15)
    assert branching_side(encoded(few)) is None
    assert branching_side(encoded(noun_phrases(nouns=17))) == "right"


def test_stretches_between_marks_count():
    """Whole sentences begin and end with the same words; stretches do not."""
    lines = [["so", *pair, *again, "so"] for pair, again in zip(noun_phrases(), noun_phrases())]
    assert branching_side(encoded(lines)) is None
    marked = encoded(lines).with_brackets([[(1, 3), (3, 5)] for _ in lines])
    assert branching_side(marked) == "right"


def test_made_up_utterances_branch_to_the_right():
    assert branching_side(encoded([tree.words() for tree in utterances(300)])) == "right"


@pytest.mark.parametrize(
    ("right", "left", "side"),
    [
        (0.8, 0.2, "right"),
        (0.79, 0.2, None),
        (0.2, 0.8, "left"),
        (0.0, 0.0, None),
        (0.1, 0.0, "right"),
    ],
)
def test_four_times_as_many_brackets(right, left, side):
    shares = {"right": right, "left": left}
    assert [s for s in ("right", "left") if follows(s, shares)] == ([side] if side else [])


def test_without_brackets_nothing_is_said_against_them():
    assert follows("right", {})


@st.composite
def bracketed(draw):
    """Sentences with known brackets that do not cross."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    brackets = []
    for n in lengths:
        own = [(0, n)]
        for _ in range(draw(st.integers(0, 4))):
            i = draw(st.integers(0, n - 1))
            j = draw(st.integers(i + 1, n))
            if all(j <= a or b <= i or (a <= i and j <= b) or (i <= a and b <= j) for a, b in own):
                own.append((i, j))
        brackets.append(own)
    words = [[f"w{k}" for k in range(n)] for n in lengths]
    return encoded(words).with_brackets(brackets), brackets


@given(bracketed(), st.sampled_from(["right", "left"]))
def test_branching_trees(given_brackets, side):
    """They are binary, have the known brackets, and each other span reaches the edge of one."""
    sentences, brackets = given_brackets
    nodes = branching_trees(sentences, side).nodes
    assert len(nodes) == 2 * len(sentences.tokens) - len(sentences)
    first = 0
    for n, known in zip(sentences.lengths.tolist(), brackets, strict=True):
        own = {(i, j) for i, j, _ in nodes[first : first + 2 * n - 1].tolist()}
        first += 2 * n - 1
        assert len(own) == 2 * n - 1
        assert own >= {*known, *((k, k + 1) for k in range(n))}
        for i, j in own:
            assert all(
                j <= a or b <= i or (a <= i and j <= b) or (i <= a and b <= j) for a, b in own
            )
            inner = min((b - a, a, b) for a, b in known if a <= i and j <= b)
            assert j - i == 1 or (j == inner[2] if side == "right" else i == inner[1])


def test_known_words_that_are_no_bracket_do_not_matter():
    sentences = encoded([["a", "b", "c"]])
    barred = Encoded(
        sentences.tokens, sentences.starts, sentences.vocabulary, np.array([[0, 2, 1]], np.int32)
    )
    assert branching_trees(barred, "right").nodes.tolist() == [
        [0, 3, 0],
        [0, 1, 0],
        [1, 3, 0],
        [1, 2, 0],
        [2, 3, 0],
    ]


def test_branching_trees_vote_in_the_place_of_chains():
    """Two of them outweigh one chain, but not three."""
    sentences = encoded([["a", "b", "c", "d"]])
    left = branching_trees(sentences, "left")
    labelled = Derivations(left.nodes + np.array([0, 0, 1], np.int32), sentences)
    spans = SharedSpans({0: labelled, 1: labelled, 2: labelled})
    assert spans.astray("right") == [0, 1, 2]
    assert spans.astray("left") == spans.astray(None) == []

    def answer(voters, others):
        rule = Consensus(bool(voters), "right", others)
        nodes = rule.learn([labelled] * max(1, len(voters)))[0].nodes
        assert (nodes[:, 2] == 1).all()  # spans that no chain has get a label too
        return {(i, j) for i, j, _ in nodes.tolist() if 1 < j - i < 4}

    assert answer([0], 2) == answer([], 1) == {(1, 4), (2, 4)}
    assert answer([0, 1, 2], 2) == answer([0], 1) == {(0, 2), (0, 3)}


def test_an_answer_is_not_left_to_chains_that_went_astray():
    lines = [Sentence(tree.words()) for tree in utterances(120)]
    run = dbpcfg.induce(lines, learner="neural", K=6, iterations=1, chains=2, quiet=True)
    assert run.side == "right"
    assert run.shared.astray("left") == [0, 1]
    vars(run)["side"] = "left"  # as of another language
    trees = branching_trees(run.corpus.forms, "left")
    assert run.trusted == []
    assert run.voters == run.survivors  # one of them gives the model
    for own, expected in ((run.answer[s], trees[s]) for s in range(9)):
        assert {(i, j) for i, j, _ in own.tolist()} == {(i, j) for i, j, _ in expected.tolist()}
    assert "left" in run.verdict.trust
    assert run.verdict.level == "poor"


@pytest.mark.parametrize(
    ("others", "chains", "bracket"),
    [
        (1, 4, (1, 3)),
        (2, 4, (1, 3)),
        (3, 4, (0, 2)),
        (4, 4, (0, 2)),
        (4, 8, (1, 3)),
        (5, 8, (0, 2)),
    ],
)
def test_branching_trees_decide_where_chains_do_not_agree(others, chains, bracket):
    """So many chains branch to the left in some sentences: half of them do not outvote the rest."""
    lines = [Sentence(tree.words()) for tree in utterances(120)]
    run = dbpcfg.induce(lines, learner="neural", K=6, iterations=1, chains=chains, quiet=True)
    forms = run.corpus.forms
    right, left = (branching_trees(forms, side).nodes.copy() for side in ("right", "left"))
    sentence = np.repeat(np.arange(len(forms)), 2 * forms.lengths - 1)
    doubtful = np.isin(sentence, np.flatnonzero(forms.lengths == 3)[:9])
    mixed = np.where(doubtful[:, np.newaxis], left, right)
    votes = [mixed] * others + [right] * (chains - others)
    vars(run)["shared"] = SharedSpans({n: Derivations(own, forms) for n, own in enumerate(votes)})
    vars(run)["trusted"] = run.survivors
    vars(run)["best"] = run.survivors[0]
    found = run.answer[int(sentence[doubtful][0])].tolist()
    assert {(i, j) for i, j, _ in found if j - i == 2} == {bracket}
