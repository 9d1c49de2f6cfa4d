"""A run that ends at any call of the file system is resumed, and ends with the same bytes."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.directory import finished_run
from dbpcfg.induction.induce import induce, resume
from dbpcfg.induction.settings import load_configuration
from tests.induction.small import SENTENCES, TREES
from tests.rig.crashes import Recorder, State, put, state_of

FEW = slice(0, 8)
OPTIONS = {"K": 2, "D": 1, "chains": 2, "seed": 1, "sample_beta": True, "threads": 1}
LENGTH = 4


def start(out: Path, iterations: int = LENGTH, **changed) -> None:
    options = {**OPTIONS, "gold": TREES[FEW], "checkpoint": 0, **changed}
    induce(SENTENCES[FEW], out=out, iterations=iterations, **options)


def again(out: Path) -> None:
    """A new run in the place of another one."""
    start(out, overwrite=True)


def longer(out: Path) -> None:
    resume(out, iterations=LENGTH, threads=1, checkpoint=0)


SCENES: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "a new run": (lambda out: None, start),
    "over a run of other sentences": (
        lambda out: induce(SENTENCES[8:12], out=out, iterations=2, **{**OPTIONS, "K": 3}),
        again,
    ),
    "over a run of the same sentences": (lambda out: start(out, 2, K=3), again),
    "longer by half": (lambda out: start(out, LENGTH // 2), longer),
    "a little longer, so chains begin again": (lambda out: start(out, LENGTH - 1), longer),
}
"""What was there before, and what is done."""


@pytest.fixture(scope="module")
def wanted(tmp_path_factory) -> State:
    """The files of a run that nothing has interrupted."""
    out = tmp_path_factory.mktemp("wanted") / "run"
    start(out)
    return files(out)


def files(out: Path) -> State:
    return {name: data for name, data in state_of(out).items() if name != ".lock"}


def recorded(before: Callable[[Path], None], action: Callable[[Path], None], out: Path) -> Recorder:
    before(out)
    with pytest.MonkeyPatch.context() as patch:
        recorder = Recorder(out, patch)
        action(out)
    return recorder


def finish(out: Path, action: Callable[[Path], None]) -> None:
    """Do what a user does: resume what is a run, or else give the command once more."""
    if action is longer:
        resume(out, threads=1)
        if finished_run(out).configuration.schedule.iterations != LENGTH:
            longer(out)
        return
    begun = False
    with contextlib.suppress(DbpcfgError):
        begun = load_configuration(out / "config.toml").model.categories == OPTIONS["K"]
    if begun:
        resume(out, threads=1)
    else:
        action(out)


def failures(recorder: Recorder, action, wanted: State, folder: Path) -> Iterator[str]:
    """The moments after which the run cannot be finished, or is another one."""
    for number, (moment, state) in enumerate(recorder.telling.items()):
        out = folder / str(number)
        put(state, out)
        try:
            finish(out, action)
        except DbpcfgError as error:
            yield f"{moment}: {error}"
        else:
            if files(out) != wanted:
                yield f"{moment}: other bytes"


@pytest.mark.parametrize(("before", "action"), SCENES.values(), ids=SCENES)
def test_every_moment(before, action, wanted, tmp_path, monkeypatch):
    recorder = recorded(before, action, tmp_path / "run")
    assert files(tmp_path / "run") == wanted
    kinds = {moment.split()[1] for moment in recorder.moments}
    assert kinds >= {"open", "write", "replace"}
    assert any(moment.startswith("amid") for moment in recorder.moments)
    assert len(recorder.states) > 400
    assert len(recorder.telling) > 30
    assert not any(moment.startswith("lost") for moment in recorder.moments)
    monkeypatch.setattr(os, "fsync", lambda number: None)  # it takes time, and nothing crashes now
    assert not list(failures(recorder, action, wanted, tmp_path))


@contextlib.contextmanager
def written_plainly(path: Path):
    with open(path, "wb") as file:
        yield file


@contextlib.contextmanager
def written_without_fsync(path: Path):
    temporary = path.with_name(f".{path.name}.0123456789abcdef")
    with open(temporary, "wb") as file:
        yield file
    os.replace(temporary, path)


@pytest.mark.parametrize("careless", [written_plainly, written_without_fsync])
def test_files_that_are_not_written_whole_are_noticed(careless, wanted, tmp_path, monkeypatch):
    """Negative control: the rig fails if files are written as they come, or not synchronised."""
    for module in ("io.archive", "induction.settings", "induction.directory"):
        monkeypatch.setattr(f"dbpcfg.{module}.atomic_write", careless)
    recorder = recorded(*SCENES["a new run"], tmp_path / "run")
    monkeypatch.undo()
    assert next(failures(recorder, start, wanted, tmp_path), None)


def test_a_change_that_is_not_watched_is_noticed(tmp_path):
    """Negative control: states between two calls are the same."""

    def unwatched(out: Path) -> None:
        out.mkdir()
        os.close(os.open(out / "file", os.O_CREAT | os.O_WRONLY))
        (out / "folder").mkdir()

    with pytest.raises(AssertionError, match="changed unseen before mkdir folder"):
        recorded(lambda out: None, unwatched, tmp_path / "run")
