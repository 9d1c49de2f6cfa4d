"""The network that gives the factors of a low-rank grammar, forward and backward.

Each category has an embedding e_c of d numbers, and the root one of its own, e_S (Kim, Dyer and
Rush 2019; Yang, Zhao and Tu 2021). With f deep and g shallow networks::

    π = softmax f_S(e_S)              v_·r = softmax g_v(e)_·r, over categories
    u_A = softmax g_u(e_A)            w_·r = softmax g_w(e)_·r, likewise
    G[p → ·] = softmax f_T(e_p)

A deep network is a linear layer, two residual blocks x + relu(B relu(A x)) and a linear layer; a
shallow one is two linear layers with relu between them. That is little enough to be written out,
with BLAS for its products; no other library is needed.

All parameters are in one vector, of which each layer has views. The gradient comes from expected
counts: if p = softmax(z) and E are counts of p's outcomes, ∂ log P / ∂z = E − p Σ E.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.lowrank import Factors
from dbpcfg.induction.learners.expectation import uniforms
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.numerics.philox import Stream

LEAST = 1e-30
"""The least probability, so that every tree stays possible."""
DEEP = ("root", "emission")
AXIS = {"root": -1, "parent": -1, "left": 0, "right": 0, "emission": -1}
"""Over which outcomes of a network the softmax is."""

Layers = dict[str, Floats]


class Shape(NamedTuple):
    """The size of a network."""

    phrases: int
    """N."""
    word_categories: int
    """P."""
    rank: int
    """R."""
    vocabulary: int
    """W."""
    width: int = 128
    """d, the size of embeddings and layers."""

    @property
    def layers(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all parameters, by their names."""
        K, d = self.phrases + self.word_categories, self.width
        found: dict[str, tuple[int, ...]] = {"embedding.root": (1, d), "embedding": (K, d)}
        outcomes = {"root": K, "emission": self.vocabulary}
        for name in AXIS:
            inner = range(5 if name in DEEP else 1)
            for layer in inner:
                found |= {f"{name}.{layer}": (d, d), f"{name}.{layer}.bias": (d,)}
            size = outcomes.get(name, self.rank)
            found |= {f"{name}.out": (d, size), f"{name}.out.bias": (size,)}
        return found

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(math.prod(shape) for shape in self.layers.values())


def views(vector: Floats, shape: Shape) -> Layers:
    """The layers inside a vector of all parameters."""
    found, at = {}, 0
    for name, dimensions in shape.layers.items():
        size = math.prod(dimensions)
        found[name] = vector[at : at + size].reshape(dimensions)
        at += size
    return found


def initial_parameters(shape: Shape, numbers: Stream) -> Floats:
    """Uniform between ±√(6 / (rows + columns)), and biases of 0 (Glorot and Bengio 2010).

    ``numbers``: the random numbers; parameter x has those of item x.
    """
    found = np.empty(shape.size)
    uniforms(numbers, np.arange(shape.size), found)
    for array in views(found, shape).values():
        if array.ndim == 1:
            array[:] = 0.0
        else:
            array[:] = (2.0 * array - 1.0) * math.sqrt(6.0 / sum(array.shape))
    return found


def network_of(factors: Factors, shape: Shape, numbers: Stream) -> Floats:
    """A network that gives a grammar: all layers as at first, but for the last ones.

    The last layers are the nearest to the first ones that give log p + log n, with n outcomes: new
    ones, whose logits are about 0, are as probable as they would be if all were alike. There are
    such layers if there are not more categories than numbers in an embedding.
    """
    found = initial_parameters(shape, numbers)
    P = views(found, shape)
    tapes = forward(P, shape.phrases).tapes
    for name, p in factors._asdict().items():
        rows, out, bias = tapes[name][-1], P[f"{name}.out"], P[f"{name}.out.bias"]
        wanted = np.log(np.maximum(np.atleast_2d(p), LEAST)) + math.log(p.shape[AXIS[name]])
        out += np.linalg.lstsq(rows, wanted - rows @ out - bias, rcond=None)[0]
    given = factors_of(forward(P, shape.phrases))
    if not all(np.allclose(x, y, rtol=1e-3, atol=1e-6) for x, y in zip(given, factors)):
        raise DbpcfgError(
            f"a model of {shape.phrases + shape.word_categories} categories has more in it than "
            f"a network with embeddings of {shape.width} numbers: start from the run instead"
        )
    return found


