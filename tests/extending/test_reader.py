"""A format of one's own: a reader, and one line to add it."""

import dbpcfg
from dbpcfg.corpus.readers import CorpusReader, readers
from dbpcfg.corpus.sentence import Sentence
from tests.inprocess import InProcess


def shouted(text, source):
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("!"):
            yield Sentence(tuple(line[1:].split()), source=source.name, line=number)
        else:
            source.removed["lines that are not shouted"] += 1


def test_a_reader_from_outside(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(readers, "_added", dict(readers._added))
    readers.add("shout", CorpusReader(shouted, (".shout",), lambda text: text.startswith("!!")))
    (tmp_path / "a.shout").write_text("!the dog ran\nor not\n!it slept")
    (tmp_path / "a.txt").write_text("!! ran")
    corpus = dbpcfg.read(tmp_path / "a.shout")
    assert [sentence.words for sentence in corpus] == [("the", "dog", "ran"), ("it", "slept")]
    assert corpus.removed == {"lines that are not shouted": 1}
    assert dbpcfg.read(tmp_path / "a.txt").formats == ("shout",)
    program = InProcess(monkeypatch, capsys)
    assert program.call("convert", tmp_path / "a.shout", "-")[0] == "the dog ran\nit slept\n"
    assert program.call("convert", "-", "-", "--input-format", "shout", stdin=b"!a b")[0] == "a b\n"
    assert "babylm, shout" in program.refuse("convert", "-", "-", "--input-format", "x")
