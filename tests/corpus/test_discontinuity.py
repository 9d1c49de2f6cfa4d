"""Graphs with crossing branches to trees."""

from collections import Counter

import pytest
from hypothesis import given

from dbpcfg.corpus.readers import Malformed
from dbpcfg.corpus.readers.discontinuity import (
    GraphNode,
    as_label,
    as_word,
    check_connected,
    continuous_tree,
)
from tests.corpus.graphs import as_tree, gaps, graphs, naively_raised


def word(text, tag="W", head=False):
    return GraphNode(tag, 1, head, text)


def phrase(label, *children, head=False):
    return GraphNode(label, 1, head, children=list(children))


def result(root, *words):
    modified = Counter()
    return str(continuous_tree(root, words, modified)), dict(modified)


def test_the_block_of_the_head_stays():
    that, i, know, not_ = (word(w, head=w == "know") for w in ("that", "I", "know", "not"))
    clause = phrase("S", phrase("VP", that, know, head=True), i, not_)
    assert result(phrase("ROOT", clause), that, i, know, not_) == (
        "(ROOT (S (W that) (W I) (VP (W know)) (W not)))",
        {"constituents with gaps": 1, "children raised to close gaps": 1},
    )


def test_without_a_head_the_block_with_own_words_stays():
    a, man, came, who, laughs = map(word, ("a", "man", "came", "who", "laughs"))
    relative = phrase("RC", who, laughs)
    clause = phrase("S", phrase("NP", a, relative), came)
    root = phrase("ROOT", clause, man)
    assert result(root, a, came, who, laughs, man)[0] == (
        "(ROOT (S (NP (W a)) (W came) (RC (W who) (W laughs))) (W man))"
    )


def test_then_the_longest_block_then_the_leftmost():
    a, b, c, x, y = map(word, "abcxy")
    root = phrase("ROOT", phrase("NP", phrase("A", a), phrase("B", b), phrase("C", c)), x, y)
    assert result(root, a, x, b, c, y)[0] == (
        "(ROOT (A (W a)) (W x) (NP (B (W b)) (C (W c))) (W y))"
    )
    root = phrase("ROOT", phrase("NP", phrase("A", a), phrase("B", b)), x)
    assert result(root, a, x, b)[0] == "(ROOT (NP (A (W a))) (W x) (B (W b)))"


def test_what_is_raised_twice_is_counted_once():
    a, x, b, y, c = map(word, "axbyc")
    root = phrase("ROOT", phrase("S", phrase("VP", phrase("NP", a, c), b)), x, y)
    found, modified = result(root, a, x, b, y, c)
    assert found == "(ROOT (NP (W a)) (W x) (S (VP (W b))) (W y) (W c))"
    assert modified == {"constituents with gaps": 3, "children raised to close gaps": 2}


def test_punctuation_on_the_root_makes_no_gaps():
    opening, a, comma, b, stop = word("``"), word("a"), word(",", "$,"), word("b"), word(".")
    root = phrase("ROOT", phrase("S", phrase("NP", a), b), opening, comma, stop)
    assert result(root, opening, a, comma, b, stop) == (
        "(ROOT (W ``) (S (NP (W a)) ($, ,) (W b)) (W .))",
        {},
    )
    root = phrase("ROOT", phrase("S", phrase("NP", a, b)), comma, opening)
    assert result(root, a, comma, opening, b)[0] == "(ROOT (S (NP (W a) ($, ,) (W ``) (W b))))"
    assert result(phrase("ROOT", comma, stop), comma, stop)[0] == "(ROOT ($, ,) (W .))"


def test_words_without_tags_and_empty_constituents():
    a = word("a", "")
    root = phrase("ROOT", phrase("NP"), phrase("S", a, phrase("VP", phrase("X"))))
    assert result(root, a)[0] == "(ROOT (S a))"
    assert continuous_tree(phrase("ROOT"), [], Counter()) is None


def test_deep_graphs():
    a = node = word("a")
    for _ in range(50_000):
        node = phrase("X", node)
    assert len(continuous_tree(node, [a], Counter())) == 1


def test_words_and_labels():
    assert as_word("10 000", 1) == "10_000"
    assert as_word("(sic)", 1) == "-LRB-sic-RRB-"
    assert as_label("$(") == "$["
    with pytest.raises(Malformed, match="empty word"):
        as_word(" ", 1)


def test_cycles():
    a, b = phrase("A"), phrase("B")
    a.children, b.children = [b], [a]
    root = phrase("ROOT", word("x"))
    with pytest.raises(Malformed, match="found 'A' in a cycle"):
        check_connected(root, [a, b])


def made(root):
    """A random graph as nodes, and its words."""
    words = {}

    def node(vertex):
        head = vertex.edge == "HD"
        if vertex.place >= 0:
            words[vertex.place] = word(f"w{vertex.place}", head=head)
            return words[vertex.place]
        return phrase(vertex.label, *map(node, vertex.children), head=head)

    top = node(root)
    return top, [words[place] for place in sorted(words)]


@given(graphs())
def test_agrees_with_a_naive_definition(root):
    modified = Counter()
    nodes, leaves = made(root)
    tree = continuous_tree(nodes, leaves, modified)
    assert tree == as_tree(naively_raised(root))
    assert tree.words() == [f"w{n}" for n in range(len(leaves))]
    assert modified["constituents with gaps"] == gaps(root)


@given(graphs(crossing=False))
def test_what_has_no_gaps_stays(root):
    nodes, leaves = made(root)
    modified = Counter()
    assert continuous_tree(nodes, leaves, modified) == as_tree(root)
    assert not modified
