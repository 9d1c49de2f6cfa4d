"""How CCL scores and chooses links, and makes trees of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.systems.ccl import nested, tree_from_brackets
from dbpcfg.systems.ccl.lexicon import (
    DEEP,
    EITHER,
    LEFT,
    NONE,
    RIGHT,
    SHALLOW,
    add_seen,
    empty_lexicon,
    find_or_add_point,
    with_room,
)
from dbpcfg.systems.ccl.parsing import (
    EVENTS_PER_WORD,
    _parse,
    _strongest,
    _weigh,
    empty_candidates,
    empty_events,
    learn,
)
from dbpcfg.systems.ccl.scoring import TOKEN, Reader, score, tokens_of, use
from tests.systems.ccl_lexica import beside, lexicon_of, like, tokens
from tests.systems.ccl_oracle import uncrossed

# --- scores -------------------------------------------------------------------------------------


def scored(points, right: int = EITHER, left: int = EITHER):
    lexicon = lexicon_of(4, points)
    return score(tokens(lexicon, 0, 1), lexicon, 0, 1, right, left)


# Word 0 has met things like word 1 on its right, with a share of 1/2.
MET = {"learn": 4, "seen": {like(1): 2}}


def test_words_that_never_met_are_not_linked():
    assert scored({}) == (0, 0, 0, NONE, NONE)


def test_out_makes_a_link_from_the_word_in_place_of_z():
    # The label is "like 1": word 1 is in the place of itself, and its left side decides.
    found = scored({(0, RIGHT): MET, (1, LEFT): {"learn": 8, "out": 2, "into_star": 1}})
    assert found == (0.125, 0.25, 0, 0, NONE)


def test_strengths_are_no_greater_than_that_of_the_match():
    found = scored({(0, RIGHT): MET, (1, LEFT): {"learn": 1, "out": 1, "into": 1}})
    assert found == (0.5, 0.5, 0, 0, NONE)


def test_in_star_serves_unless_in_is_further_below():
    left = {"learn": 8, "out": 2}
    assert scored({(0, RIGHT): MET, (1, LEFT): left | {"into_star": 1, "into": 4}}).to_k == 0.125
    assert scored({(0, RIGHT): MET, (1, LEFT): left | {"into_star": 0, "into": 4}}).to_k == 0.5
    assert scored({(0, RIGHT): MET, (1, LEFT): left | {"into_star": -1, "into": 4}}).to_k == 0.5
    assert scored({(0, RIGHT): MET, (1, LEFT): left | {"into_star": -5, "into": 4}}).to_k == 0


def test_depth_one():
    left = {"learn": 8, "out": -1, "into": -3, "into_star": 2}
    found = scored({(0, RIGHT): MET, (1, LEFT): left})
    assert found == (0.25, 0, 1, 0, NONE)
    assert scored({(0, RIGHT): MET, (1, LEFT): left}, right=SHALLOW).to_k == 0
    assert scored({(0, RIGHT): MET, (1, LEFT): left}, right=DEEP).to_k == 0.25
    assert scored({(0, RIGHT): MET, (1, LEFT): left | {"out": 1}}).depth == 0


def test_without_positive_values_the_matches_decide():
    # N = word 0 has the match; M = word 1 has met nothing, and its Out is 0.
    assert scored({(0, RIGHT): MET, (1, LEFT): {"learn": 1}}) == (0.5, 0, 0, 0, NONE)
    # Now word 1 has the stronger match, and word 0 is M.
    both = {(0, RIGHT): MET, (1, LEFT): {"learn": 4, "seen": {like(0): 3}}}
    assert scored(both) == (0.5, 0.75, 0, 0, 0)
    both[0, RIGHT] = MET | {"out": -1}
    assert scored(both) == (0, 0.75, 0, 0, 0)


def test_a_label_beside_z_puts_the_word_itself_in_its_place():
    # On its right word 0 has met what stands beside 2; word 1 does, since it met 2 on its left.
    points = {
        (0, RIGHT): {"learn": 1, "seen": {beside(2): 1}},
        (1, LEFT): {"learn": 2, "block": 2, "seen": {like(2): 2}},
        (2, RIGHT): {"learn": 4, "out": 3, "into_star": 1},
    }
    assert scored(points) == (0.75, 0.25, 0, 0, NONE)


def test_a_tie_is_strong_but_of_no_use():
    points = {
        (0, RIGHT): {"learn": 2, "seen": {like(1): 1, beside(2): 1}},
        (1, LEFT): {"learn": 2, "block": 1, "seen": {like(2): 1}},
    }
    assert scored(points) == (0, 0, 0, NONE, NONE)
    points[0, RIGHT]["seen"][like(1)] = 2
    assert scored(points).to_k > 0


def test_labels_must_be_stronger_than_block():
    left = {(1, LEFT): {"learn": 1, "out": 1, "into": 1}}
    assert scored({(0, RIGHT): MET | {"block": 1}} | left).to_k == 0.5
    assert scored({(0, RIGHT): MET | {"block": 2}} | left).to_k == 0


def test_matches_at_a_new_point_beat_those_at_used_ones():
    lexicon = lexicon_of(2, {(0, RIGHT): MET, (1, LEFT): {"learn": 1, "out": 1, "into": 1}})
    second = find_or_add_point(lexicon, 0, RIGHT, 1)
    lexicon.points["learn"][second] = 4
    add_seen(lexicon, second, like(1), np.float32(1))
    words = tokens(lexicon, 0, 1)
    assert score(words, lexicon, 0, 1, EITHER, EITHER) == (0.5, 0.5, 0, 0, NONE)
    use(words[0, RIGHT], 0)
    assert score(words, lexicon, 0, 1, EITHER, EITHER) == (0.25, 0.25, 0, 1, NONE)
    use(words[0, RIGHT], 1)
    assert score(words, lexicon, 0, 1, EITHER, EITHER) == (0.5, 0.5, 0, 0, NONE)


# --- choosing a link ----------------------------------------------------------------------------


def chosen(k: int, *links: tuple[int, int, float, bool]) -> int:
    """The base of the strongest of some links (base, head, strength, used); NONE for none."""
    candidates, words = empty_candidates(k + 1), np.zeros((k + 1, 2), TOKEN)
    for rank, (base, head, strength, used) in enumerate(links):
        candidates.bases[rank] = base
        candidates.by_base["head"][base] = head
        candidates.by_base["strength"][base] = strength
        words["used"][base, LEFT if base == k else RIGHT] = used
    return _strongest(words, candidates, len(links), k)


@pytest.mark.parametrize(
    ("links", "base"),
    [
        ([], NONE),
        ([(3, 5, 0.0, False), (5, 2, 0.0, False)], NONE),
        ([(3, 5, 0.1, False), (2, 5, 0.2, False)], 2),  # the stronger one
        ([(3, 5, 0.1, False), (2, 5, 0.1, False)], 3),  # as strong: the nearer one
        ([(3, 5, 0.9, True), (2, 5, 0.1, False)], 2),  # a new point beats used ones before,
        ([(3, 5, 0.1, False), (2, 5, 0.9, True)], 2),  # but not stronger ones after
        ([(3, 5, 0.5, True), (2, 5, 0.1, False), (1, 5, 0.3, True)], 1),
        ([(3, 5, 0.9, True), (5, 2, 0.1, False)], 5),  # the link from k: a new point,
        ([(3, 5, 0.1, False), (5, 2, 0.9, True)], 3),  # or else the same kind and stronger,
        ([(3, 5, 0.1, False), (5, 2, 0.9, False)], 5),
        ([(3, 5, 0.1, True), (5, 2, 0.9, True)], 5),
        ([(3, 5, 0.1, True), (5, 2, 0.1, True)], 3),
        ([(1, 5, 0.1, True), (5, 2, 0.1, True)], 5),  # or as strong and shorter
        ([(1, 5, 0.1, False), (5, 2, 0.1, False)], 5),
        ([(2, 5, 0.1, False), (5, 2, 0.1, False)], 2),
    ],
)
def test_the_strongest_link(links, base):
    assert chosen(5, *links) == base


def test_a_score_is_kept_while_the_link_stays_a_candidate():
    lexicon = lexicon_of(2, {(0, RIGHT): MET, (1, LEFT): {"learn": 1, "out": 1, "into": 1}})
    words, candidates = tokens(lexicon, 0, 0, 1), empty_candidates(3)
    candidate = candidates.by_base[0]

    def strength_in(now: int, depths: int = EITHER) -> float:
        candidate["strength"] = 9  # what a score kept from earlier would be
        _weigh(words, lexicon, candidate, 0, 2, depths, now)
        return float(candidate["strength"])

    assert strength_in(5) == 0.5
    assert strength_in(6) == 9
    assert strength_in(7) == 9
    assert strength_in(8, SHALLOW) == 0.5  # other depths
    assert strength_in(10, SHALLOW) == 0.5  # not there in the round before


# --- events and trees ---------------------------------------------------------------------------


@given(st.lists(st.lists(st.sampled_from("abc,"), min_size=1, max_size=12), max_size=12))
def test_events_never_need_more_room_than_there_is(sentences):
    text = Reader(False).read(sentences)
    lexicon = with_room(empty_lexicon(text.types), EVENTS_PER_WORD * len(text.words))
    for s in range(len(sentences)):
        start, end = text.starts[s : s + 2]
        here = tokens_of(text.words[start:end], text.stops[start:end], lexicon, True)
        events = empty_events(end - start)
        _parse(here, lexicon, events)
        assert events.total[0] <= EVENTS_PER_WORD * (end - start)
        assert learn(text, s, s + 1, lexicon, True) == s + 1


def test_learning_stops_when_there_is_no_room():
    text = Reader(False).read([["a", "b"]] * 5)
    lexicon = empty_lexicon(text.types)
    cramped = lexicon._replace(points=lexicon.points[: 2 * text.types])
    assert learn(text, 0, 5, cramped, True) == 0
    assert learn(text, 0, 5, with_room(cramped, 8), True) > 0


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(1, 8)).filter(lambda it: it[0] < it[1])))
def test_brackets_that_cross_are_read_as_written(spans):
    found = nested(spans)
    assert not any(i < k < j < l for i, j in found for k, l in found)
    assert all(j - i > 1 for i, j in found)
    assert found == {(i, j) for i, j in uncrossed(sorted(spans)) if j - i > 1}
    if not any(i < k < j < l for i, j in spans for k, l in spans):
        assert found == {(i, j) for i, j in spans if j - i > 1}


def test_trees_from_brackets():
    words = list("abcde")
    assert str(tree_from_brackets(words, [])) == "(X a b c d e)"
    assert str(tree_from_brackets(words, [(3, 5), (0, 1), (0, 2), (0, 3), (0, 2), (0, 5)])) == (
        "(X (X (X a b) c) (X d e))"
    )
    assert str(tree_from_brackets(["a"], [(0, 1)])) == "(X a)"
    assert str(tree_from_brackets(words, [(0, 3), (1, 5), (0, 5)])) == "(X a (X b c) d e)"
