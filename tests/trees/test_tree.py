"""The tree type against naive definitions, its brackets against NLTK's, its errors word by word."""

import copy
import os
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError, TreeSyntaxError
from dbpcfg.trees.brackets import read_tree, read_trees, read_trees_at
from dbpcfg.trees.tree import Span, Tree

DOG = "(S (NP (D the) (N dog)) (V barks))"
DEPTH = 50_000

# Any characters but the ones that brackets cannot hold, with the awkward ones made likely.
characters = st.one_of(
    st.sampled_from("ab-\xa0\u2003\ufeff\x1c\x85é犬\U0001f436'\"\\"),
    st.characters(exclude_categories=("Cs",), exclude_characters="() \t\n\r\f\v"),
)
words = st.one_of(
    st.sampled_from(["the", "dog", "-LRB-", "-RRB-"]), st.text(characters, min_size=1)
)
labels = st.one_of(st.sampled_from(["S", "NP", "NP-SBJ", "", "-NONE-"]), st.text(characters))
any_tokens = st.text()  # brackets, white space and nothing at all included


def trees_over(label_strategy, word_strategy):
    def node(children):
        return st.builds(Tree, label_strategy, st.lists(children, min_size=1, max_size=4))

    return node(st.recursive(word_strategy, lambda inner: inner | node(inner), max_leaves=12))


trees = trees_over(labels, words)
any_trees = trees_over(any_tokens, any_tokens)
gaps = st.text(" \t\n\r\f\v", max_size=3)


# --- definitions to compare with ------------------------------------------------------------------


def flatten(lists):
    return [item for items in lists for item in items]


def naive_words(item):
    return [item] if isinstance(item, str) else flatten(map(naive_words, item.children))


def naive_tags(tree):
    if len(tree.children) == 1 and isinstance(tree.children[0], str):
        return [tree.label]
    return flatten([""] if isinstance(c, str) else naive_tags(c) for c in tree.children)


def naive_spans(item, start, preterminals):
    if isinstance(item, str):
        return []
    is_preterminal = len(item.children) == 1 and isinstance(item.children[0], str)
    spans = []
    if preterminals or not is_preterminal:
        spans.append((start, start + len(naive_words(item)), item.label))
    for child in item.children:
        spans += naive_spans(child, start, preterminals)
        start += len(naive_words(child))
    return spans


def naive_nodes(item):
    return [] if isinstance(item, str) else [item, *flatten(map(naive_nodes, item.children))]


def naive_brackets(item):
    if isinstance(item, str):
        return item
    return "(" + " ".join([item.label, *map(naive_brackets, item.children)]) + ")"


def nested(item):
    return item if isinstance(item, str) else (item.label, tuple(map(nested, item.children)))


def map_tree(item, label, word):
    if isinstance(item, str):
        return word(item)
    return Tree(label(item.label), [map_tree(child, label, word) for child in item.children])


# --- the type -------------------------------------------------------------------------------------


def test_an_example():
    tree = Tree("S", [Tree("NP", [Tree("D", ["the"]), Tree("N", ["dog"])]), Tree("V", ["barks"])])
    assert tree == read_tree(DOG)
    assert str(tree) == tree.bracketed() == DOG
    assert tree.label == "S"
    assert isinstance(tree.children, tuple)
    assert tree.children[1] == Tree("V", ("barks",))
    assert tree.words() == ["the", "dog", "barks"]
    assert tree.tags() == ["D", "N", "V"]
    assert len(tree) == 3
    assert [node.label for node in tree.nodes()] == ["S", "NP", "D", "N", "V"]
    assert tree.spans() == [Span(0, 3, "S"), Span(0, 2, "NP")]
    assert tree.spans(preterminals=True) == [
        Span(0, 3, "S"),
        Span(0, 2, "NP"),
        Span(0, 1, "D"),
        Span(1, 2, "N"),
        Span(2, 3, "V"),
    ]
    assert tree.spans()[1].start == 0
    assert tree.spans()[1].end == 2
    assert tree.is_binary
    assert not tree.preterminal
    assert tree.children[1].preterminal


