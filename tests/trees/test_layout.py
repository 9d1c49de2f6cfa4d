"""The places of everything in a drawn tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from dbpcfg.trees.drawing import place, text_width
from tests.trees.strategies import drawable_tokens, drawable_trees


def width(text: str, is_word: bool) -> float:
    return max(text_width(text), 0.1) * (1.0 if is_word else 0.8)


@settings(max_examples=200)
@given(drawable_trees(drawable_tokens))
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


@given(drawable_trees(drawable_tokens))
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
