"""How frequent words are in a corpus of the user's choice.

With c occurrences of a word among the N tokens and V different words of the corpus, one more
occurrence is counted of every word, so that one which does not occur has a frequency too (Laplace's
rule; Brysbaert and Diependaele 2013)::

    log frequency = log10 (10⁶ (c + 1) / (N + V))

the logarithm, to base 10, of occurrences per million tokens.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError

__all__ = ["LogFrequencies"]


class LogFrequencies:
    """Log frequencies of words in a corpus."""

    def __init__(self, sentences: Iterable[Sentence], lowercase: bool = True) -> None:
        self.lowercase = lowercase
        self.counts = Counter(self._form(word) for one in sentences for word in one.words)
        if not self.counts:
            raise DbpcfgError("there is no word in the corpus that frequencies are counted in")
        self.total = self.counts.total() + len(self.counts)

    def of(self, word: str) -> float:
        """The log frequency of a word."""
        return math.log10(1e6 * (self.counts[self._form(word)] + 1) / self.total)

    def _form(self, word: str) -> str:
        return word.lower() if self.lowercase else word
