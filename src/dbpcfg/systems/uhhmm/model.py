"""Sub-models, drawn given counts of events and contracted to the steps of filtering.

**Drawing.** Every row of a sub-model is drawn from a Dirichlet distribution. The parameters of row
r are::

    fork, trans, reduce       α_f/2, α_j/2  + n(r,·)                  α_f = α_j = 1
    root, act                 α_a/A         + n(r,·)                  α_a = 0.5
    cont, exp, start, next    α_b/B         + n(r,·)                  α_b = 0.5
    pos                       α_g · β       + n(r,·)                  α_g = 0.5
    lex                       0.01          + n(r,·)

and, at depths d above 1, α · n_{d−1}(r,·) is added, from the counts of the same sub-model one depth
above. This is the original's heuristic for sharing statistics between depths: a proper prior cannot
depend on states.

β, which the rows of ``pos`` share, has the prior Dirichlet(γ/G), γ = 1. It is drawn with the rows
summed out: given β, the n(r,g) tokens of row r with tag g sit at m(r,g) tables of a Chinese
restaurant with concentration α_g · β_g; given the tables, β has the distribution
Dirichlet(γ/G + Σ_r m(r,·)) (Teh, Jordan, Beal and Blei 2006). This is exact.

**Steps**, without words. With d a depth, up the awaited category above it (or none), and primes for
new values::

    fill(d,g,b)              = pos(g|b) · fork_d(0|b,g)
    join(d,g,b,b')           = pos(g|b) · fork_d(1|b,g) · trans_d(1|b,g) · cont_d(b'|b,g)
    push(d,g,b,a',b')        = pos(g|b) · fork_d(1|b,g) · trans_d(0|b,g) · root_{d+1}(a'|b,g)
                                                                         · exp_{d+1}(b'|g,a')
    replace(d,up,a,a',b')    = reduce_d(0|a,up) · act_d(a'|a,up) · start_d(b'|a,a')
    pop(d,b,a,b')            = reduce_{d+1}(1|a,b) · next_d(b'|a,b)
    first(g,a',b')           = pos(g|none) · root_1(a'|none,g) · exp_1(b'|g,a')

fill comes before replace and pop; the other steps are multiplied by the probability of the word
given g.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.grammar.dirichlet import dirichlet_rows
from dbpcfg.numerics.kernels import Floats, Ints, kernel
from dbpcfg.numerics.philox import Stream, uniform_pair


@dataclass(frozen=True)
class Prior:
    """The concentration of each kind of distribution."""

    f: float = 1.0
    j: float = 1.0
    a: float = 0.5
    b: float = 0.5
    g: float = 0.5
    word: float = 0.01
    """The pseudo-count of each word."""
    gamma: float = 1.0
    """γ, the concentration of β."""
    faithful: bool = False
    """Whether to follow the original (see the package)."""

    def outcomes(self, categories: int) -> int:
        """The number of outcomes of a distribution over categories; the original has one more."""
        return categories + self.faithful


KINDS = ("f", "j", "j", "b", "a", "b", "a", "b", "b", "g", "word")
"""The concentration of each sub-model, in the order of `SubModels`."""


def draw_models(counts: SubModels, beta: Floats, prior: Prior, numbers: Stream) -> SubModels:
    """Draw all sub-models.

    ``prior``: concentrations. If it is faithful, the probability of the additional outcome is lost,
    and forced decisions have the probability that was drawn; otherwise they have probability 1.
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

    ``numbers``: the random numbers of one iteration; items after the entries of ``counts`` are for
    β itself.
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


def count_events(corpus: Encoded, states: Ints, size: Size) -> SubModels:
    """Count the outcomes of each sub-model.

    ``states``: ``[token, 5]``, from `draw_states`.
    """
    counts = zeros(size)
    add_events(corpus.sentences, states, counts)
    return counts


@kernel
def add_events(sentences: Sentences, states: Ints, counts: SubModels) -> None:
    """Add the events of all words to the counts.

    ``root`` is counted under the awaited category of the word before. For a last word only its tag
    and the word are counted, and for a first word no decisions.
    """
    tokens, starts = sentences
    awaited = np.zeros(len(counts.fork) + 1, dtype=np.int64)  # [0] for an empty store
    for s in range(len(starts) - 1):
        depth = 0
        for i in range(starts[s], starts[s + 1]):
            f, j, a, b, g = states[i]
            counts.pos[b + 1, g] += 1
            counts.lex[g, tokens[i]] += 1
            if i + 1 == starts[s + 1]:
                break
            new_a, new_b = states[i + 1, 2], states[i + 1, 3]
            d = depth - 1
            up = awaited[d] if depth > 0 else 0
            if depth > 0:
                counts.fork[d, b, g, f] += 1
                if f == 1:
                    counts.trans[d, b, g, j] += 1
                else:
                    counts.reduce[d, a, up, j] += 1
            if f == 1 and j == 1:
                counts.cont[d, b, g, new_b] += 1
            elif f == 1:
                counts.root[depth, b + 1, g, new_a] += 1
                counts.exp[depth, g, new_a, new_b] += 1
                depth += 1
            elif j == 0:
                counts.act[d, a, up, new_a] += 1
                counts.start[d, a, new_a, new_b] += 1
            else:
                counts.next[d - 1, a, up - 1, new_b] += 1
                depth -= 1
            awaited[depth] = new_b + 1


