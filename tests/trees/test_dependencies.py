"""Constituents of dependencies, and CoNLL-U with heads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.readers import Source
from dbpcfg.corpus.readers.conllu import CONLLU
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.dependencies import conllu_lines, tree_from_heads
from tests.systems.dmv_oracle import projective_trees

any_heads = st.integers(1, 5).flatmap(lambda n: st.sampled_from(projective_trees(n)))


def test_a_flat_constituent_for_every_head_with_dependents():
    words = ["the", "dog", "saw", "a", "red", "cat"]
    tags = ["D", "N", "V", "D", "A", "N"]
    tree = tree_from_heads(words, [1, 2, -1, 5, 5, 2], tags)
    assert str(tree) == "(V (N (D the) (N dog)) (V saw) (N (D a) (A red) (N cat)))"


def test_without_tags_words_are_bare():
    assert str(tree_from_heads(["a", "b", "c"], [-1, 0, 1])) == "(X a (X b c))"
    assert str(tree_from_heads(["a"], [-1])) == "(X a)"
    assert str(tree_from_heads(["a"], [-1], ["N"])) == "(N a)"
    with pytest.raises(DbpcfgError, match="found 1 tag for 2 words"):
        tree_from_heads(["a", "b"], [-1, 0], ["N"])


@given(any_heads)
def test_brackets_are_the_spans_of_heads_with_dependents(heads):
    below = {h: {h} for h in range(len(heads))}
    for place in range(len(heads)):
        head = heads[place]
        while head >= 0:
            below[head].add(place)
            head = heads[head]
    expected = sorted((min(b), max(b) + 1) for b in below.values() if len(b) > 1)
    tree = tree_from_heads([str(place) for place in range(len(heads))], heads)
    assert sorted((s.start, s.end) for s in tree.spans() if len(heads) > 1) == expected


def test_long_chains():
    n = 20_000
    tree = tree_from_heads(["w"] * n, [-1, *range(n - 1)])
    assert len(tree) == n
    assert len(tree.spans()) == n - 1


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([0, 0], "found 0 roots, expected one word whose head is -1"),
        ([-1, -1], "found 2 roots"),
        ([-1, 2, 1], "the heads of word 2 form a cycle"),
        ([-1, 1, 0], "the heads of word 2 form a cycle"),
        ([-1, 2], "the head of word 2 is at position 2, and the sentence has 2 words"),
        ([-2, 0], "the head of word 1 is at position -2"),
        ([2, 3, -1, 2], "not projective: word 4 and what depends on it"),
        ([-1], "found 1 head for 2 words"),
    ],
)
def test_wrong_heads(heads, message):
    words = ["w"] * max(2, len(heads))
    with pytest.raises(DbpcfgError, match=message):
        tree_from_heads(words, heads)


@given(any_heads, st.booleans())
def test_conllu_is_read_as_it_was_written(heads, tagged):
    words = tuple("abcde"[: len(heads)])
    tags, xpos = (tuple("NVDAP"[: len(heads)]), tuple("12345"[: len(heads)]))
    columns = (tags, xpos) if tagged else (None, None)
    text = "\n".join([*conllu_lines(words, heads, *columns), *conllu_lines(words, heads, *columns)])
    first, second = CONLLU.read(text, Source("f"))
    assert (first.words, first.tags, first.xpos, first.heads) == (words, *columns, heads)
    assert (second.words, second.heads) == (words, heads)


def test_lines_of_conllu():
    assert list(conllu_lines(["a", "b"], [1, -1], ["N", "V"])) == [
        "1\ta\t_\tN\t_\t_\t2\tdep\t_\t_",
        "2\tb\t_\tV\t_\t_\t0\troot\t_\t_",
        "",
    ]
