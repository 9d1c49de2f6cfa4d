"""The parts of CCL one by one: top lists, the lexicon, labels, links and scores."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.rivals.ccl.admission import (
    attach,
    depths_from_prefix,
    depths_into_prefix,
    new_frontier,
    shift,
)
from dbpcfg.rivals.ccl.arrays import (
    DEEP,
    EITHER,
    LEFT,
    NEITHER,
    NEVER,
    NONE,
    RIGHT,
    SHALLOW,
)
from dbpcfg.rivals.ccl.learning import EVENTS_PER_WORD, no_events
from dbpcfg.rivals.ccl.lexicon import (
    empty_lexicon,
    first_point,
    has_room,
    made_point,
    see,
    with_room,
)
from dbpcfg.rivals.ccl.links import add_link, first_depth, least_depth, no_links, reaches
from dbpcfg.rivals.ccl.passes import _parse, learn
from dbpcfg.rivals.ccl.reading import Reader
from dbpcfg.rivals.ccl.scoring import score
from dbpcfg.rivals.ccl.tokens import strength_of, tokens_of, use
from dbpcfg.rivals.ccl.toplist import FIELDS, LONGEST, place
from dbpcfg.rivals.ccl.trees import nested, tree_of
from tests.rivals.ccl_oracle import uncrossed


def like(word: int) -> int:
    return 2 * word


def beside(word: int) -> int:
    return 2 * word + 1


# --- reading ------------------------------------------------------------------------------------


def read(text: str):
    return Reader(False).read([line.split() for line in text.splitlines()])


def test_punctuation_goes_and_stops_stay():
    text = read("The dog , `` the Cat '' barks .")
    assert text.words.tolist() == [0, 1, 0, 2, 3]  # lower-cased
    assert text.stops[:, LEFT].tolist() == [0, 0, 1, 0, 0]
    assert text.stops[:, RIGHT].tolist() == [0, 1, 0, 0, 1]


def test_stops_need_a_word_before_them():
    text = read(", a\n. .\nb -- ; c")
    assert text.starts.tolist() == [0, 1, 1, 3]
    assert text.stops.tolist() == [[0, 0], [0, 1], [1, 0]]


def test_punctuation_is_told_by_its_exact_form():
    tokens = ["-LRB-", "-lrb-", "'", "'s", "-", "-X", "...", "..", "(", "$", "#"]
    assert Reader(False).words(tokens) == ["-lrb-", "'s", "-X", "..", "$", "#"]
    assert Reader(True).words(tokens) == ["-lrb-", "'s", "-X", ".."]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [([["a"], []], "sentence 2 has no words"), (["a b"], "sentence 1 is one text")],
)
def test_what_is_no_sentence(sentences, message):
    with pytest.raises(DbpcfgError, match=message):
        Reader(False).read(sentences)


# --- top lists ----------------------------------------------------------------------------------


def top_list(*entries: tuple[int, float]):
    record = np.zeros(1, dtype=np.dtype(FIELDS))
    for label, strength in entries:
        add(record, label, strength)
    return record


def add(record, label: int, strength: float) -> None:
    place(record[0], record["count"][0], label, np.float32(strength))


def listed(record) -> list[int]:
    return record["labels"][0, : record["count"][0]].tolist()


def test_stronger_labels_come_first_and_newer_ones_among_equals():
    assert listed(top_list((7, 1), (8, 3), (9, 2))) == [8, 9, 7]
    assert listed(top_list((7, 1), (8, 1), (9, 1))) == [9, 8, 7]


def test_a_label_that_grows_passes_equals_too():
    record = top_list((7, 3), (8, 2), (9, 1))
    place(record[0], 2, 9, np.float32(2))
    assert listed(record) == [7, 9, 8]
    place(record[0], 1, 9, np.float32(3))
    assert listed(record) == [9, 7, 8]


def test_a_full_list():
    record = top_list(*[(label, 2) for label in range(LONGEST)])
    newest_first = list(range(LONGEST - 1, -1, -1))
    assert listed(record) == newest_first
    add(record, 50, 1.9)
    assert listed(record) == newest_first  # too weak
    add(record, 51, 2)
    assert listed(record) == [51, *newest_first[:-1]]  # as strong as the last one, which goes


# --- the lexicon --------------------------------------------------------------------------------


def seen(lexicon, number: int) -> list[tuple[int, float]]:
    point = lexicon.points[number]
    return list(zip(point["labels"].tolist(), point["strengths"].tolist()))[: point["count"]]


def test_strength_is_remembered_outside_the_list():
    lexicon = empty_lexicon(20)
    for label in range(LONGEST):
        see(lexicon, 0, label, np.float32(1))
    for _ in range(9):
        see(lexicon, 0, 30, np.float32(0.1))
        assert 30 not in dict(seen(lexicon, 0))
    see(lexicon, 0, 30, np.float32(0.1))
    assert 0 not in dict(seen(lexicon, 0))  # the oldest of the others has gone
    label, strength = seen(lexicon, 0)[0]
    assert label == 30
    assert strength == 1 + 2**-23  # ten times 0.1 in single precision


def test_growing_keeps_everything():
    rng = np.random.default_rng(0)
    lexicon = empty_lexicon(50)
    sums: dict[tuple[int, int], np.float32] = defaultdict(lambda: np.float32(0))
    for _ in range(20_000):
        number, label = int(rng.integers(100)), int(rng.integers(100))
        if not has_room(lexicon, 1):
            lexicon = with_room(lexicon, 1)
        strength = np.float32(rng.random())
        see(lexicon, number, label, strength)
        sums[number, label] += strength
    assert 2 * len(sums) <= len(lexicon.seen)
    assert lexicon.sizes[0]["entries"] == len(sums)
    full = lexicon.seen[lexicon.seen["key"] != NONE]
    assert {(key // 100, key % 100): s for key, s in full.tolist()} == sums
    for number in range(100):
        own = sorted((s for (n, _), s in sums.items() if n == number), reverse=True)
        assert [s for _, s in seen(lexicon, number)] == own[:LONGEST]


def test_points_are_made_in_chains():
    lexicon = empty_lexicon(3)
    assert made_point(lexicon, 1, RIGHT, 0) == first_point(1, RIGHT) == 3
    assert made_point(lexicon, 1, RIGHT, 2) == 7
    assert made_point(lexicon, 1, RIGHT, 1) == 6
    assert made_point(lexicon, 2, LEFT, 1) == 8
    assert lexicon.points["following"][[3, 6, 7, 4, 8]].tolist() == [6, 7, NONE, 8, NONE]


# --- labels -------------------------------------------------------------------------------------


def lexicon_of(words: int, points: dict[tuple[int, int], dict[str, object]]):
    """A lexicon whose records 0 are as given: by word and side, statistics and labels seen."""
    lexicon = empty_lexicon(words)
    for (word, side), fields in points.items():
        number = first_point(word, side)
        for field, value in fields.items():
            if field == "seen":
                for label, strength in value.items():
                    see(lexicon, number, label, np.float32(strength))
            else:
                lexicon.points[field][number] = value
    return lexicon


def tokens(lexicon, *words: int, faithful: bool = True):
    numbers = np.array(words, dtype=np.int64)
    return tokens_of(numbers, np.zeros((len(words), 2), np.int64), lexicon, faithful)


def labels(token) -> list[tuple[int, float]]:
    return list(zip(token["labels"].tolist(), token["strengths"].tolist()))[: token["count"]]


def test_a_new_word_is_like_itself_and_nothing_else():
    for side in tokens(empty_lexicon(2), 1)[0]:
        assert labels(side) == [(like(1), 1.0)]
        assert (side["seen"], side["stronger"], side["strongest"]) == (0, 0, 0.0)


SEEN_ON_BOTH_SIDES = {
    (0, LEFT): {"learn": 4, "block": 1, "seen": {like(1): 3, beside(2): 1}},
    (0, RIGHT): {"learn": 4, "out": 1, "into": -2, "seen": {like(1): 1, beside(3): 2}},
}


def test_labels_seen_give_the_opposite_ones():
    left, right = tokens(lexicon_of(4, SEEN_ON_BOTH_SIDES), 0, faithful=False)[0]
    assert labels(left) == [(like(0), 1.0), (beside(1), 0.75), (like(2), 0.25)]
    assert labels(right) == [(like(0), 1.0), (like(3), 0.5), (beside(1), 0.25)]
    assert (left["seen"], left["stronger"], left["strongest"]) == (2, 1, 3.0)
    assert (right["out_share"], right["into_share"]) == (0.25, -0.5)


def test_a_label_of_the_left_loses_its_name_on_the_right():
    left, right = tokens(lexicon_of(4, SEEN_ON_BOTH_SIDES), 0)[0]
    assert labels(left) == [(like(0), 1.0), (beside(1), 0.75), (like(2), 0.25)]
    assert labels(right) == [(like(0), 1.0), (like(3), 0.5), (NONE, 0.25)]
    assert strength_of(right, beside(1)) == 0.25  # still found by name
    assert strength_of(right, beside(2)) == 0


def test_what_a_word_says_of_itself_is_never_weaker():
    points = {(0, side): {"learn": 2, "seen": {beside(0): 1}} for side in (LEFT, RIGHT)}
    for side in tokens(lexicon_of(1, points), 0)[0]:
        assert labels(side) == [(like(0), 1.0)]


@pytest.mark.parametrize("last", [0.5, 1.0])
def test_an_eleventh_label(last):
    """A word's own label and ten more: one does not fit, but is found by name."""
    strengths = [1.0] * 9 + [last]
    many = {like(z): s for z, s in zip(range(1, 11), strengths)}
    points = {
        (0, LEFT): {"learn": 1, "seen": many},
        (0, RIGHT): {"learn": 1, "seen": {like(10): 1}},
    }
    left, right = tokens(lexicon_of(11, points), 0)[0]
    names = [label for label, _ in labels(left)]
    if last == 1.0:  # all are equal, so the oldest goes: the word's own
        assert names == [beside(z) for z in range(1, 11)]
    else:
        assert names == [*(beside(z) for z in range(1, 10)), like(0)]
    assert strength_of(left, beside(10)) == last
    assert strength_of(left, like(0)) == 1
    assert labels(right)[0] == (NONE, 1.0)  # a name on the left, whether it fits there or not


