"""Philox against its published answers and against its definition in Python's whole numbers."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.philox import Purpose, philox, stream, uniform_pair
from tests.statistics import LEAST_P

WORD = 2**32
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
ONES = WORD - 1

words = st.integers(0, ONES) | st.sampled_from([0, 1, 2**31, ONES])
counters, keys = st.tuples(words, words, words, words), st.tuples(words, words)


def round_keys(key):
    return [tuple((k + r * w) % WORD for k, w in zip(key, WEYL)) for r in range(10)]


def reference(counter, key):
    x0, x1, x2, x3 = counter
    for k0, k1 in round_keys(key):
        high0, low0 = divmod(MULTIPLIERS[0] * x0, WORD)
        high1, low1 = divmod(MULTIPLIERS[1] * x2, WORD)
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
    return x0, x1, x2, x3


def counter_of(answer, key):
    """The counter that gives an answer: every round can be undone."""
    x0, x1, x2, x3 = answer
    for k0, k1 in reversed(round_keys(key)):
        before0 = x3 * pow(MULTIPLIERS[0], -1, WORD) % WORD
        before2 = x1 * pow(MULTIPLIERS[1], -1, WORD) % WORD
        before1 = x0 ^ k0 ^ MULTIPLIERS[1] * before2 // WORD
        before3 = x2 ^ k1 ^ MULTIPLIERS[0] * before0 // WORD
        x0, x1, x2, x3 = before0, before1, before2, before3
    return x0, x1, x2, x3


def compiled(counter, key):
    return tuple(int(word) for word in philox(*map(np.uint64, (*counter, *key))))


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers_of_random123(counter, key, answer):
    assert compiled(counter, key) == answer
    assert reference(counter, key) == answer
    assert counter_of(answer, key) == counter


@given(counters, keys)
def test_philox_follows_its_definition(counter, key):
    assert compiled(counter, key) == reference(counter, key)


# --- uniform numbers ------------------------------------------------------------------------------


def midpoint(high, low):
    """The middle of the cell, of 2**52 equal ones, that the first 52 of 64 bits name."""
    return math.ldexp(2 * ((high * WORD + low) >> 12) + 1, -53)


@given(
    seed=st.integers(0, 2**64 - 1),
    chain=st.integers(0, 2**24 - 1),
    iteration=words,
    purpose=st.sampled_from(Purpose),
    item=words,
    draw=words,
)
def test_every_use_has_its_place_in_the_counter(seed, chain, iteration, purpose, item, draw):
    counter = draw, item, iteration, purpose * 2**24 + chain
    bits = reference(counter, (seed % WORD, seed // WORD))
    expected = midpoint(*bits[:2]), midpoint(*bits[2:])
    assert uniform_pair(stream(seed, chain, iteration, purpose), item, draw) == expected


@pytest.mark.parametrize(("bits", "number"), [(0, 2.0**-53), (ONES, 1 - 2.0**-53)])
def test_neither_end_can_occur(bits, number):
    draw, item, iteration, rest = counter_of((bits,) * 4, (7, 8))
    numbers = np.array([7, 8, iteration, rest], dtype=np.uint32)
    assert uniform_pair(numbers, item, draw) == (number, number)


def test_different_uses_have_different_numbers():
    ranges = {
        "seed": (0, 1, WORD, 2**64 - 1),
        "chain": (0, 1, 2**24 - 1),
        "iteration": (0, 1, ONES),
        "purpose": tuple(Purpose),
        "item": (0, 1, ONES),
        "draw": (0, 1, ONES),
    }
    uses = list(product(*ranges.values()))
    numbers = {number for *name, i, d in uses for number in uniform_pair(stream(*name), i, d)}
    assert len(numbers) == 2 * len(uses)


def test_purposes_are_distinct_and_fit_eight_bits():
    assert len(set(Purpose.__members__.values())) == len(Purpose.__members__)
    assert all(0 <= purpose < 256 for purpose in Purpose)


@pytest.fixture(scope="module", params=["draws", "items", "iterations", "chains", "seeds"])
def pairs(request):
    """Twenty thousand pairs, one of the five coordinates running and the others fixed."""
    make = {
        "draws": lambda n: uniform_pair(stream(5), 3, n),
        "items": lambda n: uniform_pair(stream(5), n, 3),
        "iterations": lambda n: uniform_pair(stream(5, 2, n), 0, 0),
        "chains": lambda n: uniform_pair(stream(5, n, 2), 0, 0),
        "seeds": lambda n: uniform_pair(stream(n), 0, 0),
    }[request.param]
    return np.array([make(n) for n in range(20_000)])


def test_numbers_are_uniform(pairs):
    for numbers in pairs.T:
        assert kstest(numbers, "uniform").pvalue > LEAST_P
        assert kstest(numbers**1.1, "uniform").pvalue < 1e-12


@pytest.mark.parametrize(
    ("arguments", "name", "bits"),
    [
        ({"seed": -1}, "seed", 64),
        ({"seed": 2**64}, "seed", 64),
        ({"seed": 0, "chain": -1}, "chain", 24),
        ({"seed": 0, "chain": 2**24}, "chain", 24),
        ({"seed": 0, "iteration": -1}, "iteration", 32),
        ({"seed": 0, "iteration": 2**32}, "iteration", 32),
    ],
)
def test_out_of_range(arguments, name, bits):
    with pytest.raises(DbpcfgError, match=rf"{name} must be .* to 2\*\*{bits} - 1, got"):
        stream(**arguments)
