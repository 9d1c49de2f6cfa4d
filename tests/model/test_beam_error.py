"""The error of the beam, measured on a sample."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.model import beam_error
from dbpcfg.model.beam_error import BeamSample
from dbpcfg.model.measures import MeasuredSentence, follow_with, incremental_parser
from dbpcfg.model.model import Model
from tests.strategies import random_grammar


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(random_grammar(K=4, W=6, concentration=0.4, seed=3), 2)


def sentences(number: int, longest: int = 9) -> list[list[str]]:
    rng = np.random.default_rng(number)
    return [[f"w{w}" for w in rng.integers(0, 6, n)] for n in rng.integers(1, longest, number)]


def sample(model: Model, given: list[list[str]], beam: int = 5) -> BeamSample:
    parser = incremental_parser(model, None, beam)
    found = BeamSample([parser])
    read = [
        Sentence(tuple(words), source="text", line=line)
        for line, words in enumerate(given, start=1)
    ]
    for sentence, measured in zip(read, follow_with(parser, model, read), strict=True):
        found.add(sentence, [measured])
    return found


def numbers_in(number: int) -> list[int]:
    """The sentences in the sample of a text of this many."""
    found = BeamSample([None])
    for n in range(number):
        found.add(Sentence((str(n),)), [MeasuredSentence([], None, [])])
    return [int(one.sentence.words[0]) for one in found._kept]


def test_the_sample_is_spread_over_the_text():
    assert numbers_in(0) == []
    assert numbers_in(50) == [0]
    assert numbers_in(51) == [0, 50]
    assert numbers_in(1000) == list(range(0, 1000, 50))
    assert numbers_in(1001) == list(range(0, 1001, 100))
    for number in (5_000, 77_777):
        found = numbers_in(number)
        assert 10 <= len(found) <= 20
        assert len(set(np.diff(found))) == 1
        assert found[-1] > number * 0.9


def test_it_is_the_difference_of_surprisals(model):
    given = sentences(120)
    some = [given[n] for n in (0, 50, 100)]
    exact, narrow = (model.surprisal(some, beam=beam) for beam in (0, 5))
    bits = [abs(a.surprisal - b.surprisal) for a, b in zip(exact, narrow, strict=True)]
    known = [x for x in bits if math.isfinite(x)]
    worst = exact[bits.index(max(known))]
    for found in (model.beam_error(given, beam=5), sample(model, given).error(threads=2)):
        assert found is not None
        assert found.sentences == 3
        assert found.words == len(known)
        assert found.greatest == pytest.approx(max(known), rel=1e-9)
        assert found.mean == pytest.approx(sum(known) / len(known), rel=1e-9)
        assert found.token == worst.token
    assert found.greatest > 1e-3
    assert (found.source, found.line) == ("text", (1, 51, 101)[worst.sentence - 1])


def test_all_stores_have_no_error(model):
    given = sentences(60)
    assert model.beam_error(given, beam=0) is None
    assert model.beam_error(given) is None
    found = model.beam_error(given, beam=1 + 4**2 + 4**4)
    assert found is not None
    assert found.greatest < 1e-12


def test_each_grammar_has_its_turn(model):
    other = Model(random_grammar(K=4, W=6, concentration=0.4, seed=8), 2)
    parsers = [incremental_parser(one, None, 5) for one in (model, other)]
    found = BeamSample(parsers)
    read = [Sentence(tuple(words)) for words in sentences(101)]
    streams = [follow_with(p, m, read) for p, m in zip(parsers, (model, other), strict=True)]
    for sentence, measured in zip(read, zip(*streams, strict=True), strict=True):
        found.add(sentence, measured)
    single = []
    for number, one in ((0, model), (50, other), (100, model)):
        error = one.beam_error([read[number].words], beam=5)
        assert error is not None
        single.append(error)
    error = found.error()
    assert error is not None
    assert error.greatest == max(x.greatest for x in single)
    assert error.mean == pytest.approx(
        sum(x.mean * x.words for x in single) / sum(x.words for x in single)
    )


def test_what_would_take_long_or_too_much_memory(model, monkeypatch):
    found = sample(model, sentences(400))
    whole = found.error()
    assert whole is not None
    assert whole.sentences == 8
    monkeypatch.setattr(beam_error, "MOST_STEPS", 273 * 20)
    fewer = found.error()
    assert fewer is not None
    assert fewer.sentences in (1, 2, 4)
    monkeypatch.setattr(beam_error, "MOST_STEPS", 0)
    one = found.error()
    assert one is not None
    assert one.sentences == 1
    monkeypatch.setattr(beam_error, "MOST_BYTES", 1000)
    assert not found.affordable
    assert found.error() is None
    assert BeamSample(found.parsers).error() is None
