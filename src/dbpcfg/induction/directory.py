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
``agreement.tsv``     for each sentence the share of its spans that the other survivors have
====================  =========================================================================

Each file is written whole, so a run can be killed at any moment and resumed. It begins with its
``config.toml``: until that is there, the files below it have names that begin with a dot.
"""

from __future__ import annotations

import contextlib
import filecmp
import math
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dbpcfg.errors import DbpcfgError, UnfinishedRunError
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
from dbpcfg.induction.start import FILE as START
from dbpcfg.induction.start import Start, load_start, save_start
from dbpcfg.induction.summary import ChainSummary
from dbpcfg.io.files import is_temporary, reading, writing, written_whole
from dbpcfg.io.progress import Progress
from dbpcfg.model.files import MODEL, SAMPLES, save_model, save_samples

RESULTS = ("chains.tsv", SAMPLES, MODEL, "trees.txt", "agreement.tsv")
"""The files that `write_results` writes."""


def write_results(run: Run, path: Path) -> None:
    """Write the results of a finished run: chains, model, trees, and how far chains share them."""
    with writing(path):
        _write(_summary_lines(run.summaries()), path / "chains.tsv")
        save_samples(run.best.grammars, path / SAMPLES)
        save_model(run.model, path / MODEL)
        _write(map(str, run.trees()), path / "trees.txt")
        _write(_agreement_lines(run), path / "agreement.tsv")


def results_are_there(run: Run, path: Path) -> bool:
    """Whether the files of a finished run are what `write_results` would write."""
    if not all((path / name).is_file() for name in RESULTS):
        return False
    with tempfile.TemporaryDirectory() as folder:
        write_results(run, Path(folder))
        return all(filecmp.cmp(path / name, Path(folder, name), shallow=False) for name in RESULTS)


def write_trace(chain: Chain, tokens: int, path: Path) -> None:
    """Write a table that a person can plot: one row per iteration."""
    _write(_trace_lines(chain, tokens), path)


def remove_results(path: Path) -> None:
    """Remove what an earlier run wrote and nothing else: states first, or they would be resumed."""
    chains = ("chains/*/chain.npz", "chains/*/trace.tsv")
    for name in (*chains, *RESULTS, "gold.npz", START):
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
        begun = (path / "config.toml").stat().st_mtime
        ended = (path / "chains.tsv").stat().st_mtime
    except OSError:
        return None
    if ended <= begun:
        return None
    names = [datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%d %H:%M UTC") for t in (begun, ended)]
    return names[0], names[1], ended - begun


def _write(lines: Iterable[str], path: Path) -> None:
    with written_whole(path) as file:
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
    yield (
        "chain\titerations\tburn_in\tmean_log_likelihood\tsd\tbest_log_likelihood\tposterior\t"
        "variance\theldout\tagreement\tsurvived\tselected"
    )
    for one in summaries:
        yield (
            f"{one.chain}\t{one.iterations}\t{_known(one.burn_in)}\t{one.mean_log_likelihood!r}\t"
            f"{one.sd!r}\t{one.best_log_likelihood!r}\t{one.posterior!r}\t{one.variance!r}\t"
            f"{_known(one.heldout)}\t{_known(one.agreement)}\t{int(one.survived)}\t{int(one.selected)}"
        )


def _agreement_lines(run: Run) -> Iterator[str]:
    """For each sentence the mean share of its spans that the other survivors have."""
    yield "sentence\twords\tspans\tshared"
    shared, lengths = run.shared, run.corpus.forms.lengths
    means = shared.sentences(run.answer, run.others)
    rows = zip(lengths.tolist(), shared.spans.tolist(), means.tolist(), strict=True)
    for number, (words, spans, share) in enumerate(rows, start=1):
        yield f"{number}\t{words}\t{spans}\t{'' if math.isnan(share) else repr(share)}"


def _known(value: float | None) -> str:
    """A number as it is, nothing for none."""
    return "" if value is None else repr(value)


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
        self._place = _identity(path)

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
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
        with locked(path):
            with writing(path):
                remove_results(path)
                save_corpus(corpus, path / _pending("corpus.npz"))
                if gold is not None:
                    save_gold(gold, path / _pending("gold.npz"))
                if configuration.model.start is not None:
                    save_start(configuration.model.start, path / _pending(START))
                # From here on the directory is known for a run, which can be resumed.
                save_configuration(configuration, path / "config.toml")
                _put_in_place(path)
            yield cls(path, configuration, corpus, gold)

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[RunDirectory]:
        """Open a run to resume it."""
        # Nothing is written where there is no run, or one of a later version.
        configuration = read_configuration(path)
        with reading(path / "config.toml"):
            check_version(configuration)
        with locked(path):
            with writing(path):
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
            usual = old.chains == rungs_of(old.budget)[0].chains
            rungs = rungs_of(budget, None if usual else old.chains)
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
            with writing(self.path):
                save_configuration(new, self.path / "config.toml")
        self.configuration = new
        return again

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain with these settings as it was last saved; None if it never was."""
        path = self._chain(settings) / "chain.npz"
        return load_chain(path, self.corpus.forms, settings) if path.exists() else None

    def save(self, chain: Chain) -> None:
        """Write the chain's trace and its state."""
        folder = self._chain(chain.settings)
        self.check_place()
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            # The state last: a chain whose state says that it is finished has its whole trace.
            write_trace(chain, len(self.corpus.forms.tokens), folder / "trace.tsv")
            save_chain(chain, self.corpus.forms, folder / "chain.npz")

    def check_place(self) -> None:
        """Raise an error if the directory is no longer where it was: it must not be made anew."""
        if self._place is not None and _identity(self.path) != self._place:
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
    with writing(path):
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
    with reading(path):
        is_folder, exists = path.is_dir(), path.exists()
        config = is_folder and (path / "config.toml").exists()
        inside = sorted(path.glob("*/config.toml")) if is_folder and not config else []
    if not is_folder:
        what = "is a file" if exists else "does not exist"
        raise DbpcfgError(f"{path} {what}; give the directory that `dbpcfg induce --out` wrote")
    if not config:
        hint = f"perhaps {inside[0].parent}" if inside else "give one that `dbpcfg induce` wrote"
        raise DbpcfgError(f"{path} is not a run: there is no config.toml in it; {hint}")
    return load_configuration(path / "config.toml")


