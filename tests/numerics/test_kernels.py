"""How kernels are compiled, called and kept: never out of date, never the reason to fail."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numba
import numba.core.caching
import numba.core.codegen
import numba.core.compiler
import numba.misc.appdirs
import numpy as np
import pytest
from numba import config

from dbpcfg.numerics import kernels as cache
from dbpcfg.numerics.kernels import kernel, specialised
from tests.rig.test_confined import as_anybody

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def fill(array, value):
    for i in range(len(array)):
        array[i] = value


def test_the_numba_that_is_installed_is_one_that_we_know():
    """Kernels are kept and compiled through names that numba does not promise to keep."""
    declared = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["dependencies"]
    (allowed,) = (one.removeprefix("numba") for one in declared if one.startswith("numba"))
    least, below = re.fullmatch(r">=([\d.]+),<([\d.]+)", allowed).groups()
    version = [int(part) for part in numba.__version__.split(".")[:2]]
    assert [*map(int, least.split("."))] <= version < [*map(int, below.split("."))], (
        f"numba {numba.__version__} is not within {allowed} of pyproject.toml: test kernels and "
        "their cache with it, then change the range"
    )
    for owner, names in (
        (numba.core.caching._Cache, ["load_overload", "save_overload", "cache_path", "flush"]),
        (numba.core.compiler.CompileResult, ["_rebuild", "_reduce"]),
        (numba.core.compiler.Compiler, ["_compile_core"]),
        (numba.njit(fill), ["_cache", "compile", "py_func"]),
        (numba.core.config, ["OPT", "CACHE_DIR"]),
        (numba.core.codegen.JITCPUCodegen, ["magic_tuple"]),
        (
            numba.core.codegen.JITCodeLibrary,
            [
                "_optimize_final_module",
                "_finalize_final_module",
                "_finalize_dynamic_globals",
                "_ensure_finalized",
                "get_pointer_to_function",
            ],
        ),
        (numba.misc.appdirs, ["AppDirs"]),
    ):
        for name in names:
            assert hasattr(owner, name), (
                f"numba {numba.__version__} has no {owner}.{name} any more, which "
                "dbpcfg/numerics/kernels.py uses: adapt that, or cap numba in pyproject.toml"
            )


def test_numbas_own_setting_is_put_back():
    before = config.OPT
    compiled = kernel(fill)
    array = np.zeros(2)
    compiled(array, 3.0)
    assert array.tolist() == [3.0, 3.0]
    assert before == config.OPT


def test_functions_of_others_can_be_called_after_ours():
    """Parts of kernels are not executable; the same functions elsewhere must be."""

    def total(array, scale):
        return np.sum(np.sort(array)[::-1] * scale) + np.argmax(array)

    array = np.array([3.0, 1.0, 2.0])
    assert kernel(total)(array, 2.0) == 12.0
    assert numba.njit(total)(array, 2.0) == 12.0
    part = numba.njit(lambda value: value + 1)
    assert kernel(lambda value: part(value) * 2)(3.0) == 8.0
    assert part(3.0) == 4.0


def test_repeated_calls_do_the_same():
    run = specialised(kernel(fill), np.dtype(float))
    for size in (1, 3, 2):
        array = np.zeros(size)
        run(array, 2.0)
        assert array.tolist() == [2.0] * size


def test_kernels_for_two_types_are_not_mixed_up():
    compiled = kernel(fill)
    for dtype in (np.float32, np.float64, np.float32):
        array = np.zeros(3, dtype)
        specialised(compiled, array.dtype)(array, 0.1)
        assert array.tolist() == [dtype(0.1)] * 3


KERNELS = """
from dbpcfg.numerics.kernels import also_in_kernels, kernel
from helper import twice

@kernel
def compute(x):
    return twice(x) + 1
"""
HELPER = """
from dbpcfg.numerics.kernels import also_in_kernels

@also_in_kernels
def twice(x):
    return FACTOR * x
"""
USE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from dbpcfg.numerics import kernels as cache
from dbpcfg.numerics import compiling
compiled = []
compiling.on_begin.append(compiled.append)
from main import compute
CHANGED
print(compute(20), len(compiled))
"""


