"""Binary trees of numbered categories, as arrays of nodes, and weights of labelled spans.

A sentence of n words has 2n − 1 nodes in pre-order, each a row ``(start, end, category)`` with a
half-open span. The left child of node t is t + 1, and its right child is t plus twice the width of
the left child, so no pointers are needed. The nodes of sentence s of a corpus start at row
``first_node(starts, s)``.

Weights of labelled spans, such as posterior probabilities or counts, are ``weights[cell, c]`` for
label c on one span. A sentence of n words has n(n + 1)/2 contiguous cells, those with the same
start together, shortest first; sentences are in the order of the corpus. If levels are separate,
each level has such cells, one level after another, and words have theirs on the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.errors import DbpcfgError, UnparsableError
from dbpcfg.grammar.pcfg import Grammar, RuleWeights, category_name
from dbpcfg.numerics.kernels import Floats, Ints, Longs, also_in_kernels, kernel
from dbpcfg.parsing.chart.layout import Logs, chart_levels, left_below, log_rule, right_below
from dbpcfg.trees.tree import Tree, writable


def first_cells(corpus: Encoded, levels: int = 1) -> Longs:
    """Where the cells of each sentence start, and the end of the last."""
    sizes = levels * corpus.lengths * (corpus.lengths + 1) // 2
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@also_in_kernels
def span_cell(n: int, i: int, j: int) -> int:
    """The cell of span (i,j) among those of a sentence of n words."""
    return i * n - i * (i - 1) // 2 + j - i - 1


@also_in_kernels
def level_cell(n: int, level: int, i: int, j: int) -> int:
    """The cell of span (i,j) if levels are separate; a word has one cell for all levels."""
    return span_cell(n, i, j) + (level * n * (n + 1) // 2 if j > i + 1 else 0)


START, END, CATEGORY = 0, 1, 2


@also_in_kernels
def first_node(starts: Longs, s: int) -> int:
    """The row of the root of sentence s; the nodes end before that of sentence s + 1."""
    row: int = 2 * starts[s] - s
    return row


@dataclass(frozen=True, eq=False)
class Derivations:
    """One tree for every sentence of a corpus."""

    nodes: Ints
    """[node, 3], all sentences' nodes one after another."""
    corpus: Encoded

    @classmethod
    def empty(cls, corpus: Encoded) -> Derivations:
        """Trees whose nodes are not yet filled in."""
        rows = first_node(corpus.starts, len(corpus))
        return cls(np.full((rows, 3), -1, dtype=np.int32), corpus)

    def __len__(self) -> int:
        return len(self.corpus)

    def __getitem__(self, sentence: int) -> Ints:
        """The nodes of one sentence's tree."""
        sentence = range(len(self))[sentence]
        starts = self.corpus.starts
        return self.nodes[first_node(starts, sentence) : first_node(starts, sentence + 1)]

    def tree(self, sentence: int) -> Tree:
        """One sentence's tree, with its words."""
        return as_tree(self[sentence], self.corpus[sentence])

    def trees(self) -> Iterator[Tree]:
        """All trees, in the order of the corpus."""
        return (self.tree(sentence) for sentence in range(len(self)))

    def counts(self, categories: int, held_out: int = 0) -> RuleWeights:
        """The number of uses of each rule in all trees: C in the paper.

        ``held_out``: every n-th tree is not counted; 0 to count all.
        """
        labels = self.nodes[:, CATEGORY]
        if labels.min(initial=0) < 0 or labels.max(initial=0) >= categories:
            raise DbpcfgError(f"a tree has a category beyond the first {categories}")
        counts = RuleWeights.zeros(categories, len(self.corpus.vocabulary))
        sentences = self.corpus.sentences
        items = self.corpus.sentence_ids
        count_rules(
            sentences, items, self.nodes, held_out, counts.root, counts.binary, counts.lexical
        )
        return counts


@kernel
def count_rules(
    sentences: Sentences,
    items: Longs,
    nodes: Ints,
    held_out: int,
    root: Floats,
    binary: Floats,
    lexical: Floats,
) -> None:
    """Add the rules of all sentences' trees to the counts, except every n-th sentence."""
    tokens, starts = sentences
    for s in range(len(starts) - 1):
        if held_out and items[s] % held_out == held_out - 1:
            continue
        base = first_node(starts, s)
        root[nodes[base, CATEGORY]] += 1
        for t in range(base, first_node(starts, s + 1)):
            start, end, c = nodes[t, START], nodes[t, END], nodes[t, CATEGORY]
            if end - start == 1:
                lexical[c, tokens[starts[s] + start]] += 1
            else:
                left = t + 1
                right = t + 2 * (nodes[left, END] - start)
                binary[c, nodes[left, CATEGORY], nodes[right, CATEGORY]] += 1


