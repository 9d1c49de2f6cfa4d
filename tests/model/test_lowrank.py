"""Models of low-rank grammars: their files, unknown words, trees and probabilities."""

import io
import itertools
import json
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.bounded import bounded_table, expected_use
from dbpcfg.grammar.bounding import containment, fitting_mass
from dbpcfg.grammar.derivation import length_table
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.rules import rules_of
from dbpcfg.io.archive import write_archive
from dbpcfg.model import decoding, files
from dbpcfg.model.files import load_model, save_model, save_samples
from dbpcfg.model.generation import generate
from dbpcfg.model.model import Model
from dbpcfg.model.profile import as_json, profile
from dbpcfg.parsing.derivations import as_tree
from tests.oracle import all_sentences, truth
from tests.parsing.test_lowrank import drawn
from tests.rig.damage import damaged_archive
from tests.statistics import LEAST_P, goodness_of_fit

WORDS = Vocabulary(("a", "b", "c"))
LOW = LowRankGrammar(drawn(3, 4, 5, 1), WORDS)
DENSE = LOW.multiplied_out()
UNKNOWN = np.array([0, 0, 0, 0.1, 0.2, 0.0, 0.05])
SENTENCES = ["a b c a", "b never c b a seen", "c", "unseen", "a b a b c c b a"]


def bits(model) -> tuple:
    grammar = model.grammar
    arrays = [array.tobytes() for array in (*grammar.factors, model.unknown)]
    return grammar.vocabulary.words, grammar.names, model.depth, model.preprocessing, *arrays


@pytest.mark.parametrize("depth", [1, 2, None])
def test_round_trip(tmp_path: Path, depth: int | None) -> None:
    model, path = Model(LOW.named("ABCDEFG"), depth, unknown=UNKNOWN), tmp_path / "model.npz"
    save_model(model, path)
    again = load_model(path)
    assert isinstance(again.grammar, LowRankGrammar)
    assert bits(again) == bits(model)
    save_model(again, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
        names = {"header", "root", "parent", "left", "right", "emission", "unknown"}
        assert set(file.files) == names
        assert json.loads(file["header"].tobytes())["version"] == 2


def test_damaged_files(tmp_path: Path) -> None:
    model, path = Model(LOW, 2, unknown=UNKNOWN), tmp_path / "model.npz"
    save_model(model, path)
    good, chance, refused = path.read_bytes(), Random(1), 0
    for _ in range(300):
        path.write_bytes(damaged_archive(good, chance))
        try:
            load_model(path)
        except GrammarError as error:
            refused += str(path) in str(error)
    assert refused > 150


def test_versions_and_arrays_go_together(tmp_path: Path) -> None:
    path, header = tmp_path / "model.npz", {"words": ["a", "b", "c"]}
    factors = {**LOW.factors._asdict(), "unknown": UNKNOWN}
    for version in (1, 3, True):
        write_archive(path, files.FORMAT, version, header, factors)
        with pytest.raises(GrammarError, match=f"version {version} of the format; .* version 2"):
            load_model(path)


def test_samples_need_the_categories_of_the_model(tmp_path: Path) -> None:
    save_model(Model(LOW, 2), tmp_path / "model.npz")
    save_samples([LowRankGrammar(drawn(2, 4, 5, 1), WORDS)], tmp_path / "samples.npz")
    with pytest.raises(GrammarError, match="do not have K = 7 categories, as the model does"):
        dbpcfg.load(tmp_path / "model.npz", samples=True)


@pytest.mark.parametrize("depth", [1, 2, 3, None])
@pytest.mark.parametrize("chain", [False, True])
def test_probabilities_are_those_of_the_dense_grammar(depth: int | None, chain: bool) -> None:
    low, dense = (Model(g, depth, unknown=UNKNOWN, samples=(g, g)) for g in (LOW, DENSE))
    logs = [
        [one.log_probability for one in model.probabilities(SENTENCES, chain=chain)]
        for model in (low, dense)
    ]
    np.testing.assert_allclose(logs[0], logs[1], rtol=0, atol=1e-10)
    assert np.isfinite(logs).all()


def test_unknown_words_keep_the_factors() -> None:
    low, dense = (Model(g, 2, unknown=UNKNOWN).grammar_with_unknown for g in (LOW, DENSE))
    assert isinstance(low, LowRankGrammar)
    np.testing.assert_allclose(low.multiplied_out().binary, dense.binary, atol=1e-15)
    np.testing.assert_allclose(low.lexical, dense.lexical, atol=1e-15)
    everywhere = Model(LOW, 2, unknown=np.full(7, 0.1))
    assert not everywhere.unknown[: LOW.factors.phrases].any()
    assert isinstance(everywhere.grammar_with_unknown, LowRankGrammar)


@pytest.mark.parametrize("method", ["mbr", "mbr-chain", "viterbi"])
@pytest.mark.parametrize("depth", [2, None])
def test_trees_are_those_of_the_dense_grammar(method: str, depth: int | None) -> None:
    low, dense = (Model(g, depth, unknown=UNKNOWN, samples=(g,)) for g in (LOW, DENSE))
    found, expected = (model.parses(SENTENCES, method=method) for model in (low, dense))
    for (one,), (other,) in zip(found, expected, strict=True):
        assert one.tree == other.tree
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-10)
        assert one.posterior == pytest.approx(other.posterior, abs=1e-10)


