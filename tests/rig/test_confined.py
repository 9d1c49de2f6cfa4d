"""A job with nothing to write to but its output: no home, no power of root, a read-only package."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dbpcfg
from tests.induction.small import SENTENCES

DROP_CAPABILITY = 24  # of prctl
PERMISSIONS = (1, 2, 3)  # capabilities of root: any access, any reading, as if the owner

COMMANDS = """\
import sys
from dbpcfg.cli.app import main

for command in sys.argv[1:]:
    sys.argv = ["dbpcfg", *command.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""
"""Both in one process, which compiles kernels once if there is no cache."""


def as_anybody() -> None:
    """Take from root what others do not have: permissions hold for the next program."""
    if os.geteuid() == 0:
        for capability in PERMISSIONS:
            if ctypes.CDLL(None).prctl(DROP_CAPABILITY, capability, 0, 0, 0):
                raise OSError("prctl")


def make_read_only(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.fixture
def job(tmp_path):
    """Runs Python with a package that cannot be written to, and no home."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root may write everywhere on this system")
    package, temporary = tmp_path / "package", tmp_path / "tmp"
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(dbpcfg.__file__).parent, package / "dbpcfg", ignore=left_out)
    make_read_only(package)
    temporary.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(temporary),
        "HOME": str(package / "nobody"),
    }

    def run(
        script: str, *arguments: str, search: str = str(package)
    ) -> subprocess.CompletedProcess[str]:
        environment["PYTHONPATH"] = search
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            preexec_fn=as_anybody,
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )

    yield run
    package.chmod(0o755)
    for path in package.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)


def test_nothing_can_be_written(job):
    """Negative control: the package and the home are closed to such a job."""
    for place in ("package/dbpcfg/x", "package/nobody"):
        done = job(f"open({place!r}, 'w')")
        assert "PermissionError" in done.stderr
    assert job("import dbpcfg; print(dbpcfg.__file__)").stdout.count("package/dbpcfg")


def test_induce_and_parse(job, tmp_path):
    (tmp_path / "text.txt").write_text("".join(f"{' '.join(s)}\n" for s in SENTENCES[:6]))
    done = job(
        COMMANDS,
        "induce text.txt --out run --iterations 2 -K 2 -D 1 --chains 1 -q",
        "parse run text.txt -q",
    )
    assert done.returncode == 0, done.stderr[-1000:]
    assert "Traceback" not in done.stderr
    assert done.stdout.count("(X") > 6


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("convert package/dbpcfg/text.txt -", "text.txt cannot be read: No such file"),
        ("convert locked.txt -", "locked.txt cannot be read: Permission denied"),
        ("convert text.txt package/new.txt", "new.txt cannot be written: Permission denied"),
        ("resume locked", "Permission denied"),
        ("show locked", "Permission denied"),
        ("report locked", "Permission denied"),
        ("induce text.txt -q --out locked", "locked/.lock cannot be written: Permission denied"),
        ("induce text.txt -q --out locked/run", "cannot be written: Permission denied"),
    ],
)
def test_no_permission(command, said, job, tmp_path):
    (tmp_path / "text.txt").write_text("a b c\n")
    (tmp_path / "locked.txt").write_text("a b c\n")
    (tmp_path / "locked.txt").chmod(0)
    (tmp_path / "locked").mkdir(mode=0)
    done = job(COMMANDS, command, search=os.pathsep.join(sys.path))
    (tmp_path / "locked").chmod(0o755)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
