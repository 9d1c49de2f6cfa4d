"""The directory of a run.

====================  =========================================================================
``config.toml``       everything needed to repeat it, versions and corpus digest included
``corpus.npz``        the sentences, as written and as prepared
``gold.npz``          gold spans, if scores are logged
``start.npz``         what chains begin with, if they start from another run
``chains/0/``         ``chain.npz``: the chain's whole state; ``trace.tsv``: its log-likelihoods
``chains.tsv``        the summary of each chain, and which one was selected
``model.npz``         the selected grammar, its words, its bound and how text is prepared for it
``samples.npz``       other grammars of the same chain after burn-in
``trees.txt``         one bracketed tree for each sentence, in order, in the words as written
``agreement.tsv``     for each sentence the share of its spans that two survivors have in common
``.results``          a digest of these five, and of the settings and chains that they are of
====================  =========================================================================

Each file is written whole, so a run can be killed at any moment and resumed. It begins with its
``config.toml``: until that is there, the files below it have names that begin with a dot.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dbpcfg.errors import DbpcfgError, LockedError, MissingFileError, UnfinishedRunError
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.chains import can_continue
from dbpcfg.induction.checkpoint import load_chain, save_chain
from dbpcfg.induction.corpus import (
    GoldSpans,
    RunCorpus,
    load_corpus,
    load_gold,
    save_corpus,
    save_gold,
)
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import rungs_of
from dbpcfg.induction.settings import (
    FORMAT,
    ChainSettings,
    Configuration,
    check_version,
    load_configuration,
    save_configuration,
)
from dbpcfg.induction.summary import ChainSummary
from dbpcfg.io.files import atomic_write, is_temporary, read_errors, write_errors
from dbpcfg.io.progress import Progress
from dbpcfg.io.tables import plural
from dbpcfg.model.files import MODEL, SAMPLES, load, save_model, save_samples

if TYPE_CHECKING:
    from dbpcfg.induction.start import Start

START_FILE = "start.npz"
RESULTS = ("chains.tsv", SAMPLES, MODEL, "trees.txt", "agreement.tsv")
"""The files that `write_results` writes."""
STAMP = ".results"
"""The file that it writes last."""


def write_results(run: Run, path: Path) -> None:
    """Write the results of a finished run: chains, model, trees, and how far chains share them."""
    with write_errors(path):
        _write(_summary_lines(run.summaries()), path / "chains.tsv")
        save_samples(run.best.grammars, path / SAMPLES)
        save_model(run.model, path / MODEL)
        _write(run.bracketed_trees(), path / "trees.txt")
        _write(_agreement_lines(run), path / "agreement.tsv")
        _write([_digest(path)], path / STAMP)


def results_are_there(path: Path) -> bool:
    """Whether the results of a finished run are as `write_results` wrote them for these chains."""
    try:
        return (path / STAMP).read_text("ascii").strip() == _digest(path)
    except (OSError, UnicodeDecodeError):
        return False


def _digest(path: Path) -> str:
    """A digest of the results of a run, and of the settings and chains that they are made of."""
    digest, chains = hashlib.sha256(), sorted(path.glob("chains/*/chain.npz"))
    for file in (path / "config.toml", *chains, *(path / name for name in RESULTS)):
        with open(file, "rb") as content:
            name = file.relative_to(path).as_posix()
            digest.update(f"{name} {hashlib.file_digest(content, 'sha256').hexdigest()}".encode())
    return f"sha256:{digest.hexdigest()}"


def write_trace(chain: Chain, tokens: int, path: Path) -> None:
    """Write a table that a person can plot: one row per iteration."""
    _write(_trace_lines(chain, tokens), path)


def remove_results(path: Path) -> None:
    """Remove what an earlier run wrote and nothing else: states first, or they would be resumed."""
    chains = ("chains/*/chain.npz", "chains/*/trace.tsv")
    for name in (*chains, STAMP, *RESULTS, "gold.npz", START_FILE):
        for old in path.glob(name):
            old.unlink()
    for folder in path.glob("chains/*"):
        with contextlib.suppress(OSError):  # not empty: someone else's
            folder.rmdir()


def run_times(path: Path) -> tuple[str, str, float] | None:
    """When a run began and ended, by the dates of its files, and the seconds between.

    None where the dates cannot be those of the run, as after copying without them.
    """
    try:
        began = (path / "config.toml").stat().st_mtime
        ended = (path / "chains.tsv").stat().st_mtime
    except OSError:
        return None
    if ended <= began:
        return None
    names = [datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%d %H:%M UTC") for t in (began, ended)]
    return names[0], names[1], ended - began


def _write(lines: Iterable[str], path: Path) -> None:
    with atomic_write(path) as file:
        for line in lines:
            file.write(f"{line}{os.linesep}".encode())


def _trace_lines(chain: Chain, tokens: int) -> Iterator[str]:
    names = "iteration\tlog_likelihood\tper_token\tbeta"
    names += "".join(f"\t{name}" for name in chain.measures) + "\tretained"
    yield names + "\tf1_not_used_for_selection" * bool(chain.scores)
    for n, (log, beta) in enumerate(zip(chain.logs, chain.betas, strict=True)):
        retained = int(chain.burn_in is not None and n >= chain.burn_in)
        measured = [values[n] for values in chain.measures.values()]
        yield (
            f"{n + 1}\t{log!r}\t{log / tokens!r}\t{beta!r}"
            + "".join(f"\t{'' if math.isnan(value) else repr(value)}" for value in measured)
            + f"\t{retained}"
            + f"\t{chain.scores.get(n + 1, '')}" * bool(chain.scores)
        )


def _summary_lines(summaries: Iterable[ChainSummary]) -> Iterator[str]:
    names = [one.name for one in fields(ChainSummary) if one.name not in ("per_token", "last_f1")]
    yield "\t".join(names)
    for one in summaries:
        values = (getattr(one, name) for name in names)
        yield "\t".join(
            "" if value is None else repr(int(value) if isinstance(value, bool) else value)
            for value in values
        )


def _agreement_lines(run: Run) -> Iterator[str]:
    """For each sentence the share of its spans that two survivors have in common, on average."""
    yield "sentence\twords\tspans\tagreement"
    shared, lengths = run.shared, run.corpus.forms.lengths
    means = shared.sentences()
    rows = zip(lengths.tolist(), shared.spans.tolist(), means.tolist(), strict=True)
    for number, (words, spans, mean) in enumerate(rows, start=1):
        yield f"{number}\t{words}\t{spans}\t{'' if math.isnan(mean) else repr(mean)}"


class RunDirectory:
    """The directory of a run; a ``ChainStore``.

    ``create`` and ``open`` keep other processes from running the same run at the same time.
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
        self._inode = _inode_of(path)

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
        """Make a new run."""
        check_free(path, overwrite)
        with write_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        with locked(path):
            with write_errors(path):
                remove_results(path)
                save_corpus(corpus, path / _pending("corpus.npz"))
                if gold is not None:
                    save_gold(gold, path / _pending("gold.npz"))
                if configuration.model.start is not None:
                    from dbpcfg.induction.start import save_start

                    save_start(configuration.model.start, path / _pending(START_FILE))
                # From here on the directory is known for a run, which can be resumed.
                save_configuration(configuration, path / "config.toml")
                _rename_pending(path)
            yield cls(path, configuration, corpus, gold)

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[RunDirectory]:
        """Open a run to resume it."""
        # Nothing is written where there is no run, or one of a later version.
        configuration = read_configuration(path)
        with read_errors(path / "config.toml"):
            check_version(configuration)
        with locked(path):
            with write_errors(path):
                _complete_start(path, configuration)
            directory = cls._read(path)
            if directory.configuration.gold:
                directory.gold = load_gold(path / "gold.npz", directory.corpus.forms.starts)
            yield directory

    @classmethod
    def _read(cls, path: Path) -> RunDirectory:
        """The configuration and the sentences of a run, whoever holds its lock."""
        configuration = read_configuration(path)
        corpus = load_corpus(path / "corpus.npz")
        if configuration.corpus.get("digest") != corpus.digest():
            raise DbpcfgError(f"{path / 'corpus.npz'} is not the text that the run began with")
        if configuration.start:
            model = replace(configuration.model, start=read_start(path, configuration))
            configuration = replace(configuration, model=model)
        return cls(path, configuration, corpus)

    def extend(self, iterations: int | None, budget: int | None) -> list[int]:
        """Make the run one of more iterations.

        ``iterations``: the new length of each chain, of which the second half counts.
        ``budget``: the new budget of a race; more chains start unless their number was given.
        Returns the chains that begin again, because samples that would count were not kept.
        """
        old = self.configuration
        if (old.budget is None) != (budget is None):
            raise DbpcfgError(
                f"{self.path} is a race with a budget of {old.budget:,} iterations: it is made "
                "longer with --budget (in Python budget=), not --iterations"
                if old.budget is not None
                else f"{self.path} is not a race: it is made longer with --iterations, not --budget"
            )
        if budget is not None and old.budget is not None:
            if budget < old.budget:
                raise DbpcfgError(
                    f"{self.path} has a budget of {old.budget:,} iterations: {budget:,} would be "
                    "less; a race can be extended, not shortened"
                )
            default = old.chains == rungs_of(old.budget)[0].chains
            rungs = rungs_of(budget, None if default else old.chains)
            old, iterations = replace(old, budget=budget), rungs[-1].iterations
            old = replace(old, chains=rungs[0].chains)
        assert iterations is not None
        new = replace(old, schedule=replace(old.schedule, iterations=iterations))
        again = []
        for number in range(old.chains):
            chain = self.load(old.chain(number))
            if chain is not None and budget is None and chain.iteration > iterations:
                raise DbpcfgError(
                    f"chain {number} of {self.path} has done {chain.iteration:,} iterations: "
                    f"{iterations:,} would be fewer; a run can be extended, not shortened"
                )
            if chain is not None and not can_continue(chain, new.schedule):
                again.append(number)
        if new != self.configuration:
            with write_errors(self.path):
                save_configuration(new, self.path / "config.toml")
        self.configuration = new
        return again

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain with these settings as it was last saved; None if it never was."""
        path = self._chain(settings) / "chain.npz"
        return load_chain(path, self.corpus.learned, settings) if path.exists() else None

    def save(self, chain: Chain) -> None:
        """Write the chain's trace and its state."""
        folder = self._chain(chain.settings)
        self.check_not_moved()
        with write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # The state last: a chain whose state says that it is finished has its whole trace.
            write_trace(chain, len(self.corpus.learned.tokens), folder / "trace.tsv")
            save_chain(chain, self.corpus.learned, folder / "chain.npz")

    def check_not_moved(self) -> None:
        """Raise an error if the directory was moved or removed: it must not be made again."""
        if self._inode is not None and _inode_of(self.path) != self._inode:
            raise DbpcfgError(
                f"{self.path} has been removed or moved while the run was running; if it was "
                "moved, resume it with `dbpcfg resume` where it is now"
            )

    def _chain(self, settings: ChainSettings) -> Path:
        return self.path / "chains" / str(settings.chain)


