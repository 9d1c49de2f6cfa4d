"""Nothing depends on what happened to be in memory that nobody has written yet.

``conftest.py`` poisons what ``numpy.empty`` returns in all tests.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dbpcfg.numerics.kernels import Floats, kernel

HERE = Path(__file__).parent


@kernel
def new_array(size: int) -> Floats:
    return np.empty(size)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_read_of_new_memory_is_an_error(kind):
    for array in (np.empty(3, kind), np.empty_like(np.ones(3, kind))):
        with pytest.raises(RuntimeWarning, match="invalid value"):
            array @ np.ones(3, kind)


def test_new_integers_are_no_index():
    with pytest.raises(IndexError):
        np.zeros(10)[np.empty(2, np.int32)]


def test_kernels_can_be_compiled_while_memory_is_poisoned():
    assert len(new_array(2)) == 2


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory) -> dict[str, str]:
    """The environment of a process all of whose new memory is poisoned."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("poisoning all memory takes Linux and a C compiler")
    library = tmp_path_factory.mktemp("poison") / "poison.so"
    made = [compiler, "-O2", "-shared", "-fPIC", str(HERE / "poison.c"), "-o", str(library)]
    subprocess.run(made, check=True)
    return {"LD_PRELOAD": str(library)}


@pytest.mark.slow
def test_results_are_the_same_whatever_is_in_memory(preloaded):
    def digests(more: dict[str, str]) -> list[str]:
        command = [sys.executable, "-m", "tests.digests"]
        found = subprocess.run(
            command,
            env={**os.environ, **more},
            cwd=HERE.parent,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return found.stdout.splitlines()

    plain = digests({})
    assert len(plain) > 100
    assert digests(preloaded) == plain


def test_memory_that_kernels_take_is_poisoned_too(preloaded):
    """The control: without it the test above could not fail."""
    program = (
        "import numpy as np, numba; print(numba.njit(lambda: np.empty(1000)[500])(), "
        "np.empty(1000, np.int32)[500])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **preloaded},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    number, integer = found.stdout.split()
    assert number == "nan"
    assert int(integer) > 2**30
