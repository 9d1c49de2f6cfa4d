"""Models of several chains: how they parse, and what their files have."""

import json
import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import dbpcfg
from dbpcfg.cli.inputs import open_model
from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import utterances
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.consensus import SharedSpans
from dbpcfg.io.archive import write_archive
from dbpcfg.model.files import load_model, save_model
from dbpcfg.model.model import Model
from dbpcfg.parsing.consensus import Consensus
from dbpcfg.parsing.direction import branching_trees
from dbpcfg.parsing.labels import LatentClasses
from dbpcfg.systems.branching import branching_tree
from dbpcfg.trees.tree import Tree
from tests.induction.test_summary import most_votes, spans
from tests.strategies import random_grammar

TEXT = [Sentence(tree.words()) for tree in utterances(150)]
OTHER = [tree.words() for tree in utterances(60, seed=1)]
SETTINGS = {
    "neural": {"learner": "neural", "K": 6, "iterations": 2, "chains": 3},
    "em": {"learner": "em", "K": 3, "iterations": 3, "chains": 3, "trees": "consensus"},
    "one chain": {"learner": "neural", "K": 6, "iterations": 1, "chains": 1},
}


@pytest.fixture(scope="module", params=["neural", "em", "no chain votes"])
def run(request):
    """Of three chains that vote, or of which one is seen and branching trees vote."""
    made = dbpcfg.induce(TEXT, **SETTINGS.get(request.param, SETTINGS["neural"]), quiet=True)
    vars(made)["side"] = "right" if request.param == "no chain votes" else None
    vars(made)["trusted"] = [] if request.param == "no chain votes" else made.survivors
    return made


def test_a_run_parses_its_own_text_as_it_did(run):
    """Up to rounding: unknown words take a little of the probability of others."""
    assert run.voting
    assert len(run.model.voters) == (0 if run.side else 2)
    found = run.parse([one.words for one in TEXT])
    same = [tree == own for tree, own in zip(found, run.trees(), strict=True)]
    assert np.mean(same) > 0.97
    alone = run.parse([one.words for one in TEXT], "mbr")
    assert np.mean([tree == own for tree, own in zip(alone, run.trees())]) < 0.9


def test_a_tree_has_the_most_votes(run):
    """Of the chains' trees, each parsed alone, and of branching trees."""
    model = run.model
    rule, first = model.consensus, model.parse(OTHER, "mbr")
    ballots = [first] * rule.selected + [voter.parse(OTHER, "mbr") for voter in model.voters]
    for s, tree in enumerate(model.parse(OTHER)):
        own = [spans(trees[s]) for trees in ballots]
        if rule.branching:
            straight = branching_tree(rule.side, OTHER[s], None, s)
            own += [spans(straight)] * rule.branching
        votes = Counter(span for one in own * 2 for span in one)
        votes.update(spans(first[s]) * rule.selected)
        n = len(tree)
        assert sum(votes[span] for span in spans(tree)) == most_votes(votes, 0, n, n)
        assert tree.tags() == first[s].tags()


def test_files_have_all_chains(run, tmp_path):
    run.save(tmp_path / "run")
    model = dbpcfg.load(tmp_path / "run")
    assert replace(run.model, samples=()) == model
    assert model.parse(OTHER) == run.model.parse(OTHER)
    save_model(model, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "run/model.npz").read_bytes()
    others = replace(model, voters=model.voters[::-1])
    assert (others == model) == (len(model.voters) < 2)
    rule = replace(model.consensus, branching=model.consensus.branching + 1)
    assert replace(model, consensus=rule) != model
    assert model != replace(model, voters=(), consensus=None)


def test_a_single_chain_has_none():
    run = dbpcfg.induce(TEXT, **SETTINGS["one chain"], quiet=True)
    assert run.model.consensus is None
    assert run.model.parse(OTHER) == run.model.parse(OTHER, "mbr")
    with pytest.raises(DbpcfgError, match="consensus needs several chains"):
        run.model.parse(OTHER, "consensus")


def test_what_a_consensus_cannot_say(run):
    with pytest.raises(DbpcfgError, match="trees of a consensus have no probability"):
        run.model.parses(OTHER, 1, "consensus")


def test_another_bound_is_one_for_all_chains(run):
    model = replace(run.model, depth=1)
    voters = tuple(replace(voter, depth=1) for voter in model.voters)
    assert model.parse(OTHER) == replace(model, voters=voters).parse(OTHER)


def test_batches_do_not_matter(run):
    model = run.model
    assert [model.parse([words])[0] for words in OTHER[:20]] == model.parse(OTHER)[:20]


def test_unknown_words_have_trees(run):
    (tree,) = run.model.parse([["the", "zyxomma", *OTHER[0]]])
    assert len(list(tree.spans())) == len(OTHER[0]) + 1


def test_the_probability_of_unknown_words_is_one_for_all_chains(run, tmp_path):
    run.model.save(tmp_path / "model.npz")
    path = str(tmp_path / "model.npz")
    none, some = (open_model(path, unknown=share) for share in (0.0, 0.25))
    assert none.parse([["the", "zyxomma"]])[0].label == "X"  # flat
    (tree,) = some.parse([["the", "zyxomma"]])
    assert tree.label != "X"
    for model in (some, *some.voters):
        assert model.unknown.max() == 0.25
    assert none.parse(OTHER) == replace(none, unknown=None).parse(OTHER)


def test_a_chain_that_might_vote_is_selected_before_others(monkeypatch):
    """Where none does."""
    made = dbpcfg.induce(TEXT, **SETTINGS["neural"], quiet=True)
    best, astray = made.best.settings.chain, [made.best.settings.chain]
    monkeypatch.setattr(SharedSpans, "astray", lambda self, side: astray)
    vars(made).update(side="right", trusted=[])
    del vars(made)["best"]
    assert made.best.settings.chain != best
    astray.extend({0, 1, 2} - {best})
    del vars(made)["best"]
    assert made.best.settings.chain == best


