"""Constituents in documents of spaCy: the spans are those of the trees."""

import pytest
import spacy
from spacy.tokens import Doc

import dbpcfg
from dbpcfg.spacy_spans import ConstituentSpans

RULES = """
S  -> NP VP [1.0]
NP -> D N [1.0]
VP -> V NP [1.0]
D  -> 'the' [0.5] | 'a' [0.5]
N  -> 'dog' [0.5] | 'cat' [0.5]
V  -> 'saw' [1.0]
"""


@pytest.fixture
def grammar(tmp_path):
    path = tmp_path / "small.pcfg"
    path.write_text(RULES, encoding="utf-8")
    return path


def constituents(doc: Doc, key: str = "dbpcfg") -> list[tuple[str, str, int]]:
    return [(span.text, span.label_, span._.dbpcfg_level) for span in doc.spans[key]]


def test_constituents_are_spans_with_labels_and_levels(grammar):
    nlp = spacy.blank("en")
    nlp.add_pipe("dbpcfg", config={"model": str(grammar)})
    assert constituents(nlp("the dog saw a cat")) == [
        ("the dog saw a cat", "S", 0),
        ("the dog", "NP", 1),
        ("saw a cat", "VP", 1),
        ("a cat", "NP", 2),
    ]


def test_spans_are_those_of_the_trees(grammar):
    model = dbpcfg.load(grammar)
    component, nlp = ConstituentSpans(model, key="trees"), spacy.blank("en")
    texts = [" ".join(tree.words()) for tree in model.generate(20, seed=1)]
    for text, doc in zip(texts, component.pipe(map(nlp, texts), batch_size=3), strict=True):
        (tree,) = model.parse([text])
        expected = [(s.start, s.end, s.label) for s in tree.spans() if s.end - s.start > 1]
        assert [(s.start, s.end, s.label_) for s in doc.spans["trees"]] == expected


def test_sentences_are_the_documents_and_white_space_is_no_word(grammar):
    nlp = spacy.blank("en")
    words = ["the", "dog", "saw", "a", "cat", "\n", "a", "cat", "saw", "the", "dog"]
    doc = Doc(nlp.vocab, words, sent_starts=[n in (0, 6) for n in range(len(words))])
    found = constituents(ConstituentSpans(grammar)(doc))
    assert [text for text, label, _ in found if label == "S"] == [
        "the dog saw a cat",
        "a cat saw the dog",
    ]
    assert len(found) == 8


def test_documents_without_words_have_no_constituents(grammar):
    nlp, component = spacy.blank("en"), ConstituentSpans(grammar)
    docs = list(component.pipe([nlp(""), nlp("   "), nlp("dog"), nlp("the dog saw a cat")]))
    assert [len(doc.spans["dbpcfg"]) for doc in docs] == [0, 0, 0, 4]


def test_spans_survive_bytes(grammar):
    nlp = spacy.blank("en")
    doc = ConstituentSpans(grammar)(nlp("the dog saw a cat"))
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [(s.start, s.end, s.label_) for s in again.spans["dbpcfg"]] == [
        (s.start, s.end, s.label_) for s in doc.spans["dbpcfg"]
    ]
