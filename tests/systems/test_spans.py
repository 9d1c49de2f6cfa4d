"""Trees from nested spans."""

from __future__ import annotations

from dbpcfg.systems.registry import tree_from_spans


def test_tree_from_spans():
    words = list("abcdef")
    nested = [(0, 4), (1, 4), (2, 4), (4, 6)]
    assert str(tree_from_spans(words, nested)) == "(X (X a (X b (X c d))) (X e f))"
    assert str(tree_from_spans(words, [(0, 6), (4, 6)])) == "(X a b c d (X e f))"  # one root
    assert str(tree_from_spans(["a"], [])) == "(X a)"


def test_deep_trees():
    n = 3000
    assert len(tree_from_spans(["w"] * n, [(i, n) for i in range(n - 1)])) == n
