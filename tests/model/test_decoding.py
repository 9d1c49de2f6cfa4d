"""Trees for other sentences, by every method; sentences that have none; samples."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import containment
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model import decoding as parsing
from dbpcfg.model.decoding import Decoder, in_batches
from dbpcfg.model.model import Model
from dbpcfg.parsing.derivations import as_tree
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree
from tests.nodes import as_nodes
from tests.oracle import mbr_tree, truth
from tests.statistics import LEAST_P, goodness_of_fit
from tests.strategies import grammars_and_sentences, random_grammar

METHODS = ("mbr", "mbr-chain", "viterbi", "sample")


def a_model(K: int = 3, W: int = 4, depth: int | None = 2, seed: int = 0, **options) -> Model:
    grammars = [random_grammar(K, W, 0.5, seed + n) for n in range(4)]
    return Model(grammars[0], depth, samples=tuple(grammars[1:]), **options)


def sentences(model: Model, number: int = 30, longest: int = 8) -> list[list[str]]:
    rng = np.random.default_rng(5)
    words = model.grammar.vocabulary.words
    return [
        [words[w] for w in rng.integers(0, len(words), n)] for n in rng.integers(1, longest, number)
    ]


@settings(max_examples=40)
@given(grammars_and_sentences(longest=5), st.sampled_from([None, 1, 2]))
def test_trees_are_those_of_brute_force(grammar_and_words, depth):
    grammar, numbers = grammar_and_words
    assume(depth is None or grammar.root @ containment(grammar, depth)[0] > 0)
    model = Model(grammar, depth)
    words = [grammar.vocabulary.words[w] for w in numbers]
    true = truth(grammar, numbers, depth)
    if true.total == 0:
        for method in ("mbr", "viterbi", "sample"):
            assert model.parse([words], method) == [Tree("X", words)]
        assert model.parses([words], 3)[0] == [parsing.Parse(Tree("X", words), -math.inf, 0.0)]
        return
    posterior = true.posterior()
    (ranked,) = model.parses([words], 4)
    best = sorted(posterior.values(), reverse=True)[:4]
    assert [one.posterior for one in ranked] == pytest.approx(best, rel=1e-9)
    mass = math.exp(model.parser().log_fitting_mass)
    logs = [math.log(p * true.total / mass) for p in best]
    assert [one.log_probability for one in ranked] == pytest.approx(logs, abs=1e-9)
    (one,) = model.parse([words], "viterbi")
    assert posterior[as_nodes(one).tobytes()] == pytest.approx(best[0], rel=1e-9)
    (one,) = model.parse([words], "sample")
    assert as_nodes(one).tobytes() in posterior
    (mbr,) = model.parse([words])
    gains = true.marginals.sum(axis=2)
    expected = mbr_tree(true.marginals)
    total = [sum(gains[i, j] for i, j, _ in nodes) for nodes in (as_nodes(mbr), expected)]
    assert total[0] == pytest.approx(total[1], abs=0.05)  # spans of 0.003 are pruned


def test_mbr_chain_averages_the_posteriors():
    model = a_model()
    for words in sentences(model, 10, 6):
        numbers = [model.grammar.vocabulary.index[word] for word in words]
        mean = sum(truth(grammar, numbers, 2).marginals for grammar in model.samples)
        assert model.parse([words], "mbr-chain") == [as_tree(mbr_tree(mean), words)]


def test_a_grammar_that_cannot_yield_a_sentence_has_no_say():
    model = a_model(K=2, W=2)
    deaf = Grammar(
        np.ones(2) / 2, np.full((2, 2, 2), 0.2), [[0.2, 0.0]] * 2, Vocabulary(("w0", "w1"))
    )
    words = ["w0", "w1", "w0"]
    mixed = replace(model, samples=(deaf, model.grammar))
    assert mixed.parse([words], "mbr-chain") == model.parse([words])
    assert replace(model, samples=(deaf,)).parse([words, ["w0"]], "mbr-chain")[0] == Tree(
        "X", words
    )


@pytest.mark.parametrize("method", METHODS)
def test_neither_threads_nor_batches_matter(method, monkeypatch):
    model = a_model(K=5, W=6)
    text = sentences(model)
    trees = model.parse(text, method, seed=3)
    n = 5 if method in ("viterbi", "sample") else 1
    found = model.parses(text, n, method, seed=3)
    assert [tree.words() for tree in trees] == text
    assert [parses[0].tree for parses in found] == trees
    whole = model.parser().log_probabilities(model.encode(text))
    for log, parses in zip(whole, found, strict=True):
        for one in parses:
            assert one.posterior == pytest.approx(min(1, math.exp(one.log_probability - log)))
    assert model.parse(text, method, seed=3, threads=3) == trees
    assert model.parses(text, n, method, seed=3, threads=2) == found
    monkeypatch.setattr(parsing, "BATCH", 7)
    assert model.parse(text, method, seed=3) == trees
    assert model.parses(text, n, method, seed=3) == found


DRAWS = 4000


def sample_fit(drawn: list[Tree], grammar: Grammar, numbers: list[int], depth: int | None) -> float:
    observed = Counter(as_nodes(tree).tobytes() for tree in drawn)
    return goodness_of_fit(observed, truth(grammar, numbers, depth).posterior(), len(drawn))


def test_samples_follow_the_posterior():
    """Of one sentence many, and of a sentence that comes again and again one each."""
    model, numbers = a_model(K=2, W=2, seed=7), [1, 0, 0, 1, 1]
    words = [f"w{w}" for w in numbers]
    many = [one.tree for one in model.parses([words], DRAWS, "sample", seed=4)[0]]
    assert sample_fit(many, model.grammar, numbers, 2) > LEAST_P
    one_each = model.parse([words] * DRAWS, "sample", seed=4)
    assert sample_fit(one_each, model.grammar, numbers, 2) > LEAST_P
    # Controls: another bound, another grammar, one tree again and again.
    assert sample_fit(many, model.grammar, numbers, 1) < 1e-8
    assert sample_fit(many, model.samples[0], numbers, 2) < 1e-8
    assert sample_fit([many[0]] * DRAWS, model.grammar, numbers, 2) < 1e-8


def test_samples_depend_on_the_seed_and_on_the_place():
    model = a_model(K=2, W=2, seed=7)
    words = ["w1", "w0", "w0", "w1", "w1", "w0"]
    trees = model.parse([words] * 20, "sample", seed=1)
    assert len(set(trees)) > 5
    assert model.parse([["w0"]] * 3 + [words], "sample", seed=1)[3] == trees[3]
    assert model.parse([words] * 20, "sample", seed=2) != trees


# --- words, texts, names --------------------------------------------------------------------------


def test_a_sentence_is_a_text_or_words():
    model = a_model()
    trees = model.parse(["w0  w1\tw2", ["w0", "w1", "w2"], Sentence(("w0", "w1", "w2"))])
    assert len(set(trees)) == 1
    (tree,) = replace(model, unknown=[0.1] * 3).parse(["W0 Zyx (w1)"], quiet=True)
    assert tree.words() == ["W0", "Zyx", "(w1)"]  # as written
    assert model.parse([]) == []
    assert model.parse("w0 w1 w2") == trees[:1]
    with pytest.raises(DbpcfgError, match=r"list of sentences, .* there is no file 'w0'"):
        model.parse("w0")
    with pytest.raises(DbpcfgError, match="sentence 2 has no words"):
        model.parse(["w0", " "])


def test_unknown_words_without_a_place_for_them():
    """The rest of the batch has its trees, and samples keep their numbers."""
    model = a_model()
    text = [["w0", "w1"], ["w0", "new"], ["w2"], ["w1", "w1", "w0"]]
    for method in METHODS:
        decoder = Decoder(model, method, seed=1)
        trees = [one for (one,) in decoder.trees([Sentence(tuple(words)) for words in text])]
        assert trees[1] == read_tree("(X w0 new)")
        assert (decoder.flat, decoder.first_flat) == (1, 1)
        known = model.parse([["w0"] if "new" in words else words for words in text], method, seed=1)
        assert [trees[n] for n in (0, 2, 3)] == [known[n] for n in (0, 2, 3)]
    assert model.parse([["new"]], quiet=True) == [read_tree("(X new)")]


@pytest.mark.parametrize("method", METHODS)
def test_one_word_many_and_too_many(method):
    model = a_model(K=2)
    rng = np.random.default_rng(0)
    long, too_long = [f"w{w}" for w in rng.integers(0, 4, 150)], ["w0"] * (MAX_WORDS + 1)
    one, many, flat = model.parse([["w3"], long, too_long], method)
    assert one.words() == ["w3"]
    assert many.words() == long
    assert many.is_binary
    assert flat == Tree("X", too_long)


def test_categories_keep_their_names():
    grammar = random_grammar(3, 4, 0.5, 0)
    named = Model(grammar.named(["S", "X0", "N-P"]), 2)
    (tree,) = named.parse(["w0 w1 w2 w3"])
    names = {"X0": "S", "X1": "X0", "X2": "N-P"}
    assert tree == Model(grammar, 2).parse(["w0 w1 w2 w3"])[0].relabel(names.__getitem__)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"method": "best"},
            "method must be consensus, mbr, mbr-chain, viterbi or sample, got 'best'",
        ),
        ({"n": 0}, "1 to 10,000 trees, not 0"),
        ({"n": 2, "method": "mbr"}, "mbr gives one tree"),
        ({"method": "mbr-chain"}, "needs other grammars of the chain"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_what_cannot_be_asked_for(options, said):
    with pytest.raises(DbpcfgError, match=said):
        Decoder(replace(a_model(), samples=()), **options)


def lines(*lengths: int) -> list[Sentence | None]:
    """Sentences of these lengths; 0 is a blank line."""
    return [Sentence(("w0",) * n) if n else None for n in lengths]


def test_batches_count_sentences_not_blank_lines(monkeypatch):
    monkeypatch.setattr(parsing, "BATCH", 2)
    a, _, b, c = given = lines(1, 0, 2, 1)
    assert list(in_batches(given)) == [([a, None], 0), ([b, c], 1)]


@given(st.lists(st.integers(0, 400)), st.sampled_from([None, 1, 5]))
def test_batches_are_not_too_much_work(lengths, most):
    text = lines(*lengths)
    batches = [batch for batch, _ in in_batches(text, most)]
    assert [one for batch in batches for one in batch] == text
    for batch in batches:
        assert 1 <= len(batch) <= (most or parsing.BATCH)
        work = sum(len(one.words) ** 3 for one in batch if one)
        assert len(batch) == 1 or work <= parsing.BATCH_WORK


def test_a_batch_that_is_full_does_not_wait_for_more():
    """At a terminal, the first line is answered before the second is typed."""
    first, second = lines(1, 2)
    typed = iter([first, second])
    assert next(in_batches(typed, most=1)) == ([first], 0)
    assert next(typed) is second
