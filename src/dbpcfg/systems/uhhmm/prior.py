"""Distributions drawn given counts of events.

Every row of a sub-model is drawn from a Dirichlet distribution. Its parameters are, for row r::

    fork, trans, reduce       α_f/2, α_j/2  + n(r,·)                  α_f = α_j = 1
    root, act                 α_a/A         + n(r,·)                  α_a = 0.5
    cont, exp, start, next    α_b/B         + n(r,·)                  α_b = 0.5
    pos                       α_g · β       + n(r,·)                  α_g = 0.5
    lex                       0.01          + n(r,·)

and, at depths d above 1, α · n_{d−1}(r,·) more, the counts of the same sub-model one depth above.
This is the original's way to let depths share what they learn, and a heuristic: a prior cannot
depend on states.

β, what rows of ``pos`` have in common, has the prior Dirichlet(γ/G), γ = 1. It is drawn with the
rows summed out: given β, the n(r,g) tokens of row r with tag g sit at m(r,g) tables of a Chinese
restaurant with concentration α_g · β_g; given tables, β has the distribution
Dirichlet(γ/G + Σ_r m(r,·)) (Teh, Jordan, Beal and Blei 2006). This is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbpcfg.grammar.dirichlet import dirichlet_rows
from dbpcfg.numerics.kernels import Floats, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair
from dbpcfg.systems.uhhmm.submodels import SubModels, without_choice


@dataclass(frozen=True)
class Prior:
    """The concentration of each kind of distribution."""

    f: float = 1.0
    j: float = 1.0
    a: float = 0.5
    b: float = 0.5
    g: float = 0.5
    word: float = 0.01
    """Of each word."""
    gamma: float = 1.0
    """γ, of β."""
    faithful: bool = False
    """Whether outcomes and forced decisions are those of the original."""

    def outcomes(self, categories: int) -> int:
        """The number of outcomes of a distribution over categories: the original has one more."""
        return categories + self.faithful


KINDS = ("f", "j", "j", "b", "a", "b", "a", "b", "b", "g", "word")
"""Which concentration each sub-model has, in the order of `SubModels`."""


def draw_models(counts: SubModels, beta: Floats, prior: Prior, numbers: Stream) -> SubModels:
    """Draw all sub-models.

    ``prior``: concentrations. If it is faithful, the probability of outcomes beyond the last
    category is lost, and forced decisions have the probability that was drawn; else it is 1.
    """
    drawn, item = [], 0
    for kind, of_model in zip(KINDS, counts, strict=True):
        parameters = _parameters(kind, of_model, beta, prior)
        columns = parameters.shape[-1]
        rows = dirichlet_rows(parameters.reshape(-1, columns), numbers, item)
        drawn.append(rows.reshape(parameters.shape)[..., : of_model.shape[-1]])
        item += rows.size
    models = SubModels(*drawn)
    return models if prior.faithful else without_choice(models)


def _parameters(kind: str, counts: Floats, beta: Floats, prior: Prior) -> Floats:
    """The parameters of all rows of a sub-model, for all outcomes."""
    number = counts.shape[-1]
    alpha: float = getattr(prior, kind)
    if kind == "word":
        return counts + alpha
    outcomes = number if kind in "fj" else prior.outcomes(number)
    base = beta if kind == "g" else np.full(outcomes, 1.0 / outcomes)
    parameters = np.empty((*counts.shape[:-1], outcomes))
    parameters[:] = alpha * base
    parameters[..., :number] += counts
    if kind != "g":
        parameters[1:, ..., :number] += alpha * counts[:-1]
    return parameters


def draw_beta(counts: Floats, beta: Floats, prior: Prior, numbers: Stream) -> Floats:
    """Draw β.

    ``numbers``: the random numbers of one iteration. Those of items beyond the entries of
    ``counts`` are for β itself.
    """
    parameters = np.full((1, len(beta)), prior.gamma / len(beta))
    parameters[0, : counts.shape[1]] += count_tables(counts, prior.g * beta, numbers).sum(axis=0)
    drawn: Floats = dirichlet_rows(parameters, numbers, counts.size)[0]
    return drawn


@kernel
def count_tables(counts: Floats, concentrations: Floats, numbers: Stream) -> Floats:
    """Draw the number of tables m(r,g): customer i opens one with probability α/(α + i)."""
    tables = np.zeros(counts.shape)
    for r in range(counts.shape[0]):
        for g in range(counts.shape[1]):
            for i in range(int(counts[r, g])):
                u, _ = uniform_pair(numbers, r * counts.shape[1] + g, i)
                if i == 0 or u * (concentrations[g] + i) < concentrations[g]:
                    tables[r, g] += 1.0
    return tables
