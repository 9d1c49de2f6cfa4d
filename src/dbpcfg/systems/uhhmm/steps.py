"""Sub-models contracted to the steps of filtering, words left out.

With d a depth, up the awaited category above it (or none), and primes for new values::

    fill(d,g,b)              = pos(g|b) · fork_d(0|b,g)
    join(d,g,b,b')           = pos(g|b) · fork_d(1|b,g) · trans_d(1|b,g) · cont_d(b'|b,g)
    push(d,g,b,a',b')        = pos(g|b) · fork_d(1|b,g) · trans_d(0|b,g) · root_{d+1}(a'|b,g)
                                                                         · exp_{d+1}(b'|g,a')
    replace(d,up,a,a',b')    = reduce_d(0|a,up) · act_d(a'|a,up) · start_d(b'|a,a')
    pop(d,b,a,b')            = reduce_{d+1}(1|a,b) · next_d(b'|a,b)
    first(g,a',b')           = pos(g|none) · root_1(a'|none,g) · exp_1(b'|g,a')

fill comes before replace and pop; the probability of the word given g is a factor of the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Floats
from dbpcfg.systems.uhhmm.submodels import SubModels


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

    ``faithful``: as the original: the first tag is uniform, and root_{d+1} is conditioned on
    ``up``, that is on the category above b, instead of b.
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
