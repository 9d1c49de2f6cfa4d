"""Corpora whose words are names that the package uses itself: learning, parsing, surprisal."""

from collections import Counter

import pytest

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.trees.brackets import read_trees

OURS = (
    "<unknown> <<unknown>> <number> <<number>> <*ed> <rare> <word> <Cap> <> </s> X X0 X1 T - ROOT"
)
NAMES = [
    OURS.split(),
    *(["X0", word, "walked", str(n), "Rained", word] for n, word in enumerate(OURS.split())),
    ["a", "b", "<unknown>", "<number>"],
]
PREPARATIONS = [
    {},
    {"numbers": True},
    *({"lowercase": False, "rare": 1, "scheme": s} for s in ("suffix", "shape", "both", "one")),
    {"numbers": True, "rare": 2},
]


@pytest.mark.parametrize("preprocessing", PREPARATIONS, ids=str)
def test_a_run_over_names(tmp_path, preprocessing):
    out = tmp_path / "run"
    run = dbpcfg.induce(NAMES, 2, out=out, chains=1, iterations=4, **preprocessing)
    trees = list(read_trees((out / "trees.txt").read_text()))
    assert [tree.words() for tree in trees] == NAMES
    model = dbpcfg.load(out)
    assert [tree.words() for tree in model.parse(NAMES)] == NAMES
    in_class = preprocessing.get("rare") and preprocessing.get("scheme") in ("one", "shape")
    assert model.look_up("neverseen").kind == ("class" if in_class else "unknown")
    # Every word of the corpus is what it was in the run, and none is the unknown word.
    forms = run.corpus.forms
    for words, numbers in zip(NAMES, map(forms.numbers, range(len(forms))), strict=True):
        seen = [model.look_up(word) for word in words]
        assert [one.number for one in seen] == numbers.tolist()
        assert "unknown" not in [one.kind for one in seen]
    rows = model.surprisal(NAMES)
    assert len([row for row in rows if row.kind == "end"]) == len(NAMES)
    assert Counter(row.word for row in rows)["</s>"] > len(NAMES)


@pytest.mark.parametrize("preprocessing", PREPARATIONS, ids=str)
def test_a_word_never_has_the_form_of_a_class_that_it_is_not_in(preprocessing):
    sentences, chosen = [Sentence(tuple(words)) for words in NAMES], Preprocessing(**preprocessing)
    preprocessed = preprocess(sentences, chosen)
    words_of: dict[str, set[str]] = {}
    for sentence, forms in zip(sentences, preprocessed.encoded, strict=True):
        for word, form in zip(sentence.words, forms, strict=True):
            words_of.setdefault(form, set()).add(chosen.fold_case(word))
    shared = {form for form, words in words_of.items() if len(words) > 1}
    numbers = {"<number>"} if chosen.numbers else set()
    assert shared <= set(preprocessed.classes) | numbers
    assert not any(form in words for form, words in words_of.items() if form in shared)
    if not (chosen.rare or chosen.numbers):
        lower = [[word.lower() for word in words] for words in NAMES]
        assert list(preprocessed.encoded) == lower


def test_the_names_of_classes_still_stand_for_them_in_other_text():
    """Generated sentences, which have classes as words, can be parsed."""
    text = [["he", "walked", "7"], ["he", "talked", "8"]]
    model = dbpcfg.induce(text, 2, chains=1, iterations=4, numbers=True, rare=1).model
    assert model.look_up("<number>") == model.look_up("7")._replace(kind="word")
    assert model.look_up("<*ed>") == model.look_up("walked")._replace(kind="word")
    assert model.look_up("<unknown>").kind == "unknown"