def as_tree(nodes: Ints, words: Sequence[str], names: Sequence[str] = ()) -> Tree:
    """Turn pre-order nodes into a tree, from the last node to the first, without recursion.

    ``names``: the labels of categories; by default ``category_name``.
    """
    names = names or _plain_names(int(nodes[:, CATEGORY].max()) + 1)
    tree = Tree.unchecked
    subtrees: list[Tree] = []
    for start, end, category in reversed(nodes.tolist()):
        if end - start == 1:
            subtrees.append(tree(names[category], (words[start],)))
        else:
            subtrees.append(tree(names[category], (subtrees.pop(), subtrees.pop())))
    return subtrees[0]


def as_brackets(
    trees: Sequence[Ints], sentences: Sequence[Sequence[str]], names: Sequence[str]
) -> list[str]:
    """Trees in brackets, like ``str(as_tree(…))``, but faster, without building trees."""
    if not trees:
        return []
    words = [word for sentence in sentences for word in sentence]
    text = " ".join(words)
    if "(" in text or ")" in text or len(text.split()) != len(words):
        words = [writable(word, "word") for word in words]
    nodes, sizes = np.concatenate(trees), np.array([len(tree) for tree in trees])
    ends = np.cumsum(sizes)
    width = nodes[:, END] - nodes[:, START]
    leaves = np.flatnonzero(width == 1)
    # After each word, a bracket closes for each node that ends there.
    shift = np.repeat(np.cumsum([0, *(len(s) for s in sentences[:-1])]), sizes)
    closing = np.bincount(nodes[:, END] + shift - 1, minlength=len(words))
    pieces = np.array([f"({name}" for name in names], dtype=object)[nodes[:, CATEGORY]]
    brackets = np.array([")" * n for n in range(int(closing.max()) + 1)], dtype=object)
    pieces[leaves] += " " + np.array(words, dtype=object) + brackets[closing]
    listed = pieces.tolist()
    return [" ".join(listed[end - size : end]) for size, end in zip(sizes.tolist(), ends.tolist())]


@lru_cache(maxsize=256)
def _plain_names(number: int) -> tuple[str, ...]:
    return tuple(map(category_name, range(number)))


@kernel
def log_probability(nodes: Ints, words: Ints, G: Logs) -> float:
    """The log-probability of a tree, before division by Z; −∞ if it does not fit the bound."""
    total = G.root[nodes[0, CATEGORY]]
    levels = np.zeros(len(nodes), dtype=np.int64)
    for t in range(len(nodes)):
        start, end, c, level = nodes[t, START], nodes[t, END], nodes[t, CATEGORY], levels[t]
        if end - start == 1:
            total += G.lexical[words[start], c]
            continue
        if level == chart_levels(G.depth):  # (L,D+1), which must be a word
            return -np.inf
        left = t + 1
        right = t + 2 * (nodes[left, END] - start)
        levels[left], levels[right] = (
            left_below(levels[t], G.depth),
            right_below(levels[t], G.depth),
        )
        total += log_rule(G, c, nodes[left, CATEGORY], nodes[right, CATEGORY])
    return float(total)


def check_vocabulary(grammar: Grammar, corpus: Encoded) -> None:
    """Raise a DbpcfgError if a corpus and a grammar have different vocabularies."""
    if corpus.vocabulary.words != grammar.vocabulary.words:
        raise DbpcfgError(
            "the corpus was encoded with another vocabulary than the grammar's; "
            "make it with grammar.vocabulary.encode(sentences)"
        )


def check_no_brackets(corpus: Encoded) -> None:
    """Raise a DbpcfgError if sentences have brackets, which word-by-word methods cannot use."""
    if corpus.brackets is not None:
        raise DbpcfgError(
            "brackets are for whole sentences: the left-corner parser and prefix probabilities do "
            "not support them; leave them out, or use the chart (--parser chart)"
        )


def check_parsable(grammar: Grammar, corpus: Encoded, logs: Floats) -> None:
    """Raise an UnparsableError, with the reason, if a sentence has probability zero."""
    impossible = np.flatnonzero(np.isneginf(logs))
    if not len(impossible):
        return
    sentence = int(impossible[0])
    words = corpus[sentence]
    emitted = grammar.lexical.max(axis=0) > 0
    silent = [word for word in words if not emitted[grammar.vocabulary.index[word]]]
    shown = " ".join(words[:12]) + (" …" if len(words) > 12 else "")
    bracketed = corpus.brackets_of(np.array([sentence])) is not None
    reason = f"no tree of it fits the bound{' and has its brackets' * bracketed}"
    reason = f"no category can emit {silent[0]!r}" if silent else reason
    raise UnparsableError(f"sentence {sentence + 1} ({shown}) has probability zero: {reason}")
