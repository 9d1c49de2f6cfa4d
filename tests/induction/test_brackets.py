"""Learning with known brackets: every tree has them, whatever the learner, and the same bytes."""

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.brackets import BracketError
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.corpus import RunCorpus, load_corpus, save_corpus
from dbpcfg.trees.brackets import read_trees
from tests.induction.small import written

TEXT = [
    "a [b c] d",
    "[a b] [c a b]",
    "a b c d",
    "a b c d",
    "[a b c] d",
    "c [[a d] b a] d",
    "d d",
    "[b [a c]] a",
]
PLAIN = [line.replace("[", "").replace("]", "") for line in TEXT]
OPTIONS = {"K": 3, "D": 2, "chains": 2, "iterations": 8, "threads": 1, "seed": 2, "quiet": True}
LEARNERS = {
    "gibbs": {},
    "gibbs without a bound": {"D": None, "trees": "consensus"},
    "em": {"learner": "em", "batch": 3},
    "vb": {"learner": "vb", "precision": "single"},
    "neural": {"learner": "neural", "K": 6, "iterations": 3},
}


def induce(text, out=None, **changed):
    return dbpcfg.induce(text, out=out, **{"learner": "gibbs", **OPTIONS, **changed})


def missing(trees, text=TEXT) -> int:
    """How many brackets trees do not have."""
    seen = map(
        Preprocessing(brackets="text").apply, [Sentence(tuple(line.split())) for line in text]
    )
    spans = [{(i, j) for i, j, _ in tree.spans()} for tree in trees]
    return sum(len(set(one.brackets) - found) for one, found in zip(seen, spans, strict=True))


@pytest.mark.parametrize("name", LEARNERS)
def test_all_trees_have_their_brackets(name):
    run = induce(TEXT, brackets="text", **LEARNERS[name])
    assert missing(run.trees()) == 0
    assert [" ".join(tree.words()) for tree in run.trees()] == PLAIN
    for method in ("mbr", "mbr-chain", "viterbi", "sample"):
        assert missing(run.model.parse(TEXT, method, brackets="text")) == 0
    assert missing(induce(PLAIN, **LEARNERS[name]).trees()) > 0
    assert run.model.preprocessing.brackets is None


def test_trees_give_the_same_as_text():
    flat = induce(TEXT, brackets="text")
    trees = read_trees(
        """(S a (X b c) d) (S (X a b) (Y (Y c a b))) (S a b c d) (S a b c d) (S (X a b c) d)
        (S c (X (Y a d) b a) d) (S d d) (S (X b (Y a c)) a)"""
    )
    sentences = [Sentence.from_tree(tree) for tree in trees]
    again = induce(sentences, brackets="trees")
    assert again.trees() == flat.trees()
    assert missing(flat.model.parse(sentences, brackets="trees")) == 0
    given = [Preprocessing(brackets="text").apply(Sentence(tuple(line.split()))) for line in TEXT]
    assert induce(given).trees() == flat.trees()


def test_one_corrected_bracket_changes_the_rest():
    model = induce(TEXT, brackets="text").model
    every = model.parses(["a b c d"], 100)[0]
    some = model.parses(["a [b c] d"], 100, brackets="text")[0]
    kept = [one for one in every if (1, 3) in {(i, j) for i, j, _ in one.tree.spans()}]
    assert [one.tree for one in some[:5]] == [one.tree for one in kept[:5]]
    assert some[0].log_probability == pytest.approx(kept[0].log_probability)
    share = some[0].posterior / kept[0].posterior
    assert share > 1
    assert some[1].posterior / kept[1].posterior == pytest.approx(share)


@pytest.mark.parametrize("name", ["gibbs", "em"])
def test_interruption_and_threads_change_no_byte(tmp_path, name):
    options = {**LEARNERS[name], "brackets": "text"}
    induce(TEXT, tmp_path / "whole", **options)
    calls = iter(range(1000))
    done = induce(
        TEXT, tmp_path / "cut", **options, checkpoint=0, should_stop=lambda: next(calls) >= 3
    )
    assert not done.finished
    assert dbpcfg.resume(tmp_path / "cut", quiet=True).finished
    assert written(tmp_path / "cut") == written(tmp_path / "whole")
    induce(TEXT, tmp_path / "two", **{**options, "threads": 2})
    assert written(tmp_path / "two") == written(tmp_path / "whole")


def test_the_file_of_the_sentences(tmp_path):
    """It has the brackets; damaged ones are recognised."""
    preprocessing, path = Preprocessing(brackets="text"), tmp_path / "corpus.npz"
    sentences = [Sentence(tuple(line.split())) for line in TEXT]
    corpus = RunCorpus.of(preprocess(sentences, preprocessing))
    save_corpus(corpus, path)
    again = load_corpus(path)
    np.testing.assert_array_equal(again.forms.brackets, corpus.forms.brackets)
    assert again.digest() == corpus.digest()
    plain = RunCorpus.of(
        preprocess([Sentence(tuple(line.split())) for line in PLAIN], Preprocessing())
    )
    assert plain.digest() != corpus.digest()
    save_corpus(plain, path)
    assert load_corpus(path).forms.brackets is None
    for wrong in ([[0, 0, 9]], [[0, 1, 3], [0, 1, 3]], [[99, 0, 2]], [[0, -1, 2]], [[1, 2]]):
        corpus.forms.__dict__["brackets"] = np.array(wrong, dtype=np.int32)
        save_corpus(corpus, path)
        with pytest.raises(DbpcfgError, match="its brackets are not those of its sentences"):
            load_corpus(path)


def test_brackets_that_no_tree_within_the_bound_has(tmp_path):
    message = r"<text>:0: found brackets that no tree within the bound D = 1 has: \[a d\]"
    with pytest.raises(BracketError, match=message):
        induce(TEXT, brackets="text", D=1)
    file = tmp_path / "text.txt"
    file.write_text("\n".join(TEXT) + "\nbroken ]\n")
    run = induce(file, brackets="text", D=1, skip_broken=True)
    left = [line for line in TEXT if "[[" not in line]
    assert missing(run.trees(), left) == 0
    with pytest.raises(BracketError, match=r"text.txt:9: found '\]'"):
        induce(file, brackets="text")
    with pytest.raises(BracketError, match=r"<text>:0: no tree within the bound has the brackets"):
        run.model.parse(TEXT, brackets="text")
    with pytest.raises(DbpcfgError, match="brackets are for whole sentences"):
        induce(TEXT, brackets="text", parser="leftcorner")