def check_free(path: Path, overwrite: bool = False) -> None:
    """Check that a directory is free for a new run.

    ``path``: the directory; it need not exist.
    """
    with write_errors(path):
        if path.exists() and not path.is_dir():
            raise DbpcfgError(f"{path} is a file; --out needs a directory: choose another name")
        if path.exists() and any(path.glob("[!.]*")):
            if not overwrite:
                raise DbpcfgError(
                    f"{path} exists and is not empty; resume it with `dbpcfg resume {path}`, "
                    "choose another --out, or replace it with --overwrite"
                )
            if not _is_run(path):
                raise DbpcfgError(f"{path} is not a run, so --overwrite does not touch it")


def read_configuration(path: Path) -> Configuration:
    """Read the settings of a run."""
    with read_errors(path):
        is_folder, exists = path.is_dir(), path.exists()
        config = is_folder and (path / "config.toml").exists()
        inside = sorted(path.glob("*/config.toml")) if is_folder and not config else []
    if not is_folder:
        kind, what = (DbpcfgError, "is a file") if exists else (MissingFileError, "does not exist")
        raise kind(f"{path} {what}; give the directory that `dbpcfg induce --out` wrote")
    if not config:
        hint = f"perhaps {inside[0].parent}" if inside else "give one that `dbpcfg induce` wrote"
        raise DbpcfgError(f"{path} is not a run: there is no config.toml in it; {hint}")
    return load_configuration(path / "config.toml")