class Size(NamedTuple):
    """The number of each kind of value."""

    A: int
    """Active categories."""
    B: int
    """Awaited categories."""
    G: int
    """Tags."""
    D: int
    """The greatest depth of the store."""
    words: int
    """Word types."""


class SubModels(NamedTuple):
    """All sub-models; the last axis is the outcome.

    d is a depth, from 0; a, b and g belong to the word before, a' and b' are new. up is the awaited
    category above the deepest, plus 1, or 0 if there is none.
    """

    fork: Floats
    """[d, b, g, f]"""
    trans: Floats
    """[d, b, g, j], if f = 1"""
    reduce: Floats
    """[d, a, up, j], if f = 0"""
    cont: Floats
    """[d, b, g, b']"""
    root: Floats
    """[d, up, g, a'], d being the depth of a'"""
    exp: Floats
    """[d, g, a', b']"""
    act: Floats
    """[d, a, up, a']"""
    start: Floats
    """[d, a, a', b']"""
    next: Floats
    """[d, a, b, b'], d being the depth of b and b', and a one deeper: so d < D - 1"""
    pos: Floats
    """[b + 1, g], 0 for an empty store"""
    lex: Floats
    """[g, word]"""


def zeros(size: Size) -> SubModels:
    """Counts that are all 0."""
    A, B, G, D, words = size
    return SubModels(
        fork=np.zeros((D, B, G, 2)),
        trans=np.zeros((D, B, G, 2)),
        reduce=np.zeros((D, A, B + 1, 2)),
        cont=np.zeros((D, B, G, B)),
        root=np.zeros((D, B + 1, G, A)),
        exp=np.zeros((D, G, A, B)),
        act=np.zeros((D, A, B + 1, A)),
        start=np.zeros((D, A, A, B)),
        next=np.zeros((D - 1, A, B, B)),
        pos=np.zeros((B + 1, G)),
        lex=np.zeros((G, words)),
    )


def uniform(size: Size) -> SubModels:
    """Sub-models in which all outcomes are equally probable."""
    return SubModels(*(np.full(table.shape, 1.0 / table.shape[-1]) for table in zeros(size)))


def without_choice(models: SubModels) -> SubModels:
    """The same sub-models with probability 1 for decisions that the store forces.

    At depth D, f = 1 forces j = 1, as there is no room for another fragment. At depth 1, f = 0
    forces j = 0, as there is no fragment above to join.
    """
    trans, reduce = models.trans.copy(), models.reduce.copy()
    trans[-1] = 0.0, 1.0
    reduce[0] = 1.0, 0.0
    return models._replace(trans=trans, reduce=reduce)


class Steps(NamedTuple):
    """Contracted sub-models; pairs a', b' are one axis."""

    alone: Floats
    """[g]: the tag of the first word."""
    first: Floats
    """[g, a'b']"""
    last: Floats
    """[g, b]: the tag of the last word."""
    fill: Floats
    """[d, g, b]"""
    join: Floats
    """[d, g, b, b']"""
    push: Floats
    """[d, g, up, b, a'b'], one up if push does not depend on it"""
    replace: Floats
    """[d, up, a, a'b']"""
    pop: Floats
    """[d, b, a, b']"""
    emit: Floats
    """[word, g]"""


def contract(models: SubModels, faithful: bool = False) -> Steps:
    """Contract sub-models.

    ``faithful``: the first tag is uniform, and root_{d+1} is conditioned on ``up``, the category
    above b, instead of b, as in the original.
    """
    pos = models.pos[1:]
    G, A, B = models.exp.shape[1:]
    first_tag = np.full(G, 1.0 / G) if faithful else models.pos[0]
    deeper = {"root": models.root[1:], "exp": models.exp[1:]}
    forking = pos * models.fork[..., 1]
    pushing = (forking * models.trans[..., 0])[:-1]
    if faithful:
        push = np.einsum("dbg,duga,dgac->dgubac", pushing, *deeper.values())
    else:
        push = np.einsum("dbg,dbga,dgac->dgbac", pushing, deeper["root"][:, 1:], deeper["exp"])
        push = push[:, :, None]
    joining = forking * models.trans[..., 1]
    replace = np.einsum("dau,daue,daec->duaec", models.reduce[..., 0], models.act, models.start)
    pop = np.einsum("dab,dabc->dbac", models.reduce[1:, :, 1:, 1], models.next)
    first = np.einsum("g,ga,gac->gac", first_tag, models.root[0, 0], models.exp[0])
    return Steps(
        alone=first_tag.copy(),
        first=first.reshape(G, A * B),
        last=np.ascontiguousarray(pos.T),
        fill=np.ascontiguousarray((pos * models.fork[..., 0]).swapaxes(1, 2)),
        join=np.ascontiguousarray(np.einsum("dbg,dbgc->dgbc", joining, models.cont)),
        push=np.ascontiguousarray(push).reshape(*push.shape[:-2], A * B),
        replace=np.ascontiguousarray(replace).reshape(*replace.shape[:-2], A * B),
        pop=np.ascontiguousarray(pop),
        emit=np.ascontiguousarray(models.lex.T),
    )
