"""Models: unknown words, forms, and what a run leaves behind."""

import pickle
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.errors import DbpcfgError, GrammarError, MissingFileError, UnparsableError
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, draw_grammar
from dbpcfg.induction.chain import GRAMMARS_KEPT
from dbpcfg.model.files import load_samples
from dbpcfg.model.model import UNKNOWN, Model, unknown_mass
from dbpcfg.numerics.philox import stream
from tests.induction.small import SENTENCES, grammar_bits, run
from tests.strategies import random_grammar


def over(*words: str) -> Grammar:
    drawn = random_grammar(2, len(words), 1.0, 0)
    return Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(words))


def forms(model: Model, words: list[str]) -> list[str]:
    return [model.look_up(word).form for word in words]


def test_the_unknown_word_takes_its_share():
    model = Model(over("a", "b"), 2, unknown=[0.25, 0.0])
    G, opened = model.grammar, model.grammar_with_unknown
    assert opened.vocabulary.words == ("a", "b", UNKNOWN)
    np.testing.assert_allclose(opened.lexical[:, 2], [0.25, 0.0])
    np.testing.assert_allclose(opened.lexical[0, :2], 0.75 * G.lexical[0])
    np.testing.assert_allclose(opened.binary[0], 0.75 * G.binary[0])
    np.testing.assert_array_equal(opened.rows[1, :-1], G.rows[1])


def test_without_unknown_words_the_grammar_is_as_it_was():
    model = Model(over("a", "b"), 2)
    assert model.grammar_with_unknown is model.grammar
    with pytest.raises(UnparsableError, match="'c' is not in the grammar, which has 2 words"):
        model.encode([["a", "c"]])


def test_words_as_the_model_sees_them():
    model = Model(over("a", "<number>"), 2, Preprocessing(numbers=True), [0.1, 0.1])
    assert model.look_up("A") == (0, "a", "word")
    assert model.look_up("7") == (1, "<number>", "class")
    assert model.look_up("Z") == (2, UNKNOWN, "unknown")
    closed = replace(model, unknown=None)
    assert closed.look_up("Z") == (-1, "z", "unknown")
    assert closed.look_up("a") == model.look_up("a")


def test_a_grammar_may_have_its_own_word_for_unknown_ones():
    model = Model(over("a", UNKNOWN), None)
    assert forms(model, ["a", "z"]) == ["a", UNKNOWN]


def test_unknown_words_have_another_name_if_the_text_has_that_one():
    model = Model(over("a", UNKNOWN), None, unknown=[0.1, 0.1])
    assert forms(model, ["a", UNKNOWN, "z"]) == ["a", UNKNOWN, "<<unknown>>"]
    assert [model.look_up(word).kind for word in (UNKNOWN, "z")] == ["word", "unknown"]


def test_unknown_mass_of_a_category_by_hand():
    """β over the expansions and one β for each of 4 rules, 3 words and the word never seen."""
    np.testing.assert_allclose(unknown_mass(np.array([3.0, 0.0]), 0.5, 4 + 3), [0.5 / 7, 0.5 / 4])


def test_unknown_mass_is_the_predictive_probability():
    """Draws of a row over one more word, which was never counted: their mean."""
    counts = RuleWeights.zeros(2, 4)
    counts.lexical[0, :3] = (5, 2, 1)
    counts.binary[0, 1, 1] = 3
    counts.lexical[1, 0] = 40
    beta, words = 0.5, Vocabulary(("a", "b", "c", "new"))
    draws = [draw_grammar(counts, beta, words, stream(0, 0, n)).lexical[:, 3] for n in range(4000)]
    expected = unknown_mass(counts.rows.sum(axis=1), beta, 4 + 3)
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (np.abs(np.mean(draws, axis=0) - expected) < 4 * error).all()
    wrong = unknown_mass(counts.rows.sum(axis=1), beta, 4 + 40)  # the control: another vocabulary
    assert (np.abs(np.mean(draws, axis=0) - wrong) > 4 * error).any()


def test_forms_follow_the_preparation():
    grammar = over("the", "<number>", "<*ed>")
    model = Model(grammar, 1, Preprocessing(numbers=True, rare=1), [0.1, 0.1])
    words = ["The", "1987", "Walked", "ran", UNKNOWN]
    assert forms(model, words) == ["the", "<number>", "<*ed>", UNKNOWN, UNKNOWN]
    as_written = Model(grammar, 1, Preprocessing(lowercase=False), [0.1, 0.1])
    assert forms(as_written, ["The", "the"]) == [UNKNOWN, "the"]


@given(st.lists(st.lists(st.text(min_size=1), min_size=1), max_size=5))
def test_any_words_have_numbers(sentences):
    model = Model(over("a", "b"), 2, unknown=[0.1, 0.2])
    encoded = model.encode(sentences)
    assert encoded.lengths.tolist() == [len(sentence) for sentence in sentences]
    assert np.isfinite(model.parser().log_probabilities(encoded)).all()