@given(any_trees)
def test_parts_agree_with_naive_definitions(tree):
    assert tree.words() == naive_words(tree)
    assert len(tree) == len(naive_words(tree))
    assert tree.tags() == naive_tags(tree)
    assert [*map(id, tree.nodes())] == [*map(id, naive_nodes(tree))]
    assert bool(tree)


@given(any_trees, st.booleans())
def test_spans_agree_with_a_naive_definition(tree, preterminals):
    spans = tree.spans(preterminals=preterminals)
    assert spans == naive_spans(tree, 0, preterminals)
    assert all(isinstance(span, Span) for span in spans)


@pytest.mark.parametrize(
    ("text", "preterminal", "binary"),
    [
        ("(N dog)", True, True),
        ("( dog)", True, True),
        ("(NP the dog)", False, False),
        ("(NP (N dog))", False, False),
        ("(NP (D the) dog)", False, False),
        ("(NP (D the) (N dog))", False, True),
        ("(NP (D the) (A old) (N dog))", False, False),
        ("(S (NP (D the) (NP (A old) (N dog))) (V barks))", False, True),
        ("(S (NP (D the) (A old) (N dog)) (V barks))", False, False),
    ],
)
def test_preterminal_and_binary(text, preterminal, binary):
    tree = read_tree(text)
    assert tree.preterminal is preterminal
    assert tree.is_binary is binary


def test_tags_of_words_under_bigger_nodes_are_empty():
    tree = read_tree("(X the (Y old dog) (V barks) (Z (V loudly) too))")
    assert tree.tags() == ["", "", "", "V", "V", ""]


@given(any_trees, any_trees)
def test_equal_exactly_if_of_one_structure(tree, other):
    twin = map_tree(tree, str, str)
    assert twin is not tree
    assert tree == twin
    assert hash(tree) == hash(twin)
    assert (tree == other) == (nested(tree) == nested(other))


@pytest.mark.parametrize(
    "other",
    [
        "(S (NP (D the) (N dog)) (V barked))",
        "(S (NP (D the) (N dog)) (W barks))",
        "(S (D the) (NP (N dog) (V barks)))",
        "(S (NP (D the) (N dog)) barks)",
        "(S (NP (D the)) (N dog) (V barks))",
        "(S (NP (D the) (N dog)) (V barks) now)",
        "(S (S (NP (D the) (N dog)) (V barks)))",
    ],
)
def test_unequal_trees(other):
    assert read_tree(other) != read_tree(DOG)
    assert len({read_tree(other), read_tree(DOG), read_tree(DOG)}) == 2


def test_a_tree_is_no_string():
    assert Tree("N", ["dog"]) != "(N dog)"
    assert Tree("N", ["dog"]).__eq__("(N dog)") is NotImplemented


def test_trees_are_immutable():
    tree = read_tree(DOG)
    with pytest.raises(FrozenInstanceError):
        tree.label = "T"
    with pytest.raises(FrozenInstanceError):
        del tree.children
    assert not hasattr(tree, "__dict__")
    assert str(tree) == DOG


def test_children_may_come_from_any_iterable_and_are_kept_apart_from_it():
    children = ["a", "b"]
    tree = Tree("X", children)
    children.append("c")
    assert tree == Tree("X", iter(["a", "b"])) == Tree("X", ("a", "b"))


def test_wrong_children():
    with pytest.raises(DbpcfgError, match=r"at least one child.*'NP'"):
        Tree("NP", [])
    with pytest.raises(TypeError, match=re.escape("like ('dog',)")):
        Tree("N", "dog")
    with pytest.raises(TypeError, match="not int"):
        Tree("N", ["dog", 3])


@given(any_trees)
def test_relabel(tree):
    assert tree.relabel(lambda label: label + "!") == map_tree(tree, lambda x: x + "!", str)
    assert tree.relabel(str) == tree


@given(any_trees, st.data())
def test_replace_words(tree, data):
    new = data.draw(st.lists(any_tokens, min_size=len(tree), max_size=len(tree)))
    replaced = tree.replace_words(iter(new))
    left = iter(new)
    assert replaced == map_tree(tree, str, lambda _: next(left))
    assert replaced.replace_words(tree.words()) == tree


