"""What the neural grammar learns from: stretches between punctuation marks, and CCL's brackets."""

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import utterances
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.corpus import RunCorpus, gold_spans, load_corpus, save_corpus
from dbpcfg.induction.learners import neural
from dbpcfg.induction.lessons import (
    ccl_brackets,
    lessons_of,
    stretches_of,
    suited,
    whole_sentences,
)
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.induction.trees import mbr_under
from dbpcfg.systems.ccl import CCL
from tests.induction.small import written

LINES = [
    "well , the dog chased a cat , and the cat ran .",
    "no , no , the ball !",
    "a cat saw the dog",
    "( the ball , ) said the dog",
    "oh .",
] * 5
BRACKETED = Preprocessing(punctuation_brackets=True, no_punctuation=True)


def prepared(preprocessing=BRACKETED):
    return preprocess([Sentence(tuple(line.split())) for line in LINES], preprocessing)


def words(corpus, lessons) -> list[str]:
    return [" ".join(sentence) for sentence in lessons.sentences][: len(lessons.parts) // 5]


def test_sentences_are_divided_at_marks():
    corpus = prepared()
    assert stretches_of(corpus)[:2] == [[(0, 1), (1, 6), (6, 10)], [(0, 1), (1, 2), (2, 4)]]
    lessons = lessons_of(corpus, 3, limit=4)
    # "well" and "no" are words, not stretches; five words are too many; "oh" is a sentence
    assert words(corpus, lessons) == [
        "and the cat ran",
        "the ball",
        "the ball",
        "said the dog",
        "oh",
    ]
    assert lessons.sentences.brackets is None
    for (s, start, end), part in zip(lessons.parts.tolist(), lessons.sentences, strict=True):
        assert corpus.encoded[s][start:end] == part
    whole = lessons_of(prepared(Preprocessing(no_punctuation=True)), 3, 0)
    assert len(whole.parts) == len(LINES)


def test_speech_is_learned_from_without_the_brackets_of_punctuation():
    """Its trees have them."""
    for learner in ("auto", "neural"):
        options = {"K": 6, "iterations": 1, "chains": 2, "quiet": True}
        lines = [Sentence(tuple(line.split())) for line in LINES * 5]
        run = dbpcfg.induce(lines, learner=learner, **options)
        assert run.corpus.forms.brackets is not None
        assert run.corpus.learned.brackets is None
        assert list(run.corpus.learned) == list(run.corpus.forms)
        spans = {(i, j) for i, j, _ in run.trees()[0].spans()}
        assert (1, 6) in spans  # the dog chased a cat


@pytest.mark.parametrize("teacher", ["none", "ccl"])
def test_what_is_held_out_is_part_of_the_same_lessons(gold, teacher):
    """With --held-out, the same is learned from but for every n-th part."""
    _, sentences = gold
    options = {"K": 6, "D": 2, "iterations": 2, "chains": 1, "batch": 8, "quiet": True}
    options |= {"learner": "neural", "teacher": teacher}
    plain, apart = (dbpcfg.induce(sentences, **options, held_out=n) for n in (0, 3))
    assert list(apart.corpus.learned) == list(plain.corpus.learned)
    assert np.array_equal(apart.corpus.lessons.parts, plain.corpus.lessons.parts)
    brackets = [run.corpus.learned.brackets for run in (apart, plain)]
    assert (brackets[0] is None) == (brackets[1] is None) == (teacher == "none")
    assert teacher == "none" or np.array_equal(*brackets)
    assert vars(apart.configuration.model.learner) == vars(plain.configuration.model.learner)
    assert np.isfinite(apart.best.measures["heldout"]).all()
    assert np.isnan(plain.best.measures["heldout"]).all()


def test_brackets_that_are_given_are_learned_with():
    lines = [Sentence(tuple(f"[the dog] barked , {line}".split())) for line in LINES * 5]
    options = {"K": 6, "iterations": 1, "chains": 2, "quiet": True}
    run = dbpcfg.induce(lines, learner="neural", brackets="text", **options)
    assert run.corpus.lessons is None
    assert (0, 2) in {(i, j) for _, i, j in run.corpus.learned.brackets.tolist()}  # the dog


def test_whole_sentences():
    corpus = prepared()
    lessons = whole_sentences(corpus)
    assert list(lessons.sentences) == list(corpus.encoded)
    assert lessons.parts.tolist() == [[s, 0, len(own)] for s, own in enumerate(corpus.encoded)]
    assert corpus.encoded.brackets is not None
    assert lessons.sentences.brackets is None


def test_the_limit_leaves_half_of_the_words():
    lessons = lessons_of(prepared(), 3, limit=1)
    learned = sum(map(len, lessons.sentences))
    assert 2 * learned >= sum(map(len, prepared().encoded)) * 0.9
    assert max(map(len, lessons.sentences)) < 5


def test_brackets_are_those_of_ccl_within_stretches():
    corpus = prepared()
    lessons = lessons_of(corpus, None, limit=0, brackets=ccl_brackets(corpus))
    given = []
    for words_, own in zip(corpus.encoded, stretches_of(corpus), strict=True):
        parts = [[*([","] if start else []), *words_[start:end]] for start, end in own]
        given.append([word for part in parts for word in part])
    brackets = [{(i, j) for i, j, _ in tree.spans()} for tree in CCL().fit(given).trees()]
    found = [set() for _ in lessons.parts]
    for part, i, j in lessons.sentences.brackets.tolist():
        found[part].add((i, j))
    for (s, start, end), own in zip(lessons.parts.tolist(), found, strict=True):
        inside = {(i - start, j - start) for i, j in brackets[s] if start <= i and j <= end}
        assert own == {(i, j) for i, j in inside if 1 < j - i < end - start}
    assert any(found)


def test_stretches_whose_brackets_do_not_fit_the_bound_are_left_out():
    """With D = 1, a right child has a word as its left child."""
    corpus = preprocess([Sentence(tuple("abcd")), Sentence(tuple("efgh"))], BRACKETED)
    brackets = [[(0, 2), (0, 3)], [(1, 3), (1, 4)]]
    for depth, learned in ((1, ["a b c d"]), (2, ["a b c d", "e f g h"])):
        found = lessons_of(corpus, depth, 0, brackets)
        assert list(map(" ".join, found.sentences)) == learned
        assert found.parts[:, 0].tolist() == list(range(len(learned)))


@pytest.mark.parametrize("side", ["right", "left"])
def test_of_a_teacher_the_brackets_are_taken_that_branch_as_the_language_does(side):
    """Function words begin phrases of one language, and end those of the other."""
    words = [f"w{number}" for number in range(40)]
    lines = [["the", a, "of", b, "in", c] for a, b, c in zip(words, words[7:], words[11:])]
    if side == "left":
        lines = [line[::-1] for line in lines]
    corpus = preprocess([Sentence(tuple(line)) for line in lines], BRACKETED)
    right = [[(k, 6) for k in range(6)] for _ in lines]
    left = [[(0, k) for k in range(1, 7)] for _ in lines]
    mixed = [[(0, 6), (0, 4), (2, 4), (4, 6), (1, 6)] for _ in lines]
    good, bad = (right, left) if side == "right" else (left, right)
    assert suited(corpus, good) is good
    assert suited(corpus, bad) == [[] for _ in lines]
    some = [(4, 6), (1, 6)] if side == "right" else [(0, 4)]
    assert suited(corpus, mixed) == [some for _ in lines]
    none = [[] for _ in lines]
    assert suited(corpus, none) is none  # nothing speaks against it


def test_of_a_teacher_all_brackets_are_taken_where_the_side_is_not_known():
    lines = [Sentence(tuple("abcd")), Sentence(tuple("badc"))]
    mixed = [[(0, 2), (0, 3)], [(1, 3), (0, 3)]]
    assert suited(preprocess(lines, BRACKETED), mixed) is mixed


def test_brackets_are_judged_within_stretches():
    """A bracket of the first stretch reaches the right side though the sentence goes on."""
    words = [f"w{number}" for number in range(40)]
    lines = [
        ["the", a, "of", b, ",", "in", c, "of", a] for a, b, c in zip(words, words[7:], words[11:])
    ]
    corpus = preprocess([Sentence(tuple(line)) for line in lines], BRACKETED)
    mixed = [[(0, 4), (2, 4), (0, 3), (1, 3), (6, 8), (4, 6), (4, 7)] for _ in lines]
    assert suited(corpus, mixed) == [[(2, 4), (6, 8)] for _ in lines]


def test_brackets_that_do_not_suit_are_not_taught_unless_asked_for(monkeypatch):
    words = [f"w{number}" for number in range(200)]
    some = [Sentence(("the", *words[k : k + 9])) for k in range(0, 190)]
    left = [[(0, k) for k in range(1, 11)] for _ in some]
    mixed = [[(0, 3), (0, 4), (5, 10)] for _ in some]
    for brackets, asked, teacher, number in (
        (left, "auto", "none", 0),
        (left, "ccl", "ccl", 8),
        (mixed, "auto", "ccl", 1),
        (mixed, "ccl", "ccl", 3),
    ):
        monkeypatch.setattr(neural, "ccl_brackets", lambda corpus, progress, found=brackets: found)
        plan = InductionPlan(learner="neural", learner_options={"teacher": asked})
        _, lessons, settings, _, why = plan.preprocess(some)
        assert settings.learner.teacher == teacher
        assert bool(lessons.note) == (asked == "auto")
        taught = lessons.sentences.brackets
        assert (0 if taught is None else len(taught)) == number * len(lessons.sentences)
        assert ("taught by CCL" in why, "without a teacher" in why) == (
            teacher == "ccl",
            teacher == "none",
        )


@pytest.mark.parametrize(
    ("brackets", "said"), [([(0, 3), (0, 4), (5, 10)], True), ([(7, 10), (5, 10)], False)]
)
def test_that_a_teacher_does_not_suit_is_said_before_learning(brackets, said, monkeypatch):
    some = [["the", *(f"w{k + n}" for n in range(9))] for k in range(190)]
    monkeypatch.setattr(neural, "ccl_brackets", lambda *_: [brackets for _ in some])
    notes, before = [], []
    run = dbpcfg.induce(
        some,
        K=3,
        iterations=1,
        chains=1,
        on_note=notes.append,
        on_plan=lambda _: before.extend(notes),
    )
    assert run.configuration.model.learner.teacher == "ccl"
    assert (f"note: {neural.UNSUITED}" in before) == said


def test_lessons_are_kept_in_the_file_of_the_sentences(tmp_path):
    corpus, path = prepared(), tmp_path / "corpus.npz"
    lessons = lessons_of(corpus, 3, limit=5, brackets=ccl_brackets(corpus))
    save_corpus(RunCorpus(**{**vars(RunCorpus.of(corpus)), "lessons": lessons}), path)
    again = load_corpus(path).lessons
    np.testing.assert_array_equal(again.parts, lessons.parts)
    np.testing.assert_array_equal(again.sentences.tokens, lessons.sentences.tokens)
    np.testing.assert_array_equal(again.sentences.brackets, lessons.sentences.brackets)
    for wrong in ([99, 0, 1], [0, 3, 3], [0, 0, 99], [-1, 0, 1]):
        damaged = lessons._replace(parts=np.array([wrong]))
        save_corpus(RunCorpus(**{**vars(RunCorpus.of(corpus)), "lessons": damaged}), path)
        with pytest.raises(DbpcfgError, match="parts"):
            load_corpus(path)


@pytest.fixture(scope="module")
def gold():
    trees = utterances(60)
    return trees, [Sentence((*tree.words(), ",", "yes", ",", *tree.words(), ".")) for tree in trees]


OPTIONS = {"learner": "neural", "K": 9, "chains": 2, "iterations": 10, "teacher": "ccl"}


def test_a_run_parses_whole_sentences(gold, tmp_path):
    trees, sentences = gold
    run = dbpcfg.induce(sentences, out=tmp_path / "run", **OPTIONS)
    assert run.corpus.lessons is not None
    assert [tree.words() for tree in run.trees()] == [
        [word for word in one.words if word not in ",."] for one in sentences
    ]
    for tree, one in zip(run.trees(), trees, strict=True):
        n, spans = len(one), {(i, j) for i, j, _ in tree.spans()}
        assert n < 2 or {(0, n), (n + 1, 2 * n + 1)} <= spans
    again = dbpcfg.load(tmp_path / "run").parse(sentences)
    spans = [{(i, j) for i, j, _ in tree.spans()} for tree in again]
    assert all(len(one) < 2 or (0, len(one)) in own for one, own in zip(trees, spans, strict=True))


def test_resuming_makes_no_difference(gold, tmp_path):
    _, sentences = gold
    dbpcfg.induce(sentences, out=tmp_path / "whole", **OPTIONS)
    options = {**OPTIONS, "checkpoint": 0, "should_stop": lambda: True}
    dbpcfg.induce(sentences, out=tmp_path / "cut", **options)
    assert dbpcfg.resume(tmp_path / "cut", quiet=True).finished
    assert written(tmp_path / "cut") == written(tmp_path / "whole")


def test_scores_are_of_whole_sentences(gold):
    trees, _ = gold
    sentences = [Sentence(tree.words()) for tree in trees]
    run = dbpcfg.induce(sentences, gold=trees, **{**OPTIONS, "chains": 1})
    assert run.corpus.lessons is not None
    settings, forms = run.configuration.model, run.corpus.forms
    trees_then = mbr_under([run.best.last.grammar], settings.depth, forms)
    f1 = gold_spans(trees, run.corpus.punctuation).f1(forms.starts, trees_then.nodes)
    assert run.best.scores == {10: f1}
    assert 0 < f1 < 1
