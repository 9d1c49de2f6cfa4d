"""How kernels are compiled, called and kept: never out of date, never the reason to fail."""

import os
import re
import shutil
import subprocess
import sys
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
from dbpcfg.numerics.kernels import kernel, repeated

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
    run = repeated(kernel(fill), np.dtype(float))
    for size in (1, 3, 2):
        array = np.zeros(size)
        run(array, 2.0)
        assert array.tolist() == [2.0] * size


def test_kernels_for_two_types_are_not_mixed_up():
    compiled = kernel(fill)
    for dtype in (np.float32, np.float64, np.float32):
        array = np.zeros(3, dtype)
        repeated(compiled, array.dtype)(array, 0.1)
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
import sys
sys.path.insert(0, sys.argv[1])
from dbpcfg.numerics import kernels as cache
from dbpcfg.numerics import compiling
compiled = []
compiling.begun.append(compiled.append)
from main import compute
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


def use(module: Path, place: Path, **environment: str) -> tuple[str, str]:
    """The result of the kernel and how many were compiled; and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", USE, str(module)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(place), **environment},
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


def test_no_folder_to_write_to(module, tmp_path):
    """Folders that cannot be made stand for a read-only package without a home."""
    blocked = tmp_path / "file"
    blocked.touch()
    package = tmp_path / "package"
    shutil.copytree(cache.PACKAGE, package / "dbpcfg", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "dbpcfg" / "__pycache__").touch()
    result, said = use(
        module,
        blocked / "cache",
        PYTHONPATH=str(package),
        PYTHONDONTWRITEBYTECODE="1",
        HOME=str(blocked),
        XDG_CACHE_HOME=str(blocked),
    )
    assert result == "41 1"
    assert said.startswith("dbpcfg: no folder to keep compiled kernels in")
    assert said.count("\n") == 1


def test_a_full_disk(module, tmp_path):
    """Writing fails after the folder was made."""
    full = USE.replace(
        "compiled = []",
        "import os; os.replace = lambda *_: (_ for _ in ()).throw(OSError(28, 'disk full'))\n"
        "compiled = []",
    )
    done = subprocess.run(
        [sys.executable, "-c", full, str(module)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "41 1\n"
    assert "disk full" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_several_processes_at_once(module, tmp_path):
    command = [sys.executable, "-c", USE, str(module)]
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
        return cache.made_of.__wrapped__(kernel)

    before = digest()
    assert digest() == before
    elsewhere = tmp_path / "grammar" / "bounded.py"
    elsewhere.write_text(elsewhere.read_text() + "\n")
    assert digest() == before
    imported.write_text(imported.read_text() + "\n")
    assert digest() != before
