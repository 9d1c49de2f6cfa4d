"""A system from outside the package: one class, one registration, and two commands know it."""

from dbpcfg.systems.registry import systems
from dbpcfg.trees.tree import Tree
from tests.inprocess import InProcess


class Chunks:
    """Chunks of a fixed number of words."""

    def __init__(self, words: int = 2) -> None:
        self.words = words

    def fit(self, sentences, progress=None):
        self.sentences = sentences
        return self

    def trees(self):
        cut = (
            [s[i : i + self.words] for i in range(0, len(s), self.words)] for s in self.sentences
        )
        return [Tree("S", [Tree("C", chunk) for chunk in chunks]) for chunks in cut]


def test_a_system_is_one_class(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(systems, "_added", {})  # so that other tests do not see it
    systems.add("chunks", Chunks)
    (tmp_path / "a.mrg").write_text("(S (A a) (B (C b) (D c)))\n")
    call = InProcess(monkeypatch, capsys).call
    assert call("baseline", "chunks", tmp_path / "a.mrg", "-q")[0] == "(S (C a b) (C c))\n"
    table, _ = call("compare", tmp_path / "a.mrg", "--systems", "chunks", "--set", "chunks.words=1")
    assert "chunks: words = 1" in table