# --- links --------------------------------------------------------------------------------------


def linked(n: int, *added: tuple[int, int, int]):
    links = no_links(n)
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
    assert least_depth(no_links(3), 1, 2) == 0
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
    links, frontier = no_links(k + 1), new_frontier(k + 1)
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


# --- scores -------------------------------------------------------------------------------------


def scored(points, right: int = EITHER, left: int = EITHER):
    lexicon = lexicon_of(4, points)
    return score(tokens(lexicon, 0, 1), lexicon, 0, 1, right, left)


# Word 0 has met things like word 1 on its right, with a share of 1/2.
MET = {"learn": 4, "seen": {like(1): 2}}


def test_words_that_never_met_are_not_linked():
    assert scored({}) == (0, 0, 0, NONE, NONE)


def test_out_makes_a_link_from_the_word_in_place_of_z():
    # The label is "like 1": word 1 is in the place of itself, and its left side tells.
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
    second = made_point(lexicon, 0, RIGHT, 1)
    lexicon.points["learn"][second] = 4
    see(lexicon, second, like(1), np.float32(1))
    words = tokens(lexicon, 0, 1)
    assert score(words, lexicon, 0, 1, EITHER, EITHER) == (0.5, 0.5, 0, 0, NONE)
    use(words[0, RIGHT], 0)
    assert score(words, lexicon, 0, 1, EITHER, EITHER) == (0.25, 0.25, 0, 1, NONE)
    use(words[0, RIGHT], 1)
    assert score(words, lexicon, 0, 1, EITHER, EITHER) == (0.5, 0.5, 0, 0, NONE)


# --- events and trees ---------------------------------------------------------------------------


@given(st.lists(st.lists(st.sampled_from("abc,"), min_size=1, max_size=12), max_size=12))
def test_events_never_need_more_room_than_there_is(sentences):
    text = Reader(False).read(sentences)
    lexicon = with_room(empty_lexicon(text.types), EVENTS_PER_WORD * len(text.words))
    for s in range(len(sentences)):
        start, end = text.starts[s : s + 2]
        here = tokens_of(text.words[start:end], text.stops[start:end], lexicon, True)
        events = no_events(end - start)
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
    assert str(tree_of(words, [])) == "(X a b c d e)"
    assert str(tree_of(words, [(3, 5), (0, 1), (0, 2), (0, 3), (0, 2), (0, 5)])) == (
        "(X (X (X a b) c) (X d e))"
    )
    assert str(tree_of(["a"], [(0, 1)])) == "(X a)"
    assert str(tree_of(words, [(0, 3), (1, 5), (0, 5)])) == "(X a (X b c) d e)"