class ForwardPass(NamedTuple):
    """A forward pass."""

    logits: dict[str, Floats]
    """What each softmax is of, ``[row, outcome]``."""
    tapes: dict[str, list[Floats]]
    """The inputs of each network's layers."""


def forward(P: Layers, phrases: int) -> ForwardPass:
    """The networks' outcomes."""
    e = P["embedding"]
    inputs = {
        "root": P["embedding.root"],
        "parent": e[:phrases],
        "left": e,
        "right": e,
        "emission": e[phrases:],
    }
    logits: dict[str, Floats] = {}
    tapes: dict[str, list[Floats]] = {}
    for name, x in inputs.items():
        tape = [x]
        x = _linear(P, f"{name}.0", x)
        if name in DEEP:
            for layer in (1, 3):
                tape.append(x)
                hidden = np.maximum(_linear(P, f"{name}.{layer}", x), 0.0)
                tape.append(hidden)
                more = np.maximum(_linear(P, f"{name}.{layer + 1}", hidden), 0.0)
                tape.append(more)
                x = x + more
        else:
            x = np.maximum(x, 0.0)
        tape.append(x)
        logits[name], tapes[name] = _linear(P, f"{name}.out", x), tape
    return ForwardPass(logits, tapes)


def backward(
    P: Layers, done: ForwardPass, slopes: dict[str, Floats], phrases: int, G: Layers
) -> None:
    """The gradient, into ``G``."""
    G["embedding"][:] = 0.0
    for name, slope in slopes.items():
        tape = done.tapes[name]
        d = _back(P, G, f"{name}.out", tape[-1], slope)
        if name in DEEP:
            for layer, at in ((3, 4), (1, 1)):
                x, hidden, more = tape[at : at + 3]
                inner = _back(P, G, f"{name}.{layer + 1}", hidden, d * (more > 0))
                d = d + _back(P, G, f"{name}.{layer}", x, inner * (hidden > 0))
        else:
            d = d * (tape[-1] > 0)
        d = _back(P, G, f"{name}.0", tape[0], d)
        if name == "root":
            G["embedding.root"][:] = d
        else:
            part = slice(phrases) if name == "parent" else slice(phrases, None)
            G["embedding"][part if name in ("parent", "emission") else slice(None)] += d


def factors_of(done: ForwardPass) -> Factors:
    """The softmax of each network's outcomes, which are overwritten."""
    found = {name: softmax(z, AXIS[name]) for name, z in done.logits.items()}
    return Factors(**{**found, "root": found["root"][0]})


def slopes_of(factors: Factors, counts: Factors, words: Longs, share: float) -> dict[str, Floats]:
    """Derivatives by all logits, from expected counts, times ``share``.

    ``counts`` of emissions are those of ``words`` only. The factors' emissions are overwritten.
    """
    found = {}
    for name, p in factors._asdict().items():
        E = (getattr(counts, name) * share).astype(p.dtype)
        total = E.sum(axis=AXIS[name], keepdims=True)
        if name == "emission":  # by far the largest, and most words are not there
            slope = np.multiply(p, -total, out=p)
            slope[:, words] += E
        else:
            slope = E - p * total
        found[name] = slope.reshape(1, -1) if name == "root" else slope
    return found


def softmax(z: Floats, axis: int) -> Floats:
    """exp(z) / Σ exp(z), at least ``LEAST``; written over z."""
    z -= z.max(axis=axis, keepdims=True)
    np.exp(z, out=z)
    z *= 1.0 / z.sum(axis=axis, keepdims=True)
    z += LEAST  # lost in any other number, and much faster than the greater of both
    return z


def _linear(P: Layers, name: str, x: Floats) -> Floats:
    found: Floats = x @ P[name] + P[f"{name}.bias"]
    return found


def _back(P: Layers, G: Layers, name: str, x: Floats, slope: Floats) -> Floats:
    """Derivatives of a linear layer: by its parameters, into ``G``, and by its input."""
    if len(x) == 1:
        np.multiply(x.T, slope, out=G[name])
    else:
        np.matmul(x.T, slope, out=G[name])
    np.sum(slope, axis=0, out=G[f"{name}.bias"])
    found: Floats = slope @ P[name].T
    return found
