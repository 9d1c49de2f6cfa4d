"""The logger: notes and warnings of Python calls, and silence unless somebody listens."""

import logging

import pytest

import dbpcfg
from tests.induction.small import SENTENCES
from tests.processes import output_of

LEARN = {"K": 2, "chains": 1, "iterations": 2}


def logged(caplog) -> list[tuple[str, int]]:
    return [(one.message, one.levelno) for one in caplog.records if one.name == "dbpcfg"]


@pytest.fixture(scope="module")
def model():
    return dbpcfg.induce(SENTENCES, **LEARN).model


def test_notes_on_a_text_are_logged(caplog):
    caplog.set_level(logging.INFO)
    notes: list[str] = []
    dbpcfg.induce(SENTENCES, **LEARN, on_note=notes.append)
    assert not logged(caplog)
    dbpcfg.induce(SENTENCES, **LEARN)
    assert notes
    assert logged(caplog) == [(note, logging.INFO) for note in notes]


@pytest.mark.parametrize("call", ["parse", "parses", "surprisal", "probability"])
def test_warnings_are_logged(model, call, caplog):
    with pytest.warns(UserWarning, match="does not know 2 of 2 words") as caught:
        getattr(model, call)(["zzz zzz"])
    ((message, level),) = logged(caplog)
    assert (message, level) == (str(caught[0].message), logging.WARNING)
    caplog.clear()
    getattr(model, call)(["zzz zzz"], quiet=True)  # no Python warning, which pytest would show
    assert logged(caplog) == [(message, level)]


def test_a_sentence_that_is_no_path_is_noted(model, caplog):
    caplog.set_level(logging.INFO)
    words = " ".join(SENTENCES[0])
    model.parse([words])
    assert not logged(caplog)
    model.parse(words)
    ((message, level),) = logged(caplog)
    assert words in message
    assert "sentence" in message
    assert level == logging.INFO


def test_nothing_is_printed_unless_logging_is_set_up():
    """Python warnings are ignored here; they are printed by Python."""
    code = (
        "import logging, warnings; warnings.simplefilter('ignore'); import dbpcfg; "
        "model = dbpcfg.induce(['a b', 'b a b'], K=2, chains=1, iterations=2).model; "
        "{}; import sys; sys.stderr = sys.stdout; model.parse('z z')"
    )
    assert output_of(code.format("pass")) == ""
    shown = output_of(
        code.format("logging.basicConfig(level='INFO', stream=sys.stdout)").replace(
            "import logging", "import sys, logging"
        )
    )
    assert "INFO:dbpcfg:there is no file" in shown
    assert "WARNING:dbpcfg:the model does not know" in shown