def dense(words: str, silent: int | None = None, seed: int = 0) -> Model:
    """A grammar at random; it never says one of the words."""
    vocabulary = Vocabulary(tuple(words))
    grammar = random_grammar(2, len(words), 1.0, seed)
    lexical = grammar.lexical.copy()
    if silent is not None:
        lexical[:, silent] = 0
    total = lexical.sum(axis=1) + grammar.binary.sum(axis=(1, 2))
    rules = grammar.root, grammar.binary / total[:, None, None], lexical / total[:, None]
    return Model(Grammar(*rules, vocabulary), 2)


RULE = Consensus(
    side="right", branching=1, classes=LatentClasses(np.array([0]), np.zeros(1), np.zeros((12, 1)))
)


def test_a_sentence_that_one_chain_cannot_say_has_a_flat_tree():
    model = replace(dense("abc"), voters=(dense("abc", silent=2, seed=1),), consensus=RULE)
    first, second, third = model.parse(["a b", "a c b", "b a"])
    assert (first.label, third.label) == ("X0", "X0")
    assert second == Tree("X", ["a", "c", "b"])


GOOD = replace(dense("abc"), voters=(dense("abc", seed=1),), consensus=RULE)
ARRAYS = {
    **{name: getattr(GOOD.grammar, name) for name in ("root", "binary", "lexical")},
    "unknown": GOOD.unknown,
    **{
        f"grammars_{name}": getattr(GOOD.voters[0].grammar, name)[None]
        for name in ("root", "binary", "lexical")
    },
    "voters_unknown": GOOD.voters[0].unknown[None],
    "class_names": np.array([0]),
    "class_priors": np.zeros(1),
    "class_labels": np.zeros((12, 1)),
}
HEADER = {
    "words": list("abc"),
    "names": list(GOOD.grammar.names),
    "depth": 2,
    "preprocessing": GOOD.preprocessing.table(),
    "classes": {},
    "consensus": {"selected": True, "side": "right", "branching": 1},
}


def written(path, arrays=(), **consensus):
    header = {**HEADER, "consensus": {**HEADER["consensus"], **consensus}}
    write_archive(path, "dbpcfg model", 3, header, {**ARRAYS, **dict(arrays)})
    return path


def test_the_file_without_damage_is_read(tmp_path):
    assert load_model(written(tmp_path / "m.npz")) == GOOD
    save_model(GOOD, tmp_path / "same.npz")
    assert load_model(tmp_path / "same.npz") == GOOD


@pytest.mark.parametrize(
    "consensus",
    [
        {"side": "up"},
        {"side": None},  # branching trees need a side
        {"selected": 1},
        {"branching": -1},
        {"branching": 10**9},
        {"branching": 1.0},
        {"branching": True},
        {"more": 1},
    ],
    ids=json.dumps,
)
def test_damaged_headers(tmp_path, consensus):
    with pytest.raises(GrammarError, match="the consensus in its header does not say"):
        load_model(written(tmp_path / "m.npz", **consensus))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"class_names": np.array([2])}, "the classes of phrases do not fit"),
        ({"class_names": np.array([-1])}, "the classes of phrases do not fit"),
        ({"class_names": np.array([0, 1])}, "the classes of phrases do not fit"),
        ({"class_priors": np.array([np.nan])}, "the classes of phrases do not fit"),
        ({"class_labels": np.full((12, 1), np.inf)}, "the classes of phrases do not fit"),
        ({"class_labels": np.zeros((11, 1))}, "the classes of phrases do not fit"),
        ({"class_labels": np.zeros(12)}, "the classes of phrases do not fit"),
        ({"voters_unknown": np.zeros((2, 2))}, "the grammars of other chains"),
        ({"voters_unknown": np.zeros((1, 3))}, "unknown must be K = 2"),
        ({"voters_unknown": np.full((1, 2), 2.0)}, "unknown must be K = 2"),
        ({"grammars_root": np.ones((1, 2))}, "root"),
        ({"grammars_root": np.ones((2, 2)) / 2}, "as many of each"),
    ],
)
def test_damaged_arrays(tmp_path, arrays, said):
    with pytest.raises(GrammarError, match=said):
        load_model(written(tmp_path / "m.npz", arrays))


def test_chains_are_compared_in_blocks_of_any_size(run, monkeypatch):
    def everything():
        shared = SharedSpans(run.shared.trees)
        trees, rule = Consensus(side="right", branching=1).learn(list(shared.trees.values()))
        return [
            trees.nodes,
            *rule.arrays().values(),
            shared.votes(trees),
            shared.sentences(),
            shared.agreement(),
            list(shared.branching(trees).values()),
        ]

    expected = everything()
    monkeypatch.setattr("dbpcfg.parsing.consensus.BATCH", 7)
    for found, own in zip(everything(), expected, strict=True):
        np.testing.assert_array_equal(found, own)


def test_chains_of_a_large_text_are_compared_in_little_memory():
    """Less than twice that of the trees, where one array of numbers of spans for each is more."""
    text = Encoded.from_sentences([f"w{n}" for n in range(5)] for _ in range(20_000))
    sides = [branching_trees(text, side) for side in ("right", "left", "right", "left")]
    tracemalloc.start()
    try:
        shared = SharedSpans(dict(enumerate(sides)))
        assert shared.agreement() == pytest.approx(1 / 3)
        assert [shared.branching(trees)["right"] for trees in sides] == [1, 0, 1, 0]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * sides[0].nodes.nbytes