@pytest.fixture
def module(tmp_path):
    """A kernel in one file that calls a function in another."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "main.py").write_text(KERNELS)
    (folder / "helper.py").write_text(HELPER.replace("FACTOR", "2"))
    return folder


def use(
    module: Path, place: Path, changed: str = "", user: bool = False, **environment: str
) -> tuple[str, str]:
    """The result of the kernel and how many were compiled; and what was said.

    ``changed``: a line of code, run before the kernel is.
    ``user``: whether permissions hold, even for root.
    """
    done = subprocess.run(
        [sys.executable, "-c", USE.replace("CHANGED", changed), str(module)],
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": str(place),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        preexec_fn=as_anybody if user else None,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr


def files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.nbc"))


def test_a_kernel_is_compiled_once_and_again_if_its_file_is_damaged(module, tmp_path):
    assert use(module, tmp_path / "cache") == ("41 1", "")
    (file,) = files(tmp_path / "cache")
    assert use(module, tmp_path / "cache") == ("41 0", "")
    for damaged in (b"", b"rubbish", file.read_bytes()[:-5]):
        file.write_bytes(damaged)
        said = f"dbpcfg: {file} is damaged; its kernel is compiled again\n"
        assert use(module, tmp_path / "cache") == ("41 1", said)
    assert use(module, tmp_path / "cache") == ("41 0", "")


@pytest.mark.parametrize("folder", ["a", "z"])
def test_kernels_are_found_wherever_the_package_is_installed(module, tmp_path, folder):
    """Whether its path comes before the kernel's or after it."""
    assert use(module, tmp_path / "cache")[0] == "41 1"
    package = tmp_path / folder
    assert (package < module) == (folder == "a")
    shutil.copytree(cache.PACKAGE, package / "dbpcfg", ignore=shutil.ignore_patterns("__pycache__"))
    assert use(module, tmp_path / "cache", PYTHONPATH=str(package)) == ("41 0", "")


@pytest.fixture
def closed_package(tmp_path):
    """A folder with a copy of the package that cannot keep kernels."""
    package = tmp_path / "package"
    shutil.copytree(cache.PACKAGE, package / "dbpcfg", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "dbpcfg" / "__pycache__").touch()
    return package


def test_no_folder_to_write_to(module, closed_package, tmp_path):
    """Folders that cannot be made stand for a read-only package without a home."""
    blocked = tmp_path / "file"
    blocked.touch()
    result, said = use(
        module,
        blocked / "cache",
        PYTHONPATH=str(closed_package),
        HOME=str(blocked),
        XDG_CACHE_HOME=str(blocked),
    )
    assert result == "41 1"
    assert said.startswith("dbpcfg: there is no folder to keep compiled kernels in")
    assert said.count("\n") == 1


def test_a_full_disk(module, tmp_path):
    """Writing fails after the folder was made."""
    full = "os.replace = lambda *_: (_ for _ in ()).throw(OSError(28, 'disk full'))"
    result, said = use(module, tmp_path / "cache", full)
    assert result == "41 1"
    assert "disk full" in said
    assert said.count("\n") == 1
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["_rebuild", "_reduce"])
def test_a_numba_that_has_changed(module, tmp_path, name):
    """It is said once, however many kernels there are, and they are compiled."""
    (module / "main.py").write_text(KERNELS + KERNELS.replace("compute", "again"))
    two = "from main import again; again(20)"
    if name == "_rebuild":  # nothing is loaded from an empty folder
        assert use(module, tmp_path / "cache", two) == ("41 2", "")
    result, said = use(module, tmp_path / "cache", f"del cache.CompileResult.{name}; {two}")
    assert result == "41 2"
    assert re.fullmatch(rf"dbpcfg: numba {numba.__version__} .* \(AttributeError\); .*\n", said)
    assert use(module, tmp_path / "cache", two)[0] == ("41 0" if name == "_rebuild" else "41 2")


# --- whose kernels are run ------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o002, 0o644), (0o077, 0o600)])
def test_others_may_read_kernels_unless_the_umask_forbids_it(tmp_path, mask, mode, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "new"))
    before = os.umask(mask)
    try:
        place = cache.folders.__wrapped__().written
        cache._write(place / "file", b"text")
    finally:
        os.umask(before)
    assert place == tmp_path / "new" / "dbpcfg" / "kernels"
    assert stat.S_IMODE(place.stat().st_mode) == mode | (mode & 0o444) >> 2
    assert stat.S_IMODE((place / "file").stat().st_mode) == mode


@pytest.mark.parametrize(
    ("owner", "mode", "reason"),
    [
        *((owner, mode, "") for owner in (0, 7) for mode in (0o100644, 0o100600, 0o40755)),
        (8, 0o100644, "another user owns them"),
        (8, 0o40777, "another user owns them"),
        *((7, mode, "other users can change them") for mode in (0o100664, 0o100646, 0o41777)),
    ],
)
def test_who_is_trusted(owner, mode, reason):
    found = os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))
    assert cache.distrust(found, frozenset({0, 7})).startswith(reason)
    assert bool(cache.distrust(found, frozenset({0, 7}))) == bool(reason)
    assert cache.distrust(found, None) == ""


