"""Derivations that a grammar writes out: those that fit, and those that leave the bound."""

import math
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar import derivation
from dbpcfg.grammar.bounding import containment, fitting_mass, termination
from dbpcfg.grammar.derivation import failed_derivations, generate
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.chart.parser import ChartParser
from tests.nodes import as_nodes
from tests.oracle import all_sentences, all_trees
from tests.processes import output_of
from tests.statistics import LEAST_P, goodness_of_fit, same_means
from tests.strategies import encode, grammars

DRAWS = 20_000
GRAMMAR = Grammar(
    root=[0.4, 0.6],
    binary=[[[0.05, 0.20], [0.10, 0.03]], [[0.12, 0.16], [0.36, 0.12]]],
    lexical=[[0.42, 0.20], [0.06, 0.18]],
    vocabulary=Vocabulary(("a", "b")),
)
"""Its trees often leave any bound, and those of X1 more often; one in four goes on for ever."""

bounds = pytest.mark.parametrize("depth", [1, 2, None])


def numbers(seed=0):
    return stream(seed, purpose=Purpose.GENERATE)


def fits(tree, bound, side="L", depth=1):
    """The design's rule: (L,d) → (L,d) (R,d); (R,d) → (L,d+1) (R,d); no (R,d) beyond the bound."""
    if side == "R" and depth > bound:
        return False
    if tree.preterminal:
        return True
    left, right = tree.children
    return fits(left, bound, "L", depth + (side == "R")) and fits(right, bound, "R", depth)


def mass(grammar, depth):
    """The probability that a tree fits the bound; without one, that it ends."""
    h = termination(grammar) if depth is None else containment(grammar, depth)[0]
    return grammar.root @ h


@pytest.fixture(scope="module")
def drawn():
    """Trees for every bound, drawn once."""
    return {depth: generate(GRAMMAR, depth, DRAWS, numbers()) for depth in (1, 2, None)}


# --- generate -------------------------------------------------------------------------------------


def test_the_grammar_is_a_hard_case():
    masses = [mass(GRAMMAR, depth) for depth in (1, 2, 3, 4, None)]
    assert min(np.diff(masses)) > 0.01
    assert masses[-1] < 0.8


def test_trees_fit_their_bound(drawn):
    assert all(fits(tree, 1) for tree in drawn[1])
    assert all(fits(tree, 2) for tree in drawn[2])
    assert sum(not fits(tree, 1) for tree in drawn[2]) > 100
    assert sum(not fits(tree, 2) for tree in drawn[None]) > 100


@given(grammars(), st.sampled_from([1, 2, 3]), st.integers(0, 2**32))
def test_trees_of_any_grammar_fit_and_are_possible(grammar, depth, seed):
    if mass(grammar, depth) == 0:
        return
    for tree in generate(grammar, depth, 5, numbers(seed)):
        assert tree.is_binary
        assert fits(tree, depth)
        assert grammar.root[int(tree.label[1:])] > 0
        for node in tree.nodes():
            c = int(node.label[1:])
            if node.preterminal:
                assert grammar.lexical[c, grammar.vocabulary.index[node.children[0]]] > 0
            else:
                assert grammar.binary[c, *(int(child.label[1:]) for child in node.children)] > 0


def sentence_probabilities(grammar, depth, longest=4):
    sentences = [s for n in range(1, longest + 1) for s in all_sentences(2, n)]
    logs = ChartParser(grammar, depth).log_probabilities(encode(grammar, *sentences))
    if depth is None:
        logs -= math.log(mass(grammar, None))
    words = grammar.vocabulary.words
    return {tuple(words[w] for w in s): p for s, p in zip(sentences, np.exp(logs).tolist())}


@bounds
def test_sentences_are_as_frequent_as_probable(drawn, depth):
    times = Counter(tuple(tree.words()) for tree in drawn[depth])
    assert goodness_of_fit(times, sentence_probabilities(GRAMMAR, depth), DRAWS) > LEAST_P
    for other in {1, 2, None} - {depth}:
        assert goodness_of_fit(times, sentence_probabilities(GRAMMAR, other), DRAWS) < 1e-12


@bounds
def test_trees_are_as_frequent_as_probable(drawn, depth):
    """Labels too, of all trees with up to three words."""

    def key(nodes, words):
        return nodes.tobytes(), tuple(words)

    def probabilities(grammar):
        Z = mass(grammar, depth)
        return {
            key(same.nodes(row), words): same.weights[row] / Z
            for n in (1, 2, 3)
            for words in all_sentences(2, n)
            for same in all_trees(grammar, words, depth)
            for row in np.flatnonzero(same.weights)
        }

    index = GRAMMAR.vocabulary.index
    short = [tree for tree in drawn[depth] if len(tree) <= 3]
    times = Counter(key(as_nodes(tree), [index[w] for w in tree.words()]) for tree in short)
    assert goodness_of_fit(times, probabilities(GRAMMAR), DRAWS) > LEAST_P
    swapped = Grammar(
        GRAMMAR.root, GRAMMAR.binary.swapaxes(1, 2), GRAMMAR.lexical, GRAMMAR.vocabulary
    )
    assert goodness_of_fit(times, probabilities(swapped), DRAWS) < 1e-12


