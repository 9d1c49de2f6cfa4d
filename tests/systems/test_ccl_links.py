"""Links of CCL: what they reach and block, and which may be added."""

from __future__ import annotations

from dbpcfg.systems.ccl.lexicon import (
    DEEP,
    EITHER,
    LEFT,
    NEITHER,
    NEVER,
    NONE,
    RIGHT,
    SHALLOW,
    add_link,
    empty_links,
    first_depth,
    least_depth,
    reaches,
)
from dbpcfg.systems.ccl.scoring import (
    attach,
    depths_from_prefix,
    depths_into_prefix,
    empty_frontier,
    shift,
)

# --- links --------------------------------------------------------------------------------------


def linked(n: int, *added: tuple[int, int, int]):
    links = empty_links(n)
    for x, y, depth in added:
        add_link(links, x, y, depth)
    return links


def test_reach_and_paths():
    #    0 → 1 → 2,  3 → 2 only at depth 1,  4 → 3
    links = linked(5, (0, 1, 0), (1, 2, 1), (2, 1, 0), (3, 2, 1), (4, 3, 0))
    assert links["reach"][:, LEFT].tolist() == [0, 1, 1, 1, 1]
    assert first_depth(links, 0, 2) == 0
    assert first_depth(links, 1, 2) == 1
    assert first_depth(links, 2, 3) == NONE
    assert reaches(links, 4, 1)
    assert not reaches(links, 4, 0)
    assert not reaches(links, 0, 3)


def test_heads_are_kept_in_order():
    links = linked(4, (1, 0, 0), (3, 2, 0), (3, 1, 1))
    assert links["count"][3, LEFT] == 2
    assert links["first"][3, LEFT] == 2
    assert links["following"][2, RIGHT] == 1
    assert (links["last"][3, LEFT], links["last_shallow"][3, LEFT]) == (1, 2)
    assert links["reach"][3, LEFT] == 0


def test_least_depths():
    assert least_depth(empty_links(3), 1, 2) == 0
    assert least_depth(linked(3, (0, 1, 1)), 0, 2) == 1  # no less than the last one
    assert least_depth(linked(3, (1, 0, 0)), 0, 2) == 1  # past the base of a link into it
    assert least_depth(linked(3, (1, 0, 0)), 0, 1) == 0  # but to the base itself
    assert least_depth(linked(3, (1, 0, 1)), 0, 2) == NEVER  # past a complete block
    assert least_depth(linked(3, (1, 2, 0)), 2, 0) == 1
    assert least_depth(linked(3, (1, 2, 1)), 2, 0) == NEVER


def test_complete_blocks_on_the_left_are_inherited():
    links = linked(4, (0, 1, 1), (1, 2, 0), (2, 3, 0))
    assert links["block"][:, LEFT].tolist() == [NONE, 0, 0, 0]


def test_complete_blocks_on_the_right_go_to_all_on_the_left():
    links = linked(5, (1, 0, 0), (2, 1, 0), (4, 3, 0), (4, 2, 1))
    assert links["block"][:, RIGHT].tolist() == [4, 4, 4, 4, NONE]
    links = linked(5, (1, 0, 0), (2, 1, 1), (3, 2, 0), (4, 3, 1))
    assert links["block"][:, RIGHT].tolist() == [2, 2, 4, 4, NONE]  # the first one stays
    links = linked(4, (1, 0, 0), (2, 1, 0), (2, 3, 1))  # by a link to the right as well
    assert links["block"][:, RIGHT].tolist() == [2, 2, NONE, NONE]
    links = linked(4, (1, 0, 0), (2, 1, 1), (1, 3, 1))  # but not of a word that is blocked itself
    assert links["block"][:, RIGHT].tolist() == [2, 2, NONE, NONE]


# --- which links may be added -------------------------------------------------------------------


def at_word(k: int, *added: tuple[int, int, int]):
    """A sentence of k + 1 words at its last one, after some links."""
    links, frontier = empty_links(k + 1), empty_frontier(k + 1)
    for word in range(1, k + 1):
        shift(frontier, links, word)
        for x, y, depth in added:
            if max(x, y) == word:
                attach(frontier, links, x, y, depth)
    return frontier, links


