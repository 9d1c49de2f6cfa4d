"""The error of the beam, measured on a sample."""

import math

import numpy as np
import pytest

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import SentenceRows
from dbpcfg.model import incremental
from dbpcfg.model.incremental import BeamSample, IncrementalReader
from dbpcfg.model.model import Model
from tests.strategies import random_grammar


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(random_grammar(K=4, W=6, concentration=0.4, seed=3), 2)


def sentences(number: int, longest: int = 9) -> list[list[str]]:
    rng = np.random.default_rng(number)
    return [[f"w{w}" for w in rng.integers(0, 6, n)] for n in rng.integers(1, longest, number)]


def sample(models: list[Model], given: list[list[str]], beam: int = 5) -> BeamSample:
    """The sample of a text, read by each model."""
    readers = [IncrementalReader(model, None, beam) for model in models]
    found = BeamSample(readers)
    rows = [
        SentenceRows.of_tokens(Sentence(tuple(words), source="text", line=line))
        for line, words in enumerate(given, start=1)
    ]
    for measured in zip(*(reader.read(rows) for reader in readers), strict=True):
        found.add(measured)
    return found


class Silent:
    """A reader whose parser is not used."""

    parser = None


def numbers_in(number: int) -> list[int]:
    """The sentences in the sample of a text of this many."""
    found = BeamSample([Silent()])
    for n in range(number):
        found.add([n])
    return found.kept


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
    for found in (model.beam_error(given, beam=5), sample([model], given).error(threads=2)):
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
    given = sentences(101)
    found = sample([model, other], given)
    single = []
    for number, one in ((0, model), (50, other), (100, model)):
        error = one.beam_error([given[number]], beam=5)
        assert error is not None
        single.append(error)
    error = found.error()
    assert error is not None
    assert error.greatest == max(x.greatest for x in single)
    assert error.mean == pytest.approx(
        sum(x.mean * x.words for x in single) / sum(x.words for x in single)
    )


def test_what_would_take_long_or_too_much_memory(model, monkeypatch):
    found = sample([model], sentences(400))
    whole = found.error()
    assert whole is not None
    assert whole.sentences == 8
    monkeypatch.setattr(incremental, "MOST_STEPS", 273 * 20)
    fewer = found.error()
    assert fewer is not None
    assert fewer.sentences in (1, 2, 4)
    monkeypatch.setattr(incremental, "MOST_STEPS", 0)
    one = found.error()
    assert one is not None
    assert one.sentences == 1
    monkeypatch.setattr(incremental, "MOST_BYTES", 1000)
    assert not found.affordable
    assert found.error() is None
    assert BeamSample(found.readers).error() is None
