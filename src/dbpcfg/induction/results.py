"""Files of a run that people and other commands read: traces, summary, model and trees."""

from __future__ import annotations

import contextlib
import filecmp
import math
import os
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from dbpcfg.induction.chain import Chain
from dbpcfg.induction.run import Run
from dbpcfg.induction.summary import ChainSummary
from dbpcfg.io.files import writing, written_whole
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
    for name in (*chains, *RESULTS, "gold.npz"):
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
    means = shared.sentences(run.best.settings.chain)
    rows = zip(lengths.tolist(), shared.spans.tolist(), means.tolist(), strict=True)
    for number, (words, spans, share) in enumerate(rows, start=1):
        yield f"{number}\t{words}\t{spans}\t{'' if math.isnan(share) else repr(share)}"


def _known(value: float | None) -> str:
    """A number as it is, nothing for none."""
    return "" if value is None else repr(value)
