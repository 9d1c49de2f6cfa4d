"""Learners: how a grammar is learned from sentences.

A learner is an object with its own options. It has a first state, a step, trees, and the arrays of
its state that a checkpoint keeps; nothing outside asks which learner it is.

=============  =====================================================================
``gibbs``      `dbpcfg.induction.learners.gibbs`: the paper's sampler
``em``, ``vb`` `dbpcfg.induction.learners.expectation`: EM and variational Bayes
``neural``     `dbpcfg.induction.learners.neural`: a network gives a low-rank grammar
=============  =====================================================================

To add one, derive a dataclass from `Learner`, declare its options with `dbpcfg.options.option`, and
register it: ``learners.add("mine", Mine)``, or an entry point of the group ``dbpcfg.learners``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar, draw_from_prior, without_zeros
from dbpcfg.induction.criteria import Measures
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.search import PAPER_CHAINS
from dbpcfg.induction.trees import mbr_under
from dbpcfg.io.tables import Column
from dbpcfg.numerics.kernels import Floats
from dbpcfg.options import INDUCE, LearnerOptions, belongs_to, keywords
from dbpcfg.parsing.chart.layout import Precision
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.registry import Registry

if TYPE_CHECKING:
    from dbpcfg.corpus.preprocessing import PreprocessedCorpus, Preprocessing
    from dbpcfg.induction.auto import TextFigures
    from dbpcfg.induction.corpus import Lessons
    from dbpcfg.induction.settings import ChainSettings
    from dbpcfg.io.progress import Progress
    from dbpcfg.model.model import Model


@dataclass(frozen=True, eq=False)
class State:
    """A chain after some iterations. With its settings and corpus, all that the next step needs.

    ``measures`` are of the grammar before this one and its trees, ``derivations``; None before the
    first iteration, and ``derivations`` also if nobody needs them. Learners that need more have a
    state of their own.
    """

    iteration: int
    grammar: Grammar
    beta: float
    derivations: Derivations | None = None
    measures: Measures | None = None


@dataclass(frozen=True)
class Learner(LearnerOptions):
    """How a grammar is learned."""

    name: ClassVar[str]
    """What it is registered by; files name it so."""
    samples: ClassVar[bool] = False
    """Whether iterations are samples, of which the second half counts; of others the last does."""
    default_categories: ClassVar[int] = 15
    default_depth: ClassVar[int] = 2
    default_precision: ClassVar[Precision] = "double"
    grammar_kind: ClassVar[type[Grammar]] = Grammar
    """What kind of grammar it learns."""
    default_trees: ClassVar[str] = "mbr"
    """What trees are written, if nothing is asked for."""
    beta: ClassVar[float] = 0.2
    """β, by which unknown words get their share of the grammar."""
    iteration: ClassVar[tuple[str, str]] = ("iteration", "iterations")
    """What an iteration is called; one, and several."""
    phases: ClassVar[tuple[str, str]] = ("", "")
    """What progress calls a chain before the iterations that count, and during them."""
    divisible: ClassVar[bool] = False
    """Whether a step maps over parts of the corpus, so that these can be on several machines."""
    START: ClassVar[tuple[str, ...]] = (*Grammar.ARRAYS, "unknown")
    """The arrays that another run can start from."""

    @classmethod
    def of_grammar(cls, grammar: Grammar) -> Learner:
        """A learner of grammars that are like this one."""
        return cls()

    def suited_to(self, text: TextFigures, preprocessing: Preprocessing) -> Learner:
        """The same learner, with whatever is left to the text decided by it."""
        return self

    def depth_for(self, text: TextFigures) -> int:
        """The memory bound that suits a text."""
        return self.default_depth

    def chains_for(self, text: TextFigures) -> int:
        """The number of chains that suits a text, without a race."""
        return PAPER_CHAINS

    def choices(self) -> list[str]:
        """What was decided by the text, as notes name it."""
        return []

    def preprocessing_for(self, text: TextFigures) -> dict[str, Any]:
        """The options of preprocessing that suit it, unless they are given."""
        return {}

    def lessons(
        self, text: PreprocessedCorpus, settings: ChainSettings, progress: Progress | None = None
    ) -> tuple[Learner, Lessons | None]:
        """The parts of the text to learn from, or None for all sentences as they are.

        And the learner itself, with whatever this has decided.
        """
        return self, None

    def default_iterations(self, sentences: int) -> int:
        """The length of chains, if nothing is asked for; samplers run a race then."""
        return 100

    def parts(self, sentences: int) -> int:
        """The number of iterations in which it goes through so many sentences."""
        return 1

    def check(self, settings: ChainSettings) -> None:
        """Raise an error if it cannot learn with the other settings of a chain."""

    def check_start(self, settings: ChainSettings) -> None:
        """Raise an error if it cannot start from what another run has learned."""
        assert settings.start is not None
        settings.start.check(self.START, settings.categories, self.name)

    def warm_start(self, state: State | None, model: Model) -> dict[str, Floats]:
        """The arrays of `START`, of a chain in its last state and its model, or of a model only."""
        assert model.unknown is not None
        return {**model.grammar.arrays(), "unknown": model.unknown}

    def criterion(self, settings: ChainSettings) -> str:
        """What chains are compared by, if nothing is asked for."""
        return "heldout" if settings.held_out else "likelihood"

    def columns(self, settings: ChainSettings) -> list[Column]:
        """What the table of chains shows; the keys are attributes of `ChainSummary`."""
        maximised = self.maximises(settings)
        return [
            Column(self.iteration[1], "count", "iterations"),
            Column("log-likelihood", "number", "mean_log_likelihood"),
            Column("per token", "number", decimals=3),
            *([Column(maximised, "number", "posterior")] if maximised else []),
            Column("variance", "number", decimals=3),
        ]

    def maximises(self, settings: ChainSettings) -> str:
        """The name of what it maximises; empty if that is the log-likelihood, or nothing is."""
        return ""

    def first(self, corpus: Encoded, settings: ChainSettings) -> State:
        """The state of a chain before its first iteration: a grammar from the prior, or a run's."""
        K, words = settings.categories, corpus.vocabulary
        if settings.start is not None:
            return State(0, settings.start.grammar(words), self.beta)
        grammar = draw_from_prior(K, words, self.beta, settings.seed, settings.chain)
        return State(0, grammar, self.beta)

    def step(
        self,
        state: State,
        corpus: Encoded,
        settings: ChainSettings,
        work: Mapper,
        with_trees: bool = False,
    ) -> State:
        """The chain after one more iteration; a pure function of its state.

        Random numbers are those of (seed, chain, iteration), so that neither the number of threads
        nor stopping in between makes a difference.

        ``work``: what computes functions of the sentences, and how many threads there are.
        ``with_trees``: whether the trees of the iteration are needed. They may still be left out:
        then they are those of `trees_of`.
        """
        raise NotImplementedError

    def without_zeros(self, state: State, settings: ChainSettings, error: DbpcfgError) -> State:
        """The state to begin a step with, if a sentence has probability zero under its grammar."""
        raise error

    def trees_of(
        self,
        grammar: Grammar,
        iteration: int,
        corpus: Encoded,
        settings: ChainSettings,
        work: Mapper,
    ) -> Derivations:
        """The trees of an iteration, by its number from 0 and the grammar before it: MBR trees."""
        return mbr_under([grammar], settings.depth, corpus, work)

    def note(self, state: State) -> str | None:
        """What the user has to know of a chain in this state, beside its measures."""
        return None

    def needed_bytes(self, settings: ChainSettings, corpus: Encoded) -> tuple[int, int]:
        """The memory of one grammar, and that of one chain at work, at least.

        At work are the chart's copies of the rules, the counts, and one sentence's chart.
        """
        K, W, longest = settings.categories, len(corpus.vocabulary), int(corpus.lengths.max())
        grammar = 8 * (K + K**3 + K * W)
        levels = 2 if settings.depth is None else 2 * settings.depth
        number = 4 if settings.precision == "single" else 8
        cells = longest * (longest + 1) // 2
        return grammar, 5 * number * K**3 + 2 * grammar + number * K * levels * cells

    def types(self, settings: ChainSettings) -> dict[str, Any]:
        """The arrays that a checkpoint has of a state, with their types."""
        return {f"state_{name}": np.float64 for name in Grammar.ARRAYS}

    def arrays(self, state: State) -> dict[str, NDArray[Any]]:
        """The arrays of a state."""
        return {f"state_{name}": array for name, array in state.grammar.arrays().items()}

    def restored(
        self,
        arrays: Mapping[str, NDArray[Any]],
        corpus: Encoded,
        settings: ChainSettings,
        iteration: int,
        beta: float,
    ) -> State:
        """The state of `arrays`; an `ArchiveError` if they cannot be those of the chain."""
        own = {name: arrays[f"state_{name}"] for name in Grammar.ARRAYS}
        return State(iteration, Grammar(**own, vocabulary=corpus.vocabulary), beta)


