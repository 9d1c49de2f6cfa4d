"""A run in memory: its settings, its corpus and its chains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dbpcfg.corpus.reading import GivenSentences
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import Gold, match_gold
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.chain import Chain, Sample, trees_of
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.criteria import criteria, kept_aside
from dbpcfg.induction.search import running
from dbpcfg.induction.settings import Configuration
from dbpcfg.induction.start import before_and_after
from dbpcfg.induction.summary import (
    ChainSummary,
    Convergence,
    SharedSpans,
    chain_table,
    convergence,
    summary_of,
)
from dbpcfg.io.tables import Table, html
from dbpcfg.model.decoding import Method
from dbpcfg.model.model import Model, unknown_mass
from dbpcfg.parsing.derivations import Derivations, as_tree
from dbpcfg.trees.tree import Tree


@dataclass(frozen=True, repr=False)
class Run:
    """The settings of a run, its sentences, and its chains as far as they have run."""

    configuration: Configuration
    corpus: RunCorpus
    chains: list[Chain]

    def __repr__(self) -> str:
        settings, done = self.configuration.model, [chain.iteration for chain in self.chains]
        state = "finished" if self.finished else "not finished"
        most = f"{min(done):,}" if min(done) == max(done) else f"{min(done):,} to {max(done):,}"
        return (
            f"<Run: K = {settings.categories}, D = {settings.depth}, "
            f"{len(self.corpus.words):,} sentences, {_number(len(self.chains), 'chain')} of {most} "
            f"iterations, {state}>"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: the chains."""
        begun = all(chain.best is not None for chain in self.chains)
        return html(repr(self).strip("<>"), [self.table()] if begun else [])

    def table(self) -> Table:
        """The chains as a table, and whether they agree."""
        learner = self.configuration.model.learner
        own = [(chain.settings.chain, learner.remark(chain.state)) for chain in self.survivors]
        remarks = [f"chain {number}: {remark}" for number, remark in own if remark is not None]
        if self.finished:
            remarks += self.shared.remarks(self.answer, self.others)
        return chain_table(self.summaries(), self.convergence(), self.configuration, remarks)

    @property
    def finished(self) -> bool:
        """Whether every chain has run long enough, or was dropped from the race."""
        return all(chain.finished(self.configuration.schedule) for chain in self.survivors)

    @property
    def survivors(self) -> list[Chain]:
        """The chains from which one is selected: all, or those that are left of a race."""
        rungs, select = self.configuration.rungs, criteria[self.configuration.select]
        return running(self.chains, rungs, select)[-1] if rungs else self.chains

    @cached_property
    def best(self) -> Chain:
        """The selected chain: the best of the survivors; the first one, among equals."""
        return max(self.survivors, key=self.goodness)

    def goodness(self, chain: Chain) -> float:
        """How good a survivor is, by what the run selects by; more is better.

        Parameters
        ----------
        chain
            The chain.
        """
        return criteria[self.configuration.select].of_chain(chain, self)

    @cached_property
    def shared(self) -> SharedSpans:
        """Which spans of their trees the survivors share."""
        forms, trees = self.corpus.forms, self.configuration.trees
        return SharedSpans({c.settings.chain: trees_of(c, forms, trees) for c in self.survivors})

    @cached_property
    def answer(self) -> Derivations:
        """The trees of the run: those of the selected chain, or the consensus of all survivors."""
        selected = self.best.settings.chain
        if self.voting:
            return self.shared.consensus(selected)
        return self.shared.trees[selected]

    @property
    def voting(self) -> bool:
        """Whether the answer is the consensus of several chains."""
        return self.configuration.trees == "consensus" and len(self.survivors) > 1

    @property
    def others(self) -> list[int]:
        """The chains that the answer is compared with: survivors other than the selected one, or
        all survivors if they voted."""
        return [c.settings.chain for c in self.survivors if self.voting or c is not self.best]

    @property
    def grammar(self) -> Grammar:
        """The grammar of greatest log-likelihood among the best chain's retained samples."""
        return self._selected().grammar

    @cached_property
    def model(self) -> Model:
        """The selected grammar, ready for other text."""
        self._check_finished()
        return self._model_of(self.best)

    @cached_property
    def models(self) -> list[Model]:
        """A model of each survivor, to average over: see ``Model.surprisal``."""
        self._check_finished()
        return [self._model_of(chain) for chain in self.survivors]

    def _model_of(self, chain: Chain) -> Model:
        """The grammar of a chain's best sample, with the other grammars that it kept."""
        settings, best = self.configuration.model, chain.best
        assert best is not None
        counts = Derivations(best.nodes, self.corpus.forms).counts(settings.categories)
        beta, rules = chain.betas[best.iteration - 1], best.grammar.rules_per_category
        return Model(
            best.grammar,
            settings.depth,
            replace(self.configuration.preparation, brackets=None),
            unknown_mass(counts.rows.sum(axis=1), beta, rules),
            tuple(chain.grammars),
        )

    def _selected(self) -> Sample:
        """The best sample of the best chain."""
        self._check_finished()
        assert self.best.best is not None
        return self.best.best

    def _check_finished(self) -> None:
        for chain in self.survivors:
            if not chain.finished(self.configuration.schedule):
                raise DbpcfgError(
                    f"the run is not finished: chain {chain.settings.chain} of {len(self.chains)} "
                    f"has done {chain.iteration:,} iterations; continue it with "
                    "dbpcfg.resume(path), or take run.trees(run.chains[0])"
                )

    def trees(self, chain: Chain | None = None) -> list[Tree]:
        """A tree for every sentence of the run, in its words as written.

        Parameters
        ----------
        chain
            The chain whose trees they are; by default the run's answer.

        Raises
        ------
        DbpcfgError
            If the run is not finished and no chain is named, or the chain has no iteration.
        """
        if chain is None:
            self._check_finished()
        elif chain.last is None:
            raise DbpcfgError(f"chain {chain.settings.chain} has done no iteration: it has no tree")
        if chain is None and self.voting:
            chosen = self.answer
        else:
            chosen = trees_of(chain or self.best, self.corpus.forms, self.configuration.trees)
        return [
            as_tree(chosen[sentence], self.corpus.words[sentence])
            for sentence in range(len(self.corpus.words))
        ]

    def parse(
        self,
        sentences: GivenSentences,
        method: Method = "mbr",
        *,
        seed: int = 0,
        threads: int = 1,
        quiet: bool | None = None,
    ) -> list[Tree]:
        """Parse other sentences with the run's model: see ``Model.parse``."""
        return self.model.parse(sentences, method, seed=seed, threads=threads, quiet=quiet)

    def show(self, width: int = 80) -> None:
        """Print the categories with their words and rules, and how often trees use them.

        Parameters
        ----------
        width
            Characters in a line, at most.
        """
        from dbpcfg.model.profile import as_text

        trees, start = self.trees(), self.configuration.model.start
        print(as_text(self.model.profile(trees), width))
        if start is not None:
            print("\n" + before_and_after(start, self.model, trees).text())

    def match_gold(self, treebank: Sequence[Sentence], name: str = "the treebank") -> Gold:
        """Find the gold trees of the run's sentences, word by word.

        Parameters
        ----------
        treebank
            The sentences of the run, or more, with their trees.
        name
            What messages call it.

        Returns
        -------
        Gold
            The gold trees, one for each sentence of the run.

        Raises
        ------
        DbpcfgError
            If a sentence of the run has no gold tree in its place.
        """
        rule = self.configuration.preparation.punctuation
        return match_gold(list(self.corpus.words), treebank, name, rule)

    def convergence(self) -> Convergence:
        """Whether the survivors agree, by their log-likelihoods after burn-in."""
        if not self.configuration.model.learner.samples:
            return Convergence(math.nan, math.nan, len(self.survivors), sampled=False)
        return convergence([c.logs[c.burn_in :] for c in self.survivors if c.burn_in is not None])

    def summaries(self) -> list[ChainSummary]:
        """The length and the log-likelihoods of each chain, in a few numbers."""
        forms, aside = self.corpus.forms, self.configuration.model.aside
        tokens = int(forms.lengths.sum() - forms.lengths[kept_aside(len(forms), aside)].sum())
        survivors = {chain.settings.chain for chain in self.survivors}
        finished = self.finished and len(survivors) > 1
        return [
            summary_of(
                chain,
                tokens,
                selected=chain is self.best,
                survived=number in survivors,
                agreement=self.shared.agreement(number)
                if finished and number in survivors
                else None,
            )
            for number, chain in ((chain.settings.chain, chain) for chain in self.chains)
        ]


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