@pytest.mark.parametrize("number", [0, 2, 4])
def test_replace_words_wants_as_many(number):
    with pytest.raises(DbpcfgError, match=rf"expected 3 words.*got {number}"):
        read_tree(DOG).replace_words(["w"] * number)


@given(any_trees)
def test_pickle_and_copy(tree):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(tree, protocol)) == tree
    assert copy.copy(tree) == tree
    assert copy.deepcopy([tree]) == [tree]


@given(any_trees)
def test_repr_never_fails_and_stays_short(tree):
    assert len(repr(tree)) < 220
    assert "\n" not in repr(tree)


def test_repr_shows_short_trees_whole_and_cuts_long_ones():
    assert repr(read_tree(DOG)) == f"<Tree {DOG}>"
    brackets = str(Tree("X", ["a"] * 500))
    assert repr(read_tree(brackets)) == f"<Tree {brackets[:200]}…>"
    exact = Tree("X", ["a" * 196])
    assert repr(exact) == f"<Tree {exact}>"
    dense = Tree("", [Tree("", ["a"])] * 100)
    assert repr(dense) == f"<Tree {str(dense)[:200]}…>"


# --- brackets out and in --------------------------------------------------------------------------


@given(trees)
def test_brackets_there_and_back(tree):
    assert str(tree) == naive_brackets(tree)
    assert "\n" not in str(tree)
    assert read_tree(str(tree)) == tree


@given(trees, st.integers(-1, 5), st.integers(-50, 100))
def test_pretty_there_and_back(tree, indent, width):
    pretty = tree.pretty(indent=indent, width=width)
    assert read_tree(pretty) == tree
    assert re.sub(r"\n *", " ", pretty) == str(tree)


@given(trees, st.integers(0, 4), st.integers(1, 60))
def test_pretty_keeps_lines_within_the_width(tree, indent, width):
    for line in tree.pretty(indent=indent, width=width).split("\n"):
        content = line.lstrip(" ")
        margin = len(line) - len(content)
        assert margin <= width // 2
        # One token or one preterminal is never broken; all that closes is not counted.
        if content.count("(") > 1:
            assert margin + len(content) - (content.count(")") - content.count("(")) <= width


def test_pretty_examples():
    tree = read_tree(DOG)
    assert tree.pretty() == tree.pretty(width=len(DOG)) == DOG
    broken = "(S\n  (NP (D the) (N dog))\n  (V barks))"
    assert tree.pretty(width=len(DOG) - 1) == broken
    assert tree.pretty(width=22) == broken
    assert tree.pretty(width=21) == "(S\n  (NP\n    (D the)\n    (N dog))\n  (V barks))"
    assert tree.pretty(indent=1, width=20) == "(S\n (NP\n  (D the)\n  (N dog))\n (V barks))"
    assert read_tree("( (S the (N dog)))").pretty(width=8) == "(\n  (S\n    the\n    (N dog)))"


def test_pretty_stops_indenting_at_half_the_width():
    tree = read_tree("(A (B (C (D (E (F word))))))")
    assert tree.pretty(indent=2, width=6) == "(A\n  (B\n   (C\n   (D\n   (E\n   (F word))))))"


@given(st.lists(trees, max_size=5), st.data())
def test_many_trees_with_any_white_space_between(several, data):
    pieces = [data.draw(gaps)]
    for tree in several:
        for token in re.findall(r"\([^\s()]*|\)|[^\s()]+", str(tree), re.ASCII):
            # A gap is needed between two tokens that would join into one.
            pieces += [token, data.draw(gaps) or ("" if token == ")" else " ")]
    assert list(read_trees("".join(pieces))) == several


def test_several_trees_on_a_line_and_one_over_several():
    text = f"{DOG}{DOG} {DOG}\n\n(S\r\n\t(NP (D\x0cthe)\n(N dog)\x0b)\r(V barks\n)\n)\n"
    assert list(read_trees(text)) == [read_tree(DOG)] * 4


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\ufeff", "\ufeff \n"])
def test_no_trees(text):
    assert list(read_trees(text)) == []


