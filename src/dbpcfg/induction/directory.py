"""The directory of a run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.atomic import is_temporary, written_whole
from dbpcfg.files.faults import writing
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.checkpoint import load_chain, save_chain
from dbpcfg.induction.configuration import (
    FORMAT,
    Configuration,
    load_configuration,
    save_configuration,
)
from dbpcfg.induction.corpus import RunCorpus, load_corpus, save_corpus
from dbpcfg.induction.gold import GoldSpans, load_gold, save_gold
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.model.files import MODEL, SAMPLES, save_model, save_samples


class RunDirectory:
    """The directory of a run: where its chains are remembered (a ``Store``).

    To be had from ``create`` or ``open``, which keep other processes out of it meanwhile.
    """

    def __init__(
        self,
        path: Path,
        configuration: Configuration,
        corpus: RunCorpus,
        gold: GoldSpans | None = None,
    ) -> None:
        self.path = path
        self.configuration = configuration
        self.corpus = corpus
        self.gold = gold

    @classmethod
    @contextlib.contextmanager
    def create(
        cls,
        path: Path,
        configuration: Configuration,
        corpus: RunCorpus,
        gold: GoldSpans | None = None,
        overwrite: bool = False,
    ) -> Iterator[RunDirectory]:
        """Make a new one; an existing one is refused, or what came of it is removed."""
        with writing(path):
            if path.exists() and (not path.is_dir() or any(path.glob("[!.]*"))):
                if not overwrite:
                    raise DbpcfgError(
                        f"{path} exists and is not empty; go on with it by `dbpcfg resume {path}`, "
                        "choose another --out, or replace it with --overwrite"
                    )
                if not _is_run(path):
                    raise DbpcfgError(f"{path} is no run, so --overwrite does not touch it")
            path.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            with writing(path):
                _remove_results(path)
                # First, so that from here on the directory is known for a run.
                save_configuration(configuration, path / "config.toml")
                save_corpus(corpus, path / "corpus.npz")
                if gold is not None:
                    save_gold(gold, path / "gold.npz")
            yield cls(path, configuration, corpus, gold)

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[RunDirectory]:
        """Find a run again, and check that its sentences are those it began with."""
        load_configuration(path / "config.toml")  # nothing is written where there is no run
        with _locked(path):
            configuration = load_configuration(path / "config.toml")
            corpus = load_corpus(path / "corpus.npz")
            if configuration.corpus.get("digest") != corpus.digest():
                raise DbpcfgError(f"{path / 'corpus.npz'} is not the text that the run began with")
            gold = None
            if configuration.gold:
                gold = load_gold(path / "gold.npz", corpus.forms.starts)
            yield cls(path, configuration, corpus, gold)

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain as it was last saved, if it was."""
        path = self._chain(settings) / "chain.npz"
        return load_chain(path, self.corpus.forms, settings) if path.exists() else None

    def save(self, chain: Chain) -> None:
        """Write the chain's trace and its state."""
        folder = self._chain(chain.settings)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # The state last: a chain whose state says that it is finished has its whole trace.
            _write(folder / "trace.tsv", _trace(chain, len(self.corpus.forms.tokens)))
            save_chain(chain, self.corpus.forms, folder / "chain.npz")

    def conclude(self, chains: list[Chain]) -> Run:
        """Write what the chains came to."""
        run = Run(self.configuration, self.corpus, chains)
        with writing(self.path):
            _write(self.path / "chains.tsv", _chains(run))
            save_samples(run.best.grammars, self.path / SAMPLES)
            save_model(run.model, self.path / MODEL)
            _write(self.path / "trees.txt", (str(tree) for tree in run.trees()))
        return run

    def _chain(self, settings: ChainSettings) -> Path:
        return self.path / "chains" / str(settings.chain)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from running the same run at the same time."""
    try:
        import fcntl
    except ImportError:  # not on this system: do without
        yield
        return
    with contextlib.ExitStack() as stack:
        with writing(path):
            file = stack.enter_context(open(path / ".lock", "w"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DbpcfgError(f"{path} is being run by another process") from None
        except OSError:  # not on this file system: do without
            yield
            return
        with writing(path):  # what processes have left that were killed while they wrote
            for left in [*path.glob(".*"), *path.glob("chains/*/.*")]:
                if is_temporary(left.name):
                    left.unlink()
        yield


def _is_run(path: Path) -> bool:
    """Whether a directory is one of ours, of whatever version."""
    try:
        return f'"{FORMAT}"'.encode() in (path / "config.toml").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False


def _remove_results(path: Path) -> None:
    """Remove what an earlier run wrote and nothing else: states first, or they would be resumed."""
    chains = ("chains/*/chain.npz", "chains/*/trace.tsv")
    for name in (*chains, "chains.tsv", MODEL, SAMPLES, "trees.txt", "gold.npz"):
        for old in path.glob(name):
            old.unlink()
    for folder in path.glob("chains/*"):
        with contextlib.suppress(OSError):  # not empty: someone else's
            folder.rmdir()


def _write(path: Path, lines: Iterator[str]) -> None:
    with written_whole(path) as file:
        for line in lines:
            file.write(f"{line}{os.linesep}".encode())


def _trace(chain: Chain, tokens: int) -> Iterator[str]:
    """A table that a person can plot: one row an iteration."""
    names = "iteration\tlog_likelihood\tper_token\tbeta\tdepth\ttemperature\tretained"
    yield names + "\tf1_not_used_for_selection" * bool(chain.scores)
    settings = chain.settings
    for n, (log, beta) in enumerate(zip(chain.logs, chain.betas, strict=True)):
        depth = settings.depth_at(n)
        retained = int(chain.burn_in is not None and n >= chain.burn_in)
        yield (
            f"{n + 1}\t{log!r}\t{log / tokens!r}\t{beta!r}\t{'inf' if depth is None else depth}\t"
            f"{settings.temperature_at(n)!r}\t{retained}"
            + f"\t{chain.scores.get(n + 1, '')}"
            * bool(chain.scores)
        )


def _chains(run: Run) -> Iterator[str]:
    """A table with one row per chain."""
    yield "chain\titerations\tburn_in\tmean_log_likelihood\tsd\tbest_log_likelihood\tselected"
    for one in run.summaries():
        yield (
            f"{one.chain}\t{one.iterations}\t{one.burn_in}\t{one.mean_log_likelihood!r}\t"
            f"{one.sd!r}\t{one.best_log_likelihood!r}\t{int(one.selected)}"
        )
