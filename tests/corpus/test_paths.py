"""Files, folders, patterns."""

import os
from pathlib import Path

import pytest

from dbpcfg.corpus.loading import expand
from dbpcfg.errors import DbpcfgError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (
        "a/2.mrg",
        "a/10.mrg.gz",
        "a/b/1.parsed",
        "a/README",
        "a/.hidden.mrg",
        "a/.git/x.mrg",
    ):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("(X go)")
    return tmp_path


FOUND = ["a/10.mrg.gz", "a/2.mrg", "a/b/1.parsed"]


def test_files_are_kept_in_order(here):
    assert expand(["a/README", Path("a/2.mrg"), "-", "missing"]) == [
        "a/README",
        "a/2.mrg",
        "-",
        "missing",  # whoever opens it will see
    ]


def test_a_folder_is_its_files_of_known_extension(here):
    assert expand(["a"]) == FOUND
    assert expand([Path("a")], "penn") == FOUND
    assert expand(["a/"]) == FOUND
    assert expand([here / "a"]) == [str(here / name) for name in FOUND]


def test_patterns(here):
    assert expand(["a/*.mrg*"]) == FOUND[:2]
    assert expand(["a/**/*.parsed"]) == FOUND[2:]
    assert expand(["a/?.mrg"]) == ["a/2.mrg"]
    assert expand(["a/[0-9].mrg"]) == ["a/2.mrg"]
    assert expand(["*"]) == FOUND  # a folder among the matches
    Path("what?.txt").write_text("x")
    assert expand(["what?.txt"]) == ["what?.txt"]


def test_links_in_a_circle(here):
    Path("a/b/up").symlink_to(here / "a")
    Path("a/c").symlink_to(here / "elsewhere")
    Path("elsewhere").mkdir()
    Path("elsewhere/3.mrg").write_text("(X go)")
    assert expand(["a"]) == [*FOUND, "a/c/3.mrg"]


def error_of(*paths, **options):
    with pytest.raises(DbpcfgError) as caught:
        expand(paths, **options)
    return str(caught.value)


def test_nothing_twice(here):
    assert error_of("a", "a") == "a/10.mrg.gz: given twice; give each file once"
    assert error_of("a/2.mrg", "a/b/../2.mrg").startswith("a/b/../2.mrg: given twice (as a/2.mrg t")
    assert "given twice" in error_of("a", "a/*.mrg")
    assert error_of("-", "-") == "<stdin>: given twice; give each file once"
    assert "given twice" in error_of("missing", "missing")


def test_several_formats_in_a_folder(here):
    Path("a/notes.txt").write_text("x")
    Path("a/b/eve.cha").write_text("x")
    assert error_of("a") == (
        "a: found files of several formats in this folder (3 penn, 1 chat, 1 text); "
        "choose one with format= (--input-format), or name the files"
    )
    assert expand(["a"], "penn") == FOUND
    assert expand(["a"], "chat") == ["a/b/eve.cha"]


def test_nothing_in_a_folder(here):
    Path("empty").mkdir()
    assert error_of("empty") == (
        "empty: there are no files in this folder, to go by their extensions; "
        "name the files instead, as in empty/*"
    )
    assert "there are no chat files in this folder" in error_of("a", format="chat")


def test_what_is_no_path(here):
    assert error_of() == "there is nothing to read; give a file, a folder or - for standard input"
    assert error_of("").startswith("'' is not a path")
    assert "is not a path" in error_of("a\0b")
    assert error_of("a/*.cha") == "a/*.cha: nothing matches this pattern; is the path right?"
    with pytest.raises(TypeError):
        expand([3])


def test_folders_that_cannot_be_listed(here, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert error_of("a") == "a cannot be read: Permission denied"
