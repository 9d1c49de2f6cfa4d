"""Trees of states: the left-corner machine run over f and j.

A fragment is a chain of nodes that are open on the right; they all end with the word that completes
it. A node that begins a fragment has the active category, one that takes the place of an awaited
category has that category. Labels: ``a1``, ``b1`` and, for words, ``g1``.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.numerics.kernels import Ints, Longs, kernel
from dbpcfg.parsing.derivations import END, START, Derivations, first_node
from dbpcfg.systems.uhhmm.submodels import Size


def label_names(size: Size) -> list[str]:
    """The labels of nodes in the order of their numbers: active, awaited, tags."""
    kinds = zip("abg", (size.A, size.B, size.G))
    return [f"{kind}{n}" for kind, number in kinds for n in range(1, number + 1)]


def derivations(corpus: Encoded, states: Ints, size: Size) -> Derivations:
    """The trees of all sentences.

    ``states``: ``[token, 5]``, as `backward.draw_states` gives them.
    """
    trees = Derivations.empty(corpus)
    close_nodes(corpus.starts, states, size.A, size.B, trees.nodes)
    sentence = np.repeat(np.arange(len(corpus)), 2 * corpus.lengths - 1)
    order = np.lexsort((-trees.nodes[:, END], trees.nodes[:, START], sentence))
    return Derivations(trees.nodes[order], corpus)


@kernel
def close_nodes(starts: Longs, states: Ints, active: int, awaited: int, nodes: Ints) -> None:
    """Write the nodes of all trees, those of a sentence in any order."""
    deepest = 1
    for s in range(len(starts) - 1):
        deepest = max(deepest, starts[s + 1] - starts[s])
    newest = np.empty(deepest + 1, dtype=np.int64)  # the newest open node of each fragment
    begins = np.empty(deepest + 1, dtype=np.int64)  # where each fragment begins
    category = np.empty(deepest + 1, dtype=np.int64)  # what each fragment awaits
    older = np.empty(len(nodes), dtype=np.int64)  # the open node before in the same fragment
    for s in range(len(starts) - 1):
        depth, node, n = 0, first_node(starts, s), starts[s + 1] - starts[s]
        for t in range(n):
            f, j, _, _, g = states[starts[s] + t]
            nodes[node] = t, t + 1, active + awaited + g
            node += 1
            begin = t
            if f == 0 and depth > 0:
                begin = begins[depth]
                closing = newest[depth]
                while closing >= 0:
                    nodes[closing, 1] = t + 1
                    closing = older[closing]
                depth -= 1
            if t + 1 == n:
                break
            new_a, new_b = states[starts[s] + t + 1, 2], states[starts[s] + t + 1, 3]
            if j == 1:
                label, older[node] = active + category[depth], newest[depth]
            else:
                depth += 1
                label, older[node], begins[depth] = new_a, -1, begin
            nodes[node] = begin, -1, label
            newest[depth], category[depth] = node, new_b
            node += 1