def test_root_and_the_owner_of_the_package_are_trusted(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 12345, raising=False)
    package = cache.PACKAGE.stat().st_uid
    assert cache.trusted_owners.__wrapped__() == {12345, 0, package}
    monkeypatch.delattr(os, "geteuid")  # as on Windows
    assert cache.trusted_owners.__wrapped__() is None


STRANGER = "cache.trusted_owners = lambda: frozenset()"
"""As if all files belonged to somebody else."""
TRAP = "cache.pickle.loads = lambda _: print('unpickled')"


def test_kernels_of_another_user_are_not_run(module, tmp_path):
    place = tmp_path / "cache"
    assert use(module, place) == ("41 1", "")
    result, said = use(module, place, TRAP)  # otherwise they would be
    assert result == "unpickled\n41 1"
    assert "cannot load compiled kernels (TypeError); they are compiled again\n" in said
    result, said = use(module, place, f"{STRANGER}; {TRAP}", XDG_CACHE_HOME=str(tmp_path / "own"))
    assert result == "41 1"
    kernels = place / "dbpcfg" / "kernels"
    assert f"dbpcfg: compiled kernels in {kernels} are not used: another user owns them\n" in said


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("which", ["file", "folder"])
def test_kernels_that_others_can_change_are_not_run(module, closed_package, tmp_path, which):
    place = tmp_path / "cache"
    own = {"PYTHONPATH": str(closed_package), "XDG_CACHE_HOME": str(tmp_path / "own")}
    assert use(module, place) == ("41 1", "")
    (file,) = files(place)
    changed = file if which == "file" else file.parent
    changed.chmod(0o777)
    result, said = use(module, place, TRAP, **own)
    assert result == "41 1"
    some = "some " * (which == "file")
    assert said.startswith(f"dbpcfg: {some}compiled kernels in {file.parent} are not used: other")
    assert said.count("\n") == 1
    changed.chmod(0o755)
    assert use(module, place, **own) == ("41 0", "")


def test_a_folder_that_cannot_be_written_is_read(module, closed_package, tmp_path):
    """What it lacks is written to the next one, and both are read from then on."""
    site, own = tmp_path / "site", tmp_path / "own"
    user = {"PYTHONPATH": str(closed_package), "XDG_CACHE_HOME": str(own), "user": True}
    assert use(module, site) == ("41 1", "")
    (kernels,) = {file.parent for file in files(site)}
    kernels.chmod(0o555)
    assert use(module, site, **user) == ("41 0", "")
    assert files(own) == []
    (module / "helper.py").write_text(HELPER.replace("FACTOR", "3"))
    (module / "main.py").write_text(KERNELS + "\n")
    assert use(module, site, **user) == ("61 1", "")
    assert use(module, site, **user) == ("61 0", "")
    assert (len(files(site)), len(files(own))) == (1, 1)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="only root can be others")
def test_kernels_that_root_compiled_serve_everybody(module):
    # What is imported when a kernel is loaded may be closed to nobody, so root loads one first.
    first = "compute(1.5); cache.folders.cache_clear(); cache.trusted_owners.cache_clear()"
    nobody = f"{first}; os.setegid(65534); os.seteuid(65534)"
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        shutil.copytree(module, place / "modules")
        assert use(place / "modules", place / "site", first) == ("41 2", "")
        assert use(place / "modules", place / "site", nobody) == ("41 0", "")
        for file in files(place):
            os.chown(file, 12345, 12345)
        result, said = use(place / "modules", place / "site", f"{TRAP}; {first}")
        assert result == "41 2"
        assert said.count("\n") == 1
        assert said.startswith(f"dbpcfg: some compiled kernels in {file.parent} are not used: an")


def test_several_processes_at_once(module, tmp_path):
    command = [sys.executable, "-c", USE.replace("CHANGED", ""), str(module)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in started:
        out, said = process.communicate()
        assert out.startswith(b"41 ")
        assert said == b""
    assert use(module, tmp_path / "cache") == ("41 0", "")


def test_a_change_in_an_imported_module_is_noticed(tmp_path, monkeypatch):
    for part in ("grammar", "numerics"):
        shutil.copytree(cache.PACKAGE / part, tmp_path / part)
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)
    kernel, imported = tmp_path / "grammar" / "dirichlet.py", tmp_path / "numerics" / "philox.py"

    def digest() -> str:
        cache._imported.cache_clear()
        return cache.source_digest.__wrapped__(kernel)

    before = digest()
    assert digest() == before
    elsewhere = tmp_path / "grammar" / "bounded.py"
    elsewhere.write_text(elsewhere.read_text() + "\n")
    assert digest() == before
    imported.write_text(imported.read_text() + "\n")
    assert digest() != before
