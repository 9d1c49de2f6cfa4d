"""The directory of a run: what is in its place, full disks, damage, other processes."""

import errno
import os
import re
import resource
import shutil
import stat
import tomllib

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.directory import RunDirectory, finished_run, run_times
from dbpcfg.induction.induce import resume
from tests.induction.small import TREES, begin, start, written


def test_an_existing_run_is_kept_unless_overwritten(reference, tmp_path):
    path = tmp_path / "run"
    start(path, chains=3, seed=9, gold=TREES)
    before = written(path)
    with pytest.raises(DbpcfgError, match=f"{path} exists and is not empty; .*resume {path}"):
        start(path)
    assert written(path) == before
    (path / "notes.txt").write_text("mine")
    start(path, overwrite=True)
    assert (path / "notes.txt").read_text() == "mine"
    (path / "notes.txt").unlink()
    assert written(path) == written(reference)


@pytest.mark.parametrize("name", ["notes.txt", "config.toml"])
def test_what_is_no_run_is_never_overwritten(tmp_path, name):
    (tmp_path / name).write_text('title = "of something else"')
    with pytest.raises(DbpcfgError, match="exists and is not empty"):
        start(tmp_path)
    with pytest.raises(DbpcfgError, match="is not a run, so --overwrite does not touch it"):
        start(tmp_path, overwrite=True)
    with pytest.raises(DbpcfgError, match=f"{name} is a file; --out needs a directory"):
        start(tmp_path / name, overwrite=True)
    with pytest.raises(DbpcfgError, match=r"config\.toml"):
        resume(tmp_path)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    "wrong",
    [{"K": 0}, {"D": 0}, {"beta": 0.0}, {"seed": -1}, {"chains": 0}, {"gold": []}, {"threads": 0}],
    ids=str,
)
def test_mistakes_leave_no_directory(tmp_path, wrong):
    with pytest.raises(DbpcfgError):
        start(tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


# --- where nothing can be written -----------------------------------------------------------------


@pytest.mark.parametrize("files", [1, 2, 5, 9])
def test_a_full_disk(reference, tmp_path, monkeypatch, files):
    """After some files there is no space left; what was saved is still good."""
    path = tmp_path / "run"
    left = files

    def no_space(descriptor: int) -> None:
        nonlocal left
        left -= not stat.S_ISDIR(os.fstat(descriptor).st_mode)
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(DbpcfgError, match=f"{path}.* cannot be written: No space left on"):
            start(path, threads=1, checkpoint=0)
    hidden = {file.name for file in path.rglob(".*.*")}
    if files == 1:  # the text is saved under a hidden name, the configuration is not
        assert hidden <= {".corpus.npz"}
        with pytest.raises(DbpcfgError, match=r"config\.toml"):
            resume(path)
        start(path, threads=1, checkpoint=0)
    else:
        assert not hidden
        resume(path)
    assert written(path) == written(reference)


def test_a_file_that_may_not_grow(reference, tmp_path):
    """The system refuses in the middle of a file, rather than at its end."""
    path = tmp_path / "run"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
    try:
        with pytest.raises(DbpcfgError, match=r"chains/. cannot be written: File too large"):
            start(path, threads=1, checkpoint=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {name for name in written(path) if name.endswith("npz")} == {"corpus.npz"}
    resume(path)
    assert written(path) == written(reference)


@pytest.mark.parametrize("moved", [False, True])
def test_a_directory_that_goes_away(tmp_path, moved):
    out, elsewhere = tmp_path / "run", tmp_path / "elsewhere"

    def go_away(chain):
        if out.exists():
            if moved:
                out.rename(elsewhere)
            else:
                shutil.rmtree(out)

    with pytest.raises(DbpcfgError, match=f"{out} has been removed or moved while the run was"):
        start(out, on_progress=go_away, checkpoint=0)
    assert not out.exists()
    if moved:
        resume(elsewhere)
        assert finished_run(elsewhere).finished


# --- other processes, earlier and later ones ------------------------------------------------------


def test_one_process_at_a_time(reference, tmp_path):
    path = tmp_path / "run"
    begin(path)
    with RunDirectory.open(path):
        before = written(path)
        for again in (lambda: resume(path), lambda: start(path, overwrite=True)):
            with pytest.raises(DbpcfgError, match=f"{path} is being run by another process"):
                again()
        assert written(path) == before
    resume(path)
    assert written(path) == written(reference)
    with RunDirectory.open(path):  # to read a finished run the lock is not needed
        assert [chain.settings.chain for chain in finished_run(path).chains] == [0, 1]


def test_what_a_killed_process_left_is_removed(reference, tmp_path):
    path = tmp_path / "run"
    begin(path)
    for left in (".config.toml.0123456789abcdef", "chains/0/.chain.npz.0123456789abcdef"):
        (path / left).write_bytes(b"half")
    (path / ".notes").touch()
    resume(path)
    (path / ".notes").unlink()  # not ours
    assert written(path) == written(reference)


@pytest.mark.parametrize("version", ["99.0", "0.2.0", "1", "0.1.1.dev3"])
def test_a_run_of_a_later_version_is_not_resumed(tmp_path, version):
    out = tmp_path / "run"
    begin(out)
    config = out / "config.toml"
    good = config.read_text()
    made_by = tomllib.loads(good)["versions"]["dbpcfg"]
    config.write_text(good.replace(f'dbpcfg = "{made_by}"', f'dbpcfg = "{version}"'))
    with pytest.raises(DbpcfgError, match=f"config.toml: a run of dbpcfg {version}, and this is"):
        resume(out)
    config.write_text(good.replace(f'dbpcfg = "{made_by}"', 'dbpcfg = "0.0.9"'))
    assert resume(out).finished


# --- damage ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "run"
    start(path, gold=TREES)
    return path


def _replaced(old: str, new: str):
    def damage(data: bytes) -> bytes:
        changed, number = re.subn(old.encode(), new.encode(), data, count=1)
        assert number == 1
        return changed

    return damage


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("chains/1/chain.npz", lambda data: data[:-100], "not a dbpcfg chain file, or a damaged"),
        ("chains/1/chain.npz", lambda data: b"", "not a dbpcfg chain file, or a damaged one"),
        ("corpus.npz", lambda data: data[:-1], "not a dbpcfg corpus file, or a damaged one"),
        ("gold.npz", lambda data: data[:99], "not a dbpcfg gold spans file, or a damaged one"),
        *(
            ("config.toml", _replaced(old, new), said)
            for old, new, said in (
                ("version = 2", "version = 7", "version 7"),
                ("sha256:", "sha256:0", "not the text that"),
                ("seed = 5", "seed = 6", "other settings"),
                (r"tokens = \d+", 'tokens = "many"', r"\[corpus\] tokens must be a whole number"),
                (r"tokens = \d+", "tokens = 0", r"\[corpus\] tokens .* got 0"),
                (r"sentences = \d+", "sentences = 1.5", r"\[corpus\] sentences .* got 1.5"),
                (r"sources = \[\]", "sources = 1.5", r"\[corpus\] sources .* got 1.5"),
                (r"sources = \[\]", "speakers = [1]", r"\[corpus\] speakers .* got \[1\]"),
                (r"tokens = \d+", f"tokens = {'[' * 3000}{']' * 3000}", "is not TOML"),
                ('numpy = "[^"]*"', "numpy = 3", r"\[versions\] numpy must be a text, got 3"),
            )
        ),
    ],
)
def test_damage_is_named_and_nothing_is_touched(finished, tmp_path, name, damage, said):
    path = tmp_path / "run"
    shutil.copytree(finished, path)
    good = (path / name).read_bytes()
    (path / name).write_bytes(damage(good))
    before = written(path)
    with pytest.raises(DbpcfgError, match=said) as error:
        resume(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert written(path) == before
    (path / name).write_bytes(good)
    assert resume(path).finished


def test_a_chain_in_the_place_of_another(finished, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(finished, path)
    shutil.copy(path / "chains/0/chain.npz", path / "chains/1/chain.npz")
    for use in (resume, finished_run):
        with pytest.raises(DbpcfgError, match=r"chains/1/chain\.npz: it is of a chain with other"):
            use(path)


def test_times_are_those_of_the_files(tmp_path):
    for name, date in (("config.toml", 1_000_000_000), ("chains.tsv", 1_000_000_090)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (date, date))
    assert run_times(tmp_path) == ("2001-09-09 01:46 UTC", "2001-09-09 01:48 UTC", 90)
    os.utime(tmp_path / "chains.tsv", (5, 5))
    assert run_times(tmp_path) is None
    assert run_times(tmp_path / "nothing") is None