def test_trees_come_one_by_one():
    found = read_trees(f"{DOG} )")
    assert next(found) == read_tree(DOG)
    with pytest.raises(TreeSyntaxError):
        next(found)


def test_byte_order_mark_is_skipped_at_the_start_only():
    assert read_tree("\ufeff" + DOG) == read_tree(DOG)
    assert list(read_trees("\ufeff" + DOG)) == [read_tree(DOG)]
    assert read_tree("(N \ufeffdog)").words() == ["\ufeffdog"]


@pytest.mark.parametrize("text", ["( (S (V go)) )", "((S (V go)))", "(\n  (S (V go)))"])
def test_empty_top_bracket(text):
    tree = read_tree(text)
    assert tree == Tree("", [Tree("S", [Tree("V", ["go"])])])
    assert str(tree) == "( (S (V go)))"


def test_an_empty_label_over_a_word():
    assert read_tree("( go)") == Tree("", ["go"])
    assert str(Tree("", ["go"])) == "( go)"


def test_mixed_and_bare_nodes():
    mixed = read_tree("(X the (X dog barks))")
    assert mixed == Tree("X", ["the", Tree("X", ["dog", "barks"])])
    assert mixed.spans() == [(0, 3, "X"), (1, 3, "X")]
    bare = read_tree("(X (X the dog) (X barks))")
    assert bare.spans() == [(0, 3, "X"), (0, 2, "X")]
    assert bare.words() == ["the", "dog", "barks"]
    assert read_tree("(X(Y a)b(Z c))") == read_tree("(X (Y a) b (Z c))")


@pytest.mark.parametrize(
    "word", ["犬", "naïve", "10\xa0000", "a\u2003b", "\x85", "\x1c", "🐶", "\0"]
)
def test_only_ascii_white_space_separates(word):
    assert read_tree(f"(N {word})") == Tree("N", [word])
    assert read_tree(f"({word} dog)") == Tree(word, ["dog"])


def test_round_brackets_are_written_as_treebanks_do_and_left_so_when_read():
    tree = Tree("N(1)", ["(", ")", "f(x)", "-LRB-"])
    assert str(tree) == "(N-LRB-1-RRB- -LRB- -RRB- f-LRB-x-RRB- -LRB-)"
    assert tree.pretty(width=1).split() == str(tree).split()
    assert read_tree(str(tree)).words() == ["-LRB-", "-RRB-", "f-LRB-x-RRB-", "-LRB-"]
    assert read_tree(str(tree)).label == "N-LRB-1-RRB-"


@pytest.mark.parametrize("space", [*" \t\n\r\f\v"])
def test_white_space_cannot_be_written(space):
    for write in (Tree.bracketed, Tree.pretty, str, lambda tree: tree.pretty(width=1)):
        with pytest.raises(TreeSyntaxError, match=r"the word 'a.*b' has white space"):
            write(Tree("X", [Tree("Y", [f"a{space}b"]), "c"]))
        with pytest.raises(TreeSyntaxError, match=r"the label 'a.*b' has white space"):
            write(Tree("X", [Tree(f"a{space}b", ["c"]), "c"]))


def test_an_empty_word_cannot_be_written():
    for write in (Tree.bracketed, Tree.pretty, lambda tree: tree.pretty(width=1)):
        with pytest.raises(TreeSyntaxError, match="empty word"):
            write(Tree("X", ["a", ""]))


# --- errors of the reader -------------------------------------------------------------------------

