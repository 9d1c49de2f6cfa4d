"""What CCL reads, what it remembers, and the labels that it makes of it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.systems.ccl.lexicon import (
    FIELDS,
    LEFT,
    LONGEST,
    NONE,
    RIGHT,
    add_seen,
    empty_lexicon,
    find_or_add_point,
    first_point,
    has_room,
    place,
    with_room,
)
from dbpcfg.systems.ccl.scoring import Reader, strength_of
from tests.systems.ccl_lexica import beside, labels, lexicon_of, like, tokens

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


def test_punctuation_is_recognised_by_its_exact_form():
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
        add_seen(lexicon, 0, label, np.float32(1))
    for _ in range(9):
        add_seen(lexicon, 0, 30, np.float32(0.1))
        assert 30 not in dict(seen(lexicon, 0))
    add_seen(lexicon, 0, 30, np.float32(0.1))
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
        add_seen(lexicon, number, label, strength)
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
    assert find_or_add_point(lexicon, 1, RIGHT, 0) == first_point(1, RIGHT) == 3
    assert find_or_add_point(lexicon, 1, RIGHT, 2) == 7
    assert find_or_add_point(lexicon, 1, RIGHT, 1) == 6
    assert find_or_add_point(lexicon, 2, LEFT, 1) == 8
    assert lexicon.points["following"][[3, 6, 7, 4, 8]].tolist() == [6, 7, NONE, 8, NONE]


# --- labels -------------------------------------------------------------------------------------


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
