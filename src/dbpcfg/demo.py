"""The demonstration: the paper's centre-embedding corpus, from words alone to its trees."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.induction.gibbs import Settings, states
from dbpcfg.kernels import Ints
from dbpcfg.parsing.decode import minimum_bayes_risk
from dbpcfg.parsing.derivations import Derivations, as_tree
from dbpcfg.trees import Tree

CATEGORIES, DEPTH, CHAINS, ITERATIONS, RETAINED = 5, 2, 4, 600, 200


@dataclass(frozen=True)
class ChainResult:
    """What one chain came to."""

    mean_log_likelihood: float
    trees: list[Tree]


def run_demo(seed: int, say: Callable[[str], None], show: Callable[[str], None]) -> None:
    """Learn the corpus with several chains; ``say`` progress and ``show`` results."""
    gold = synthetic_trees("center", seed=seed)
    corpus = Encoded.from_sentences(tree.words() for tree in gold)
    show(
        f"{len(corpus)} sentences, {len(corpus.vocabulary)} words, no trees. Learning a grammar of "
        f"{CATEGORIES} categories within memory depth {DEPTH}:"
    )
    results = []
    for chain in range(CHAINS):
        say(f"chain {chain} ({chain + 1} of {CHAINS}): {ITERATIONS} iterations …")
        settings = Settings(CATEGORIES, DEPTH, seed=seed, chain=chain)
        result = run_chain(corpus, settings)
        results.append(result)
        show(
            f"  chain {chain}: mean log-likelihood {result.mean_log_likelihood:9.1f}, "
            f"{agreement(gold, result.trees)} of {len(gold)} bracketings as in the gold trees"
        )
    best = max(results, key=lambda result: result.mean_log_likelihood)
    show(f"The chain of greatest likelihood is chain {results.index(best)}. Its trees, one a kind:")
    shapes: dict[int, Tree] = {}
    for tree, induced in zip(gold, best.trees, strict=True):
        shapes.setdefault(len(tree), induced)
    for _, induced in sorted(shapes.items()):
        show(f"  {induced}")


def run_chain(corpus: Encoded, settings: Settings) -> ChainResult:
    """One chain; trees by minimum Bayes risk over the last ``RETAINED`` samples."""
    chain = list(itertools.islice(states(corpus, settings), ITERATIONS))[-RETAINED:]
    samples = [state.derivations for state in chain if state.derivations]
    logs = [state.log_likelihood for state in chain if state.log_likelihood is not None]
    trees = [
        as_tree(_decode(samples, sentence, settings.categories), corpus[sentence])
        for sentence in range(len(corpus))
    ]
    return ChainResult(float(np.mean(logs)), trees)


def _decode(samples: list[Derivations], sentence: int, categories: int) -> Ints:
    n = int(samples[0].corpus.lengths[sentence])
    weights = np.zeros((n, n + 1, categories))
    for sample in samples:
        start, end, category = sample[sentence].T
        weights[start, end, category] += 1
    return minimum_bayes_risk(weights)


def agreement(gold: list[Tree], found: list[Tree]) -> int:
    """How many trees have the same brackets, labels aside."""

    def brackets(tree: Tree) -> list[tuple[int, int]]:
        return [(span.start, span.end) for span in tree.spans()]

    return sum(brackets(a) == brackets(b) for a, b in zip(gold, found, strict=True))
