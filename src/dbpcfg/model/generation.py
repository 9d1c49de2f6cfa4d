"""Sentences that a learned grammar makes up, with their trees.

They are drawn from the model: with a bound from the grammar under the bound, without one from its
trees that end. Classes of rare words, such as ``<*ed>``, are words like others here; the word for
unknown ones is only made if asked for. Sentence i depends on the seed and on i only, so the first
ten of a hundred are the ten of ten.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.bounding import containment, require_fitting
from dbpcfg.grammar.derivation import generate as derive
from dbpcfg.grammar.lengths import derive_short, length_distribution, length_table
from dbpcfg.grammar.pcfg import Grammar, category_name
from dbpcfg.model.learned import LearnedGrammar
from dbpcfg.numerics.philox import Purpose, stream
from dbpcfg.parsing.derivations import as_tree
from dbpcfg.runtime.threads import one_blas_thread
from dbpcfg.trees.tree import Tree

__all__ = ["generate"]

BATCH = 1000
_SHORT = 1
"""The stream of short sentences among those for generation, where a chain's number goes."""


def generate(
    model: LearnedGrammar,
    n: int,
    seed: int = 0,
    *,
    max_length: int | None = None,
    unknown: bool = False,
) -> Iterator[Tree]:
    """n trees; ``max_length`` is the greatest number of words, and ``unknown`` allows `UNKNOWN`."""
    if n < 1:
        raise DbpcfgError(f"the number of sentences must be at least 1, got {n}")
    if max_length is not None and max_length < 1:
        raise DbpcfgError(f"sentences have at least 1 word, got a greatest length of {max_length}")
    grammar = model.grammar_with_unknown if unknown else model.grammar
    stream(seed)  # refuses an impossible seed before the first tree is asked for
    if max_length is None:
        trees = _any_length(grammar, model.depth, n, seed)
    else:
        trees = _short(grammar, model.depth, n, seed, max_length)
    names = {category_name(c): name for c, name in enumerate(model.grammar.names)}
    return (tree.relabel(names.__getitem__) for tree in trees)


def _any_length(grammar: Grammar, depth: int | None, n: int, seed: int) -> Iterator[Tree]:
    h = containment(grammar, depth)
    require_fitting(grammar, h)  # or there is no remedy
    for first in range(0, n, BATCH):
        numbers = stream(seed, iteration=first // BATCH, purpose=Purpose.GENERATE)
        try:
            yield from derive(grammar, depth, min(BATCH, n - first), numbers)
        except GrammarError as error:
            raise GrammarError(f"{error}; set a greatest length (--max-length)") from None


def _short(
    grammar: Grammar, depth: int | None, n: int, seed: int, max_length: int
) -> Iterator[Tree]:
    p = length_table(grammar, depth, max_length)
    lengths = np.cumsum(length_distribution(grammar, p))
    emission, words = np.cumsum(grammar.lexical, axis=1), grammar.vocabulary.words
    for item in range(n):
        numbers = stream(seed, _SHORT, item // BATCH, Purpose.GENERATE)
        with one_blas_thread():
            nodes, sentence = derive_short(
                lengths, grammar.root, grammar.binary, emission, p, numbers, item % BATCH
            )
        yield as_tree(nodes, [words[word] for word in sentence])
