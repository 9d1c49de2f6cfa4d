"""The network of a chain as arrays of its checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.lowrank import Factors, LowRankGrammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.criteria import Measures
from dbpcfg.induction.gibbs import State
from dbpcfg.induction.network_state import NetworkState
from dbpcfg.induction.neural import grammar_of, number_type, shape_of
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.archive import ArchiveError

_VECTORS = ("parameters", "first", "second", "answer")


def network_types(settings: ChainSettings) -> dict[str, Any]:
    """The types of the arrays."""
    vectors = {f"network_{name}": number_type(settings) for name in _VECTORS}
    samples = {p + name: np.float64 for p in ("best_", "last_") for name in Factors._fields}
    return {**vectors, **samples, "network_steps": np.int64, "network_measures": np.float64}


def network_arrays(network: NetworkState) -> dict[str, NDArray[Any]]:
    """The arrays of a network that has done at least one pass."""
    return {
        **{f"network_{name}": getattr(network, name) for name in _VECTORS},
        "network_steps": np.array([network.steps, network.since], dtype=np.int64),
        "network_measures": np.array(network.measures, dtype=np.float64),
    }


def factor_arrays(prefix: str, grammar: Grammar) -> dict[str, NDArray[Any]]:
    """The factors of a grammar as arrays, which are much smaller than its rules."""
    assert isinstance(grammar, LowRankGrammar)
    return {prefix + name: array for name, array in grammar.factors._asdict().items()}


def loaded_grammar(
    arrays: Mapping[str, NDArray[Any]], prefix: str, vocabulary: Vocabulary
) -> LowRankGrammar:
    """The grammar of arrays that `factor_arrays` made."""
    factors = Factors(*(arrays[prefix + name] for name in Factors._fields))
    return LowRankGrammar(factors, vocabulary)


def loaded_network(
    arrays: Mapping[str, NDArray[Any]],
    corpus: Encoded,
    settings: ChainSettings,
    iteration: int,
    beta: float,
) -> State:
    """The state of a chain whose network is in arrays."""
    vectors = [arrays[f"network_{name}"] for name in _VECTORS]
    steps, measures = arrays["network_steps"], arrays["network_measures"]
    size = shape_of(settings, corpus.vocabulary).size
    if any(vector.shape != (size,) or not np.isfinite(vector).all() for vector in vectors):
        raise ArchiveError(f"its network is not one of {size} parameters")
    if steps.shape != (2,) or (steps < 0).any() or measures.shape != (len(Measures._fields),):
        raise ArchiveError("the numbers of its network cannot be")
    if not np.isfinite(measures[: 4 if settings.aside else 3]).all():
        raise ArchiveError("the measures of its network cannot be")
    done, since = steps.tolist()
    parameters, first, second, answer = vectors
    found = Measures(*measures.tolist())
    network = NetworkState(parameters, first, second, answer, done, since, found)
    grammar = grammar_of(network.answer, settings, corpus.vocabulary)
    return State(iteration, grammar, beta, network=network)