ERRORS = {
    "closing first": (")", "1:1", "')' that closes nothing", "expected '('"),
    "closing twice": ("(N dog))", "1:8", "')' that closes nothing", "expected '('"),
    "closing later": ("(N a)\n(N b)\n  ) (N c)", "3:3", "')' that closes nothing", "expected '('"),
    "never closed": ("(N dog", "1:1", "the end of the text", "expected 1 more ')'"),
    "first of unclosed": ("(N a)\n (S (N b)\n(V c", "2:2", "the end of the text", "2 more ')'"),
    "only opened": ("\n\n\t(", "3:2", "the end of the text", "expected 1 more ')'"),
    "text before": ("the dog (N a)", "1:1", "'the dog' outside any bracket", "expected '('"),
    "text between": ("(N a) # x \n(N b)", "1:7", "'# x' outside any bracket", "expected '('"),
    "text after": ("(N a)\r\n(N b)\r\n c", "3:2", "'c' outside any bracket", "expected '('"),
    "old line breaks": ("(N a)\r(N b)\r c", "3:2", "'c' outside any bracket", "expected '('"),
    "two lines": ("x y\nz (N a)", "1:1", "'x y' outside any bracket", "expected '('"),
    "text before )": ("x)", "1:1", "'x' outside any bracket", "expected '('"),
    "odd space": ("\n\xa0", "2:1", r"'\xa0' outside any bracket", "expected '('"),
    "long text": ("y" * 99, "1:1", f"found '{'y' * 40}' outside any", "expected '('"),
    "after the mark": ("\ufeff x", "1:2", "'x' outside any bracket", "expected '('"),
    "empty node": ("(S (NP) (V go))", "1:4", "empty node labelled 'NP'", "a word or a node inside"),
    "spaced empty node": ("(S\n(NP \n)", "2:1", "empty node labelled 'NP'", "a word or a node"),
    "empty bracket": ("(N a)\n()", "2:1", "empty node labelled ''", "a word or a node inside"),
    "long label": (f"({'y' * 99})", "1:1", f"labelled '{'y' * 40}',", "a word or a node inside"),
}


@pytest.mark.parametrize(("text", "place", "found", "expected"), ERRORS.values(), ids=ERRORS)
def test_errors_say_where_and_what(text, place, found, expected):
    for read in (lambda *a: list(read_trees(*a)), lambda *a: read_tree(*a)):
        with pytest.raises(TreeSyntaxError) as caught:
            read(text, "wsj.mrg")
        if "second tree" in str(caught.value):  # read_tree may meet that first
            continue
        message = str(caught.value)
        assert message.startswith(f"wsj.mrg:{place}: found ")
        assert found in message
        assert expected in message
        assert "; hint: " in message


def test_text_without_a_name():
    with pytest.raises(TreeSyntaxError, match=r"^<string>:1:1: "):
        list(read_trees(")"))


def test_read_tree_wants_exactly_one():
    with pytest.raises(TreeSyntaxError, match=r"^f:1:1: found no tree, expected exactly one"):
        read_tree(" \n", "f")
    with pytest.raises(TreeSyntaxError, match=r"^f:2:2: found a second tree, expected exactly one"):
        read_tree("\ufeff(N a)\n (S (N b) (V c)) (N d)", "f")
    with pytest.raises(TreeSyntaxError, match="found no tree"):
        read_tree("(N)", empty="drop")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("(S (NP) (V go))", ["(S (V go))"]),
        ("(S (V go) ())", ["(S (V go))"]),
        ("(S (NP (N) ( )) (V go))", ["(S (V go))"]),
        ("(S (NP (N)))", []),
        ("() (V go) ((()))", ["(V go)"]),
        ("(S a (N) b)", ["(S a b)"]),
        ("(S (N) b)", ["(S b)"]),
    ],
)
def test_empty_nodes_can_be_dropped(text, left):
    assert [str(tree) for tree in read_trees(text, empty="drop")] == left
    with pytest.raises(TreeSyntaxError, match="empty node"):
        list(read_trees(text))
    with pytest.raises(TreeSyntaxError, match="empty node"):
        list(read_trees(text, empty="error"))


def test_an_empty_node_may_be_a_bracket_as_a_word():
    with pytest.raises(TreeSyntaxError, match=r"a bracket inside a word is written -LRB- or -RRB-"):
        list(read_trees("(S (-LRB- () (N a) (-RRB- )))"))


def test_trees_with_their_lines():
    text = "\ufeff\n(N a)(N\nb)\r\n\r (S (NP)\n (V c)) (N\n) (N d)\r\r(\n)\n"
    lines = [(2, "(N a)"), (2, "(N b)"), (5, "(S (V c))"), (6, None), (7, "(N d)"), (9, None)]
    found = list(read_trees_at(text, empty="drop"))
    assert [(line, tree and str(tree)) for line, tree in found] == lines
    with pytest.raises(TreeSyntaxError, match=r"^f:5:5: found an empty node"):
        list(read_trees_at(text, "f"))


