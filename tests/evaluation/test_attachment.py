"""Attachment scores by hand."""

import math

import pytest

from dbpcfg.corpus.readers.conllu import read_conllu
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.attachment import attachment_score, gold_heads
from dbpcfg.version import __version__

GOLD = [1, 2, -1, 2, 2]


def test_the_same_heads_score_1():
    score = attachment_score([GOLD], [GOLD])
    assert score.directed == score.undirected == 1
    assert score.words == 5
    assert str(score) == (
        f"directed 100.0, undirected 100.0 (5 words) heads:words|punct:counted|dbpcfg:{__version__}"
    )


def test_a_link_in_the_other_direction_counts_as_undirected():
    # words 1 and 2 swap; word 5 is wrong
    score = attachment_score([GOLD], [[2, 0, -1, 2, 3]])
    assert (score.directed_matches, score.undirected_matches, score.words) == (2, 3, 5)


def test_another_root():
    score = attachment_score([[-1, 0]], [[1, -1]])
    assert (score.directed_matches, score.undirected_matches) == (0, 1)


def test_punctuation_is_not_scored():
    score = attachment_score([GOLD], [[1, 2, -1, 2, 0]], [[False] * 4 + [True]])
    assert (score.directed, score.words) == (1, 4)
    assert "punct:removed" in score.signature


def test_no_words():
    assert math.isnan(attachment_score([], []).directed)
    assert math.isnan(attachment_score([], []).undirected)


def test_numbers_that_differ():
    with pytest.raises(DbpcfgError, match="1 sentences with gold heads, 0 with predicted"):
        attachment_score([GOLD], [])
    with pytest.raises(DbpcfgError, match="sentence 1 has 5 gold heads, 4 predicted heads and 5"):
        attachment_score([GOLD], [GOLD[:4]])


def test_gold_heads_of_conllu():
    text = "1\ta\t_\tN\tNN\t_\t2\tx\t_\t_\n2\tb\t_\tV\tVB\t_\t0\troot\t_\t_\n\n"
    assert gold_heads(read_conllu(text)) == [(1, -1)]
    with pytest.raises(DbpcfgError, match="f:3: the sentence has no heads"):
        gold_heads([Sentence(("a",), source="f", line=3)])
