"""The sentences of a run and the gold spans of their trees, kept with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.induction import corpus as module
from dbpcfg.induction.corpus import (
    RunCorpus,
    gold_spans,
    load_corpus,
    load_gold,
    save_corpus,
    save_gold,
)
from dbpcfg.io.archive import read_archive, write_archive
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.helpers import gold_and_predicted, marks, punctuated
from tests.induction.small import CORPUS, TREES
from tests.oracle import preorder, shapes

TEXT = ["The cat saw a Dog .", "It barked !", "Well ...", "the dog saw 7 cats", "Ünïcödé\u2028x 猫"]


def corpus(*lines: str, **options) -> RunCorpus:
    sentences = [Sentence(tuple(line.split(" "))) for line in lines or TEXT]
    return RunCorpus.of(preprocess(sentences, Preprocessing(**options)))


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
    old_header, arrays = read_archive(path, kind, {version: module._DTYPES})
    for name, length in cut.items():
        arrays[name] = arrays[name][:length]
    write_archive(path, kind, version, {**old_header, **header}, arrays)
    with pytest.raises(DbpcfgError, match=f"^{path}: "):
        load_corpus(path)


# --- gold spans: the F1 that ``dbpcfg.evaluation`` gives ------------------------------------------


@st.composite
def treebanks(draw: st.DrawFn):
    """Gold trees of any shape with punctuation anywhere, and binary trees over the same words."""
    gold = [
        draw(punctuated(draw(gold_and_predicted(longest=4))[0]))
        for _ in range(draw(st.integers(1, 4)))
    ]
    corpus = Encoded.from_sentences([tree.words() for tree in gold])
    predicted = Derivations.empty(corpus)
    for sentence, n in enumerate(corpus.lengths.tolist()):
        predicted[sentence][:] = binary_tree(draw, n)
    return gold, predicted


def binary_tree(draw: st.DrawFn, n: int) -> list[tuple[int, int, int]]:
    nodes, todo = [], [(0, n)]
    while todo:
        i, j = todo.pop()
        nodes.append((i, j, 0))
        if j - i > 1:
            k = draw(st.integers(i + 1, j - 1))
            todo += [(k, j), (i, k)]
    return nodes


@given(treebanks())
def test_f1_is_that_of_the_evaluation(treebank):
    gold, predicted = treebank
    punctuation = [marks(tree) for tree in gold]
    expected = evaluate(gold, list(predicted.trees()), punctuation).score.f1
    found = gold_spans(gold, punctuation).f1(predicted.corpus.starts, predicted.nodes)
    assert found == pytest.approx(0.0 if np.isnan(expected) else expected, abs=1e-12)


def test_f1_by_hand():
    """Gold (0,3) (1,3) without the comma; predicted (0,3) (0,2)."""
    gold = read_tree("(S (NP a) (VP (V b) (, ,) (N c)))")
    (shape,) = [s for s in shapes(0, 4) if [n[:2] for n in preorder(s)][1] == (0, 3)][:1]
    nodes = np.array([(*node[:2], 0) for node in preorder(shape)], dtype=np.int32)
    spans = gold_spans([gold], [(False, False, True, False)])
    assert spans.f1(np.array([0, 4]), nodes) == pytest.approx(2 * 1 / (2 + 2))
    only_punctuation = gold_spans([read_tree("(S (. .))")], [(True,)])
    assert only_punctuation.f1(np.array([0, 1]), np.array([[0, 1, 0]], dtype=np.int32)) == 0.0


@pytest.fixture
def spans():
    return gold_spans(TREES, [(n % 3 == 0,) * len(tree) for n, tree in enumerate(TREES)])


def test_spans_of_other_sentences(spans, tmp_path):
    path = tmp_path / "gold.npz"
    save_gold(spans, path)
    for starts in (CORPUS.starts[:-1], CORPUS.starts + np.arange(len(CORPUS.starts))):
        with pytest.raises(DbpcfgError, match=f"{path}: its spans are not those of the run's"):
            load_gold(path, starts)
    spans.kept[0] = 99
    save_gold(spans, path)
    with pytest.raises(DbpcfgError, match="are not those of the run's"):
        load_gold(path, CORPUS.starts)
