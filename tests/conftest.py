"""Hypothesis draws the same examples each time; ``--hypothesis-profile=explore`` draws new ones.

Warnings of NumPy are errors, in the commands that tests start too. New memory is poisoned. Progress
is shown only where a test asks for it: what it shows depends on how busy the machine is.
"""

import contextlib
import math
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from dbpcfg.cli import app, chain_progress, sweep
from dbpcfg.corpus.reading import read
from dbpcfg.induction.directory import finished_run
from dbpcfg.io import progress
from tests.poison import poisoned
from tests.processes import real_processes, threads_for_processes
from tests.report.small import make_run, write_treebank

os.environ["PYTHONWARNINGS"] = "error::RuntimeWarning"
# A job in the background ignores Ctrl-C, and so would the commands that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
_slow_is_fine = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **_slow_is_fine)
settings.register_profile("explore", max_examples=2000, **_slow_is_fine)
settings.load_profile("same")
# Hypothesis would also try constants of all modules that happen to be loaded by then.
providers._get_local_constants = lambda: providers._local_constants


@pytest.fixture(scope="session")
def run_path(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="session")
def treebank(tmp_path_factory) -> Path:
    return write_treebank(tmp_path_factory.mktemp("gold") / "text.mrg")


@pytest.fixture(scope="session")
def run(run_path):
    return finished_run(run_path)


@pytest.fixture(scope="session")
def gold(run, treebank):
    return run.match_gold(read(treebank).sentences, str(treebank))


@pytest.fixture(scope="session", autouse=True)
def _compiling_is_not_announced():
    """What would be said depends on what other tests have compiled; see tests/cli/test_warm.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "compiling_announced", contextlib.nullcontext)
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_takes_long():
    """Lines that appear after some seconds would be messages of whichever test is slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "PATIENCE", math.inf)
        patch.setattr(chain_progress, "FIRST_SECONDS", math.inf)
        for module in (chain_progress, sweep):
            patch.setattr(module, "LINE_SECONDS", math.inf)
        yield


@pytest.fixture(scope="session", autouse=True)
def _cells_run_in_threads():
    with threads_for_processes():
        yield


@pytest.fixture(scope="session", autouse=True)
def _new_memory_is_poisoned():
    with poisoned():
        yield


@pytest.fixture
def processes():
    """For tests of the processes of experiments, which otherwise are threads."""
    with real_processes():
        yield
