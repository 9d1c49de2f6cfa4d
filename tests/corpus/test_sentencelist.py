"""A list of sentences as numbers is like the list of the sentences themselves."""

import pickle
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbpcfg
from dbpcfg.corpus import sentencelist
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.sentencelist import SentenceList
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree


@st.composite
def a_sentence(draw):
    words = draw(st.lists(st.sampled_from(["the", "dog", "The", "é", "."]), max_size=4))
    n = len(words)
    kind = draw(st.sampled_from(["plain", "tags", "tree", "heads"]))
    one = Sentence(
        tuple(words),
        speaker=draw(st.sampled_from([None, "MOT", "FAT"])),
        source=draw(st.sampled_from(["a.cha", "b.cha"])),
        line=draw(st.integers(0, 2**40)),
        brackets=draw(st.sampled_from([(), ((0, 1),), ((0, 1), (1, 2))])),
    )
    if kind == "plain" or not n:
        return one
    one = replace(one, tags=("N",) * n, xpos=("X",) * n if kind == "heads" else None)
    if kind == "heads":
        return replace(one, heads=(-1,) * n)
    return replace(one, tree=Tree("S", tuple(Tree("N", (w,)) for w in words))) if n > 1 else one


@given(st.lists(a_sentence(), max_size=12), st.slices(12), st.integers(1, 5))
def test_like_a_list(sentences, part, block):
    found = SentenceList(sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentencelist, "BLOCK", block)
        assert list(found) == sentences
        assert list(reversed(found)) == sentences[::-1]
        assert found[part] == sentences[part]
    assert len(found) == len(sentences)
    assert [found[n] for n in range(-len(found), len(found))] == sentences * 2
    assert found == sentences
    assert found == SentenceList(sentences)
    assert found != sentences + sentences[:1] or not sentences
    assert list(found.brackets) == [one.brackets for one in sentences]
    assert found.tokens == sum(len(one.words) for one in sentences)
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(IndexError):
        found[len(sentences)]


def test_two_lists_that_differ():
    one = Sentence(("a",), source="a", line=1)
    assert SentenceList([one]) == [one]
    for other in (
        *(Sentence(("b",), source="a", line=1), replace(one, line=2), replace(one, source="b")),
        *(replace(one, tags=("N",)), replace(one, brackets=((0, 1),)), replace(one, speaker="B")),
    ):
        assert SentenceList([one]) != [other]
    assert SentenceList([one]) != "a"


def test_a_list_can_grow_after_it_was_used():
    found = SentenceList([Sentence(("a", "b"))])
    before = found.encoded
    assert found[0].words == ("a", "b")
    found.extend([Sentence(("b", "c"))])
    assert [one.words for one in found] == [("a", "b"), ("b", "c")]
    assert list(before) == [["a", "b"]]
    pickled = pickle.loads(pickle.dumps(found))
    pickled.append(Sentence(("d", "a")))
    assert pickled[2].words == ("d", "a")


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1), min_size=1))
def test_words_are_numbered_by_first_appearance(texts):
    found, expected = SentenceList(Sentence(tuple(t)) for t in texts).encoded, texts
    assert list(found) == expected
    assert found.vocabulary == Encoded.from_sentences(texts).vocabulary
    assert found.vocabulary.words == tuple(dict.fromkeys(word for t in texts for word in t))


def test_equal_words_are_one_object():
    found = SentenceList(Sentence(("".join(["do", "g"]),)) for _ in range(3))
    assert len({id(one.words[0]) for one in found}) == 1


def test_what_is_read_is_in_numbers(tmp_path):
    (tmp_path / "a.txt").write_text("the dog\n\nthe cat sat\n", encoding="utf-8")
    corpus = dbpcfg.read(tmp_path / "a.txt")
    assert isinstance(corpus.sentences, SentenceList)
    assert [(one.words, one.line) for one in corpus] == [
        (("the", "dog"), 1),
        (("the", "cat", "sat"), 3),
    ]
    assert corpus[:1] == [corpus[0]]
    tree = read_tree("(S (N dogs) (V bark))")
    (tmp_path / "a.mrg").write_text(f"{tree}\n", encoding="utf-8")
    assert dbpcfg.read(tmp_path / "a.mrg").trees() == [tree]


def test_memory():
    """A sentence of five known words takes its numbers, and nothing else."""
    words = [f"w{n}" for n in range(100)]
    number = 20_000
    found = SentenceList(
        Sentence(tuple(words[(n + k) % 100] for k in range(5)), line=n) for n in range(number)
    )
    arrays = (
        *(found._words.tokens, found._words.starts, found._lines),
        *(found._origin, found._bracketing),
    )
    assert sum(map(sys.getsizeof, arrays)) < 60 * number
    assert len(found._annotation) == 0
    assert (len(found._vocabulary), len(found._origins), len(found._spans)) == (100, 1, 1)