@pytest.mark.parametrize("unknown", [[0.5], [0.5, 1.0], [-0.1, 0.5], [np.nan, 0.5]])
def test_not_probabilities(unknown):
    with pytest.raises(GrammarError, match="unknown must be K = 2 probabilities"):
        Model(over("a", "b"), 2, unknown=unknown)


# --- equality -------------------------------------------------------------------------------------

PLAIN = random_grammar(2, 2, 1.0, 0)
FACTORS = Factors(
    *(np.full(shape, 1 / 2) for shape in ((2,), (1, 2))),
    *(np.full((2, 2), 1 / 2) for _ in range(2)),
    np.full((1, 2), 1 / 2),
)
LOW_RANK = LowRankGrammar(FACTORS, PLAIN.vocabulary)


@pytest.mark.parametrize("grammar", [PLAIN, LOW_RANK], ids=["plain", "low-rank"])
def test_a_copy_is_equal(grammar, tmp_path):
    model = Model(grammar, 2, unknown=[0.0, 0.1], classes={"w1": {"fern": 2}})
    model.save(tmp_path / "model.npz")
    again = dbpcfg.load(tmp_path / "model.npz")
    for same in (copy(model), deepcopy(model), pickle.loads(pickle.dumps(model)), again):
        assert same == model
        assert hash(same) == hash(model)
        assert len({same, model}) == 1


def test_whatever_differs_is_noticed():
    model = Model(PLAIN, 2)
    words = Vocabulary(("w0", "w2"))
    others = [
        replace(model, grammar=LOW_RANK),
        replace(model, grammar=LOW_RANK.multiplied_out()),
        replace(model, grammar=random_grammar(2, 2, 1.0, 1)),
        replace(model, grammar=Grammar(PLAIN.root, PLAIN.binary, PLAIN.lexical, words)),
        replace(model, grammar=PLAIN.named(["NP", "VP"])),
        replace(model, depth=3),
        replace(model, depth=None),
        replace(model, unknown=[0.0, 1e-9]),
        replace(model, preprocessing=Preprocessing(lowercase=False)),
        replace(model, samples=(PLAIN,)),
        replace(model, classes={"w1": {"fern": 2}}),
        "a model",
    ]
    for n, other in enumerate(others):
        assert other != model, n
        assert all(other != another for another in others[:n]), n


# --- what a run leaves behind ---------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [2, 3, 16, 17, 18, 35])
def test_grammars_are_kept_evenly(iterations):
    chain = run(iterations)
    retained = range(iterations // 2, iterations)
    states = [grammar_bits(run(n).state.grammar) for n in retained if n]
    kept = [states.index(grammar_bits(grammar)) for grammar in chain.grammars]
    assert kept[0] == 0
    assert len(set(np.diff(kept))) <= 1
    assert min(len(states), GRAMMARS_KEPT // 2) <= len(kept) <= GRAMMARS_KEPT


def test_a_run_becomes_a_model(tmp_path):
    made = dbpcfg.induce(SENTENCES, K=3, D=2, chains=2, iterations=20, out=tmp_path / "run")
    model = dbpcfg.load(tmp_path / "run")
    assert grammar_bits(model.grammar) == grammar_bits(made.grammar)
    assert (model.depth, model.preprocessing) == (2, Preprocessing())
    assert (model.unknown > 0).all()
    assert model.unknown.sum() < 0.5
    assert model.unknown.tobytes() == made.model.unknown.tobytes()
    assert model.samples == ()
    samples = dbpcfg.load(tmp_path / "run", samples=True).samples
    assert list(map(grammar_bits, samples)) == list(map(grammar_bits, made.best.grammars))
    alone = dbpcfg.load(tmp_path / "run" / "model.npz")
    assert grammar_bits(alone.grammar) == grammar_bits(model.grammar)


def test_what_is_no_model(tmp_path):
    with pytest.raises(GrammarError, match=r"not a run of dbpcfg: there is no model\.npz"):
        dbpcfg.load(tmp_path)
    with pytest.raises(MissingFileError, match="cannot be read: No such file"):
        dbpcfg.load(tmp_path / "none")
    with pytest.raises(GrammarError, match="is one grammar"):
        dbpcfg.load(tmp_path / "g.tsv", samples=True)
    endless = {"iterations": 10**7, "checkpoint": 0, "should_stop": lambda: True}
    dbpcfg.induce(SENTENCES, K=3, chains=2, out=tmp_path / "run", **endless)
    with pytest.raises(GrammarError, match="not finished: resume it with `dbpcfg resume"):
        dbpcfg.load(tmp_path / "run")


def test_samples_that_are_not_the_models(tmp_path):
    dbpcfg.induce(SENTENCES, K=3, D=2, chains=1, iterations=8, out=tmp_path)
    with pytest.raises(DbpcfgError, match=r"samples\.npz: expected lexical of shape"):
        load_samples(tmp_path / "samples.npz", Vocabulary(("a",)))
    (tmp_path / "samples.npz").write_bytes(b"nothing")
    with pytest.raises(DbpcfgError, match=r"samples\.npz: not a dbpcfg samples file"):
        dbpcfg.load(tmp_path, samples=True)
