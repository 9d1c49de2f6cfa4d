"""A cell that ends at any call of the file system is run to its end by the next sweep."""

import contextlib
import os
from dataclasses import replace
from random import Random

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.results import CellRecord, sweep_tables
from dbpcfg.experiments.running import run_cell
from dbpcfg.io.tables import render
from tests.experiments.small import cells_of, files_in, write_grid
from tests.rig.crashes import Recorder, put
from tests.rig.damage import damaged
from tests.rig.test_damage import fault

TINY = "chains = 1\niterations = 2\nK = 2\nD = 1\n"


@pytest.mark.parametrize("system", ["dbpcfg", "right"])
def test_every_moment(place, monkeypatch, system):
    (cell,) = cells_of(place, f'corpus = "eve.trees"\nsystems = "{system}"', short=TINY)
    with pytest.MonkeyPatch.context() as patch:
        recorder = Recorder(place / "grid", patch)
        done = run_cell(cell, threads=1)
    assert done.state == "finished"
    wanted = trees(place / "grid")
    monkeypatch.setattr(os, "fsync", lambda number: None)
    states = list(recorder.telling.items())
    # Of another system the process takes a second: some of the moments, by turns.
    chosen = states if system == "dbpcfg" else states[:: len(states) // 2]
    assert len(chosen) > (40 if system == "dbpcfg" else 1)
    for number, (moment, state) in enumerate(chosen):
        out = place / f"again{number}"
        put(state, out)
        here = replace(cell, out=str(out))
        assert CellRecord(here).outcome(None).state in ("waiting", "unfinished", "finished"), moment
        assert run_cell(here, threads=1) == done, moment
        assert trees(out) == wanted, moment


def trees(folder):
    """The files of the cell; of another system the trees, as times differ."""
    return {
        name: content
        for name, content in files_in(folder).items()
        if not name.endswith(".json") and not name.rpartition("/")[2].startswith(".")
    }


@pytest.mark.parametrize("file", ["grid.toml", "grid/.cells/eve-K2-D1-b0.2-s0/cell.json"])
def test_damaged_files(place, monkeypatch, file):
    grid = write_grid(place, 'corpus = "eve.trees"\nmax-length = 20\n', short=TINY)
    (cell,) = cells_of(place, 'corpus = "eve.trees"\nmax-length = 20\n', short=TINY)
    assert run_cell(cell).state == "finished"
    path, chance = place / file, Random(file)
    good = place / f"good{path.suffix}"
    good.write_bytes(path.read_bytes())
    for trial in range(150):
        path.write_bytes(damaged(good, chance))
        assert fault("sweep", grid, "--dry-run") is None, trial
    for trial in range(20):
        path.write_bytes(damaged(good, chance))
        assert fault("sweep", grid, "--slurm-array") is None, trial


def test_tables_of_damaged_records(place):
    """A damaged result is an error, or one that tables can show."""
    cells = cells_of(place, 'corpus = "eve.trees"\nseeds = [0, 1]\n', short=TINY)
    good = {cell.number: run_cell(cell) for cell in cells}
    file, chance, shown = CellRecord(cells[0]).file, Random(0), 0
    (place / "good.json").write_bytes(file.read_bytes())
    for _ in range(300):
        file.write_bytes(damaged(place / "good.json", chance))
        with contextlib.suppress(DbpcfgError):
            found = CellRecord(cells[0]).outcome(None)
            for format in ("text", "json", "latex"):
                assert render(sweep_tables(cells, {**good, 1: found}), format)
            shown += 1
    assert 0 < shown < 300
