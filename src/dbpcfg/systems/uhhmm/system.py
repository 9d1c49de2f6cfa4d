"""UHHMM as one of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Literal, NamedTuple, Self, get_args

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.parsing.derivations import Derivations, as_tree
from dbpcfg.parsing.spans import SpanCounts
from dbpcfg.runtime.processes import cores
from dbpcfg.runtime.progress import Progress
from dbpcfg.runtime.threads import one_blas_thread
from dbpcfg.systems.checks import check_sentences, require_fit
from dbpcfg.systems.uhhmm.prior import Prior
from dbpcfg.systems.uhhmm.sampler import StateSample, StateSampler
from dbpcfg.systems.uhhmm.submodels import Size
from dbpcfg.systems.uhhmm.trees import derivations, label_names
from dbpcfg.trees.tree import Tree

TreeChoice = Literal["last", "mbr"]

BURN_IN, EVERY = 50, 5
"""The released recipe: 50 iterations, then a sample every 5."""
ITERATIONS = 1000
"""The recipe gives no number. The likelihood of the synthetic corpus rises for nearly as long."""
MOST_STORES = 10**6
"""The most stores of the greatest depth: a message has a number for each."""


class Fitted(NamedTuple):
    """The result of `UHHMM.fit`."""

    sample: StateSample
    """The last sample."""
    trees: Derivations
    log_likelihoods: list[float]
    """After each iteration."""


class UHHMM:
    """Unsupervised hierarchical hidden Markov model (Shain et al. 2016), finite sampler.

    Words are taken as they are: lower-case them first. Trees are binary, over all words,
    punctuation included. See `dbpcfg.systems.uhhmm` for the model and for what is exact.

    ``trees``: ``"last"``, those of the last sample, as the original; or ``"mbr"``, MBR trees over
    every fifth sample after 50 iterations.
    ``faithful``: whether to compute as the original where that differs from the model.
    ``threads``: processors to use, all if not given; trees do not depend on their number.
    """

    name = "uhhmm"
    stochastic = True

    def __init__(
        self,
        A: int = 4,
        B: int = 4,
        G: int = 8,
        D: int = 2,
        iterations: int = ITERATIONS,
        *,
        trees: TreeChoice = "last",
        faithful: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        numbers = {"A": A, "B": B, "G": G, "D": D, "iterations": iterations}
        for name, value in numbers.items():
            if value < 1:
                raise DbpcfgError(f"{name} must be at least 1, not {value!r}")
        if (A * B) ** D > MOST_STORES:
            raise DbpcfgError(
                f"A = {A}, B = {B}, D = {D} has {(A * B) ** D:,} stores; "
                f"at most {MOST_STORES:,} are possible, so make one of them smaller"
            )
        if trees not in get_args(TreeChoice):
            raise DbpcfgError(
                f"no trees {trees!r}; choose one of {', '.join(get_args(TreeChoice))}"
            )
        self._size = A, B, G, D
        self._iterations, self._choice = iterations, trees
        self._prior, self._seed = Prior(faithful=bool(faithful)), seed
        self._threads = cores() if threads is None else threads
        self._fitted: Fitted | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Sample."""
        if not sentences:
            raise DbpcfgError("there are no sentences to learn from; give one at least")
        check_sentences(sentences)
        corpus = Encoded.from_sentences(sentences)
        size = Size(*self._size, len(corpus.vocabulary))
        spans = SpanCounts(corpus, len(label_names(size)))
        if progress is not None:
            progress.total = self._iterations
        trace = []
        sampler = StateSampler(corpus, size, self._prior, self._seed, self._threads)
        with one_blas_thread():  # once, not for each of many small pieces of work
            for sample in islice(sampler.sample(), self._iterations):
                trace.append(sample.log_likelihood)
                if self._choice == "mbr" and self._is_kept(sample.iteration):
                    spans.add(derivations(corpus, sample.states, size))
                if progress is not None:
                    progress.update(sample.iteration)
        if self._choice == "mbr" and spans.kept:
            trees = spans.decode(self._threads)
        else:
            trees = derivations(corpus, sample.states, size)
        self._fitted = Fitted(sample, trees, trace)
        return self

    def _is_kept(self, iteration: int) -> bool:
        """Whether MBR trees count this sample; the last one always, so that there is one."""
        after = iteration - BURN_IN
        return iteration == self._iterations or (after > 0 and after % EVERY == 0)

    @property
    def fitted(self) -> Fitted:
        """The last sample, the trees, and the log-likelihood after each iteration."""
        return require_fit(self.name, self._fitted)

    def trees(self) -> list[Tree]:
        """A tree for every sentence, in order."""
        found, corpus = self.fitted.trees, self.fitted.trees.corpus
        names = label_names(Size(*self._size, len(corpus.vocabulary)))
        return [as_tree(found[s], corpus[s], names) for s in range(len(corpus))]
