"""Brackets out and in: there and back, and the reader's errors word by word."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import TreeSyntaxError
from dbpcfg.trees.brackets import evalb_line, read_tree, read_trees, read_trees_at
from dbpcfg.trees.tree import Tree
from tests.trees.strategies import (
    DEPTH,
    DOG,
    SMALL,
    drawable_tokens,
    drawable_trees,
    flatten,
    trees,
)

gaps = st.text(" \t\n\r\f\v", max_size=3)


def over_lines(tree: Tree) -> str:
    """The brackets of a tree, with a line for every node."""
    return str(tree).replace(" (", "\n  (")


# --- out and in -----------------------------------------------------------------------------------


def naive_brackets(item):
    if isinstance(item, str):
        return item
    return "(" + " ".join([item.label, *map(naive_brackets, item.children)]) + ")"


@given(trees)
def test_brackets_there_and_back(tree):
    assert str(tree) == naive_brackets(tree)
    assert "\n" not in str(tree)
    assert read_tree(str(tree)) == tree
    assert read_tree(over_lines(tree)) == tree


@given(st.lists(trees, max_size=3), st.data())
def test_many_trees_with_any_white_space_between(several, data):
    pieces = [data.draw(gaps)]
    for tree in several:
        for token in re.findall(r"\([^\s()]*|\)|[^\s()]+", str(tree), re.ASCII):
            # A gap is needed between two tokens that would join into one.
            pieces += [token, data.draw(gaps) or ("" if token == ")" else " ")]
    assert list(read_trees("".join(pieces))) == several


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


@pytest.mark.parametrize(
    "word", ["犬", "naïve", "10\xa0000", "a\u2003b", "\x85", "\x1c", "🐶", "\0"]
)
def test_only_ascii_white_space_separates(word):
    assert read_tree(f"(N {word})") == Tree("N", [word])
    assert read_tree(f"({word} dog)") == Tree(word, ["dog"])


def test_round_brackets_are_written_as_treebanks_do_and_left_so_when_read():
    tree = Tree("N(1)", ["(", ")", "f(x)", "-LRB-"])
    assert str(tree) == "(N-LRB-1-RRB- -LRB- -RRB- f-LRB-x-RRB- -LRB-)"
    assert read_tree(str(tree)).words() == ["-LRB-", "-RRB-", "f-LRB-x-RRB-", "-LRB-"]
    assert read_tree(str(tree)).label == "N-LRB-1-RRB-"


@pytest.mark.parametrize("space", [*" \t\n\r\f\v"])
def test_white_space_cannot_be_written(space):
    with pytest.raises(TreeSyntaxError, match=r"the word 'a.*b' has white space"):
        str(Tree("X", [Tree("Y", [f"a{space}b"]), "c"]))
    with pytest.raises(TreeSyntaxError, match=r"the label 'a.*b' has white space"):
        str(Tree("X", [Tree(f"a{space}b", ["c"]), "c"]))
    with pytest.raises(TreeSyntaxError, match="empty word"):
        str(Tree("X", ["a", ""]))


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
    with pytest.raises(TreeSyntaxError) as caught:
        list(read_trees(text, "wsj.mrg"))
    message = str(caught.value)
    assert message.startswith(f"wsj.mrg:{place}: found ")
    assert found in message
    assert expected in message
    assert "; hint: " in message


def test_read_tree_wants_exactly_one():
    with pytest.raises(TreeSyntaxError, match=r"^f:1:1: found no tree, expected exactly one"):
        read_tree(" \n", "f")
    with pytest.raises(TreeSyntaxError, match=r"^f:2:2: found a second tree, expected exactly one"):
        read_tree("\ufeff(N a)\n (S (N b) (V c)) (N d)", "f")


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
    assert [str(tree) for tree in read_trees(text, drop_empty=True)] == left
    with pytest.raises(TreeSyntaxError, match="empty node"):
        list(read_trees(text))


def test_trees_with_their_lines():
    text = "\ufeff\n(N a)(N\nb)\r\n\r (S (NP)\n (V c)) (N\n) (N d)\r\r(\n)\n"
    lines = [(2, "(N a)"), (2, "(N b)"), (5, "(S (V c))"), (6, None), (7, "(N d)"), (9, None)]
    found = list(read_trees_at(text, drop_empty=True))
    assert [(line, tree and str(tree)) for line, tree in found] == lines
    with pytest.raises(TreeSyntaxError, match=r"^f:5:5: found an empty node"):
        list(read_trees_at(text, "f"))


@given(st.lists(st.tuples(trees, st.sampled_from(["", "\n", "\r\n \r", " \n\n"])), max_size=4))
def test_lines_agree_with_a_naive_count(several):
    text, expected = "", []
    for tree, gap in several:
        text += gap
        expected.append((len(re.split(r"\r\n?|\n", text)), tree))
        text += over_lines(tree)
    assert list(read_trees_at(text)) == expected


def spoil(several, place, junk):
    text = "\n".join(over_lines(tree) for tree in several)
    return text[: place % (len(text) + 1)] + junk + text[place % (len(text) + 1) + 1 :]


texts = st.one_of(
    st.text(),
    st.text("() \n\rab\ufeff\xa0"),
    st.builds(spoil, st.lists(trees, max_size=4), st.integers(0), st.text("() a\n", max_size=2)),
)


@given(texts, st.booleans())
def test_any_text_is_trees_or_a_syntax_error(text, drop_empty):
    unmarked = text.removeprefix("\ufeff")
    try:
        found = list(read_trees(text, drop_empty=drop_empty))
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


def test_a_deep_unclosed_tree():
    with pytest.raises(TreeSyntaxError, match=rf":1:1: .* expected {DEPTH} more"):
        read_tree("(" * DEPTH)
    assert list(read_trees("(" * DEPTH + ")" * DEPTH, drop_empty=True)) == []


# --- for EVALB ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        (SMALL, "(TOP (S (NP (D the) (N dog)) (VP barks)))"),
        (Tree("ROOT", [SMALL]), "(TOP (S (NP (D the) (N dog)) (VP barks)))"),
        (Tree("", [SMALL]), "(TOP (S (NP (D the) (N dog)) (VP barks)))"),
        (Tree("X", ["a", "(b)"]), "(TOP (X (XX a) (XX -LRB-b-RRB-)))"),
        (Tree("X", [Tree("", ["[a]"]), Tree("", ["b", "c"])]), None),
        (Tree("N", ["a"]), "(TOP (N a))"),
        (Tree("TOP", ["a"]), "(TOP (XX a))"),
        (Tree("", ["a", "b"]), "(TOP (XX a) (XX b))"),
    ],
)
def test_trees_for_evalb(tree, line):
    assert evalb_line(tree) == (line or "(TOP (X (XX [a]) (X (XX b) (XX c))))")


@given(drawable_trees(drawable_tokens))
def test_evalb_gets_one_line_with_a_preterminal_for_every_word(tree):
    line = evalb_line(tree)
    assert "\n" not in line
    read = read_tree(line)
    assert read.label == "TOP"
    assert all(read.tags())
    assert read.words() == [w.replace("(", "-LRB-").replace(")", "-RRB-") for w in tree.words()]
    assert {s[:2] for s in read.spans()} >= {s[:2] for s in tree.spans()}
    assert evalb_line(read) == line
