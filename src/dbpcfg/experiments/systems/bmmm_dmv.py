"""BMMM+DMV: word classes and dependencies, each learned from the other, generation by generation.

Christos Christodoulopoulos, Sharon Goldwater and Mark Steedman: *Turning the pipeline into a loop:
iterated unsupervised dependency parsing and PoS induction*, NAACL-HLT Workshop on the Induction of
Linguistic Structure, 2012.

1. BMMM finds word classes from the neighbours of words (`dbpcfg.experiments.systems.bmmm`).
2. DMV finds heads from the classes (`dbpcfg.experiments.systems.dmv`).
3. BMMM starts again, with the classes of heads and dependents as features beside the neighbours,
   and DMV after it, from its own start; and so on.

Nothing but heads and classes passes from one generation to the next, and the last one is the
result: there is no selection by likelihood. Each head with dependents is one flat constituent,
labelled with its class (`dbpcfg.trees.dependencies`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.systems.bmmm import BMMM, Dependencies
from dbpcfg.experiments.systems.dmv import DMV
from dbpcfg.experiments.systems.registry import require_fit
from dbpcfg.io.progress import Progress
from dbpcfg.numerics.kernels import Longs
from dbpcfg.trees.dependencies import tree_from_heads
from dbpcfg.trees.tree import Tree


class BmmmDmv:
    """Word classes by BMMM and heads by DMV, in a loop (Christodoulopoulos et al. 2012).

    Words are taken as they are: lower-case them first. Punctuation is treated like words.

    ``faithful``: whether BMMM samples as the published program does (see
    `dbpcfg.experiments.systems.bmmm`).
    """

    name = "bmmm-dmv"
    summary = "word classes and dependencies, learned in a loop"
    reference = "Christodoulopoulos, Goldwater and Steedman (2012)"

    def __init__(
        self,
        classes: int = 45,
        generations: int = 10,
        iterations: int = 500,
        em: int = 20,
        backoff: float = 0.66,
        faithful: bool = False,
        seed: int = 0,
    ) -> None:
        if generations < 1:
            raise DbpcfgError(f"generations must be at least 1, not {generations!r}")
        self.generations = generations
        self._tagger = BMMM(classes, iterations, seed, faithful)
        self._parser = DMV(em, backoff)
        self._fitted: tuple[Sequence[Sequence[str]], list[Longs], list[Longs]] | None = None

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``progress``: updated with the number of iterations of BMMM and DMV, over all generations.
        """
        dependencies: Dependencies | None = None
        each = self._tagger.iterations + self._parser.iterations
        shown = progress or Progress(self.name, quiet=True)
        shown.total = self.generations * each
        for generation in range(self.generations):
            done = generation * each
            tags = self._tagger.fit(sentences, shown.after(done), dependencies, generation).tags()
            parsing = shown.after(done + self._tagger.iterations)
            heads = self._parser.fit(tags, parsing).heads()
            dependencies = Dependencies(heads, tags)
            self._fitted = sentences, heads, tags
        return self

    def heads(self) -> list[Longs]:
        """For each sentence the position of every word's head, from 0; −1 for the root."""
        return require_fit(self.name, self._fitted)[1]

    def tags(self) -> list[Longs]:
        """For each sentence the class of every word."""
        return require_fit(self.name, self._fitted)[2]

    def trees(self) -> list[Tree]:
        """The constituents of every sentence, in order, labelled with the class of the head."""
        return [
            tree_from_heads(words, list(heads), [str(tag) for tag in tags])
            for words, heads, tags in zip(*require_fit(self.name, self._fitted), strict=True)
        ]
