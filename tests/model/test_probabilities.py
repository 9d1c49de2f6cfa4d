"""Probabilities of text against sums over all trees, and what is said of words not known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.readers.text import MAX_WORDS
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.bounding import containment
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model import decoding as parsing
from dbpcfg.model.model import Model
from dbpcfg.model.probabilities import SentenceProbability, probability_table, totals
from tests.oracle import truth
from tests.strategies import random_grammar


def true_probability(grammar: Grammar, words: list[str], depth: int | None) -> float:
    total = truth(grammar, [grammar.vocabulary.index[word] for word in words], depth).total
    return total if depth is None else total / float(grammar.root @ containment(grammar, depth)[0])


TEXT = [["w0"], ["w1", "w0", "w2"], ["w2", "w2"], ["w0", "w1", "w1", "w2", "w0"]]


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_probabilities_are_sums_over_all_trees(depth):
    grammars = [random_grammar(2, 3, 1.0, seed) for seed in range(4)]
    model = Model(grammars[0], depth, samples=tuple(grammars[1:]))
    logs = [one.log_probability for one in model.probabilities(TEXT)]
    assert logs == pytest.approx(
        [math.log(true_probability(grammars[0], words, depth)) for words in TEXT], rel=1e-10
    )
    whole = model.probability(TEXT)
    assert (whole.sentences, whole.tokens) == (4, 11)
    assert whole.log_probability == pytest.approx(sum(logs))
    predictive = [one.log_probability for one in model.probabilities(TEXT, chain=True)]
    means = [
        np.mean([true_probability(grammar, words, depth) for grammar in grammars[1:]])
        for words in TEXT
    ]
    assert predictive == pytest.approx(np.log(means).tolist(), rel=1e-10)


def test_neither_threads_nor_batches_matter(monkeypatch):
    model = Model(random_grammar(3, 3, 1.0, 0), 2)
    once = list(model.probabilities(TEXT * 5))
    assert list(model.probabilities(TEXT * 5, threads=3)) == once
    monkeypatch.setattr(parsing, "BATCH", 3)
    again = list(model.probabilities(TEXT * 5))
    assert [one.log_probability for one in again] == pytest.approx(
        [one.log_probability for one in once], rel=1e-14
    )


def test_probability_is_a_distribution_over_sentences_and_unknown_words():
    """With the open grammar, all sentences of two words sum to the probability of two words."""
    model = Model(random_grammar(2, 2, 1.0, 1), 2, unknown=[0.3, 0.1])
    text = [[a, b] for a in ("w0", "w1", "new") for b in ("w0", "w1", "newer")]
    total = sum(math.exp(one.log_probability) for one in model.probabilities(text))
    mass = sum(
        true_probability(model.grammar_with_unknown, [a, b], 2)
        for a in model.grammar_with_unknown.vocabulary.words
        for b in model.grammar_with_unknown.vocabulary.words
    )
    assert total == pytest.approx(mass, rel=1e-10)
    assert sum(one.unknown for one in model.probabilities(text)) == 6


def test_words_that_are_classes_or_unknown():
    grammar = random_grammar(2, 4, 1.0, 0)
    words = Vocabulary(("the", "<number>", "<*ed>", "walked"))
    grammar = Grammar(grammar.root, grammar.binary, grammar.lexical, words)
    model = Model(grammar, 1, Preprocessing(numbers=True, rare=1), [0.1, 0.1])
    (one,) = model.probabilities(["The 1987 jumped walked xyz"])
    assert (one.tokens, one.unknown, one.classes) == (5, 1, 2)
    (exact,) = model.probabilities([["the", "<number>", "<*ed>", "walked", "<unknown>"]])
    assert one.log_probability == exact.log_probability


def sentence(tokens: int, log: float, unknown: int = 0, classes: int = 0) -> SentenceProbability:
    return SentenceProbability(Sentence(("w",) * tokens), log, unknown, classes)


def test_sums_and_their_table():
    everything, possible = totals(
        [sentence(2, -3.0, 0, 1), sentence(3, -math.inf, 2, 0), sentence(6, -5.0, 1, 0)]
    )
    assert (possible.sentences, possible.tokens, possible.impossible) == (2, 8, 0)
    assert possible.log_probability == -8.0
    assert possible.perplexity == pytest.approx(math.e)
    assert possible.perplexity_with_ends == pytest.approx(math.exp(0.8))
    assert possible.bits_per_word == pytest.approx(1 / math.log(2))
    assert (everything.sentences, everything.tokens, everything.impossible) == (3, 11, 1)
    assert everything.perplexity == everything.bits_per_word == math.inf
    table = probability_table(everything, possible, grammars=4)
    assert [row[0] for row in table.rows] == ["all", "possible"]
    assert table.rows[1][1:4] == (2, 8, 1 / 8)
    assert "sentences of probability zero: 1" in table.notes
    assert "P(sentence) is the mean under 4 grammars of the chain" in table.notes
    shown = table.text().splitlines()
    assert max(map(len, shown)) <= 80
    assert shown[3].split() == ["all", "3", "11", "27.3", "-inf", "inf", "inf", "inf"]
    assert table.json()["rows"][0]["perplexity"] is None
    one_row = probability_table(possible, possible)
    assert len(one_row.rows) == 1


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(-5000, 0), st.integers(1, 30)), min_size=1, max_size=8))
def test_perplexity_is_bits_in_other_words(items):
    whole, _ = totals(sentence(tokens, log) for log, tokens in items)
    assert math.log2(whole.perplexity) == pytest.approx(whole.bits_per_word, abs=1e-9) or (
        whole.perplexity == math.inf
    )
    assert whole.perplexity_with_ends <= whole.perplexity


def test_no_text_has_no_perplexity():
    whole = Model(random_grammar(2, 2, 1.0, 0), 2).probability([])
    assert math.isnan(whole.perplexity)
    assert math.isnan(whole.bits_per_word)


def test_sentences_of_probability_zero():
    """A word that nothing stands for, a word that nobody emits; the others are not disturbed."""
    grammar = random_grammar(2, 2, 1.0, 0)
    lexical = np.concatenate([grammar.lexical, np.zeros((2, 1))], axis=1)
    model = Model(
        Grammar(grammar.root, grammar.binary, lexical, Vocabulary(("a", "b", "silent"))), 2
    )
    found = list(model.probabilities(["a b", "a new b", "silent", "b"]))
    assert [one.log_probability == -math.inf for one in found] == [False, True, True, False]
    assert [one.unknown for one in found] == [0, 1, 0, 0]
    alone = [one.log_probability for one in model.probabilities(["a b", "b"])]
    assert [found[0].log_probability, found[3].log_probability] == pytest.approx(alone, rel=1e-14)
    with_room = replace(model, unknown=[0.1, 0.1])
    assert all(one.log_probability > -math.inf for one in with_room.probabilities(["a new b"]))


def test_what_cannot_be_asked_for():
    model = Model(random_grammar(2, 2, 1.0, 0), 2)
    with pytest.raises(DbpcfgError, match="no other grammars of the chain"):
        model.probabilities(["w0"], chain=True)
    with pytest.raises(DbpcfgError, match="sentence 2 has 1,001 words"):
        list(model.probabilities(["w0", ["w0"] * (MAX_WORDS + 1)]))
