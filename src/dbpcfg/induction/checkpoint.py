"""A chain as a file: written whole, read back to the bit."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.lowrank import STACKED, stacked, unstacked
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.weights import RuleWeights
from dbpcfg.induction.chain import OTHER, Chain, Sample
from dbpcfg.induction.criteria import Measures
from dbpcfg.induction.drawing import ELSEWHERE
from dbpcfg.induction.gibbs import State
from dbpcfg.induction.network_storage import (
    factor_arrays,
    loaded_grammar,
    loaded_network,
    network_arrays,
    network_types,
)
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.archive import ArchiveError, read_archive, write_archive
from dbpcfg.io.files import reading
from dbpcfg.parsing.mbr import SpanCounts

FORMAT, VERSION = "dbpcfg chain", 3
NO_SPANS = np.zeros(0, dtype=np.int32)
"""Counts of spans of a chain without a sample that counts."""

_GRAMMAR = ("root", "binary", "lexical")
_DTYPES: dict[str, Any] = {
    **dict.fromkeys(_GRAMMAR, np.float64),
    **{f"{sample}_{name}": np.float64 for sample in ("best", "last") for name in _GRAMMAR},
    **{f"{sample}_nodes": np.int32 for sample in ("best", "last")},
    **dict.fromkeys(STACKED, np.float64),
    **dict.fromkeys(Measures._fields, np.float64),
    "betas": np.float64,
    "spans": np.int32,
}
_COUNTS = {f"counts_{name}": np.float64 for name in _GRAMMAR}
"""What chains of EM and VB have besides."""


def save_chain(chain: Chain, corpus: Encoded, path: Path) -> None:
    """Write a checkpoint."""
    assert chain.best is not None
    assert chain.last is not None
    header = {
        "settings": chain.settings.recorded(),
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
        "best_nodes": chain.best.nodes,
        "last_nodes": chain.last.nodes,
    }
    grammars = {"": chain.state.grammar, "best_": chain.best.grammar, "last_": chain.last.grammar}
    if chain.state.network is not None:
        arrays |= network_arrays(chain.state.network)
        arrays |= factor_arrays("best_", chain.best.grammar)
        arrays |= factor_arrays("last_", chain.last.grammar)
    else:
        for prefix, grammar in grammars.items():
            arrays |= {prefix + name: getattr(grammar, name) for name in _GRAMMAR}
        arrays |= stacked(chain.grammars)
    if chain.state.statistics is not None:
        arrays |= {f"counts_{name}": getattr(chain.state.statistics, name) for name in _GRAMMAR}
    write_archive(path, FORMAT, VERSION, header, arrays)


def load_chain(path: Path, corpus: Encoded, settings: ChainSettings) -> Chain:
    """Read a checkpoint."""
    with reading(path):
        header, arrays = read_archive(path, FORMAT, VERSION, _types(settings))
        try:
            return _chain(header, arrays, corpus, settings)
        except DbpcfgError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ArchiveError(f"not a checkpoint of this run ({error})") from None


def _chain(
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    corpus: Encoded,
    settings: ChainSettings,
) -> Chain:
    def grammar(prefix: str) -> Grammar:
        if settings.learner == "neural":
            return loaded_grammar(arrays, prefix, corpus.vocabulary)
        found = {name: arrays[prefix + name] for name in _GRAMMAR}
        return Grammar(vocabulary=corpus.vocabulary, **found)

    def state() -> State:
        if settings.learner == "neural":
            return loaded_network(arrays, corpus, settings, iteration, float(header["beta"]))
        statistics = _statistics(arrays, settings)
        return State(iteration, grammar(""), float(header["beta"]), statistics=statistics)

    def sample(name: str) -> Sample:
        nodes = arrays[f"{name}_nodes"]
        decoded_later = not settings.samples and nodes.shape == ELSEWHERE.shape
        if not decoded_later and nodes.shape != (2 * len(corpus.tokens) - len(corpus), 3):
            raise ArchiveError("its trees are not those of the run's corpus")
        if not decoded_later and not _are_trees(nodes, corpus, settings.categories):
            raise ArchiveError("its trees are no trees of the run's sentences")
        number, log_likelihood = header[name]
        if not 1 <= _whole(number) <= iteration or not math.isfinite(log_likelihood):
            raise ArchiveError(f"its {name} sample cannot be: {header[name]!r:.80}")
        return Sample(number, float(log_likelihood), grammar(f"{name}_"), nodes)

    if header["settings"] != settings.recorded():
        raise ArchiveError("it is of a chain with other settings than the run's")
    if header["corpus"] != _fingerprint(corpus):
        raise ArchiveError("it is of a chain over another corpus than the run's")
    iteration, burn_in = _whole(header["iteration"]), header["burn_in"]
    if burn_in is not None and not 0 <= _whole(burn_in) <= iteration:
        raise ArchiveError(f"its burn-in cannot be: {burn_in!r:.80}")
    spans = SpanCounts(corpus, settings.categories)
    retained = burn_in not in (None, iteration)
    if arrays["spans"].shape != (spans.shape if retained else NO_SPANS.shape):
        raise ArchiveError("its counts are not those of the run's corpus and settings")
    traces = [arrays[name] for name in Measures._fields]
    if not all(trace.shape == (iteration,) for trace in (*traces, arrays["betas"])):
        raise ArchiveError(f"its trace is not one of {iteration} iterations")
    betas = np.append(arrays["betas"], float(header["beta"]))
    if not settings.aside:
        traces.pop()  # nothing is kept aside
    if not (np.isfinite(traces).all() and np.isfinite(betas).all() and (betas > 0).all()):
        raise ArchiveError("its trace has numbers that cannot be")
    if retained:
        spans.counts[:] = arrays["spans"]
    last = sample("last")
    if settings.learner == "neural":  # of which only the last grammar counts
        grammars = [last.grammar] if retained else []
    else:
        grammars = unstacked(arrays, corpus.vocabulary)
    return Chain(
        settings=settings,
        state=state(),
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


def _types(settings: ChainSettings) -> dict[str, Any]:
    """The arrays of a checkpoint and their types."""
    if settings.learner != "neural":
        return _DTYPES | ({} if settings.samples else _COUNTS)
    dense = {prefix + name for prefix in ("", "best_", "last_") for name in _GRAMMAR}
    others = {name: kind for name, kind in _DTYPES.items() if name not in dense | set(STACKED)}
    return others | network_types(settings)


def _statistics(arrays: dict[str, NDArray[Any]], settings: ChainSettings) -> RuleWeights | None:
    """The expected counts that EM and VB go on with."""
    if settings.samples:
        return None
    found = RuleWeights(*(arrays[f"counts_{name}"] for name in _GRAMMAR))
    shapes = [getattr(found, name).shape == arrays[name].shape for name in _GRAMMAR]
    if not all(shapes) or not all((getattr(found, name) >= 0).all() for name in _GRAMMAR):
        raise ArchiveError("its expected counts cannot be")
    return found


def _whole(number: Any) -> int:
    """A whole number from a header, or an error."""
    if type(number) is not int:
        raise ArchiveError(f"{number!r:.80} is not a whole number")
    return number


def _are_trees(nodes: NDArray[Any], corpus: Encoded, categories: int) -> bool:
    """Whether nodes are those of binary trees over the sentences, in pre-order."""
    begins, ends, labels = nodes.T
    sizes = 2 * corpus.lengths - 1
    after = np.repeat(np.cumsum(sizes), sizes)  # where each node's sentence ends
    roots = np.cumsum(sizes) - sizes
    if (labels < 0).any() or (labels >= categories).any() or (ends <= begins).any():
        return False
    if begins[roots].any() or (ends[roots] != corpus.lengths).any():
        return False
    phrases = np.flatnonzero(ends - begins > 1)
    left = phrases + 1
    if (left >= after[phrases]).any() or (begins[left] != begins[phrases]).any():
        return False
    right = phrases + 2 * (ends[left].astype(np.int64) - begins[phrases])
    return bool(
        (right < after[phrases]).all()
        and (begins[right] == ends[left]).all()
        and (ends[right] == ends[phrases]).all()
    )


def _fingerprint(corpus: Encoded) -> str:
    """A digest of the corpus: a checkpoint's numbers mean nothing for another one."""
    sha = hashlib.sha256(corpus.tokens.tobytes() + corpus.starts.tobytes())
    sha.update("\n".join(corpus.vocabulary.words).encode("utf-8", "surrogatepass"))
    return sha.hexdigest()