@bounds
def test_the_stream_decides(depth):
    trees = generate(GRAMMAR, depth, 50, numbers())
    assert generate(GRAMMAR, depth, 50, numbers()) == trees
    assert generate(GRAMMAR, depth, 10, numbers()) == trees[:10]
    assert generate(GRAMMAR, depth, 50, numbers(1)) != trees


# --- derivations that fail ------------------------------------------------------------------------


def failures(grammar, depth, sentences, seed=0):
    counts = failed_derivations(grammar, depth, sentences, stream(seed, purpose=Purpose.REJECTED))
    return int(counts.root.sum()), counts


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_number_of_failures(depth):
    """Before a success of probability Z there are (1 − Z) / Z failures, variance (1 − Z) / Z²."""
    N = 100_000
    found, _ = failures(GRAMMAR, depth, N)

    def standard_errors(Z):
        return abs(found - N * (1 - Z) / Z) / math.sqrt(N * (1 - Z) / Z**2)

    assert standard_errors(fitting_mass(GRAMMAR, containment(GRAMMAR, depth))) < 5
    assert standard_errors(fitting_mass(GRAMMAR, containment(GRAMMAR, depth + 1))) > 8


def naive_failures(grammar, bound, rng):
    """Rules used until a derivation fits, without those of that one, as one long vector."""
    K, W = grammar.categories, len(grammar.vocabulary)
    used = np.zeros(K + K * (K * K + W))

    def expand(c, side, depth, rules):
        """Whether the node stays within the bound; its rules go to ``rules``, in pre-order."""
        rule = rng.choice(K * K + W, p=grammar.rows[c])
        rules.append(K + c * (K * K + W) + rule)
        if rule >= K * K:
            return True
        if depth > bound:  # (L,D+1) must be a word
            return False
        a, b = divmod(rule, K)
        left = expand(a, "L", depth + (side == "R"), rules)
        return left and expand(b, "R", depth, rules)

    while True:
        c = rng.choice(K, p=grammar.root)
        rules = [c]
        if expand(c, "L", 1, rules):
            return used
        np.add.at(used, rules, 1)


@pytest.mark.parametrize("depth", [1, 2])
def test_rules_of_failures(depth):
    """Each rule as often as in a naive simulation."""
    runs = 1500
    rng = np.random.default_rng(0)
    naive = np.array([naive_failures(GRAMMAR, depth, rng) for _ in range(runs)])
    found = np.empty_like(naive)
    for run in range(runs):
        _, counts = failures(GRAMMAR, depth, 1, seed=run)
        found[run] = np.concatenate([counts.root, counts.rows.ravel()])
    assert same_means(found, naive) > LEAST_P
    assert same_means(found, naive[:, ::-1]) < 1e-12
    deeper = np.array([naive_failures(GRAMMAR, depth + 2, rng) for _ in range(runs)])
    assert same_means(found, deeper) < 1e-9


def test_failures_are_those_of_each_sentence():
    """Sentence s has its own numbers: a longer corpus only adds."""
    few, many = failures(GRAMMAR, 1, 20)[1], failures(GRAMMAR, 1, 40)[1]
    assert (many.rows >= few.rows).all()
    assert (failures(GRAMMAR, 1, 40)[1].rows == many.rows).all()
    assert (failures(GRAMMAR, 1, 40, seed=1)[1].rows != many.rows).any()


def test_nothing_fails_where_everything_fits():
    """X0 → X1 X0 | a, X1 → a branches to the right only."""
    failed, counts = failures(right_branching(0.5), 1, 1000)
    assert failed == 0
    assert not counts.rows.any()


# --- derivations that hardly end ------------------------------------------------------------------


def right_branching(again):
    binary = np.zeros((2, 2, 2))
    binary[0, 1, 0] = again
    return Grammar([1.0, 0.0], binary, [[1 - again], [1.0]], Vocabulary(("a",)))


@pytest.mark.parametrize("make", [generate, failed_derivations])
def test_grammars_that_hardly_end(make, monkeypatch):
    monkeypatch.setattr(derivation, "MAX_RULES", 1001)
    make(right_branching(0.5), 1, 100, numbers())
    with pytest.raises(GrammarError, match="more than 1,001 rules"):
        make(right_branching(1 - 1e-5), 1, 100, numbers())


def test_trees_may_be_deeper_than_pythons_stack():
    trees = generate(right_branching(0.9998), None, 10, numbers())
    assert max(map(len, trees)) > 5 * sys.getrecursionlimit()
    assert all(tree.words() == ["a"] * len(tree) for tree in trees)


# --- grammars without any tree that fits ----------------------------------------------------------

NEVER_FITS = """
import numpy as np
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.derivation import failed_derivations, generate
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.philox import stream

binary = np.zeros((4, 4, 4))  # all trees are (X0 a (X1 (X2 a a) a)): one more than D = 1 allows
binary[0, 3, 1] = binary[1, 2, 3] = binary[2, 3, 3] = 1.0
grammar = Grammar(np.eye(4)[0], binary, [[0.0]] * 3 + [[1.0]], Vocabulary(("a",)))
for make in (generate, failed_derivations):
    make(grammar, 2, 1, stream(0))
    try:
        make(grammar, 1, 1, stream(0))
    except GrammarError as error:
        print("refused:", error)
"""


def test_a_grammar_that_never_fits():
    """An error, and no endless search."""
    refusal = "refused: no tree of this grammar fits a depth bound of 1"
    assert output_of(NEVER_FITS).count(refusal) == 2
