"""Trees as SVG: every word and label is there, and nothing is taken for markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.trees.drawing import tree_svg
from dbpcfg.trees.tree import Tree
from tests.trees.strategies import SMALL, deep_tree, drawable_tokens, drawable_trees

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
