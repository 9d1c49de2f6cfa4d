"""Files written whole or not at all."""

import os
import stat

import pytest

from dbpcfg.io.files import written_whole


@pytest.fixture(params=["new", "replaced"])
def path(request, tmp_path):
    path = tmp_path / "file.bin"
    if request.param == "replaced":
        path.write_bytes(b"a much longer text from before")
    return path


def test_content(path):
    with written_whole(path) as file:
        file.write(b"one ")
        file.write(b"two\n\0")
    assert path.read_bytes() == b"one two\n\0"
    assert os.listdir(path.parent) == [path.name]


def test_nothing_has_the_name_until_the_end(path):
    before = path.read_bytes() if path.exists() else None
    with written_whole(path) as file:
        file.write(b"half")
        file.flush()
        assert (path.read_bytes() if path.exists() else None) == before
        others = [name for name in os.listdir(path.parent) if name != path.name]
        assert len(others) == 1
        assert others[0].startswith(".file.bin.")  # beside it: a rename stays on one disk, hidden


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_everything_as_it_was(path, error):
    before = path.read_bytes() if path.exists() else None

    def fail():
        with written_whole(path) as file:
            file.write(b"half")
            raise error("the message")

    with pytest.raises(error, match="the message"):
        fail()
    assert os.listdir(path.parent) == ([] if before is None else [path.name])
    assert before is None or path.read_bytes() == before


def test_a_failing_rename_leaves_nothing_behind(tmp_path):
    path = tmp_path / "directory"
    path.mkdir()

    def fail():
        with written_whole(path) as file:
            file.write(b"text")

    with pytest.raises(OSError, match="directory"):
        fail()
    assert os.listdir(tmp_path) == ["directory"]
    assert path.is_dir()


def test_it_is_on_disk_before_it_is_renamed(path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        original = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *args, name=name, do=original: (calls.append(name), do(*args))
        )
    with written_whole(path) as file:
        file.write(b"text")
    assert calls == ["fsync", "replace"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions_follow_the_umask(path, mask):
    before = os.umask(mask)
    try:
        with written_whole(path) as file:
            file.write(b"text")
    finally:
        assert os.umask(before) == mask  # as it was
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
