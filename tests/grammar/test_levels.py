"""The numbering of sides and depths, from Python and inside kernels."""

from __future__ import annotations

import pytest

from dbpcfg.errors import GrammarError
from dbpcfg.grammar.bounding import (
    check_depth,
    children,
    is_right,
    left_child,
    left_level,
    level_count,
    level_name,
    right_child,
    right_level,
)
from dbpcfg.numerics.kernels import kernel


def level(side: str, d: int) -> int:
    return 2 * (d - 1) + (side == "R")


@kernel
def children_in_a_kernel(of: int, levels: int) -> tuple[int, int, bool]:
    left, right = children(of, levels)
    return left, right, is_right(of)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_levels_follow_the_definition_of_depth(d):
    """(L,d) → (L,d) (R,d) and (R,d) → (L,d+1) (R,d), in words."""
    assert left_child(level("L", d)) == level("L", d)
    assert right_child(level("L", d)) == level("R", d)
    assert left_child(level("R", d)) == level("L", d + 1)
    assert right_child(level("R", d)) == level("R", d)
    assert (left_level(d), right_level(d)) == (level("L", d), level("R", d))
    assert [is_right(level(side, d)) for side in "LR"] == [False, True]
    assert [level_name(level(side, d)) for side in "LR"] == [f"L{d}", f"R{d}"]


def test_levels_of_a_bound():
    assert [level_count(depth) for depth in (None, 1, 2, 3)] == [1, 3, 5, 7]
    assert [level_name(m) for m in range(level_count(2))] == ["L1", "R1", "L2", "R2", "L3"]
    with pytest.raises(GrammarError, match=r"^the depth bound must be at least 1, got 0$"):
        level_count(0)
    assert check_depth(4) == 4


def test_kernels_have_the_same_levels():
    for m in range(6):
        assert children(m, 7) == (left_child(m), right_child(m))
        assert children_in_a_kernel(m, 7) == (*children(m, 7), is_right(m))
    assert children(0, 1) == children_in_a_kernel(0, 1)[:2] == (0, 0)


def test_python_calls_compile_nothing():
    assert not hasattr(left_child, "signatures")