@pytest.mark.parametrize("depth", [1, 2, 3, None])
def test_what_is_said_of_a_grammar_is_that_of_the_dense_one(depth: int | None) -> None:
    np.testing.assert_allclose(containment(LOW, depth), containment(DENSE, depth), atol=1e-13)
    for one, other in zip(expected_use(LOW, depth), expected_use(DENSE, depth), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    lengths = [length_table(grammar, depth, 9) for grammar in (LOW, DENSE)]
    np.testing.assert_allclose(*lengths, atol=1e-14)
    low, dense = (as_json(profile(grammar, depth)) for grammar in (LOW, DENSE))
    assert [c["name"] for c in low["categories"]] == [c["name"] for c in dense["categories"]]
    for one, other in zip(low["categories"], dense["categories"], strict=True):
        assert [r["rule"] for r in one["rules"]] == [r["rule"] for r in other["rules"]]
    if depth is not None:
        rows = [bounded_table(grammar, depth, 4).rows for grammar in (LOW, DENSE)]
        assert [row[0] for row in rows[0]] == [row[0] for row in rows[1]]
        for one, other in zip(*rows, strict=True):
            assert one[1:] == pytest.approx(other[1:], abs=1e-12)
        assert np.abs(containment(LOW, depth) - containment(DENSE, depth + 1)[:-2]).max() > 1e-6
    assert len(list(rules_of(LOW))) == len(list(rules_of(DENSE)))
    assert "X0" in LOW._repr_html_()


@pytest.mark.parametrize("depth", [1, 2, None])
@pytest.mark.parametrize("longest", [None, 4])
def test_generated_trees_follow_the_grammar(depth: int | None, longest: int | None) -> None:
    """Shapes and labels of short trees, and all others together; another grammar is caught."""
    number = 3_000
    trees = [str(tree) for tree in generate(Model(LOW, depth), number, 3, longest)]
    again = [str(tree) for tree in generate(Model(LOW, depth), 50, 3, longest)]
    assert again == trees[:50]
    p = length_table(DENSE, depth, 4)
    short = (p[0] @ DENSE.root).sum()
    whole = short if longest else fitting_mass(DENSE, containment(DENSE, depth))

    def fit(grammar: Grammar) -> float:
        expected: dict[str, float] = {}
        for words in itertools.chain(*(all_sentences(3, n) for n in (1, 2))):
            for b in truth(grammar, list(words), depth).bracketings:
                for row in np.flatnonzero(b.weights > 0):
                    tree = as_tree(b.nodes(row), [WORDS.words[w] for w in words])
                    expected[str(tree)] = b.weights[row] / whole
        observed = Counter(tree if tree in expected else "longer" for tree in trees)
        expected["longer"] = 1 - sum(expected.values())
        return goodness_of_fit(observed, expected, number)

    assert fit(DENSE) > LEAST_P
    assert fit(LowRankGrammar(drawn(3, 4, 5, 2), WORDS).multiplied_out()) < 1e-8


def test_nothing_multiplies_rules_out_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GrammarError, match=r"grammar\.multiplied_out\(\) has one"):
        assert LOW.binary.any()
    monkeypatch.setattr(LowRankGrammar, "multiplied_out", LowRankGrammar.binary.fget)
    for depth in (2, None):
        model = Model(LOW, depth, unknown=UNKNOWN, samples=(LOW,))
        for method in ("mbr", "mbr-chain", "viterbi", "sample"):
            assert len(model.parse(SENTENCES, method=method)) == len(SENTENCES)
        for method in ("viterbi", "sample"):
            assert len(model.parses(SENTENCES, n=3, method=method)[0]) == 3
        assert model.probability(SENTENCES).sentences == len(SENTENCES)
        model.show()
    assert "rank 5" in repr(LOW)


def test_impossible_sentences_have_flat_trees() -> None:
    model = Model(LOW, 2)
    trees = model.parse(["a b never", "a b c"])
    assert trees[0].label == decoding.FLAT
    assert trees[1].label != decoding.FLAT
    with pytest.raises(DbpcfgError, match="at least 0 and below 1"):
        Model(LOW, 2, unknown=np.ones(7))


@pytest.mark.parametrize("method", ["mbr", "mbr-chain"])
def test_what_is_too_improbable_for_single_precision_has_a_tree(method: str) -> None:
    least = 1e-30
    children = np.array([[1.0], [least]])
    factors = Factors(np.array([1.0, least]), np.ones((1, 1)), children, children, np.ones((1, 1)))
    grammar = LowRankGrammar(factors, Vocabulary(("a",)))
    model = Model(grammar, 2, samples=(grammar,))
    found = model.parse([["a", "a", "a"], ["b"]], method)
    assert [tree.label for tree in found] == ["X0", "X"]
    assert found[0].words() == ["a", "a", "a"]
