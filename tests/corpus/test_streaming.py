"""Sentences as they come: the same as when read whole, and blank lines besides."""

import gzip
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.reading import read
from dbpcfg.corpus.streaming import stream
from dbpcfg.errors import DbpcfgError


def words(paths, **options) -> list[tuple[str, ...] | None]:
    return [s if s is None else s.words for s in stream(list(map(str, paths)), **options)]


@pytest.fixture
def stdin(monkeypatch):
    def give(data: bytes) -> None:
        file = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
        monkeypatch.setattr(sys, "stdin", file)

    return give


def test_lines_with_their_places(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfthe dog\r\n\r\n  \nbarks \xc3\xa9\rlast")
    assert words([path]) == [("the", "dog"), None, None, ("barks", "é"), ("last",)]
    sentences = list(stream([str(path)]))
    assert [s.location for s in sentences if s] == [f"{path}:{n}" for n in (1, 4, 5)]


text = st.text(st.sampled_from("ab(é \n\r\t\u2028\x1c\x85"), max_size=30)


@given(text.filter(str.strip))
def test_the_same_as_when_read_whole(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes(text.encode())
    streamed = list(stream([str(path)], "text"))
    whole = read(path, format="text")
    assert [s for s in streamed if s is not None] == list(whole)
    assert streamed.count(None) == whole.removed.get("blank lines", 0)


def test_gzip_folders_and_several_files(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"two\n\nthree\n"))
    assert words([tmp_path]) == [("one",), ("two",), None, ("three",)]
    assert words([tmp_path / "b.txt.gz", tmp_path / "a.txt"])[-1] == ("one",)


def test_other_formats_are_recognised(tmp_path, stdin):
    tree = "(S (D the) (N dog))\n"
    (tmp_path / "trees.txt").write_text(tree)
    assert words([tmp_path / "trees.txt"]) == [("the", "dog")]
    assert words([tmp_path / "trees.txt"], format="text") == [("(S", "(D", "the)", "(N", "dog))")]
    stdin(tree.encode())
    assert words(["-"]) == [("the", "dog")]
    stdin(b"the dog\n\n")
    assert words(["-"]) == [("the", "dog"), None]
    stdin(gzip.compress(b"the dog\n\n"))
    assert words(["-"]) == [("the", "dog")]
    stdin(b"")
    assert words(["-"]) == []


def test_on_note_is_called_with_what_is_left_out_of_other_formats(tmp_path):
    (tmp_path / "a.mrg").write_text("(S (D the) (N dog))\n(S (-NONE- *))\n")
    remarks: list[str] = []
    assert words([tmp_path / "a.mrg"], on_note=remarks.append) == [("the", "dog")]
    assert len(remarks) == 1
    assert "Left out" in remarks[0]
    (tmp_path / "a.txt").write_text("one\n\n")
    words([tmp_path / "a.txt"], on_note=remarks.append)  # its blank lines are not left out
    assert len(remarks) == 1


def test_standard_input_stays_open_and_comes_line_by_line(stdin):
    stdin(b"one\ntwo\n")
    lines = stream(["-"])
    assert next(lines).words == ("one",)
    lines.close()
    assert not sys.stdin.buffer.closed


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"one\ntwo \xff\n", r"a\.txt:2: found the byte 0xff, which is not UTF-8"),
        (b"one\n\ntwo\0", r"a\.txt:3: found a NUL byte"),
        (
            gzip.compress(b"one\n" * 1000, mtime=0)[:-20],
            r"a\.txt cannot be read: Compressed file ended",
        ),
        (b"\x1f\x8bone", r"a\.txt cannot be read: "),
    ],
)
def test_what_is_no_text(tmp_path, data, said):
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(DbpcfgError, match=said):
        list(stream([str(tmp_path / "a.txt")]))


def test_what_is_not_there_and_lines_of_any_length(tmp_path, monkeypatch):
    with pytest.raises(DbpcfgError, match=r"none\.txt cannot be read: No such file"):
        list(stream([str(tmp_path / "none.txt")]))
    (tmp_path / "a.txt").write_text("w " * 5000 + "x" * 5000)
    ((*_, last),) = words([tmp_path / "a.txt"])  # lines can have any length
    assert len(last) == 5000
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(DbpcfgError, match="has no speakers"):
        words([tmp_path / "a.txt"], speakers=["MOT"])
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DbpcfgError, match="no standard input"):
        list(stream(["-"]))


def test_broken_trees_are_skipped_and_reported(tmp_path):
    (tmp_path / "a.mrg").write_text("(V a)\n(V b) x\n")
    remarks: list[str] = []
    assert words([tmp_path / "a.mrg"], on_note=remarks.append, broken="skip") == [("a",)]
    assert "Left out: broken trees (1)." in remarks[0]
    assert "skipped line 2" in remarks[1]
