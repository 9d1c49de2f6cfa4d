"""A finished run, read without keeping anyone out of its directory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.configuration import load_configuration
from dbpcfg.induction.corpus import load_corpus
from dbpcfg.induction.directory import RunDirectory
from dbpcfg.induction.run import Run
from dbpcfg.runtime.progress import Progress


def finished_run(path: Path, quiet: bool = True) -> Run:
    """All of a run; an unfinished one is refused, and so is a directory that is none."""
    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise DbpcfgError(f"{path} {what}; give the directory that `dbpcfg induce --out` wrote")
    configuration = load_configuration(path / "config.toml")
    corpus = load_corpus(path / "corpus.npz")
    if configuration.corpus.get("digest") != corpus.digest():
        raise DbpcfgError(f"{path / 'corpus.npz'} is not the text that the run began with")
    directory = RunDirectory(path, configuration, corpus)  # not `open`, which takes the lock
    chains: list[Chain] = []
    with Progress("reading chains", configuration.chains, quiet) as progress:
        for number in range(configuration.chains):
            chain = directory.load(configuration.chain(number))
            if chain is None or not chain.finished(configuration.schedule):
                done = 0 if chain is None else chain.iteration
                raise DbpcfgError(
                    f"{path} is not finished: chain {number} of {configuration.chains} has done "
                    f"{done:,} iterations; go on with `dbpcfg resume {path}`"
                )
            chains.append(chain)
            progress.update(number + 1)
    return Run(configuration, corpus, chains)


def times(path: Path) -> tuple[str, str, float] | None:
    """When a run began and ended, by the dates of its files, and the seconds between.

    None where the dates cannot be those of the run, as after copying without them.
    """
    try:
        begun = (path / "config.toml").stat().st_mtime
        ended = (path / "chains.tsv").stat().st_mtime
    except OSError:
        return None
    if ended <= begun:
        return None
    names = [datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%d %H:%M UTC") for t in (begun, ended)]
    return names[0], names[1], ended - begun