@given(st.lists(st.tuples(trees, st.sampled_from(["", "\n", "\r\n \r", " \n\n"]))))
def test_lines_agree_with_a_naive_count(several):
    text, expected = "", []
    for tree, gap in several:
        text += gap
        expected.append((len(re.split(r"\r\n?|\n", text)), tree))
        text += tree.pretty(width=20)
    assert list(read_trees_at(text)) == expected


def test_dropping_does_not_forgive_other_errors():
    with pytest.raises(TreeSyntaxError, match=r":1:1: found the end of the text"):
        list(read_trees("(S (NP)", empty="drop"))
    with pytest.raises(DbpcfgError, match="'error' or 'drop', not 'keep'"):
        list(read_trees(DOG, empty="keep"))


def spoil(several, place, junk):
    text = "\n".join(tree.pretty(width=20) for tree in several)
    return text[: place % (len(text) + 1)] + junk + text[place % (len(text) + 1) + 1 :]


texts = st.one_of(
    st.text(),
    st.text("() \n\rab\ufeff\xa0"),
    st.builds(spoil, st.lists(trees), st.integers(0), st.text("() a\n", max_size=2)),
)


@given(texts, st.sampled_from(["error", "drop"]))
def test_any_text_is_trees_or_a_syntax_error(text, empty):
    unmarked = text.removeprefix("\ufeff")
    try:
        found = list(read_trees(text, empty=empty))
    except TreeSyntaxError as error:
        line, column = map(int, re.match(r"<string>:(\d+):(\d+): found ", str(error)).groups())
        character = re.split(r"\r\n?|\n", unmarked)[line - 1][column - 1]
        assert character not in " \t\n\r\f\v"
        return
    assert text.count("(") == text.count(")")
    without_nodes = re.sub(r"\([^\s()]*|\)", " ", unmarked, flags=re.ASCII)
    assert flatten(map(Tree.words, found)) == re.findall(r"\S+", without_nodes, re.ASCII)
    assert list(read_trees("".join(map(str, found)))) == found


# --- big and deep ---------------------------------------------------------------------------------


def test_a_big_text():
    # Big enough for quadratic reading to be felt, without a clock.
    text = f"{DOG}\n" * 20_000
    found = list(read_trees(text))
    assert len(found) == 20_000
    assert "\n".join(map(str, found)) + "\n" == text
    assert len(read_tree(f"(X {'(N a) ' * 100_000})")) == 100_000
    with pytest.raises(TreeSyntaxError, match=r"^<string>:20001:1: found a '\)'"):
        list(read_trees(text + ")"))


def right_leaning(depth):
    tree = Tree("Y", ["b"])
    for _ in range(depth):
        tree = Tree("X", [Tree("Y", ["a"]), tree])
    return tree


def left_leaning(depth):
    tree = Tree("Y", ["b"])
    for _ in range(depth):
        tree = Tree("X", [tree, Tree("Y", ["a"])])
    return tree


def unary(depth):
    tree = Tree("Y", ["b"])
    for _ in range(depth):
        tree = Tree("X", [tree])
    return tree


DEEP = {
    right_leaning: lambda n: "(X (Y a) " * n + "(Y b)" + ")" * n,
    left_leaning: lambda n: "(X " * n + "(Y b)" + " (Y a))" * n,
    unary: lambda n: "(X " * n + "(Y b)" + ")" * n,
}