def waiting(frontier) -> list[tuple[int, int]]:
    return frontier.stack[: frontier.state["size"][0]].tolist()


def test_who_may_link_to_the_next_word():
    assert waiting(at_word(3, (0, 1, 0), (1, 2, 0))[0]) == [(0, 0), (1, 0), (2, 0)]
    assert waiting(at_word(3, (0, 1, 0), (0, 2, 1))[0]) == [(0, 1), (2, 0)]  # 1 is passed
    assert waiting(at_word(3, (0, 1, 0))[0]) == [(2, 0)]  # nothing is linked to 2
    assert waiting(at_word(3, (0, 1, 0), (1, 0, 0), (1, 2, 0))[0]) == [(0, 1), (1, 0), (2, 0)]
    assert waiting(at_word(2, (0, 1, 1), (1, 0, 1))[0]) == [(1, 0)]  # 0 is blocked


def test_a_violation_and_what_mends_it():
    frontier, links = at_word(2, (0, 1, 1), (2, 1, 0))  # 2 covers 1, so does 0, but not 2
    assert frontier.state[0].tolist() == (2, 0, 1)
    assert depths_from_prefix(frontier, links, 0, 2) == DEEP  # as 0 → 1 is
    assert depths_into_prefix(frontier, links, 2) == SHALLOW  # as 2 → 1 is
    attach(frontier, links, 2, 0, 0)
    assert frontier.state["violation"][0] == NONE

    frontier, links = at_word(2, (0, 1, 1), (2, 1, 0), (0, 2, 1))
    assert frontier.state["violation"][0] == NONE

    frontier, links = at_word(2, (0, 1, 1), (0, 2, 1), (2, 1, 0))  # 0 reaches 2 already
    assert frontier.state["violation"][0] == NONE


def test_the_nearest_violation_counts():
    frontier, links = at_word(3, (0, 1, 0), (1, 2, 0), (3, 2, 0))
    assert frontier.state["violation"][0] == 1
    assert depths_from_prefix(frontier, links, 0, 3) == NEITHER  # 0 is beyond it
    assert depths_from_prefix(frontier, links, 1, 3) == SHALLOW
    attach(frontier, links, 3, 1, 0)
    assert frontier.state["violation"][0] == 0


def test_depths_of_links_from_the_prefix():
    frontier, links = at_word(2, (0, 1, 0))
    assert [depths_from_prefix(frontier, links, rank, 2) for rank in (0, 1)] == [EITHER, EITHER]
    frontier, links = at_word(2, (0, 1, 1))
    assert depths_from_prefix(frontier, links, 0, 2) == DEEP
    frontier, links = at_word(2, (0, 1, 0), (1, 0, 0), (2, 1, 0))
    assert depths_from_prefix(frontier, links, 1, 2) == SHALLOW  # as on the path 2 → 1
    assert depths_from_prefix(frontier, links, 0, 2) == NEITHER  # 2 → 1 → 0 is shallow, 0 → 2 deep
    frontier, links = at_word(3, (0, 1, 0), (1, 2, 0), (2, 1, 0), (3, 2, 0), (3, 0, 0))
    assert depths_from_prefix(frontier, links, 1, 3) == NEITHER  # 3 has gone on to 0
    assert depths_from_prefix(frontier, links, 0, 3) == SHALLOW


def test_depths_of_links_into_the_prefix():
    frontier, links = at_word(2)
    assert depths_into_prefix(frontier, links, 2) == EITHER
    frontier, links = at_word(2, (2, 1, 1))
    assert depths_into_prefix(frontier, links, 2) == DEEP
    frontier, links = at_word(2, (2, 1, 0), (2, 0, 0))
    assert depths_into_prefix(frontier, links, 2) == NEITHER  # the sentence begins there
    frontier, links = at_word(2, (1, 2, 1), (2, 1, 1))
    assert depths_into_prefix(frontier, links, 2) == NEITHER  # past a complete block
    frontier, links = at_word(2, (0, 1, 0), (1, 2, 0), (2, 1, 0))
    assert depths_into_prefix(frontier, links, 2) == NEITHER  # past 1 only deep, to 0 only shallow
    frontier, links = at_word(2, (0, 1, 1), (1, 2, 0), (2, 1, 0))
    assert depths_into_prefix(frontier, links, 2) == NEITHER
