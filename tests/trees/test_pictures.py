"""Pictures of trees: everything is there, in its place, and nothing is taken for markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError, TreeSyntaxError
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.evalb import evalb_line
from dbpcfg.trees.latex import forest, latex_document, qtree
from dbpcfg.trees.layout import place, text_width
from dbpcfg.trees.svg import tree_svg
from dbpcfg.trees.tree import Tree

HOSTILE = ["<script>", "&amp;", r"\input{x}", "%", "_", "(", ")", "[", "]", "],[", "{", "}", "\\"]
HOSTILE += ["#", "$x$", "~", "^^41", '"', "--", "---", "?`", "a,b", "=", "|", "</svg>", "]]>", "犬"]
tokens = st.sampled_from([*HOSTILE, "the", "dog", "NP-SBJ", "X1", "a-rather-long-word", "i"])


def trees(token: st.SearchStrategy[str]) -> st.SearchStrategy[Tree]:
    return st.recursive(
        st.builds(lambda label, word: Tree(label, [word]), token | st.just(""), token),
        lambda below: st.builds(
            Tree, token | st.just(""), st.lists(below | token, min_size=1, max_size=4)
        ),
        max_leaves=15,
    )


SMALL = read_tree("(S (NP (D the) (N dog)) (VP barks))")


# --- where things are -----------------------------------------------------------------------------


def width(text: str, is_word: bool) -> float:
    return max(text_width(text), 0.1) * (1.0 if is_word else 0.8)


@settings(max_examples=200)
@given(trees(tokens))
def test_no_texts_touch_and_no_line_meets_a_text(tree):
    gap = 0.5
    items = place(tree, width, gap)
    boxes = [
        (i.x - width(i.text, i.is_word) / 2, i.x + width(i.text, i.is_word) / 2) for i in items
    ]
    for n, (one, (left, right)) in enumerate(zip(items, boxes)):
        assert left >= -1e-9
        assert right <= items[0].width + 1e-9
        for other, (other_left, other_right) in zip(items[:n], boxes):
            if one.row == other.row:
                assert right + gap <= other_left + 1e-9 or other_right + gap <= left + 1e-9
        for child in one.children:  # a line stands over the child, up to the row below the parent
            for other, (other_left, other_right) in zip(items, boxes):
                if child.row < other.row < one.row:
                    assert not other_left < child.x < other_right
                # and leaves the parent in the row below it, where all else is further aside
                if other.row == one.row and other is not one:
                    low, high = sorted((one.x, child.x))
                    assert other_right < low or other_left > high


@given(trees(tokens))
def test_words_are_in_order_and_nodes_over_the_middle_of_their_children(tree):
    items = place(tree, width, 1.0)
    words = [item for item in items if item.is_word]
    assert [item.text for item in words] == tree.words()
    assert [item.x for item in words] == sorted(item.x for item in words)
    assert {item.row for item in words} == {0}
    for item in items:
        if item.children:
            middle = (item.children[0].x + item.children[-1].x) / 2
            assert item.x == pytest.approx(middle)
            assert item.row == 1 + max(child.row for child in item.children)


def test_widths_are_those_of_the_font():
    assert text_width("mill") == pytest.approx(0.833 + 3 * 0.222)
    assert text_width("naïve") == pytest.approx(text_width("naive"), abs=0.06)
    assert text_width("犬") == 1.0
    assert text_width("") == 0.0


# --- SVG ------------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


@settings(max_examples=200)
@given(trees(st.one_of(tokens, st.text(min_size=1, max_size=4))))
def test_svg_is_xml_with_every_word_and_label(tree):
    page = ET.fromstring(tree_svg(tree).encode("utf-8", "replace"))
    assert {element.tag.removeprefix(SVG) for element in page.iter()} <= {
        *("svg", "title", "path", "g", "text")
    }
    shown = [element.text or "" for element in page.iter(f"{SVG}text")]
    expected = [node.label or "·" for node in tree.nodes()] + tree.words()
    assert len(shown) == len(expected)
    for found, text in zip(shown, expected, strict=True):
        if text.isprintable():
            assert found == text


def test_svg_by_its_parts():
    page = ET.fromstring(tree_svg(SMALL))
    assert page.get("role") == "img"
    assert page.find(f"{SVG}title").text == "the dog barks"
    texts = {element.text: element for element in page.iter(f"{SVG}text")}
    assert list(texts) == ["S", "NP", "D", "N", "VP", "the", "dog", "barks"]
    baselines = {texts[word].get("y") for word in ("the", "dog", "barks")}
    assert len(baselines) == 1
    places = [float(texts[word].get("x")) for word in ("the", "dog", "barks")]
    assert places == sorted(places)
    assert max(places) < float(page.get("width"))
    assert float(texts["the"].get("y")) < float(page.get("height"))
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', tree_svg(SMALL)))
    assert colours == {"currentColor", "none"}
    assert page.find(f"{SVG}path").get("d").count("M") == 7  # a line for each word and node but S


def test_titles_and_sizes():
    assert "<title>a &lt;b&gt;</title>" in tree_svg(SMALL, title="a <b>")
    long = Tree("X", ["w"] * 100)
    assert "<title>" + " ".join(["w"] * 40) + " …</title>" in tree_svg(long)
    small, big = (ET.fromstring(tree_svg(SMALL, size)) for size in (10, 20))
    assert float(big.get("width")) == pytest.approx(2 * float(small.get("width")), abs=0.2)


def test_notebooks_show_trees_but_not_endless_ones():
    assert SMALL._repr_svg_() == tree_svg(SMALL)
    assert Tree("X", ["w"] * 501)._repr_svg_() is None


def test_trees_deeper_than_the_stack():
    deep = Tree("X", ["w"])
    for _ in range(5000):
        deep = Tree("X", [deep, "w"])
    for written in (tree_svg(deep), forest(deep), qtree(deep), evalb_line(deep)):
        assert len(written) < 2_000_000


# --- LaTeX ----------------------------------------------------------------------------------------

CHARACTERS = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\char34{}": '"',
    r"\textperiodcentered{}": "",
    **{"\\" + character: character for character in "&%$#_{}"},
    "{}": "",
}
TOKEN = re.compile("|".join([*map(re.escape, CHARACTERS), r"[^\\{}%&#_$~^\"<>|]"]))


def unescaped(text: str) -> str:
    """What LaTeX prints, if there is nothing but plain characters and known commands."""
    pieces = TOKEN.findall(text)
    assert "".join(pieces) == text
    return "".join(CHARACTERS.get(piece, piece) for piece in pieces)


def groups(text: str):
    """Brackets, and what stands in braces: the tree as LaTeX's packages see it."""
    at = 0
    while at < len(text):
        if text[at] == "{":
            end, depth = at, 0
            while True:
                if text[end] == "\\" and text[end + 1] in "{}":
                    end += 2
                    continue
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
                if not depth:
                    break
            yield unescaped(text[at + 1 : end - 1])
            at = end
        else:
            if text[at] in "[].":
                yield text[at], None
            else:
                assert text[at] in " \n"
            at += 1


