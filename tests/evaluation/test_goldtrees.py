"""Finding the gold trees of a run's sentences, or saying why they are not there."""

import re

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.corpus import gold_spans
from dbpcfg.induction.directory import finished_run
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree
from tests.report.small import TREES, make_run, write_treebank


def test_each_sentence_gets_its_tree(run, gold):
    assert gold.trees == TREES
    assert gold.convention.punctuation == "tags"
    spans = gold_spans(gold.trees, gold.punctuation)  # the same marks as the run's own
    assert spans.words.tolist() == [marks.count(False) for marks in run.corpus.punctuation]


def test_sentences_that_the_run_left_out_are_left_out(run, tmp_path):
    longer = Tree("S", [TREES[0], TREES[1]])
    more = [longer, *TREES[:7], longer, *TREES[7:], longer]
    path = write_treebank(tmp_path / "more.mrg", more)
    assert run.match_gold(read(path).sentences, str(path)).trees == TREES


def test_another_word_is_named_with_its_place(run, tmp_path):
    words = TREES[4].words()
    other = TREES[4].replace_words(["odd", *words[1:]])
    path = write_treebank(tmp_path / "other.mrg", [*TREES[:4], other, *TREES[5:]])
    said = rf"other.mrg:5 is not sentence 5 of the run: word 1 is 'odd' there and {words[0]!r}"
    with pytest.raises(DbpcfgError, match=re.escape(said.replace("\\", ""))):
        run.match_gold(read(path).sentences, str(path))


def test_a_missing_sentence_is_named(run, tmp_path):
    path = write_treebank(tmp_path / "fewer.mrg", TREES[:-3])
    number = len(TREES) - 2
    with pytest.raises(DbpcfgError, match=rf"sentence {number} of the run, .* is not in .*fewer"):
        run.match_gold(read(path).sentences, str(path))


def test_round_brackets_may_be_written_as_treebanks_do(tmp_path):
    trees = [Tree("S", [Tree("A", ["(a)"]), Tree("B", ["b"])])] * 3
    run = finished_run(make_run(tmp_path / "run", trees, K=2, chains=1, iterations=2))
    path = write_treebank(tmp_path / "gold.mrg", trees)
    assert run.match_gold(read(path).sentences, "gold").sentences[0].words == ("-LRB-a-RRB-", "b")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a b c d e f g h", "'a b c d e f g h', is not in gold after gold:2"),
        ("a b c d e f g h i", "'a b c d e f g h …', is not in gold after gold:2"),
    ],
)
def test_a_missing_sentence_is_quoted(words, said):
    treebank = [
        Sentence.from_tree(read_tree(f"(X (X {w}))"), "gold", n + 1) for n, w in enumerate("xy")
    ]
    with pytest.raises(DbpcfgError, match=f"sentence 3 of the run, {said}; the treebank has 2 "):
        match_gold([["x"], ["y"], words.split()], treebank, "gold", "auto")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a b c", r"word 3 is missing \(the sentence has ended\) there and 'c' in the run"),
        ("a", r"word 2 is 'b' there and missing \(the sentence has ended\) in the run"),
    ],
)
def test_a_sentence_that_ends_elsewhere(words, said):
    treebank = [Sentence.from_tree(read_tree("(X (X a) (X b))"), "gold", 1)]
    with pytest.raises(DbpcfgError, match=f"gold:1 is not sentence 1 of the run: {said}"):
        match_gold([words.split()], treebank, "gold", "auto")


def test_sentences_are_found_by_their_words_not_by_their_length():
    treebank = [
        Sentence.from_tree(read_tree(text), "gold", line)
        for line, text in enumerate(["(X (X c) (X d))", "(X (X a) (X b))", "(X (X a) (X d))"], 1)
    ]
    assert match_gold([["a", "b"]], treebank, "gold", "auto").sentences == [treebank[1]]
    with pytest.raises(DbpcfgError, match=r"sentence 1 of the run, 'd a', is not in gold"):
        match_gold([["d", "a"]], treebank, "gold", "auto")


def test_a_run_without_punctuation_has_gold_trees_without_it():
    whole = read_tree("(S (NP (D the) (N cat)) (, ,) (VP (V sleeps)) (. .))")
    other = read_tree("(S (NP (N dogs)) (VP (V sleep)) (. .))")
    treebank = [Sentence.from_tree(tree) for tree in (whole, other)]
    found = match_gold([("dogs", "sleep")], treebank, "gold", "auto")
    assert [str(tree) for tree in found.trees] == ["(S (NP (N dogs)) (VP (V sleep)))"]
    both = match_gold([("the", "cat", "sleeps"), ("dogs", "sleep")], treebank, "gold", "auto")
    assert both.punctuation == [(False,) * 3, (False,) * 2]
    with pytest.raises(DbpcfgError, match="sentence 1 of the run, 'dogs', is not in gold"):
        match_gold([("dogs",)], treebank, "gold", "auto")
