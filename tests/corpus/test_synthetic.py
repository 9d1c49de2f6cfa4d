"""The paper's synthetic corpora and made-up utterances: only the seed decides."""

from collections import Counter
from itertools import pairwise, product

import pytest

from dbpcfg.corpus.synthetic import CLASSES, PATTERNS, synthetic_trees, utterances
from dbpcfg.errors import DbpcfgError
from tests.command import printed
from tests.statistics import LEAST_P, goodness_of_fit

YIELDS = {
    "left": ["a b", "a b b"],
    "right": ["a b", "a a b"],
    "center": ["a b b c", "a b a b c", "a b c", "a b b a b b c"],
}
"""The patterns of the paper's text, in the order of its figures."""

kinds = pytest.mark.parametrize("kind", PATTERNS)


def letters(tree):
    return " ".join(word[0] for word in tree.words())


def pattern(tree):
    """The tree with a letter for each word: ``a17`` is an ``a``."""
    return str(tree.replace_words(letters(tree).split()))


@kinds
def test_the_papers_corpus(kind):
    """200 sentences, equally many of every pattern."""
    trees = synthetic_trees(kind)
    share = 200 // len(YIELDS[kind])
    assert Counter(map(letters, trees)) == dict.fromkeys(YIELDS[kind], share)
    assert Counter(map(pattern, trees)) == dict.fromkeys(PATTERNS[kind], share)
    assert all(tree.is_binary for tree in trees)


@kinds
def test_labels_are_as_in_the_figures(kind):
    """a is an X1, b an X2, c an X3; a phrase has its head's label, and the head's side is fixed."""
    for tree in synthetic_trees(kind, sentences=8):
        for node in tree.nodes():
            if node.preterminal:
                assert node.label == {"a": "X1", "b": "X2", "c": "X3"}[node.children[0][0]]
            else:
                rule = (node.label, *(child.label for child in node.children))
                assert (
                    rule
                    in {
                        "left": {("X1", "X1", "X2")},
                        "right": {("X2", "X1", "X2")},
                        "center": {("X1", "X1", "X2"), ("X3", "X1", "X3")},
                    }[kind]
                )


@kinds
@pytest.mark.parametrize("sentences", [1, 3, 7, 201, 202])
def test_uneven_numbers(kind, sentences):
    patterns = YIELDS[kind]
    times = Counter(map(letters, synthetic_trees(kind, sentences)))
    each, more = divmod(sentences, len(patterns))
    expected = {p: each + (n < more) for n, p in enumerate(patterns)}
    assert times == Counter({p: t for p, t in expected.items() if t})


@kinds
def test_words_are_uniform(kind):
    V = 7
    trees = synthetic_trees(kind, sentences=4000, vocabulary=V, seed=1)
    words = Counter(word for tree in trees for word in tree.words())
    for letter in {word[0] for word in words}:
        times = {word: n for word, n in words.items() if word[0] == letter}
        uniform = {f"{letter}{v}": 1 / V for v in range(1, V + 1)}
        assert times.keys() == uniform.keys()
        assert goodness_of_fit(times, uniform, sum(times.values())) > LEAST_P
        tilted = {**uniform, f"{letter}1": 0.7 / V, f"{letter}2": 1.3 / V}
        assert goodness_of_fit(times, tilted, sum(times.values())) < 1e-6


def test_words_of_a_sentence_are_independent():
    pairs = Counter(tuple(t.words()) for t in synthetic_trees("left", 8000, 4) if len(t) == 2)
    expected = {(f"a{i}", f"b{j}"): 1 / 16 for i in range(1, 5) for j in range(1, 5)}
    assert goodness_of_fit(pairs, expected, 4000) > LEAST_P


@kinds
def test_the_seed_decides(kind):
    trees = synthetic_trees(kind, seed=3)
    assert synthetic_trees(kind, seed=3) == trees
    other = synthetic_trees(kind, seed=4)
    assert list(map(pattern, other)) != list(map(pattern, trees))  # another order
    assert Counter(other) != Counter(trees)  # and other words


def test_patterns_are_shuffled():
    """Neighbours have the same pattern half of the time; in turns they never would."""

    def p_value(patterns):
        same = Counter(a == b for a, b in pairwise(patterns))
        return goodness_of_fit(same, {True: 0.5, False: 0.5}, len(patterns) - 1)

    order = [letters(tree) for tree in synthetic_trees("left", 2000)]
    assert p_value(order) > LEAST_P
    assert p_value(YIELDS["left"] * 1000) < 1e-12


def test_the_order_says_nothing_about_the_words():
    first = [tree.words()[0] for tree in synthetic_trees("left", 4000, 4)]

    def p_value(words):
        times = Counter((word, n < 2000) for n, word in enumerate(words))
        return goodness_of_fit(
            times, dict.fromkeys(product(set(words), (True, False)), 1 / 8), 4000
        )

    assert p_value(first) > LEAST_P
    assert p_value(sorted(first)) < 1e-12


# --- made-up utterances ---------------------------------------------------------------------------


def test_every_word_occurs_and_every_leaf_has_a_tag():
    trees = utterances(1000)
    used = {word for tree in trees for word in tree.words()}
    assert used == {word for words in CLASSES.values() for word in words.split()} | {"where"}
    assert {node.label for tree in trees for node in tree.nodes() if not node.preterminal} == {
        *("S", "SQ", "SBARQ", "NP", "VP", "PP")
    }
    assert {3, 5, 8} < {len(tree) for tree in trees}


def test_the_seed_decides_and_the_number_does_not():
    assert utterances(50) == utterances(100)[:50]
    assert utterances(50, seed=1) != utterances(50)
    assert len(set(map(str, utterances(100)))) > 80


def test_on_the_command_line():
    trees = utterances(3, seed=4)
    options = ("synth", "utterances", "-n", 3, "--seed", 4)
    assert printed(*options) == "".join(f"{tree}\n" for tree in trees)
    assert printed(*options, "--words").splitlines() == [" ".join(t.words()) for t in trees]


def test_there_is_at_least_one():
    with pytest.raises(DbpcfgError, match="at least 1"):
        utterances(0)