def read_forest(text: str) -> Tree:
    stack: list[list] = [[]]
    for token in groups(text):
        if token == ("[", None):
            stack.append([])
        elif token == ("]", None):
            label, *below = stack.pop()
            stack[-1].append(Tree(label, below) if below else label)
        else:
            stack[-1].append(token)
    return stack[0][0]


def read_qtree(text: str) -> Tree:
    stack: list[list] = [[]]
    for token in groups(text):
        if token == ("[", None):
            stack.append([])
        elif token == ("]", None):
            label, *below = stack.pop()
            stack[-1].append(Tree(label, below))
        elif token != (".", None):
            stack[-1].append(token)
    return stack[0][0]


@settings(max_examples=200)
@given(trees(tokens))
def test_latex_says_the_tree_and_nothing_else(tree):
    begin, _, *lines, end = forest(tree).split("\n")
    assert (begin, end) == (r"\begin{forest}", r"\end{forest}")
    assert read_forest("\n".join(lines)) == tree
    begin, command, *lines, end = qtree(tree).split("\n")
    assert (begin, command, end) == (r"\begin{tikzpicture}", r"\Tree", r"\end{tikzpicture}")
    assert read_qtree("\n".join(lines)) == tree


@pytest.mark.parametrize(
    ("word", "written"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("100%", r"100\%"),
        ("a_b^c", r"a\_b\textasciicircum{}c"),
        ("---", "-{}-{}-"),
        ("?`", "?{}`"),
        ('"', r"\char34{}"),
        ("a\n\nb\0c", "a  b?c"),
    ],
)
def test_words_in_latex(word, written):
    assert f"[{{{written}}}]" in forest(Tree("X", [word]))
    assert f" {{{written}}} ]" in qtree(Tree("X", [word]))


def test_a_document_has_its_packages():
    document = latex_document([forest(SMALL), forest(SMALL)], "forest")
    assert document.startswith(r"\documentclass")
    assert r"\usepackage{forest}" in document
    assert document.count(r"\begin{forest}") == 2
    assert r"\usepackage{tikz-qtree}" in latex_document([], "qtree")
    with pytest.raises(DbpcfgError, match="must be forest or qtree, not 'tree'"):
        latex_document([], "tree")


# --- EVALB ----------------------------------------------------------------------------------------


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


@given(trees(tokens))
def test_evalb_gets_one_line_with_a_preterminal_for_every_word(tree):
    line = evalb_line(tree)
    assert "\n" not in line
    read = read_tree(line)
    assert read.label == "TOP"
    assert all(read.tags())
    assert read.words() == [w.replace("(", "-LRB-").replace(")", "-RRB-") for w in tree.words()]
    assert {s[:2] for s in read.spans()} >= {s[:2] for s in tree.spans()}
    assert evalb_line(read) == line


def test_evalb_cannot_have_white_space_in_words():
    with pytest.raises(TreeSyntaxError, match="has white space"):
        evalb_line(Tree("X", ["a b"]))
