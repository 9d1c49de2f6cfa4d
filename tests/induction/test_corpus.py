"""The sentences of a run, kept with it."""

from __future__ import annotations

import pytest

from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import corpus as module
from dbpcfg.induction.corpus import RunCorpus, load_corpus, save_corpus
from dbpcfg.io.archive import read_archive, write_archive
from tests.induction.small import refuses_damage

TEXT = ["The cat saw a Dog .", "It barked !", "Well ...", "the dog saw 7 cats", "Ünïcödé\u2028x 猫"]


def corpus(*lines: str, **options) -> RunCorpus:
    sentences = [Sentence(tuple(line.split(" "))) for line in lines or TEXT]
    return RunCorpus.of(prepare(sentences, Preparation(**options)))


def content(found: RunCorpus) -> tuple:
    return (
        *(list(found.forms), list(found.words), found.punctuation),
        *(found.forms.tokens.tolist(), found.forms.vocabulary, found.words.vocabulary),
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "corpus.npz"


@pytest.mark.parametrize("options", [{}, {"rare": 1, "numbers": True}, {"max_length": 2}], ids=str)
def test_round_trip(path, options):
    before = corpus(**options)
    save_corpus(before, path)
    after = load_corpus(path)
    assert content(after) == content(before)
    assert after.digest() == before.digest()
    assert after.forms.tokens.dtype == before.forms.tokens.dtype
    assert after.forms.tokens.flags.writeable  # kernels would compile anew for arrays that are not


def test_words_as_written_and_forms():
    assert corpus().words[0] == ["The", "cat", "saw", "a", "Dog", "."]
    assert corpus().forms[0] == ["the", "cat", "saw", "a", "dog", "."]
    assert corpus().punctuation[1:3] == [(False, False, True), (False, True)]


def test_digest_tells_texts_apart():
    texts = [
        corpus(),
        corpus(lowercase=False),
        corpus(rare=1),
        corpus(*TEXT[:-1]),
        corpus(*TEXT[::-1]),
        corpus(TEXT[0] + " " + TEXT[1], *TEXT[2:]),
        corpus("the cat", "saw"),
        corpus("the", "cat saw"),
        corpus("The", "cat saw"),
    ]
    assert len({text.digest() for text in texts}) == len(texts)
    assert corpus().digest() == texts[0].digest()
    assert texts[0].digest().startswith("sha256:")


def test_damage(path):
    before = corpus()
    save_corpus(before, path)
    refuses_damage(path, lambda: load_corpus(path), lambda found: content(found) == content(before))


@pytest.mark.parametrize(
    ("header", "cut"),
    [
        ({"form_list": ["only", "two"]}, {}),
        ({"word_list": None}, {}),
        ({"word_list": ["x", "x"]}, {}),
        ({"version": 9}, {}),
        ({}, {"forms": 3}),
        ({}, {"words": 3}),
        ({}, {"starts": 2}),
        ({}, {"starts": 0}),
        ({}, {"punctuation": 3}),
    ],
    ids=str,
)
def test_content_that_cannot_be(path, header, cut):
    save_corpus(corpus(), path)
    kind, version = module.FORMAT, module.VERSION
    old_header, arrays = read_archive(path, kind, version, module._DTYPES)
    for name, length in cut.items():
        arrays[name] = arrays[name][:length]
    write_archive(path, kind, version, {**old_header, **header}, arrays)
    with pytest.raises(DbpcfgError, match=f"^{path}: "):
        load_corpus(path)
