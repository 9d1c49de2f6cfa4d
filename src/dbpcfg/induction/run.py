"""A run in memory: its settings, its corpus and its chains."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dbpcfg.corpus.arguments import SentencesLike, TreesLike, load_trees
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar, category_name
from dbpcfg.induction.chain import Chain, Sample, trees_of
from dbpcfg.induction.consensus import UNSURE, SharedSpans
from dbpcfg.induction.corpus import RunCorpus
from dbpcfg.induction.criteria import criteria, held_out_sentences
from dbpcfg.induction.search import running
from dbpcfg.induction.settings import Configuration
from dbpcfg.induction.summary import (
    ChainSummary,
    Convergence,
    card_of,
    chain_table,
    convergence,
    summary_of,
)
from dbpcfg.induction.verdict import Verdict, verdict_of
from dbpcfg.io.tables import Table, data_frame, html, plural
from dbpcfg.model.model import Model, unknown_mass
from dbpcfg.parsing.consensus import Consensus
from dbpcfg.parsing.derivations import Derivations, as_brackets, as_tree
from dbpcfg.parsing.direction import Side, branching_side
from dbpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dbpcfg.evaluation.goldtrees import Gold
    from dbpcfg.model.decoding import Method
    from dbpcfg.model.exploring import Exploration


MOST_VOTES = 2
"""Of branching trees, beside those in the place of chains: with more, of eight chains on 3,000
utterances, noun phrases that not all chains found were lost (docs/results-learners.md)."""
BLOCK = 10_000
"""Trees that are written together."""


@dataclass(frozen=True, repr=False)
class Run:
    """The settings of a run, its sentences, and its chains as far as they have run."""

    configuration: Configuration
    corpus: RunCorpus
    chains: list[Chain]

    def __repr__(self) -> str:
        settings, done = self.configuration.model, [chain.iteration for chain in self.chains]
        state = "finished" if self.finished else "not finished"
        least = "" if min(done) == max(done) else f"{min(done):,} to "
        most = f"{least}{plural(max(done), *settings.learner.iteration)}"
        shown = (
            f"<Run: K = {settings.categories}, D = {settings.depth}, "
            f"{plural(len(self.corpus.words), 'sentence')}, {plural(len(self.chains), 'chain')} of "
            f"{most}, {state}>"
        )
        return f"{shown}\n{self.verdict.text()}" if self.finished else shown

    def _repr_html_(self) -> str:
        """What notebooks show: the verdict and the chains."""
        started = all(chain.best is not None for chain in self.chains)
        first = repr(self).partition("\n")[0].strip("<>")
        verdict = self.verdict.html() if self.finished else ""
        return html(first, [self.table()] if started else [], verdict)

    def table(self) -> Table:
        """The chains as a table."""
        remarks = self.remarks()
        trusted = {chain.settings.chain for chain in self.trusted}
        silent = [str(c.settings.chain) for c in self.survivors if c.settings.chain not in trusted]
        if self.voting and silent:
            why = "hardly more than branching to one side" + (
                "" if self.side is None else f", not to the {self.side}, or no agreement"
            )
            remarks.append(
                f"{plural(len(silent), 'chain')} ({', '.join(silent)}) did not vote: {why}"
            )
        return chain_table(self.summaries(), self.convergence(), self.configuration, remarks)

    def remarks(self) -> list[str]:
        """What learning met in the chains that ran to the end."""
        learner = self.configuration.model.learner
        notes = [(chain.settings.chain, learner.note(chain.state)) for chain in self.survivors]
        return [f"chain {number}: {note}" for number, note in notes if note is not None]

    @cached_property
    def verdict(self) -> Verdict:
        """What was learned from, how far to trust the trees, and what to do next, in plain words.

        Its text is what ``print(run.verdict.text())`` shows; ``level`` is ``"good"``, ``"fair"`` or
        ``"poor"``.
        """
        self._check_finished()
        return verdict_of(self)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each chain, those dropped from a race included."""
        names = [field.name for field in fields(ChainSummary)]
        return data_frame(names, map(astuple, self.summaries()))

    def to_arviz(self) -> Any:
        """The traces of the survivors after burn-in, for ArviZ: chain × draw.

        The group ``posterior`` has ``log_likelihood`` and the other measures of each iteration, and
        ``beta`` if it was sampled. If chains kept different numbers of samples, only the last ones
        are taken.

        Returns
        -------
        arviz.InferenceData
            The traces; of ArviZ 1 or later an ``xarray.DataTree``.

        Raises
        ------
        DbpcfgError
            If ArviZ is not installed, the run is not finished, or its learner draws no samples.
        """
        self._check_finished()
        if not self.configuration.model.learner.samples:
            raise DbpcfgError("this learner draws no samples for ArviZ; gibbs does")
        try:
            arviz = import_module("arviz")
        except ImportError:
            raise DbpcfgError("ArviZ is not installed: pip install 'dbpcfg[arviz]'") from None
        chains, draws = self.survivors, min(chain.retained for chain in self.survivors)
        names = {"log_likelihood": "likelihood", **{name: name for name in chains[0].measures}}
        traces = {
            name: np.array([chain.trace(measure)[-draws:] for chain in chains])
            for name, measure in names.items()
        }
        if getattr(self.configuration.model.learner, "sample_beta", False):
            traces["beta"] = np.array([chain.betas[-draws:] for chain in chains])
        groups = {"posterior": {n: t for n, t in traces.items() if not np.isnan(t).all()}}
        new = int(arviz.__version__.partition(".")[0]) > 0
        return arviz.from_dict(groups) if new else arviz.from_dict(**groups)

    # Layers above this one are imported by name, and only when they are called.

    def plot(self) -> Figure:
        """Plot the chains: their log-likelihoods, and how many brackets each pair shares.

        Returns
        -------
        Figure
            A figure of matplotlib, which a notebook shows; ``savefig`` writes it to a file.

        Raises
        ------
        DbpcfgError
            If matplotlib is not installed, or the run is not finished.
        """
        self._check_finished()
        figure: Figure = import_module("dbpcfg.report.figures").plot_run(self)
        return figure

    def report(
        self,
        path: str | os.PathLike[str],
        gold: TreesLike | None = None,
        *,
        overwrite: bool = False,
        quiet: bool | None = None,
    ) -> None:
        """Write a page on the run, as ``dbpcfg report`` does.

        Parameters
        ----------
        path
            The HTML file.
        gold
            Gold trees of the run's sentences, or of a whole treebank: they add scores.
        overwrite
            Whether a file is replaced that is no such page.
        quiet
            Whether no progress is shown; if not given, it is shown on a terminal or in a
            notebook.

        Raises
        ------
        DbpcfgError
            If the run is not finished, gold trees do not match, or the file cannot be written.
        """
        self._check_finished()
        trees = None
        if gold is not None:
            trees = self.match_gold(load_trees("run.report(gold=...)", gold, "<gold>"))
        write = import_module("dbpcfg.report.assemble").report_run
        write(self, Path(path), trees, overwrite, quiet)

    def explore(self, *, port: int = 0, height: int = 900) -> Exploration:
        """Type sentences at the grammar: see ``Model.explore``; with phrases of the run's trees."""
        from dbpcfg.model.exploring import Exploration

        self._check_finished()
        return Exploration(self.model, self.trees(), port, height)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the run as a directory, as if it had been run with ``out``.

        All commands take it, and ``dbpcfg.resume`` continues it. Gold trees that were given are
        not in it: the F1 in the traces is kept, and later iterations have none.

        Parameters
        ----------
        path
            The directory, which is made.
        overwrite
            Whether a run that is there is replaced.

        Raises
        ------
        DbpcfgError
            If the directory is not empty or cannot be written to.
        """
        from dbpcfg.induction.directory import RunDirectory, write_results

        kept = replace(self.configuration, gold=())
        with RunDirectory.create(Path(path), kept, self.corpus, None, overwrite) as directory:
            for chain in self.chains:
                if chain.iteration:
                    directory.save(chain)
            if self.finished:
                write_results(self, directory.path)

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
        """The selected chain: the best of the survivors; the first one, among equals.

        Where chains vote, it is one that has a vote.
        """
        return max(self.voters, key=self.goodness)

    @property
    def voters(self) -> list[Chain]:
        """The survivors that one is selected from: those that vote, or might, or else all."""
        return self.trusted or self._plausible or self.survivors

    @cached_property
    def side(self) -> Side | None:
        """The side to which the language branches, by its words alone; None if it is not clear."""
        return branching_side(self.corpus.forms)

    @cached_property
    def trusted(self) -> list[Chain]:
        """The survivors that vote, if they do: those whose trees seem to say something.

        They do more than branch to one side. If the side of the language is known, they branch to
        it, and agree; one that is left alone is trusted unless others branch elsewhere.
        """
        plausible, spans = self._plausible, self.shared
        if self.configuration.trees != "consensus" or not self.finished:
            return plausible
        if self.side is not None and len(plausible) > 1:
            agreement = spans.among([chain.settings.chain for chain in plausible])
            doubtful = agreement is not None and agreement < UNSURE
        else:
            doubtful = bool(spans.astray(self.side))
        return [] if doubtful else plausible

    @property
    def _plausible(self) -> list[Chain]:
        """The survivors that do more than branch to one side, and branch to that of the language.

        If chains do not vote, all survivors.
        """
        if self.configuration.trees != "consensus" or not self.finished:
            return self.survivors
        others = {*self.shared.one_sided, *self.shared.astray(self.side)}
        return [chain for chain in self.survivors if chain.settings.chain not in others]

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
        """The trees of the run: those of the selected chain, or a consensus.

        Trees that do nothing but branch to the side of the language vote too: in the place of
        chains that do not branch to it, and half as many times as the others, but at most twice.
        They decide where chains do not agree; if no chain is trusted, there are only these.
        """
        return self._decided[0] if self.voting else self._spans_of(self.best)

    @cached_property
    def _decided(self) -> tuple[Derivations, Consensus]:
        """The consensus of the trees, and how it was made."""
        rule, trusted = Consensus(), self.trusted
        if self.side is not None:
            own = min(MOST_VOTES, len(trusted) // 2)
            times = len(self.shared.astray(self.side)) + own if trusted else 1
            rule = Consensus(bool(trusted), self.side, times)
        return rule.learn([self._spans_of(chain) for chain in self._deciding])

    @property
    def _deciding(self) -> list[Chain]:
        """The chains that a consensus takes into account, the selected one first."""
        others = self.voters if self.side is None else self.trusted
        return [self.best, *(chain for chain in others if chain is not self.best)]

    def _spans_of(self, chain: Chain) -> Derivations:
        return self.shared.trees[chain.settings.chain]

    @property
    def voting(self) -> bool:
        """Whether the answer is a consensus."""
        if self.configuration.trees != "consensus" or not self.finished:
            return False
        return len(self.survivors) > 1

    @property
    def grammar(self) -> Grammar:
        """The grammar of greatest log-likelihood among the best chain's retained samples."""
        return self._selected().grammar

    @cached_property
    def model(self) -> Model:
        """The selected grammar, ready for other text, with those of other chains that vote."""
        self._check_finished()
        model = self._model_of(self.best)
        if not self.voting:
            return model
        others = (self._model_of(chain) for chain in self._deciding[1:])
        voters = tuple(replace(model, samples=()) for model in others)
        return replace(model, voters=voters, consensus=self._decided[1])

    @cached_property
    def models(self) -> list[Model]:
        """A model of each survivor, to average over: see ``Model.surprisal``."""
        self._check_finished()
        return [self._model_of(chain) for chain in self.survivors]

    def _model_of(self, chain: Chain) -> Model:
        """The grammar of a chain's best sample, with the other grammars that it kept."""
        settings, best = self.configuration.model, chain.best
        assert best is not None
        counts = trees_of(chain, self.corpus.forms, "best").counts(settings.categories)
        beta, rules = chain.betas[best.iteration - 1], best.grammar.rules_per_category
        return Model(
            best.grammar,
            settings.depth,
            replace(self.configuration.preprocessing, brackets=None),
            unknown_mass(counts.rows.sum(axis=1), beta, rules),
            tuple(chain.grammars),
            self.corpus.classes(self.configuration.preprocessing),
            card_of(self.configuration, chain, self.corpus.forms.vocabulary.words),
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
                    f"has done {plural(chain.iteration, 'iteration')}; continue it with "
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
        if chain is not None and chain.last is None:
            raise DbpcfgError(f"chain {chain.settings.chain} has done no iteration: it has no tree")
        chosen = self._chosen(chain)
        return [
            as_tree(chosen[sentence], self.corpus.words[sentence])
            for sentence in range(len(self.corpus.words))
        ]

    def bracketed_trees(self) -> Iterator[str]:
        """The trees of the run in brackets, made as they are asked for: all need much memory.

        Yields
        ------
        str
            The tree of the next sentence, as ``trees.txt`` has it.

        Raises
        ------
        DbpcfgError
            If the run is not finished.
        """
        chosen, words = self._chosen(None), self.corpus.words
        names = [category_name(c) for c in range(self.configuration.model.categories)]
        for first in range(0, len(words), BLOCK):
            some = range(first, min(first + BLOCK, len(words)))
            yield from as_brackets([chosen[s] for s in some], [words[s] for s in some], names)

    def _chosen(self, chain: Chain | None) -> Derivations:
        if chain is None:
            self._check_finished()
            if self.voting:
                return self.answer
        return trees_of(chain or self.best, self.corpus.forms, self.configuration.trees)

    def parse(
        self,
        sentences: SentencesLike,
        method: Method | None = None,
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
        from dbpcfg.induction.start import before_and_after
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
        from dbpcfg.evaluation.goldtrees import match_gold

        rule = self.configuration.preprocessing.punctuation
        return match_gold(list(self.corpus.words), treebank, name, rule)

    def convergence(self) -> Convergence:
        """Whether the survivors agree, by their log-likelihoods after burn-in."""
        if not self.configuration.model.learner.samples:
            return Convergence(math.nan, math.nan, len(self.survivors), sampled=False)
        return convergence([c.logs[c.burn_in :] for c in self.survivors if c.burn_in is not None])

    def summaries(self) -> list[ChainSummary]:
        """The length and the log-likelihoods of each chain, in a few numbers."""
        forms, held_out = self.corpus.learned, self.configuration.model.held_out
        tokens = int(
            forms.lengths.sum() - forms.lengths[held_out_sentences(len(forms), held_out)].sum()
        )
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