LEAST, LEAST_SINGLE = 2.0**-200, 2.0**-60
"""Probabilities in place of smaller ones: as small as a chart can multiply with two cells' least
sizes."""


def least_probability(settings: ChainSettings) -> float:
    """What probabilities are at least, so that every tree stays possible."""
    return LEAST_SINGLE if settings.precision == "single" else LEAST


def with_every_rule(state: State, settings: ChainSettings, error: DbpcfgError) -> State:
    """The state with a grammar of no smaller probability; the error, if it had none before."""
    least = least_probability(settings)
    if (state.grammar.rows >= least).all() and (state.grammar.root >= least).all():
        raise error
    grammar = without_zeros(state.grammar, least)
    return State(state.iteration, grammar, state.beta)


learners: Registry[type[Learner]] = Registry(
    "learner",
    "learners",
    {
        "gibbs": "induction.learners.gibbs:Gibbs",
        "em": "induction.learners.expectation:EM",
        "vb": "induction.learners.expectation:VariationalBayes",
        "neural": "induction.learners.neural:Neural",
    },
    also=["auto"],
)


def learner_of(grammar: Grammar, name: object = None) -> Learner:
    """A learner whose grammars are like this one; the one of that name, if it is such a learner."""
    able = [one for one in learners.names() if learners[one].grammar_kind is type(grammar)]
    return learners[str(name) if name in able else able[0]].of_grammar(grammar)


def learner_with(given: Learner | str, options: Mapping[str, Any]) -> Learner:
    """The learner of a name with options, of which None means that it was not given."""
    options = {name: value for name, value in options.items() if value is not None}
    kind = type(given) if isinstance(given, Learner) else learners[given]
    for name in options:
        if name not in kind.options():
            others = belongs_to(name)
            if others:
                whose = f"learner{'s' * (len(others) > 1)} {', '.join(others)}"
                raise DbpcfgError(f"{name} is an option of the {whose}, not of {kind.name}")
            known = {**keywords(INDUCE), **kind.options()}
            meant = [key for key, one in known.items() if one.name == name]
            meant += get_close_matches(name, known, 1)
            hint = f"did you mean {meant[0]}?" if meant else "help(dbpcfg.induce) lists all"
            raise DbpcfgError(f"there is no option {name!r}; {hint}")
    if not isinstance(given, Learner):
        return kind(**options)
    if options:
        raise DbpcfgError(f"{', '.join(options)}: give it to the learner, {given!r}")
    return given
