"""UPPARSE as a whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import align
from dbpcfg.systems.upparse import Upparse

STOPS = [".", "?", "!", ";", ",", "--"]
ODD = ["_", "a_b", "=", "=a", "==a", "a", "b", "(", "EOS", "STOP", ":"]

corpora = st.lists(
    st.lists(st.sampled_from(STOPS[:5:2] + ODD), min_size=1, max_size=9), min_size=1, max_size=12
)
models = st.sampled_from(["prlg", "hmm"])


def segmented(sentence: list[str]) -> list[int]:
    """The segment of each word, -1 for stops that go."""
    found, segment, empty = [], 0, True
    for word in sentence:
        goes = word in STOPS and not empty
        found.append(-1 if goes else segment)
        segment, empty = (segment + 1, True) if goes else (segment, False)
    return found


@given(corpora, models)
@settings(max_examples=150)
def test_trees_are_over_the_words_and_keep_to_segments(corpus, model):
    trees = Upparse(model).fit(corpus).trees()
    for sentence, tree in zip(corpus, trees, strict=True):
        segments = segmented(sentence)
        assert tree.words() == [word for word, s in zip(sentence, segments) if s >= 0]
        kept = [s for s in segments if s >= 0]
        spans = [(start, end) for start, end, _ in tree.spans()]
        assert all(j <= k or l <= i or (i <= k and l <= j) or (k <= i and j <= l)
                   for i, j in spans for k, l in spans)  # fmt: skip
        assert all(end - start > 1 for start, end in spans[1:])
        assert all(kept[start] == kept[end - 1] for start, end in spans[1:])
        assert len(set(spans)) == len(spans)
        align(sentence, [word in STOPS for word in sentence], tree.words())


@given(corpora, models, st.permutations(ODD))
@settings(max_examples=50)
def test_spelling_does_not_matter(corpus, model, others):
    rename = dict(zip(ODD, others))
    renamed = [[rename.get(word, word) for word in sentence] for sentence in corpus]
    trees, other_trees = (Upparse(model).fit(it).trees() for it in (corpus, renamed))
    assert [tree.spans() for tree in trees] == [tree.spans() for tree in other_trees]


@pytest.mark.parametrize("model", ["prlg", "hmm"])
def test_a_pair_that_always_goes_together(model):
    """EM prefers B I to O O from the start (9 to 4), and every step makes it more so."""
    system = Upparse(model).fit([["a", "b"]] * 20)
    assert str(system.trees()[0]) == "(X a b)"
    assert (system.cascade.levels, system.cascade.ended) == (1, "all chunked")
    assert [len(pairs) for pairs in system.cascade.brackets] == [20]


@pytest.mark.parametrize("model", ["prlg", "hmm"])
def test_noun_phrases_first(model):
    nouns, verbs = ["dog", "cat", "bird", "fish", "mouse"], ["saw", "bit", "ate", "met"]
    corpus = [
        f"the {nouns[i % 5]} {verbs[i % 4]} the {nouns[i // 5 % 5]} .".split() for i in range(100)
    ]
    system = Upparse(model).fit(corpus)
    for tree in system.trees():
        assert {(0, 2), (3, 5)} <= {(start, end) for start, end, _ in tree.spans()}


@pytest.mark.parametrize(
    ("sentence", "tree"),
    [
        (["word"], "(X word)"),
        (["word", "."], "(X word)"),
        (["."], "(X .)"),
        ([".", "!"], "(X .)"),
        (["a", ",", "b", ",", "c", "."], "(X a b c)"),
    ],
)
def test_one_sentence(sentence, tree):
    for model in ("prlg", "hmm"):
        assert str(Upparse(model).fit([sentence]).trees()[0]) == tree


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "crf"}, "no model 'crf'; choose one of prlg, hmm"),
        ({"smoothing": 0}, "smoothing must be a number above 0, not 0"),
        ({"tolerance": float("nan")}, "tolerance must be a number above 0, not nan"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(DbpcfgError, match=message):
        Upparse(**settings)
