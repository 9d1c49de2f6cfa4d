"""Sentences followed word by word, with all stores or with a beam, on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.levels import check_depth
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.leftcorner.beam import LARGEST_NUMBER, follow_beam
from dbpcfg.parsing.leftcorner.filtering import offset
from dbpcfg.parsing.leftcorner.measures import Trace, empty_trace, follow, next_word_entropies
from dbpcfg.parsing.leftcorner.models import left_corner_models
from dbpcfg.parsing.leftcorner.parser import MOST_BYTES
from dbpcfg.parsing.leftcorner.products import products
from dbpcfg.runtime.memory import count_text, size_text
from dbpcfg.runtime.threads import in_pieces

EXACT_BYTES = 32 * 2**20
"""If tables of all stores are larger than this, for each thread, a beam is used by default."""
BEAM = 2000
"""The default beam."""


class Followed(NamedTuple):
    """One sentence, followed word by word; the last entry is its end."""

    trace: Trace
    entropies: Floats
    """[t] of what comes next, before word t; in nats."""


class WordByWord:
    """A grammar and a bound, ready to follow sentences.

    ``beam``: the number of most probable stores that are kept after each word; 0 for all; None for
    all unless their tables are large.
    """

    def __init__(self, grammar: Grammar, depth: int, beam: int | None = None) -> None:
        K = grammar.categories
        self.stores = offset(check_depth(depth) + 1, K)
        exact = self.exact_bytes
        if beam is None:
            beam = BEAM if exact > EXACT_BYTES else 0
        if beam < 0:
            raise DbpcfgError(f"the beam must be 0 (all stores) or a number of them, got {beam}")
        self.beam = beam
        inner = (self.stores - 1) // K**2  # stores on which a fragment can lie
        needed = 16 * K**2 * min(3 * beam, inner) if beam else exact
        if needed > MOST_BYTES or (beam and self.stores >= LARGEST_NUMBER):
            what = f"a beam of {beam:,}" if beam else "following all"
            reason = (
                f"it would need {size_text(needed)}"
                if needed > MOST_BYTES
                else "there are too many to number"
            )
            raise DbpcfgError(
                f"{what} of {count_text(self.stores)} stores ({K} categories, depth {depth}) is "
                f"too much: {reason}; choose a smaller "
                f"{'beam' if needed > MOST_BYTES and beam else 'depth'}"
                f"{'' if beam else f', or a beam of, say, {BEAM:,}'}"
            )
        self.grammar, self.depth = grammar, depth
        self.models = left_corner_models(grammar, depth)
        M = self.models
        self._products = None if beam else products(M)
        self._words = np.ascontiguousarray((M.emission * np.exp(M.log_scale)[:, np.newaxis]).T)

    @property
    def exact_bytes(self) -> int:
        """The memory that all stores need, for each thread."""
        return 24 * self.stores

    def exact(self) -> WordByWord:
        """The parser that keeps all stores, of the same grammar and bound."""
        return WordByWord(self.grammar, self.depth, 0) if self.beam else self

    def follow(self, words: Ints) -> Followed:
        """Follow one sentence.

        ``words``: word numbers; −1 is a word that no category emits.
        """
        trace = empty_trace(len(words), len(self._words), self.depth)
        entropies = np.empty(len(words) + 1)
        if self._products is None:
            follow_beam(words, self.models, self.beam, trace)
        else:
            follow(words, self.models, self._products, trace)
        next_word_entropies(trace.category, trace.ended, self._words, entropies)
        return Followed(trace, entropies)

    def follow_all(self, sentences: Sequence[Ints], threads: int = 1) -> list[Followed]:
        """Follow some sentences.

        ``threads``: the number of threads; results do not depend on it.
        """
        longest_first = sorted(range(len(sentences)), key=lambda s: -len(sentences[s]))
        followed: dict[int, Followed] = {}

        def work(first: int, last: int) -> None:
            for s in longest_first[first:last]:
                followed[s] = self.follow(sentences[s])

        in_pieces(work, len(sentences), threads)
        return [followed[s] for s in range(len(sentences))]

    def fragments(self, number: int) -> list[tuple[int, int]]:
        """The store with this number: top and bottom sign of each of its fragments."""
        K = self.grammar.categories
        depth = 0
        while number >= offset(depth + 1, K):
            depth += 1
        number -= offset(depth, K)
        signs = []
        for _ in range(depth):
            number, fragment = divmod(number, K * K)
            signs.append(divmod(fragment, K))
        return signs[::-1]
