"""``dbpcfg sweep``, as a user runs it: killed and started again, one cell, an array script."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_interruption import alive, children
from tests.command import COMMAND, dbpcfg, printed
from tests.experiments.small import files_in, times_in, write_corpora, write_grid

TWELVE = """\
corpus = ["adam.trees", "eve.trees"]
K = [2, 3]
seeds = "0-2"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with small corpora."""
    write_corpora(tmp_path)
    return tmp_path


def finished_in(folder: Path) -> list[Path]:
    records = sorted((folder / ".cells").glob("*/cell.json"))
    return [
        folder / record.parent.name
        for record in records
        if json.loads(record.read_text())["state"] == "finished"
    ]


def test_killed_in_the_middle_and_started_again(place):
    """12 cells: the rest only is run; and the number of jobs makes no difference."""
    whole = write_grid(place, TWELVE, "whole.toml")
    broken = write_grid(place, TWELVE, "broken.toml")
    table = printed("sweep", whole, "--jobs", 2, "-q")

    process = subprocess.Popen(
        [*COMMAND, "sweep", str(broken)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    said = [process.stderr.readline() for _ in range(5)]
    workers = children(process.pid) if Path("/proc/self/task").exists() else []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert b"5 of 12 cells" in said[-1]
    assert b" left" in said[-1]
    until = time.monotonic() + 600
    while any(map(alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    kept = finished_in(place / "broken")
    assert len(kept) >= 5  # usually 5; more if this process was slow to kill
    before = {folder: (times_in(folder), files_in(folder)) for folder in kept}

    again = dbpcfg("sweep", broken)
    assert again.returncode == 0, again.stderr
    assert f"{len(kept)} of 12 cells already finished" in again.stderr
    assert again.stderr.count(" finished (") == 12 - len(kept)
    assert {folder: (times_in(folder), files_in(folder)) for folder in kept} == before
    assert files_in(place / "broken") == files_in(place / "whole")
    assert len(finished_in(place / "broken")) == 12
    assert again.stdout == table


def test_failing_cells_do_not_harm_the_others(place, call, command):
    text = 'corpus = ["none.txt", "broken.trees", "adam.trees"]\nK = [2, 1000000]\n'
    grid = write_grid(place, text + 'systems = ["dbpcfg", "right"]')
    code, out, err = command.run("sweep", grid, "--format", "json")
    assert code == 1
    rows = json.loads(out)[0]["rows"]
    states = [row["state"] for row in rows]
    assert [state.partition(":")[0] for state in states] == [
        *["failed"] * 6,
        *("finished", "failed", "finished"),
    ]
    assert "No such file" in states[0]
    assert "broken.trees" in states[4]
    assert "this run would need" in states[7]
    assert rows[6]["f1"] > 0
    assert err.count("\nfailed: ") == 7
    out, _ = call("sweep", grid, "--dry-run")
    assert "No such file" in out
    assert "2 of 9 cells finished" in out


def test_one_cell(place, call, refuse):
    grid = write_grid(place, TWELVE)
    out, _ = call("sweep", grid, "--cell", 12, "--format", "tsv", "-q")
    head, row = (line.split("\t") for line in out.splitlines())
    assert dict(zip(head, row))["cell"] == "12"
    assert [folder.name for folder in finished_in(place / "grid")] == ["eve-K3-D2-b0.2-s2"]
    refuse("sweep", grid, "--cell", 0)
    assert "give one of --cell, --dry-run" in refuse("sweep", grid, "--cell", 1, "--dry-run")


def test_other_settings_are_noticed_before_anything_runs(place, call, refuse):
    grid = write_grid(place, 'corpus = "adam.trees"\nK = [2, 3]')
    call("sweep", grid, "--cell", 2, "-q")
    grid.write_text(grid.read_text().replace("iterations = 6", "iterations = 8"))
    said = refuse("sweep", grid)
    assert "adam-K3-D2-b0.2-s0 was run with iterations = 6, not iterations = 8" in said
    assert not (place / "grid" / "adam-K2-D2-b0.2-s0").exists()


def test_the_array_script_runs_a_cell(place, call, refuse):
    grid = write_grid(place, 'corpus = "adam.trees"\nK = [2, 3]')
    script, _ = call("sweep", grid, "--slurm-array")
    assert "#SBATCH --array=1-2\n" in script
    assert not (place / "grid").exists()
    (place / "bin").mkdir()
    program = place / "bin" / "dbpcfg"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dbpcfg "$@"\n')
    program.chmod(0o755)
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-s"],
        input=script,
        capture_output=True,
        text=True,
        cwd=place / "bin",
        env={**os.environ, "PATH": path, "SLURM_ARRAY_TASK_ID": "2", "SLURM_CPUS_PER_TASK": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert [folder.name for folder in finished_in(place / "grid")] == ["adam-K3-D2-b0.2-s0"]
    script, _ = call("sweep", grid, "--slurm-array")
    assert "#SBATCH --array=1\n" in script
    call("sweep", grid, "-q")
    assert "there is nothing left to run" in refuse("sweep", grid, "--slurm-array")


def test_compare_runs_reads_a_sweep(place, call):
    grid = write_grid(place, 'corpus = "adam.trees"\nK = [2, 3]\nsystems = ["dbpcfg", "right"]')
    call("sweep", grid, "-q")
    gold = place / "adam.trees"
    out, _ = call("compare-runs", place / "grid", "--gold", gold, "-q", "--format", "json")
    cells = sorted((place / "grid").glob("adam-*"))
    assert len(cells) == 3
    globbed, said = call("compare-runs", *cells, "--gold", gold, "--format", "json")
    assert json.loads(globbed) == json.loads(out)
    assert "adam-right is the result of another system, not a run" in said
    runs, *grids = json.loads(out)
    assert [row["k"] for row in runs["rows"]] == [2, 3]
    assert len(grids) == 2
    swept = json.loads(call("sweep", grid, "-q", "--format", "json")[0])[0]["rows"]
    for row, cell in zip(runs["rows"], swept):
        assert row["f1"] == pytest.approx(cell["f1"])
        assert row["per_token"] == pytest.approx(cell["per_token"])


def test_stopped_by_a_signal(place):
    text = 'corpus = "adam.trees"\nK = [2, 3]\nchains = 1\niterations = 9999999\n'
    grid = write_grid(place, text, short="")
    run = place / "grid" / "adam-K2-D2-b0.2-s0"
    process = subprocess.Popen(
        [*COMMAND, "sweep", str(grid)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 600
        while not (run / "corpus.npz").exists() and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGTERM)  # as a batch system does
        out, err = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 143
    assert "Traceback" not in err
    assert f"stopped; the same command runs the rest: dbpcfg sweep {grid}" in err
    assert [line.split()[-1] for line in out.splitlines()[3:5]] == ["unfinished", "waiting"]
    assert (run / "chains" / "0" / "chain.npz").exists()