def read_start(path: Path, configuration: Configuration) -> Start:
    """What the chains of a run begin with."""
    names, digest = configuration.model.learner.START, configuration.start.get("digest", "")
    return load_start(path / START, names, digest)


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
    return run


def _unfinished(
    path: Path, configuration: Configuration, number: int, done: int
) -> UnfinishedRunError:
    return UnfinishedRunError(
        f"{path} is not finished: chain {number} of {configuration.chains} has done "
        f"{done:,} iterations; resume it with `dbpcfg resume {path}`"
    )


def _identity(path: Path) -> tuple[int, int] | None:
    """What stays the same as long as a directory does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _pending(name: str) -> str:
    """The name of a file before the run has begun."""
    return f".{name}"


def _put_in_place(path: Path) -> None:
    """Give the files of a run that has begun their names; the corpus last."""
    for name in ("gold.npz", START, "corpus.npz"):
        if (path / _pending(name)).exists():
            os.replace(path / _pending(name), path / name)


def _complete_start(path: Path, configuration: Configuration) -> None:
    """Put files in place if the run was killed just after it had begun; drop those of no run."""
    waiting = path / _pending("corpus.npz")
    if waiting.exists() and load_corpus(waiting).digest() == configuration.corpus.get("digest"):
        _put_in_place(path)
    for name in ("corpus.npz", "gold.npz", START):
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
        with writing(path):
            file = stack.enter_context(open(path / ".lock", "a"))
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
