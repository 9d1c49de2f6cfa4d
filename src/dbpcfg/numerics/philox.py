"""Counter-based random numbers: each is a pure function of the seed and of what it is used for.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3")
turns a 128-bit counter and a 64-bit key into 128 random bits. There is no state: the number for
node ``draw`` of sentence ``item`` in iteration ``iteration`` of chain ``chain`` depends on these
four and the seed only. So results are the same for any number of threads, in any order of work, and
after any interruption.

====================  ==================================================================
key                   the seed, 64 bits
counter, word 0       ``draw``
counter, word 1       ``item``: the sentence, or the entry of a parameter table
counter, word 2       ``iteration``
counter, word 3       ``chain`` in the low 24 bits, ``purpose`` in the high 8
====================  ==================================================================

So distinct uses have distinct counters, which hashed keys could not guarantee.
"""

from __future__ import annotations

from enum import IntEnum
from operator import index

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.numerics.kernels import kernel, part_of_kernel

Stream = tuple[int, int, int, int]
"""(seed low, seed high, iteration, chain and purpose), from which kernels draw numbers."""

Word = np.uint64
Words = tuple[Word, Word, Word, Word, Word, Word]

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_TO_UNIT = 2.0**-53


class Purpose(IntEnum):
    """What a stream of numbers is used for; streams of different purposes never overlap."""

    TREES = 0
    GRAMMAR = 1
    PRIOR = 2
    REJECTED = 3
    GENERATE = 4
    SYNTHETIC = 5
    INITIAL = 6
    BETA = 7
    BASELINE = 8
    BMMM = 9
    UHHMM_STATES = 10
    UHHMM_MODELS = 11
    UHHMM_TABLES = 12
    MINIBATCHES = 13
    NETWORK = 14


def stream(
    seed: int, chain: int = 0, iteration: int = 0, purpose: Purpose = Purpose.TREES
) -> Stream:
    """The stream of one iteration of one chain, for one purpose.

    ``seed``: from 0 to 2**64 − 1.
    ``chain``: from 0 to 2**24 − 1.
    ``iteration``: from 0 to 2**32 − 1.
    """
    seed, chain, iteration = index(seed), index(chain), index(iteration)
    for name, value, bits in (
        ("seed", seed, 64),
        ("chain", chain, 24),
        ("iteration", iteration, 32),
    ):
        if not 0 <= value < 2**bits:
            raise DbpcfgError(f"{name} must be a whole number from 0 to 2**{bits} - 1, got {value}")
    return seed & 0xFFFFFFFF, seed >> 32, iteration, chain | int(purpose) << 24


@part_of_kernel
def _two_rounds(c0: Word, c1: Word, c2: Word, c3: Word, k0: Word, k1: Word) -> Words:
    product0, product1 = _M0 * c0, _M1 * c2
    c0, c2 = (product1 >> _SHIFT) ^ c1 ^ k0, (product0 >> _SHIFT) ^ c3 ^ k1
    c1, c3 = product1 & _LOW, product0 & _LOW
    k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    product0, product1 = _M0 * c0, _M1 * c2
    c0, c2 = (product1 >> _SHIFT) ^ c1 ^ k0, (product0 >> _SHIFT) ^ c3 ^ k1
    c1, c3 = product1 & _LOW, product0 & _LOW
    return c0, c1, c2, c3, (k0 + _W0) & _LOW, (k1 + _W1) & _LOW


@part_of_kernel
def philox(
    c0: Word, c1: Word, c2: Word, c3: Word, k0: Word, k1: Word
) -> tuple[Word, Word, Word, Word]:
    """Ten rounds of Philox4x32 on a counter and a key, each word stored in 64 bits.

    The rounds are unrolled, so the compiler can draw numbers for several items at once.
    """
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _two_rounds(c0, c1, c2, c3, k0, k1)
    return c0, c1, c2, c3


@part_of_kernel
def uniform_pair(stream: Stream, item: int, draw: int) -> tuple[float, float]:
    """Two independent numbers in (0, 1), never 0 and never 1, from one counter."""
    r0, r1, r2, r3 = philox(
        np.uint64(draw),
        np.uint64(item),
        np.uint64(stream[2]),
        np.uint64(stream[3]),
        np.uint64(stream[0]),
        np.uint64(stream[1]),
    )
    # 52 bits and a half: the midpoints of 2**52 equal cells, so that neither end can occur.
    first = ((r0 << np.uint64(20)) | (r1 >> np.uint64(12))) << np.uint64(1) | np.uint64(1)
    second = ((r2 << np.uint64(20)) | (r3 >> np.uint64(12))) << np.uint64(1) | np.uint64(1)
    return float(first) * _TO_UNIT, float(second) * _TO_UNIT


compiled_uniform_pair = kernel(uniform_pair)
"""``uniform_pair`` for Python; worth compiling only for many calls."""
