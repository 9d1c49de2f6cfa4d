"""Store sequences, trees and rule counts: each from the other.

A store sequence is one row ``(fork, join, preterminal, top, bottom)`` for each word: the two
decisions, the word's category, the top sign of the fragment begun if there is no join (else −1),
and the bottom sign then awaited (−1 at the end of the sentence).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.pcfg import RuleCounts
from dbpcfg.numerics.kernels import Ints, kernel
from dbpcfg.parsing.derivations import as_nodes
from dbpcfg.trees.tree import Tree

FORK, JOIN, PRETERMINAL, TOP, BOTTOM = 0, 1, 2, 3, 4


class Fragment(NamedTuple):
    """A derivation fragment top/bottom: a top sign lacking a bottom sign yet to come."""

    top: str
    bottom: str

    def __str__(self) -> str:
        return f"{self.top}/{self.bottom}"


def steps_of(nodes: Ints) -> Ints:
    """The store sequence of a tree, by left-corner traversal of its pre-order nodes.

    A word forks if it is a left child. What it finishes is itself or, at the end of a chain of
    right children, the node on top of that chain. That joins if its parent is a right child: then
    the parent is already awaited.
    """
    parent = np.full(len(nodes), -1)
    right = np.full(len(nodes), -1)
    for t, (start, end, _) in enumerate(nodes.tolist()):
        if end - start > 1:
            right[t] = t + 2 * (nodes[t + 1, 1] - start)
            parent[t + 1] = parent[right[t]] = t
    is_right = np.isin(np.arange(len(nodes)), right)
    steps = []
    for t, (start, end, category) in enumerate(nodes.tolist()):
        if end - start > 1:
            continue
        finished = t
        while is_right[finished]:
            finished = parent[finished]
        above = parent[finished]
        if above < 0:
            join, top, bottom = 1, -1, -1
        else:
            join = int(is_right[above])
            top = -1 if join else nodes[above, 2]
            bottom = nodes[right[above], 2]
        steps.append((int(not is_right[t]), join, category, top, bottom))
    return np.array(steps, dtype=np.int32)


@kernel
def nodes_of(steps: Ints, nodes: Ints) -> None:
    """The tree of a store sequence, into pre-order ``nodes``."""
    n = len(steps)
    category = np.empty(2 * n, dtype=np.int64)
    left, right = np.full(2 * n, -1), np.full(2 * n, -1)
    tops, awaited = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    made, depth, root = 0, 0, 0
    for t in range(n):
        if steps[t, FORK]:
            finished = made
            category[made] = steps[t, PRETERMINAL]
            made += 1
        else:
            finished = tops[depth]
            depth -= 1
        if steps[t, JOIN] and depth == 0:
            root = finished
            continue
        if steps[t, JOIN]:
            above = awaited[depth]
        else:
            above = made
            category[made] = steps[t, TOP]
            made += 1
            depth += 1
            tops[depth] = above
        left[above], right[above] = finished, made
        awaited[depth] = made
        category[made] = steps[t, BOTTOM]
        made += 1
    stack = np.empty(n + 1, dtype=np.int64)
    stack[0] = root
    waiting, node, words = 1, 0, 0
    while waiting:
        waiting -= 1
        x = stack[waiting]
        nodes[node, 0], nodes[node, 2] = words, category[x]
        if left[x] < 0:
            words += 1
            nodes[node, 1] = words
        else:
            nodes[node, 1] = -1
            stack[waiting], stack[waiting + 1] = right[x], left[x]
            waiting += 2
        node += 1
    # A phrase ends where its right child ends: fill in ends from the last node to the first.
    waiting = 0
    for node in range(2 * n - 2, -1, -1):
        if nodes[node, 1] < 0:
            nodes[node, 1] = stack[waiting - 2]
            waiting -= 2
        stack[waiting] = nodes[node, 1]
        waiting += 1


def count_steps(steps: Ints, words: Ints, categories: int, vocabulary: Vocabulary) -> RuleCounts:
    """Rule counts C of a store sequence, case by case as in the paper's section 4.3::

        f,j = 0,1   b^(d−1)_(t−1) → a^d_(t−1)  b^(d−1)_t
        f,j = 0,0   a^d_t         → a^d_(t−1)  b^d_t
        f,j = 1,1   b^d_(t−1)     → p_t        b^d_t
        f,j = 1,0   a^(d+1)_t     → p_t        b^(d+1)_t

    and p_t → w_t for every word. A join at depth 0 is T's expansion.
    """
    counts = RuleCounts.zeros(categories, len(vocabulary))
    store: list[tuple[int, int]] = []
    for (f, j, p, a, b), word in zip(steps.tolist(), words.tolist(), strict=True):
        counts.lexical[p, word] += 1
        finished = p if f else store.pop()[0]
        if j and not store:
            counts.root[finished] += 1
        elif j:
            top, awaited = store.pop()
            counts.binary[awaited, finished, b] += 1
            store.append((top, b))
        else:
            counts.binary[a, finished, b] += 1
            store.append((a, b))
    return counts


def store_states(tree: Tree) -> list[tuple[Fragment, ...]]:
    """The store before each word of a binary tree, and after the last: n + 1 of them."""
    labels = list(dict.fromkeys(span.label for span in tree.spans(preterminals=True)))
    steps = steps_of(as_nodes(tree, {label: number for number, label in enumerate(labels)}))
    states: list[tuple[Fragment, ...]] = [()]
    for f, j, _, a, b in steps.tolist():
        store = list(states[-1])
        if not f:
            store.pop()
        if not j:
            store.append(Fragment(labels[a], labels[b]))
        elif store:
            store.append(Fragment(store.pop().top, labels[b]))
        states.append(tuple(store))
    return states


def memory_depth(tree: Tree) -> int:
    """The depth bound that a binary tree needs: the most fragments ever held, at least 1."""
    return max(1, *(len(store) for store in store_states(tree)))
