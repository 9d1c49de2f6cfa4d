"""Files written whole or not at all."""

import os
import pickle
import stat
from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.errors import MissingFileError
from dbpcfg.experiments.grid import read_grid
from dbpcfg.induction.checkpoint import load_chain
from dbpcfg.induction.directory import read_configuration
from dbpcfg.io.files import atomic_write, os_errors, read_errors, write_errors
from dbpcfg.report.scores import read_comparison
from tests.induction.small import CORPUS, settings

READERS = {
    "a corpus": lambda path: dbpcfg.read(path),
    "a pattern": lambda path: dbpcfg.read(f"{path}*"),
    "a corpus to learn from": lambda path: dbpcfg.induce(path, K=2),
    "trees": lambda path: dbpcfg.evaluate(path, path),
    "a model": lambda path: dbpcfg.load(path),
    "a model file": lambda path: dbpcfg.load(path.with_suffix(".npz")),
    "rules": lambda path: dbpcfg.load(path.with_suffix(".tsv")),
    "a run": lambda path: dbpcfg.resume(path),
    "the settings of a run": read_configuration,
    "a run to start from": lambda path: dbpcfg.induce(["a b"], K=2, start=path),
    "a checkpoint": lambda path: load_chain(path, CORPUS, settings()),
    "a grid": read_grid,
    "a comparison": read_comparison,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_missing_file_is_python_s_error_too(read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dbpcfg.DbpcfgError) as error:
        read(Path("nowhere"))
    assert isinstance(error.value, FileNotFoundError)
    assert "nowhere" in str(error.value)
    assert error.value.__cause__ is None
    assert repr(pickle.loads(pickle.dumps(error.value))) == repr(error.value)


def missing(around):
    """Read a file that is not there, while another one is read or written."""
    with around("outer"), os_errors("inner"):
        Path("/nowhere/at/all").read_bytes()


@pytest.mark.parametrize(
    ("around", "said"),
    [(os_errors, "inner"), (write_errors, "inner"), (read_errors, "outer: inner")],
)
def test_a_missing_file_is_told_once(around, said):
    """Although it is an OSError, which these turn into errors of ours."""
    with pytest.raises(MissingFileError, match=f"^{said} cannot be read: No such file"):
        missing(around)


@pytest.fixture(params=["new", "replaced"])
def path(request, tmp_path):
    path = tmp_path / "file.bin"
    if request.param == "replaced":
        path.write_bytes(b"a much longer text from before")
    return path


def test_content(path):
    with atomic_write(path) as file:
        file.write(b"one ")
        file.write(b"two\n\0")
    assert path.read_bytes() == b"one two\n\0"
    assert os.listdir(path.parent) == [path.name]


def test_nothing_has_the_name_until_the_end(path):
    before = path.read_bytes() if path.exists() else None
    with atomic_write(path) as file:
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
        with atomic_write(path) as file:
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
        with atomic_write(path) as file:
            file.write(b"text")

    with pytest.raises(OSError, match="directory"):
        fail()
    assert os.listdir(tmp_path) == ["directory"]
    assert path.is_dir()


def test_it_is_on_disk_before_it_is_renamed_and_its_name_after(path, monkeypatch):
    calls, sync, replace = [], os.fsync, os.replace

    def synced(number):
        calls.append("fsync directory" if stat.S_ISDIR(os.fstat(number).st_mode) else "fsync file")
        sync(number)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("replace"), replace(*names)))
    with atomic_write(path) as file:
        file.write(b"text")
    assert calls == ["fsync file", "replace", "fsync directory"]


def test_a_system_that_cannot_sync_directories(path, monkeypatch):
    def refuse(name, flags):
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(os, "open", refuse)
    with atomic_write(path) as file:
        file.write(b"text")
    assert path.read_bytes() == b"text"


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions_follow_the_umask(path, mask):
    before = os.umask(mask)
    try:
        with atomic_write(path) as file:
            file.write(b"text")
    finally:
        assert os.umask(before) == mask  # as it was
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
