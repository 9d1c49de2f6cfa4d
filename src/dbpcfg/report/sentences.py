"""The sentences of a run with their trees, packed: a page has tens of thousands of them.

Words and labels are numbers of lists. A binary tree is its nodes in pre-order, each a number 2c for
a phrase of category c or 2c + 1 for a word. A gold tree is its nodes in pre-order, each a label and
a number of children, 0 for a word under its tag.

Each phrase in either tree has the posterior probability of its span, as a percentage: the share of
retained samples with this span or, if the learner draws no samples, the probability under the
grammar. If a gold bracket begins or ends next to punctuation, which is ignored, it is that of the
most probable span over the same words. If there are other survivors, each phrase of the run's trees
has the number of survivors with this span, and each sentence the agreement of the chains on it, as
a percentage.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.evaluation.goldtrees import Gold
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.mapping import rows_of
from dbpcfg.induction.run import Run
from dbpcfg.induction.trees import span_probabilities
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.derivations import CATEGORY, END, START, Derivations, first_cells
from dbpcfg.trees.tree import Tree

Numbers = NDArray[np.int64]
NOT_SCORED = 255
"""Instead of a percentage, for sentences without brackets."""
SentenceSpan = tuple[int, int, int]
"""A sentence, and the start and end of a span in it."""


def pack(numbers: Sequence[int] | NDArray[Any]) -> dict[str, str]:
    """Pack numbers from 0 up, each in 1, 2 or 4 bytes, least byte first."""
    array = np.asarray(numbers, dtype=np.int64)
    most = int(array.max(initial=0))
    type_code = "u1" if most < 2**8 else "u2" if most < 2**16 else "u4"
    data = base64.b64encode(array.astype(f"<{type_code}").tobytes())
    return {"type": type_code, "data": data.decode("ascii")}


def codes(nodes: Ints) -> Numbers:
    """A number for each node: twice its category, and one more for a word."""
    is_word = nodes[:, END] - nodes[:, START] == 1
    numbers: Numbers = 2 * nodes[:, CATEGORY].astype(np.int64) + is_word
    return numbers


def sentences(run: Run, trees: Derivations, gold: Gold | None) -> dict[str, Any]:
    """All sentences with their trees, and with their gold trees if there are any."""
    words, K = run.corpus.words, run.configuration.model.categories
    marks = gold.punctuation if gold else run.corpus.punctuation
    lengths = words.lengths
    nodes = trees.nodes
    sentence = np.repeat(np.arange(len(words)), 2 * lengths - 1)
    phrases = nodes[:, END] - nodes[:, START] > 1
    posterior = Posterior(run.best, run.corpus.forms)
    data: dict[str, Any] = {
        "categories": [f"X{c}" for c in range(K)],
        "words": list(words.vocabulary.words),
        "lengths": pack(lengths),
        "tokens": pack(words.tokens),
        "punctuation": pack([mark for one in marks for mark in one]),
        "nodes": pack(codes(nodes)),
        "posterior": pack(posterior.of(sentence[phrases], *nodes[phrases, :CATEGORY].T)),
    }
    itself = 0 if run.voting else 1  # a chain is not compared with itself
    others = len(run.survivors) - itself
    if others:
        agreement = np.nan_to_num(np.round(100 * run.shared.sentences()), nan=NOT_SCORED)
        data |= {
            "others": others,
            "shared": pack(run.shared.votes(trees)[phrases] - itself),
            "agreement": pack(agreement),
        }
    if gold is not None:
        data["gold"] = _gold(gold, posterior)
    return data


class Posterior:
    """The posterior probability of any span, whatever its category, as a percentage.

    It is counted in the chain's samples, or computed from its grammars if that was not done.

    ``some``: sentences whose spans are asked for, by their place among these; all, if not given.
    """

    def __init__(self, chain: Chain, corpus: Encoded, some: Sequence[int] | None = None) -> None:
        chosen = np.arange(len(corpus)) if some is None else np.array(some, dtype=np.int64)
        here = corpus if some is None else corpus.select(chosen)
        self.lengths, self.first_cell = here.lengths, first_cells(here)
        self.share: Floats
        if chain.spans.kept:
            counts = chain.spans.counts[rows_of(first_cells(corpus), chosen)]
            self.share = counts.sum(axis=1) / chain.retained
        else:
            self.share = span_probabilities(chain.grammars, chain.settings.depth, here)

    def of(self, sentence: Numbers, start: Numbers, end: Numbers) -> Numbers:
        """The percentage of each span (start, end) of a sentence."""
        n = self.lengths[sentence]
        cell = self.first_cell[sentence] + start * n - start * (start - 1) // 2
        share: Numbers = np.round(100 * self.share[cell + end - start - 1]).astype(np.int64)
        return share

    def of_words(self, spans: list[SentenceSpan], punctuation: list[tuple[bool, ...]]) -> Numbers:
        """The greatest percentage of all spans over the same words, for each span."""
        same = [
            (n, s, *ends)
            for n, (s, i, j) in enumerate(spans)
            for ends in same_words(i, j, punctuation[s])
        ]
        which, sentence, start, end = np.array(same, dtype=np.int64).reshape(-1, 4).T
        greatest = np.zeros(len(spans), dtype=np.int64)
        np.maximum.at(greatest, which, self.of(sentence, start, end))
        return greatest


def same_words(start: int, end: int, punctuation: Sequence[bool]) -> list[tuple[int, int]]:
    """All spans over the same words, with any of the punctuation around them."""
    words = [k for k in range(start, end) if not punctuation[k]]
    if not words:
        return [(start, end)]
    first, last = words[0], words[-1] + 1
    starts, ends = [first], [last]
    while starts[-1] > 0 and punctuation[starts[-1] - 1]:
        starts.append(starts[-1] - 1)
    while ends[-1] < len(punctuation) and punctuation[ends[-1]]:
        ends.append(ends[-1] + 1)
    return [(i, j) for i in starts for j in ends]


def _gold(gold: Gold, posterior: Posterior) -> dict[str, Any]:
    nodes = [list(preorder(tree)) for tree in gold.trees]
    labels, children = zip(*(node for tree in nodes for node in tree), strict=True)
    spans = [(n, s.start, s.end) for n, tree in enumerate(gold.trees) for s in tree.spans()]
    names = [label for label, _ in Counter(labels).most_common()]
    index = {label: number for number, label in enumerate(names)}
    return {
        "labels": names,
        "sizes": pack([len(tree) for tree in nodes]),
        "nodes": pack([index[label] for label in labels]),
        "children": pack(children),
        "posterior": pack(posterior.of_words(*_in_run(spans, gold, posterior.lengths))),
    }


def _in_run(
    spans: list[SentenceSpan], gold: Gold, lengths: Numbers
) -> tuple[list[SentenceSpan], list[tuple[bool, ...]]]:
    """Gold spans, and what is punctuation, by the words of the run: it may have no punctuation."""
    marks, to = list(gold.punctuation), []
    for s, (own, n) in enumerate(zip(gold.punctuation, lengths.tolist(), strict=True)):
        bare = len(own) != n
        to.append(list(accumulate((not (bare and mark) for mark in own), initial=0)))
        marks[s] = (False,) * n if bare else own
    moved = []
    for s, i, j in spans:
        start = min(to[s][i], int(lengths[s]) - 1)
        moved.append((s, start, max(start + 1, to[s][j])))
    return moved, marks


def preorder(tree: Tree) -> Iterator[tuple[str, int]]:
    """Label and number of children of each node; a tag and its word are one, of no children."""
    todo: list[Tree | str] = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield "", 0
        elif item.preterminal:
            yield item.label, 0
        else:
            yield item.label, len(item.children)
            todo.extend(reversed(item.children))
