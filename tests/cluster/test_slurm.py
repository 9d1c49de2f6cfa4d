"""A run on a real SLURM, where there is one: one node is enough."""

import shutil
import subprocess
import sys

import pytest

import dbpcfg
from tests.cluster.small import SENTENCES
from tests.induction.small import written

GIVEN = {"K": 3, "chains": 2, "iterations": 12, "seed": 5}


def idle() -> bool:
    """Whether there is a SLURM with a node that has nothing to do."""
    if shutil.which("sbatch") is None or shutil.which("sinfo") is None:
        return False
    asked = subprocess.run(
        ["sinfo", "--noheader", "--states=idle", "--format=%n"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return asked.returncode == 0 and bool(asked.stdout.strip())


@pytest.mark.slow
@pytest.mark.skipif(not idle(), reason="no SLURM with an idle node")
def test_the_same_bytes_by_slurm(tmp_path):
    (tmp_path / "slurm.toml").write_text(
        '[cluster]\nkind = "slurm"\nworkers = 1\ncores = 1\nmemory = "1GB"\n'
        f'walltime = "00:10:00"\npython = "{sys.executable}"\nlog_directory = "{tmp_path}"\n'
    )
    dbpcfg.induce(SENTENCES, out=tmp_path / "here", **GIVEN)
    dbpcfg.induce(SENTENCES, out=tmp_path / "there", cluster=str(tmp_path / "slurm.toml"), **GIVEN)
    assert written(tmp_path / "here") == written(tmp_path / "there")
