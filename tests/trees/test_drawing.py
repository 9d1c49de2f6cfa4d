"""The places of everything in a drawn tree, and SVG: all is there, and nothing is markup."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.trees.drawing import layout, text_width, tree_svg
from dbpcfg.trees.tree import Tree
from tests.trees.strategies import SMALL, deep_tree, drawable_tokens, drawable_trees


def halves(text: str, is_word: bool) -> tuple[float, float]:
    return width(text, is_word) / 2, width(text, is_word) / 2


def width(text: str, is_word: bool) -> float:
    return max(text_width(text), 0.1) * (1.0 if is_word else 0.8)


@settings(max_examples=200)
@given(drawable_trees(drawable_tokens))
def test_no_texts_touch_and_no_line_meets_a_text(tree):
    gap = 0.5
    items = layout(tree, halves, gap)
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


@given(drawable_trees(drawable_tokens))
def test_words_are_in_order_and_nodes_over_the_middle_of_their_children(tree):
    items = layout(tree, halves, 1.0)
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


SVG = "{http://www.w3.org/2000/svg}"


@settings(max_examples=200)
@given(drawable_trees(st.one_of(drawable_tokens, st.text(min_size=1, max_size=4))))
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
    assert len(tree_svg(deep_tree())) < 2_000_000
