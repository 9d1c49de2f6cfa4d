"""A job with nothing to write to but its output: no home, no power of root, a read-only package."""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.numerics.kernels import folders
from tests.induction.small import SENTENCES

DROP_CAPABILITY = 24  # of prctl
PERMISSIONS = (1, 2, 3)  # capabilities of root: any access, any reading, as if the owner

COMMANDS = """\
import contextlib, io, json, sys
from dbpcfg.cli.app import main

for command in sys.argv[1:]:
    sys.argv, code = ["dbpcfg", *command.split()], 0
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""
"""Runs commands one after the other, as starting takes longer than they do."""

NO_PERMISSION = {
    "convert package/dbpcfg/text.txt -": "text.txt cannot be read: No such file",
    "convert locked.txt -": "locked.txt cannot be read: Permission denied",
    "convert text.txt package/new.txt": "new.txt cannot be written: Permission denied",
    "resume locked": "Permission denied",
    "show locked": "Permission denied",
    "report locked": "Permission denied",
    "induce text.txt -q --out locked": "locked/.lock cannot be written: Permission denied",
    "induce text.txt -q --out locked/run": "cannot be written: Permission denied",
}


def as_anybody() -> None:
    """Take from root what others do not have: permissions hold for the next program."""
    if os.geteuid() == 0:
        for capability in PERMISSIONS:
            if ctypes.CDLL(None).prctl(DROP_CAPABILITY, capability, 0, 0, 0):
                raise OSError("prctl")


def make_read_only(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a package that cannot be written to."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root may write everywhere on this system")
    place = tmp_path_factory.mktemp("confined")
    package = place / "package"
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(dbpcfg.__file__).parent, package / "dbpcfg", ignore=left_out)
    make_read_only(package)
    for name in ("text.txt", "locked.txt"):
        (place / name).write_text("".join(f"{' '.join(words)}\n" for words in SENTENCES[:6]))
    (place / "locked.txt").chmod(0)
    (place / "locked").mkdir(mode=0)
    (place / "tmp").mkdir()
    yield place
    for path in (place / "locked", package, *filter(Path.is_dir, package.rglob("*"))):
        path.chmod(0o755)


def job(place: Path, script: str, *arguments: str, **variables: str) -> str:
    """The output of a Python that has this package and no home."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        preexec_fn=as_anybody,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(place / "package"),
            "TMPDIR": str(place / "tmp"),
            "HOME": str(place / "package" / "nobody"),
            **variables,
        },
        cwd=place,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def commands(place: Path, *given: str, **variables: str) -> list[tuple[int, str, str]]:
    """Exit code, output and messages of each command."""
    found = job(place, COMMANDS, *given, **variables)
    return [tuple(json.loads(line)) for line in found.splitlines()]


def test_nothing_can_be_written(place):
    """Negative control: the package and the home are closed to such a job."""
    for closed in ("package/dbpcfg/x", "package/nobody"):
        with pytest.raises(AssertionError, match="PermissionError"):
            job(place, f"open({closed!r}, 'w')")
    assert "package/dbpcfg" in job(place, "import dbpcfg; print(dbpcfg.__file__)")


def test_induce_parse_and_generate(place):
    """With a folder for kernels, here the tests' own, and without."""
    kept = folders().written
    cache = place / "cache" / "dbpcfg"
    cache.mkdir(parents=True)
    if kept is not None:
        (cache / "kernels").symlink_to(kept)
    done = commands(
        place,
        "induce text.txt --out run --iterations 2 -K 2 -D 1 --chains 1 -q",
        "parse run text.txt -q",
        NUMBA_CACHE_DIR=str(cache.parent),
    )
    assert [code for code, _, _ in done] == [0, 0], done
    assert done[1][1].count("(X") > 6
    ((code, out, said),) = commands(place, "generate run -n 3 -q")
    assert code == 0
    assert len(out.splitlines()) == 3
    assert "NUMBA_CACHE_DIR" in said


def test_no_permission(place):
    done = commands(place, *NO_PERMISSION)
    for (code, _, said), expected in zip(done, NO_PERMISSION.values(), strict=True):
        assert code == 2
        assert expected in said
        assert len(said.splitlines()) == 1, said
