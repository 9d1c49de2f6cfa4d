"""Store sequences of trees, by left-corner traversal, and what follows from them.

The parser goes the other way, from stores to trees; here is what its results are checked against.
"""

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.grammar.pcfg import RuleWeights
from dbpcfg.parsing.leftcorner.filtering import forward
from dbpcfg.parsing.leftcorner.models import Fragment, Models
from dbpcfg.parsing.leftcorner.parser import LeftCornerParser
from dbpcfg.trees.tree import Tree
from tests.nodes import as_nodes


def steps_of(nodes: np.ndarray) -> np.ndarray:
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


def count_steps(
    steps: np.ndarray, words: np.ndarray, categories: int, vocabulary: Vocabulary
) -> RuleWeights:
    """Rule counts C of a store sequence, case by case as in the paper's section 4.3::

        f,j = 0,1   b^(d−1)_(t−1) → a^d_(t−1)  b^(d−1)_t
        f,j = 0,0   a^d_t         → a^d_(t−1)  b^d_t
        f,j = 1,1   b^d_(t−1)     → p_t        b^d_t
        f,j = 1,0   a^(d+1)_t     → p_t        b^(d+1)_t

    and p_t → w_t for every word. A join at depth 0 is T's expansion.
    """
    counts = RuleWeights.zeros(categories, len(vocabulary))
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


def log_derivation(parser: LeftCornerParser, nodes: np.ndarray, words: np.ndarray) -> float:
    """log P(tree, sentence): the sum over all decisions that build the tree."""
    return decisions(parser.models, steps_of(nodes), words)


def decisions(M: Models, steps: np.ndarray, words: np.ndarray) -> float:
    """Log-probability of a store sequence and its words, decision by decision."""
    store: list[tuple[int, int]] = [(-1, 0)]  # T, row 0, awaits at depth 0
    total = 0.0
    with np.errstate(divide="ignore"):
        for (f, j, p, a, b), word in zip(steps.tolist(), words.tolist(), strict=True):
            d, y = len(store) - 1, store[-1][1]
            if d > len(M.fork) - 1:
                return -np.inf
            total += float(np.log(M.fork[d, y, f]))
            total += float(np.log(M.emission[word, p])) + float(M.log_scale[word])
            if f:
                total += float(np.log(M.preterminal[d, y, p]))
                finished = p
            else:
                finished = store.pop()[0]
                d, y = d - 1, store[-1][1]
            total += float(np.log(M.join[d, y, finished, j]))
            if j:
                awaited = b if d else 0
                total += float(np.log(M.bottom_right[d, y, finished, awaited]))
                store[-1] = (store[-1][0], awaited)
            else:
                total += float(np.log(M.top[d, y, finished, a]))
                total += float(np.log(M.bottom_left[d, a, finished, b]))
                store.append((a, b))
    return total


def prefix_log_probabilities(
    parser: LeftCornerParser, corpus: Encoded, sentence: int
) -> np.ndarray:
    """``[t]``: log of the probability that a sentence begins with the first t words, t = 0 … n."""
    words = corpus.numbers(sentence)
    v, logs = np.empty((len(words) + 1, parser.stores)), np.empty(len(words) + 1)
    forward(words, parser.models, False, v, logs)
    return np.cumsum(logs)
