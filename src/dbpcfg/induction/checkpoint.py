"""A chain as a file: written whole, read back to the bit."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.lowrank import stack_grammars, unstack_grammars
from dbpcfg.induction.chain import OTHER, Chain, Sample, no_spans
from dbpcfg.induction.criteria import Measures, plausible
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.archive import ArchiveError, read_archive, write_archive
from dbpcfg.io.files import read_errors

FORMAT, VERSION = "dbpcfg chain", 5
NO_SPANS = np.zeros(0, dtype=np.int32)
"""Counts of spans of a chain without a sample that counts."""


def save_chain(chain: Chain, corpus: Encoded, path: Path) -> None:
    """Write a checkpoint of a chain that has done at least one iteration."""
    assert chain.best is not None
    assert chain.last is not None
    header = {
        "settings": _recorded(chain.settings),
        "corpus": _fingerprint(corpus),
        "iteration": chain.iteration,
        "beta": chain.state.beta,
        "burn_in": chain.burn_in,
        "best": [chain.best.iteration, chain.best.log_likelihood],
        "last": [chain.last.iteration, chain.last.log_likelihood],
        "scores": [[iteration, score] for iteration, score in chain.scores.items()],
    }
    arrays: dict[str, NDArray[Any]] = {
        "likelihood": np.array(chain.logs),
        **{name: np.array(values) for name, values in chain.measures.items()},
        "betas": np.array(chain.betas),
        "spans": chain.spans.counts if chain.retained else NO_SPANS,
        **chain.settings.learner.arrays(chain.state),
        **(stack_grammars(chain.grammars) if chain.settings.learner.samples else {}),
    }
    for name, sample in (("best", chain.best), ("last", chain.last)):
        arrays |= {f"{name}_{array}": values for array, values in sample.grammar.arrays().items()}
    write_archive(path, FORMAT, VERSION, header, arrays)


def load_chain(path: Path, corpus: Encoded, settings: ChainSettings) -> Chain:
    """Read a checkpoint of a chain with these settings over this corpus."""
    with read_errors(path):
        header, arrays = read_archive(path, FORMAT, {VERSION: _types(settings)})
        try:
            return _chain(header, arrays, corpus, settings)
        except DbpcfgError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ArchiveError(f"not a checkpoint of this run ({error})") from None


def _types(settings: ChainSettings) -> dict[str, Any]:
    """The arrays of a checkpoint and their types."""
    learner, names = settings.learner, settings.learner.grammar_kind.ARRAYS
    kept = ("best_", "last_", "grammars_") if learner.samples else ("best_", "last_")
    return {
        **{prefix + name: np.float64 for prefix in kept for name in names},
        **dict.fromkeys((*Measures._fields, "betas"), np.float64),
        "spans": np.int32,
        **learner.types(settings),
    }


def _chain(
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    corpus: Encoded,
    settings: ChainSettings,
) -> Chain:
    learner = settings.learner

    def sample(name: str) -> Sample:
        number, log_likelihood = header[name]
        if not 1 <= _whole(number) <= iteration or not plausible(log_likelihood):
            raise ArchiveError(f"its {name} sample is impossible: {header[name]!r:.80}")
        kind = learner.grammar_kind
        grammar_arrays = {array: arrays[f"{name}_{array}"] for array in kind.ARRAYS}
        grammar = kind.from_arrays(grammar_arrays, corpus.vocabulary)
        return Sample(number, float(log_likelihood), grammar)

    if header["settings"] != _recorded(settings):
        raise ArchiveError("it is of a chain with other settings than the run's")
    if header["corpus"] != _fingerprint(corpus):
        raise ArchiveError("it is of a chain over another corpus than the run's")
    iteration, burn_in = _whole(header["iteration"]), header["burn_in"]
    if burn_in is not None and not 0 <= _whole(burn_in) <= iteration:
        raise ArchiveError(f"its burn-in is impossible: {burn_in!r:.80}")
    spans = no_spans(corpus, settings)
    retained = burn_in not in (None, iteration)
    counted = spans.shape if retained else NO_SPANS.shape
    if learner.samples and arrays["spans"].shape != counted:
        raise ArchiveError("its counts are not those of the run's corpus and settings")
    for name in (*Measures._fields, "betas"):
        if arrays[name].shape != (iteration,):
            raise ArchiveError(f"{name} is not the trace of {iteration} iterations")
    for name in Measures._fields if settings.held_out else Measures._fields[:-1]:
        if not plausible(arrays[name]):
            raise ArchiveError(f"{name} has impossible values")
    betas = np.append(arrays["betas"], float(header["beta"]))
    if not (np.isfinite(betas).all() and (betas > 0).all()):
        raise ArchiveError("betas has impossible values, or its beta is none")
    if retained and spans.kept:
        spans.counts[:] = arrays["spans"]
    last = sample("last")
    if learner.samples:
        grammars = unstack_grammars(
            {name: array for name, array in arrays.items() if name.startswith("grammars_")},
            corpus.vocabulary,
        )
    else:  # only the last one counts
        grammars = [last.grammar] if retained else []
    return Chain(
        settings=settings,
        state=learner.restored(arrays, corpus, settings, iteration, float(header["beta"])),
        spans=spans,
        logs=arrays["likelihood"].tolist(),
        measures={name: arrays[name].tolist() for name in OTHER},
        betas=arrays["betas"].tolist(),
        burn_in=burn_in,
        best=sample("best"),
        last=last,
        grammars=grammars,
        scores={int(iteration): float(score) for iteration, score in header["scores"]},
    )


def _recorded(settings: ChainSettings) -> dict[str, Any]:
    start = {} if settings.start is None else {"start": settings.start.digest}
    return {**settings.table(), "chain": settings.chain, **start}


def _whole(number: Any) -> int:
    """A whole number from a header, or an error."""
    if type(number) is not int:
        raise ArchiveError(f"{number!r:.80} is not a whole number")
    return number


def _fingerprint(corpus: Encoded) -> str:
    """A digest of the corpus: a checkpoint's numbers mean nothing for another one."""
    sha = hashlib.sha256(corpus.tokens.tobytes() + corpus.starts.tobytes())
    sha.update("\n".join(corpus.vocabulary.words).encode("utf-8", "surrogatepass"))
    if corpus.brackets is not None:
        sha.update(corpus.brackets.tobytes())
    return sha.hexdigest()
