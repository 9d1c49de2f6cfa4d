"""One pass over all trees: what is counted, what is left out, and what it says of mistakes."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import AlignmentError
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.evaluation.tables import comparison_table, evaluation_tables
from dbpcfg.io.tables import render
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.helpers import marks, sentence

GOLD = [
    "(ROOT (S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))) (. .)))",
    "(ROOT (S (V go) (. .)))",
    "(ROOT (. .))",
    "(ROOT (S (NP (D a) (N cat)) (VP (V ran))))",
    "(ROOT (S (NP (N dogs)) (VP (V run) (ADVP (R on) (R and) (R on)))))",
]
PREDICTED = [
    "(X (X1 (D1 the) (N1 dog)) (X2 (V1 saw) (X1 (D1 a) (N1 cat))))",
    "(X go .)",
    "(X .)",
    "(X (X1 (D1 a) (N1 cat)) (V1 ran))",
    "(X (N1 dogs) (X2 (X2 (V1 run) (R1 on)) (X2 (R1 and) (R1 on))))",
]


def example(convention=None, gold=GOLD, predicted=PREDICTED, **options):
    gold = [sentence(tree, "gold.mrg", line) for line, tree in enumerate(gold, 1)]
    predicted = [sentence(tree, "out.trees", line) for line, tree in enumerate(predicted, 1)]
    return evaluate(gold, predicted, [marks(it.tree) for it in gold], convention, **options)


def test_everything_at_once():
    it = example()
    assert it.statistics.tolist() == [[4, 4, 4], [2, 2, 2], [2, 4, 3]]
    assert (it.score.matched, it.score.predicted, it.score.gold) == (8, 10, 9)
    assert it.score.skipped.only_punctuation == it.score.skipped.too_short == 1
    assert (it.recall.matched, it.recall.gold) == (3, 3)
    # Sentences 1 and 2 choose X1; sentence 4 has one noun phrase, and it is X1's.
    assert [one.label for one in it.aggregate.chosen] == ["X1"]
    assert it.aggregate.counts == (1, 1, 1)
    assert "mapping:first-half-2" in it.aggregate.signature
    assert it.constituents.induced == ("X", "X1", "X2")
    assert it.constituents.gold == ("NP", "S", "VP")
    assert it.constituents.counts.tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 2]]
    assert it.constituents.score().v_measure == pytest.approx(1)
    assert (it.tags.induced, it.tags.gold) == (("D1", "N1", "R1", "V1"), ("D", "N", "R", "V"))
    assert (it.tags.counts > 0).tolist() == np.eye(4, dtype=bool).tolist()
    assert it.gold_depths.counts == (4,)
    assert it.predicted_depths.counts == (3, 1)
    assert it.gold_depths.only_punctuation == 1


def test_the_convention_goes_to_all_of_it():
    it = example(Convention(max_length=3))
    assert it.score.skipped.too_long == 2
    assert it.recall.gold == 1
    assert it.gold_depths.sentences == 2
    for signature in (it.score, it.recall, it.aggregate, it.constituents, it.tags, it.gold_depths):
        assert "length:<=3" in signature.signature


def test_options():
    it = example(category="VP", mapping_sentences=4, direction="left")
    assert (it.recall.matched, it.recall.gold) == (2, 2)
    assert [one.label for one in it.aggregate.chosen] == ["X2"]
    assert "gold:VP" in it.aggregate.signature
    assert "mapping:first-4|" in it.aggregate.signature
    assert "binary:left" in it.gold_depths.signature
    one_word = example(aggregate_min_words=1)
    assert "span:>=1|mapping" in one_word.aggregate.signature
    assert one_word.aggregate.counts.gold == 2  # dogs is a noun phrase too
    with pytest.raises(DbpcfgError, match="aggregate_min_words must be at least 1, not 0"):
        example(aggregate_min_words=0)


def test_bare_trees():
    trees = [[read_tree(tree) for tree in side] for side in (GOLD, PREDICTED)]
    it = evaluate(*trees, [marks(tree) for tree in trees[0]])
    assert it.statistics.tolist() == example().statistics.tolist()
    assert it.tags.counts.tolist() == example().tags.counts.tolist()


def test_gold_tags_may_stand_beside_the_tree():
    gold = Sentence(("go", "."), tags=("V", "."), tree=read_tree("(S go .)"))
    it = evaluate([gold], [sentence("(X (X1 go) .)")], [(False, True)])
    assert (it.tags.induced, it.tags.gold) == (("X1",), ("V",))


def test_no_sentences():
    it = evaluate([], [], [])
    assert math.isnan(it.score.f1)
    assert math.isnan(it.aggregate.f1)
    assert it.gold_depths.counts == ()
    render(evaluation_tables({"none": it}), "json")


def test_progress():
    done = []
    example(progress=done.append)
    assert done == [1, 2, 3, 4, 5]


def test_numbers_of_trees_that_differ():
    with pytest.raises(DbpcfgError, match=r"5 gold trees in gold.mrg but 4 predicted trees in out"):
        example(predicted=PREDICTED[:-1])
    with pytest.raises(DbpcfgError, match="1 gold tree but marks of punctuation for 0"):
        evaluate([read_tree("(S a)")], [read_tree("(S a)")], [])


def test_trees_that_have_shifted():
    with pytest.raises(AlignmentError, match=r"gold.mrg:1 and out.trees:1 .* 'the' .* 'go'"):
        example(predicted=[*PREDICTED[1:], PREDICTED[0]])
    bare = [read_tree("(S a b)"), read_tree("(S a c)")]
    with pytest.raises(AlignmentError, match="<gold>:2 and <predicted>:2"):
        evaluate(bare, [bare[0], bare[0]], [(False, False)] * 2)


def test_comparisons():
    better, worse = (
        example(),
        example(predicted=GOLD[:1] + PREDICTED[1:4] + ["(X dogs run on and on)"]),
    )
    it = better.compare(worse, permutations=99)
    assert it.first == better.score.f1
    assert it.second == worse.score.f1
    intervals = better.intervals(resamples=200)
    assert intervals.f1[0] <= better.score.f1 <= intervals.f1[1]
    with pytest.raises(DbpcfgError, match="different conventions"):
        better.compare(example(Convention(whole_sentence=False)))
    with pytest.raises(DbpcfgError, match="not scored on the same gold trees"):
        better.compare(replace(worse, statistics=np.array([[1, 1, 1]])))


def test_report():
    ours = example()
    tables = evaluation_tables({"ours": ours, "gold": example(predicted=GOLD)})
    text = render(tables)
    assert "ours     80.0   88.9   84.2" in text
    assert ours.score.signature in text
    assert ours.aggregate.signature in text
    assert "X1 (100.0)" in text
    data = json.loads(render(tables, "json"))
    assert [table["title"] for table in data] == [
        "PARSEVAL",
        "NP discovery",
        "Constituent labels",
        "Word categories",
        "Memory depth",
    ]
    assert data[0]["rows"][0]["f1"] == ours.score.f1
    comparison = comparison_table({("ours", "ours"): ours.compare(ours, permutations=9)})
    assert comparison.rows[0][-1] == 1.0
    assert r"\toprule" in render([comparison, *tables], "latex")


def test_punctuation_by_a_rule():
    gold = [read_tree("(S (NP (D the) (N dog)) (VP (V barks)) (. .))")]
    trees = [read_tree("(X (X the) (X (X dog) (X (X barks) (X .))))")]
    found = evaluate(gold, trees)
    same = evaluate(gold, trees, [(False, False, False, True)])
    assert found.score.f1 == same.score.f1
    assert found.convention.punctuation == "tags"
    by_rule = evaluate(gold, trees, "characters")
    assert by_rule.score.f1 == same.score.f1
    assert by_rule.convention.punctuation == "characters"
    assert evaluate(trees, trees).score.f1 == 1.0