@pytest.mark.parametrize("build", DEEP)
def test_deep_trees(build):
    tree, brackets = build(DEPTH), DEEP[build](DEPTH)
    assert str(tree) == brackets
    twin = read_tree(brackets)
    assert twin == tree
    assert hash(twin) == hash(tree)
    assert tree != build(DEPTH - 1)
    assert tree != tree.replace_words(["c"] * len(tree))
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.copy(tree) == copy.deepcopy(tree) == tree
    assert len(repr(tree)) < 220
    assert len(tree) == (1 if build is unary else DEPTH + 1)
    assert len(tree.tags()) == len(tree)
    assert tree.is_binary is (build is not unary)
    assert tree.relabel(str.lower).label == "x"
    spans = tree.spans()
    assert len(spans) == DEPTH
    assert spans[0] == (0, len(tree), "X")
    last = {right_leaning: (DEPTH - 1, DEPTH + 1), left_leaning: (0, 2), unary: (0, 1)}[build]
    assert spans[-1][:2] == last


@pytest.mark.parametrize("build", DEEP)
def test_deep_trees_print_prettily_in_linear_space(build):
    tree = build(DEPTH)
    pretty = tree.pretty()
    assert len(pretty) < 110 * DEPTH
    assert read_tree(pretty) == tree


def test_a_deep_unclosed_tree():
    with pytest.raises(TreeSyntaxError, match=rf":1:1: .* expected {DEPTH} more"):
        read_tree("(" * DEPTH)
    assert list(read_trees("(" * DEPTH + ")" * DEPTH, empty="drop")) == []


# --- NLTK -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nltk():
    return pytest.importorskip("nltk")


@given(any_trees)
def test_nltk_there_and_back(nltk, tree):

    def naive(item):
        return (
            item if isinstance(item, str) else nltk.Tree(item.label, [*map(naive, item.children)])
        )

    converted = tree.to_nltk()
    assert type(converted) is nltk.Tree
    assert converted == naive(tree)
    assert Tree.from_nltk(converted) == tree
    assert Tree.from_nltk(nltk.ParentedTree.convert(converted)) == tree
    assert Tree.from_nltk(nltk.ImmutableTree.convert(converted)) == tree


@pytest.mark.parametrize(
    "text",
    [
        DOG,
        "( (S (NP (D the) (N dog)) (V barks)) )",
        "((S (V go)))",
        "(X the (X dog barks))",
        "(S\n  (NP (-LRB- -LRB-) (N 犬))\r\n\t(V barks))",
        "(TOP (S (NP-SBJ-1 (-NONE- *T*-1)) (VP (VBD said) (, ,) ('' '')) (. .)))",
    ],
)
def test_reads_as_nltk_does(nltk, text):
    theirs, ours = nltk.Tree.fromstring(text), read_tree(text)
    assert ours.to_nltk() == theirs
    assert Tree.from_nltk(theirs) == ours
    assert ours.words() == theirs.leaves()
    assert str(ours) == " ".join(str(theirs).split())


def test_nltk_subtrees_that_are_equal_are_not_one_object(nltk):
    shared = Tree("N", ["dog"])
    converted = Tree("X", [shared, shared]).to_nltk()
    converted[0][0] = "cat"
    assert converted[1][0] == "dog"


def test_nltk_leaves_and_labels_that_are_not_strings(nltk):
    tree = nltk.Tree(nltk.Nonterminal("S"), [3, ("dog", "N"), nltk.Tree("V", ["go"])])
    assert Tree.from_nltk(tree) == Tree("S", ["3", "('dog', 'N')", Tree("V", ["go"])])


def test_not_an_nltk_tree(nltk):
    with pytest.raises(DbpcfgError, match=r"expected an nltk\.Tree, got str"):
        Tree.from_nltk("(N dog)")


def test_an_nltk_tree_with_an_empty_node(nltk):
    with pytest.raises(DbpcfgError, match=r"at least one child.*'NP'"):
        Tree.from_nltk(nltk.Tree("S", [nltk.Tree("NP", []), "go"]))


@pytest.mark.parametrize("build", DEEP)
def test_deep_nltk_trees(nltk, build):
    tree = build(DEPTH)
    assert Tree.from_nltk(tree.to_nltk()) == tree


def test_without_nltk(monkeypatch):
    for module in ("nltk", "nltk.tree"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DbpcfgError, match=re.escape("pip install 'dbpcfg[nltk]'")):
        read_tree(DOG).to_nltk()


def test_importing_the_module_does_not_import_nltk():
    code = "import sys, dbpcfg.trees; sys.exit('nltk' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