def read_start(path: Path, configuration: Configuration) -> Start:
    """What the chains of a run begin with."""
    from dbpcfg.induction.start import load_start

    names, digest = configuration.model.learner.START, configuration.start.get("digest", "")
    return load_start(path / START_FILE, names, digest)


def finished_run(path: Path, quiet: bool = True) -> Run:
    """Read all of a finished run, without keeping other processes out of its directory."""
    directory = RunDirectory._read(path)
    configuration = directory.configuration
    chains: list[Chain] = []
    with Progress("reading chains", configuration.chains, quiet) as progress:
        for number in range(configuration.chains):
            chain = directory.load(configuration.chain(number))
            if chain is None:
                raise _unfinished(path, configuration, number, 0)
            chains.append(chain)
            progress.update(number + 1)
    run = Run(configuration, directory.corpus, chains)
    for chain in run.survivors:
        if not chain.finished(configuration.schedule):
            raise _unfinished(path, configuration, chain.settings.chain, chain.iteration)
    if results_are_there(path):  # no need to compute the trees of all chains to know these
        vars(run).update(best=_selected(path, chains), model=load(path, samples=True))
    return run


def _selected(path: Path, chains: list[Chain]) -> Chain:
    """The chain that is selected by ``chains.tsv``."""
    with open(path / "chains.tsv", encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return next(chain for chain, row in zip(chains, rows, strict=True) if row["selected"] == "1")


def _unfinished(
    path: Path, configuration: Configuration, number: int, done: int
) -> UnfinishedRunError:
    return UnfinishedRunError(
        f"{path} is not finished: chain {number} of {configuration.chains} has done "
        f"{plural(done, 'iteration')}; resume it with `dbpcfg resume {path}`"
    )


def _inode_of(path: Path) -> tuple[int, int] | None:
    """What stays the same as long as a directory does."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _pending(name: str) -> str:
    """The name of a file until ``config.toml`` is there."""
    return f".{name}"


def _rename_pending(path: Path) -> None:
    """Give pending files their names; the corpus last."""
    for name in ("gold.npz", START_FILE, "corpus.npz"):
        if (path / _pending(name)).exists():
            os.replace(path / _pending(name), path / name)


def _complete_start(path: Path, configuration: Configuration) -> None:
    """Rename pending files if the run was killed before it could; delete those of no run."""
    waiting = path / _pending("corpus.npz")
    if waiting.exists() and load_corpus(waiting).digest() == configuration.corpus.get("digest"):
        _rename_pending(path)
    for name in ("corpus.npz", "gold.npz", START_FILE):
        (path / _pending(name)).unlink(missing_ok=True)


def _is_run(path: Path) -> bool:
    """Whether a directory is one of ours, of whatever version."""
    try:
        return f'"{FORMAT}"'.encode() in (path / "config.toml").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from running the same run at the same time."""
    try:
        import fcntl
    except ImportError:  # not on this system: do without
        yield
        return
    with contextlib.ExitStack() as stack:
        with write_errors(path):
            file = stack.enter_context(open(path / ".lock", "a"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockedError(f"{path} is being run by another process") from None
        except OSError:  # not on this file system: do without
            yield
            return
        with write_errors(path):  # what processes have left that were killed while they wrote
            for left in [*path.glob(".*"), *path.glob("chains/*/.*")]:
                if is_temporary(left.name):
                    left.unlink()
        yield
