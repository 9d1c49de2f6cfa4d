"""What the page of ``dbpcfg explore`` is told about a sentence, without a browser."""

import json
import math
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from dbpcfg import load
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.model import Model
from dbpcfg.report import explore
from dbpcfg.report.explore import BEST, EDGE, MAX_WORDS, Explored, Question
from dbpcfg.trees.tree import Tree
from tests.report.small import make_run
from tests.strategies import random_grammar

TEXT = "a1 b2 c3"


@pytest.fixture(scope="module")
def explored(run_path):
    return Explored.of_path(str(run_path))


@pytest.fixture(scope="module")
def neural(tmp_path_factory):
    """A grammar of low rank."""
    options = {"learner": "neural", "K": 12, "chains": 1, "iterations": 2}
    return Explored.of_path(str(make_run(tmp_path_factory.mktemp("low") / "neural", **options)))


@pytest.fixture(params=["dense", "low rank"])
def either(request, explored, neural):
    return explored if request.param == "dense" else neural


def nodes_of(tree: Tree) -> list[tuple[str, int]]:
    return [(node.label, 0 if node.preterminal else 2) for node in tree.nodes()]


def shown(tree: dict) -> list[tuple[str, int]]:
    return [(label, children) for label, children, _ in tree["nodes"]]


def brackets(tree: dict, n: int) -> dict[tuple[int, int], int]:
    """The spans of a tree of the answer, with their percentages."""
    spans, position, open_ = {}, 0, []
    for _, children, percent in tree["nodes"]:
        if children:
            open_.append([position, 2, percent])
            continue
        position += 1
        while open_:
            open_[-1][1] -= 1
            if open_[-1][1]:
                break
            start, _, share = open_.pop()
            spans[start, position] = share
    assert position == n
    return spans


@pytest.mark.parametrize("depth", [1, 2, 4, None])
def test_trees_and_surprisal_are_those_of_the_model(either, depth):
    model = replace(either.model, depth=depth)
    answer = either.answer(Question(TEXT, depth))
    mbr, *best = answer["trees"]
    (tree,) = model.parse([TEXT])
    assert shown(mbr) == nodes_of(tree)
    (parses,) = model.parses([TEXT], BEST)
    assert [shown(one) for one in best] == [nodes_of(parse.tree) for parse in parses]
    shares = [one["posterior"] for one in best]
    assert shares == pytest.approx([parse.posterior for parse in parses], rel=1e-9)
    rows = model.surprisal([TEXT])
    assert answer["surprisal"] == pytest.approx([row.surprisal for row in rows], rel=1e-9)
    assert answer["entropy"] == pytest.approx([row.next_word_entropy for row in rows], rel=1e-9)
    assert json.loads(json.dumps(answer, allow_nan=False))["words"] == TEXT.split()


def test_answers_at_once_are_those_one_by_one(either):
    words = ["a1", "b2", "c3", "a2", "b1", "zorp"]
    questions = [
        Question(" ".join(words[n % 3 : 3 + n % 4]), either.depths[n % 6]) for n in range(48)
    ]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(either.answer, questions))
    assert together == [either.answer(question) for question in questions]


def test_the_best_of_too_many_trees_are_left_out(either, monkeypatch):
    every = either.answer(Question(TEXT, 2))
    monkeypatch.setattr(explore, "AMBIGUOUS", 3)
    assert either.answer(Question(TEXT, 2)) == {**every, "trees": every["trees"][:1]}


def test_percentages_are_sums_over_all_trees(explored):
    (parses,) = explored.model.parses([TEXT], 2 * 4**5)
    assert math.isclose(sum(parse.posterior for parse in parses), 1.0)
    having = {
        span: sum(p.posterior for p in parses if span in [s[:2] for s in p.tree.spans()])
        for span in ((0, 3), (0, 2), (1, 3))
    }
    found = {}
    for tree in explored.answer(Question(TEXT, 2))["trees"]:
        found |= brackets(tree, 3)
    assert found == {span: round(100 * having[span]) for span in found}
    assert len(found) > 1


def test_what_is_known_holds_in_every_tree(either):
    for i, j in ((0, 2), (1, 3), (1, 4), (2, 4)):
        question = Question("a1 b2 c3 a2", 2, phrases=((i, j),))
        trees = either.answer(question)["trees"]
        assert all(brackets(tree, 4)[i, j] == 100 for tree in trees)
        (tree,) = either.model.parse([_bracketed(question)], brackets="text")
        assert shown(trees[0]) == nodes_of(tree)
        trees = either.answer(Question("a1 b2 c3 a2", 2, others=((i, j),)))["trees"]
        assert all((i, j) not in brackets(tree, 4) for tree in trees)
    free = either.answer(Question("a1 b2 c3 a2", 2))["trees"]
    assert 0 < len({(0, 2), (1, 3), (1, 4), (2, 4)} & brackets(free[0], 4).keys()) < 4


def _bracketed(question: Question) -> str:
    words = question.text.split()
    for i, j in question.phrases:
        words[i], words[j - 1] = f"[{words[i]}", f"{words[j - 1]}]"
    return " ".join(words)


def test_all_that_is_known_can_be_impossible(explored):
    both = Question(TEXT, 2, others=((0, 2), (1, 3)))
    with pytest.raises(DbpcfgError, match="has these brackets: take one back"):
        explored.answer(both)
    crossing = Question("a1 b2 c3 a2", 2, phrases=((0, 2), (1, 3)))
    with pytest.raises(DbpcfgError, match=r"\[a1 b2\] \[b2 c3\] cross: take one back"):
        explored.answer(crossing)
    with pytest.raises(DbpcfgError, match="beyond the sentence"):
        explored.answer(Question(TEXT, 2, phrases=((1, 4),)))


