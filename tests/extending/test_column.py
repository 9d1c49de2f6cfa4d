"""A column of surprisal, added from outside: in Python, and by its name on the command line."""

from dbpcfg.io.tables import line
from dbpcfg.model.columns import COLUMNS, SurprisalColumn, total
from dbpcfg.model.model import Model
from tests.inprocess import InProcess
from tests.strategies import random_grammar


def test_a_column_from_outside(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(COLUMNS, "_added", dict(COLUMNS._added))  # as before after the test
    COLUMNS.add("luck", SurprisalColumn("P(word), before it", lambda s: 2**-s.surprisal, total))
    model = Model(random_grammar(3, 2, 0.8, 4), 2)
    rows = model.surprisal(["w0 w1"], columns=["word", "surprisal", "luck"], spillover=1)
    assert [row.luck for row in rows] == [2**-row.surprisal for row in rows]
    assert rows[1].luck_1 == rows[0].luck
    model.save(tmp_path / "model.npz")
    options = ("--columns", "word,surprisal,luck", "--spillover", 1, "-q")
    command = InProcess(monkeypatch, capsys)
    out, _ = command.call("surprisal", tmp_path / "model.npz", *options, stdin=b"w0 w1\n")
    assert out == "".join(map(line, [rows.columns, *(row.values() for row in rows)]))
