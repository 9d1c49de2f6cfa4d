"""Runs that lose their directory, come from a later version, or have changed files."""

from __future__ import annotations

import re
import shutil
import tomllib

import numpy as np
import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import checkpoint
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.induce import induce, resume
from dbpcfg.io.archive import read_archive, write_archive
from tests.induction.small import SENTENCES

OPTIONS = {"K": 2, "chains": 2, "iterations": 6, "seed": 1}


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
        induce(SENTENCES, out=out, report=go_away, checkpoint=0, **OPTIONS)
    assert not out.exists()
    if moved:
        resume(elsewhere)
        assert finished_run(elsewhere).finished


@pytest.mark.parametrize("version", ["99.0", "0.2.0", "1", "0.1.1.dev3"])
def test_a_run_of_a_later_version_is_not_resumed(tmp_path, version):
    out = tmp_path / "run"
    induce(SENTENCES, out=out, stopping=lambda: True, checkpoint=0, **OPTIONS)
    config = out / "config.toml"
    good = config.read_text()
    made_by = tomllib.loads(good)["versions"]["dbpcfg"]
    config.write_text(good.replace(f'dbpcfg = "{made_by}"', f'dbpcfg = "{version}"'))
    with pytest.raises(DbpcfgError, match=f"config.toml: a run of dbpcfg {version}, and this is"):
        resume(out)
    config.write_text(good.replace(f'dbpcfg = "{made_by}"', 'dbpcfg = "0.0.9"'))
    assert resume(out).finished


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (r"tokens = \d+", 'tokens = "many"', "[corpus] has tokens = 'many', which cannot be"),
        (r"tokens = \d+", "tokens = 0", "[corpus] has tokens = 0"),
        (r"sentences = \d+", "sentences = 1.5", "[corpus] has sentences = 1.5"),
        (r"sources = \[\]", "sources = 1.5", "[corpus] has sources = 1.5, which cannot be"),
        (r"sources = \[\]", "speakers = [1]", "[corpus] has speakers = [1], which cannot be"),
        (r"tokens = \d+", f"tokens = {'[' * 3000}{']' * 3000}", "is not TOML"),
        ('numpy = "[^"]*"', "numpy = 3", "[versions] has numpy = 3"),
    ],
    ids=["text", "none", "half", "sources", "speakers", "nested", "version"],
)
def test_a_configuration_that_was_changed(tmp_path, old, new, said):
    out = tmp_path / "run"
    induce(SENTENCES, out=out, **OPTIONS)
    config = out / "config.toml"
    changed, number = re.subn(old, new, config.read_text(), count=1)
    assert number == 1
    config.write_text(changed)
    with pytest.raises(DbpcfgError, match=re.escape(said)) as error:
        resume(out)
    assert "\n" not in str(error.value)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "run"
    induce(SENTENCES, out=out, **OPTIONS)
    return out


def _nodes(change):
    def changed(header, arrays):
        arrays["last_nodes"] = change(arrays["last_nodes"].copy())

    return changed


def _set(nodes, row, column, value):
    nodes[row, column] = value
    return nodes


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header.update(burn_in=1.5),
        lambda header, arrays: header.update(burn_in=7),
        lambda header, arrays: header.update(burn_in="3"),
        lambda header, arrays: header.update(beta=float("nan")),
        lambda header, arrays: header.update(beta=-1),
        lambda header, arrays: header.update(best=[9, -3.0]),
        lambda header, arrays: header.update(last=[1, float("nan")]),
        lambda header, arrays: header.update(last=[1.5, -3.0]),
        lambda header, arrays: arrays.update(logs=arrays["likelihood"] * np.nan),
        lambda header, arrays: arrays.update(betas=-arrays["betas"]),
        *(
            lambda header, arrays, name=name: arrays.update({name: np.array(arrays[name].flat[0])})
            for name in ("likelihood", "root", "binary", "spans", "best_nodes", "grammars_rows")
        ),
        lambda header, arrays: arrays.update(grammars_root=np.array(1.0)),
        _nodes(lambda nodes: _set(nodes, 0, 1, 10**6)),
        _nodes(lambda nodes: _set(nodes, 1, 0, -5)),
        _nodes(lambda nodes: _set(nodes, 1, 2, 99)),
        _nodes(lambda nodes: _set(nodes, -1, 1, 10**6)),
        _nodes(lambda nodes: nodes * 0),
        _nodes(lambda nodes: nodes[::-1].copy()),
    ],
)
def test_a_checkpoint_that_was_changed(finished, tmp_path, change):
    out = tmp_path / "run"
    shutil.copytree(finished, out)
    path = out / "chains" / "1" / "chain.npz"
    kind, version = checkpoint.FORMAT, checkpoint.VERSION
    header, arrays = read_archive(path, kind, version, checkpoint._DTYPES)
    change(header, arrays)
    write_archive(path, kind, version, header, arrays)
    for use in (resume, finished_run):
        with pytest.raises(DbpcfgError, match=f"^{path}: "):
            use(out)