def test_what_is_too_long_or_nothing_is_refused_with_the_limit(explored):
    explored.answer(Question(" ".join(["a1"] * MAX_WORDS), 2))
    with pytest.raises(DbpcfgError, match=f"10,000 words; at most {MAX_WORDS} fit here"):
        explored.answer(Question("a1 " * 10_000, 2))
    with pytest.raises(DbpcfgError, match="a word of 70,000 characters"):
        explored.answer(Question("x" * 70_000, 2))
    with pytest.raises(DbpcfgError, match="no word in this"):
        explored.answer(Question(" \n", 2))
    with pytest.raises(DbpcfgError, match="must be one of"):
        explored.answer(Question(TEXT, 10**9))


def test_words_that_are_not_in_the_grammar():
    drawn = random_grammar(2, 2, 1.0, 0)
    grammar = Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(("yes", "no")))
    silent = Explored(Model(grammar, 2), "silent")
    with pytest.raises(DbpcfgError, match="'zorp' is not in the grammar"):
        silent.answer(Question("yes zorp", 2))
    known = Explored(Model(grammar, 2, unknown=np.array([0.1, 0.2])), "known")
    answer = known.answer(Question("YES zorp", 2))
    assert answer["kinds"] == ["word", "unknown"]
    assert answer["forms"] == ["yes", "<unknown>"]


def test_a_sentence_that_the_grammar_cannot_yield():
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary(("one",)))
    single = Explored(Model(grammar, 1), "single")
    assert len(single.answer(Question("one", 1))["trees"]) == 2
    with pytest.raises(DbpcfgError, match="no tree for this sentence"):
        single.answer(Question("one one", 1))


def test_punctuation_divides_as_in_parsing(run):
    model = replace(
        run.model, preprocessing=replace(run.model.preprocessing, punctuation_brackets=True)
    )
    text = "a1 b2 , c3 a2 a1"
    own = Explored(model, "own")
    mbr = own.answer(Question(text, 2))["trees"][0]
    assert shown(mbr) == nodes_of(model.parse([text])[0])
    assert brackets(mbr, 6)[3, 6] == 100
    across = own.answer(Question(text, 2, phrases=((1, 4),)))["trees"][0]
    assert brackets(across, 6)[1, 4] == 100  # who marks it knows better
    apart = own.answer(Question(text, 2, others=((3, 6),)))["trees"][0]
    assert (3, 6) not in brackets(apart, 6)


def test_spans_are_of_the_words_that_were_shown(run):
    preprocessing = replace(run.model.preprocessing, no_punctuation=True)
    bare = Explored(replace(run.model, preprocessing=preprocessing), "bare")
    answer = bare.answer(Question("a1 , b2 c3", 2, phrases=((0, 3),), words=4))
    assert answer["ignored"]
    assert answer["words"] == ("a1", "b2", "c3")
    answer = bare.answer(Question("a1 , b2 c3", 2, phrases=((0, 2),), words=3))
    assert not answer["ignored"]
    assert brackets(answer["trees"][0], 3)[0, 2] == 100


def check_use(categories: list[dict], trees: list[Tree]) -> None:
    """Compare the examples of categories with the trees that they are from."""
    nodes = [([EDGE, *t.words(), EDGE], span) for t in trees for span in t.spans(True)]
    phrases = Counter((s.label, " ".join(w[s.start + 1 : s.end + 1])) for w, s in nodes)
    contexts = Counter((s.label, f"{w[s.start]} … {w[s.end + 1]}") for w, s in nodes)
    for one in categories:
        assert [times for _, times in one["contexts"]] == sorted(
            (n for (label, _), n in contexts.items() if label == one["name"]), reverse=True
        )[: explore.EXAMPLES]
        assert all(contexts[one["name"], text] == n for text, n in one["contexts"])
        assert all(phrases[one["name"], text] == n and " " in text for text, n in one["phrases"])


def test_use_of_categories_is_counted_in_the_trees_of_the_run(explored, run, monkeypatch):
    trees = run.trees()
    check_use(explored.data["categories"], trees)
    assert max(len(one["phrases"]) for one in explored.data["categories"]) > 3
    assert explored.data["trees"] == len(trees)
    alone = Explored(run.model, "alone").data
    assert alone["trees"] == 0
    generated = run.model.generate(explore.GENERATED, max_length=explore.LONGEST_SAID)
    check_use(alone["categories"], generated)
    monkeypatch.setattr(explore, "MAX_TREES", 3)
    assert len(Explored(run.model, "few", iter(trees)).trees) == 3


def test_generated_sentences_are_those_of_the_model(explored, run_path):
    model = replace(load(run_path), depth=1)
    trees = model.generate(explore.SAID, 5, max_length=explore.LONGEST_SAID)
    assert explored.say(1, 5) == [" ".join(tree.words()) for tree in trees]
    assert explored.say(1, 6) != explored.say(1, 5)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"(X0 (X1 a1) (X2", "trees.txt"),
        (b"(NP (X1 a1) (X2 b2))", "the label 'NP'"),
        (b"(X0 (X1 \xff) (X2 b2))", "trees.txt"),
        (b"", "the file is empty"),
    ],
)
def test_damaged_trees_of_a_run(run_path, tmp_path, content, said):
    for name in ("model.npz", "trees.txt"):
        shutil.copy(run_path / name, tmp_path / name)
    (tmp_path / "trees.txt").write_bytes(content)
    with pytest.raises(DbpcfgError, match=said):
        _ = Explored.of_path(str(tmp_path)).data
