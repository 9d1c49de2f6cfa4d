"""Log frequencies: the formula, and words that do not occur."""

from __future__ import annotations

import math

import pytest

from dbpcfg.corpus.preparation import LogFrequencies
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError

CORPUS = [Sentence(("The", "dog", "saw", "the", "cat")), Sentence(("the", "end"))]


def test_per_million_with_one_more_of_each():
    found = LogFrequencies(CORPUS)  # 7 tokens, 5 words
    assert found.of("The") == found.of("the") == pytest.approx(math.log10(1e6 * 4 / 12))
    assert found.of("zebra") == pytest.approx(math.log10(1e6 / 12))
    exact = LogFrequencies(CORPUS, lowercase=False)  # 6 words
    assert exact.of("The") == pytest.approx(math.log10(1e6 * 2 / 13))


def test_no_words():
    with pytest.raises(DbpcfgError, match="no word in the corpus"):
        LogFrequencies([])
