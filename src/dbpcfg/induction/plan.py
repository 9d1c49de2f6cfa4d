"""What a run is to do, before its text is known; `Configuration` is the same when it is known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbpcfg.corpus.preprocessing import PreprocessedCorpus, Preprocessing, preprocess
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.sentencelist import SentenceList
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.auto import AUTO, TextFigures, choose, possible, reason
from dbpcfg.induction.corpus import Lessons, within_bound
from dbpcfg.induction.directory import check_free, finished_run
from dbpcfg.induction.learners import Learner, learner_of, learner_with
from dbpcfg.induction.search import (
    BUDGET,
    MAX_ITERATIONS,
    PAPER_CHAINS,
    Schedule,
    budget_of,
    is_race,
    rungs_of,
)
from dbpcfg.induction.settings import ChainSettings, Configuration
from dbpcfg.io.progress import Progress
from dbpcfg.model.files import load
from dbpcfg.model.model import Model
from dbpcfg.options import ModelOptions, ReadingOptions, SearchOptions

if TYPE_CHECKING:
    from dbpcfg.induction.run import Run
    from dbpcfg.induction.start import Start


@dataclass(frozen=True)
class InductionPlan:
    """What was asked for; the constructor checks everything that can be checked without a text."""

    learner: Learner | str = AUTO
    """A learner, its name, or ``"auto"`` to choose one by the text."""
    learner_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the learner; None stands for an option that was not given."""
    model: ModelOptions = field(default_factory=ModelOptions)
    search: SearchOptions = field(default_factory=SearchOptions)
    preprocessing: Mapping[str, Any] = field(default_factory=dict)
    """The options of `Preprocessing` that were given: the learner ``"auto"`` changes only others,
    and others are inherited from ``start``."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    schedule: Schedule | None = None
    """Burn-in and length of chains in detail, instead of a number of iterations."""
    start: Run | Model | str | os.PathLike[str] | None = None
    """A finished run or a model whose grammar chains begin with. What is not given is inherited."""
    out: str | os.PathLike[str] | None = None
    """The directory of the run; None for a run in memory."""
    overwrite: bool = False
    """Whether a run in that directory is replaced."""
    learned: Start | None = field(init=False, default=None)
    """What ``start`` has learned."""

    def __post_init__(self) -> None:
        if self.start is not None:
            for name, value in self._inherited(self.start).items():
                object.__setattr__(self, name, value)
        Preprocessing(**self.preprocessing)
        budget = budget_of(self.search.budget)
        # How many iterations fit into a time depends on the text.
        number = MAX_ITERATIONS if isinstance(budget, float) else budget
        learner = learner_with(self._learners[0], self.learner_options)
        self.configuration(self._settings(learner), number)
        if self.out is not None:
            check_free(Path(self.out), self.overwrite)

    def _inherited(self, start: Run | Model | str | os.PathLike[str]) -> dict[str, Any]:
        """The fields that change because there is a run or a model to start from."""
        from dbpcfg.induction.start import Start

        name, trees = None, None
        if isinstance(start, str | os.PathLike):
            path, name = Path(start), os.fspath(start)
            if path.is_dir() or not (path.exists() or path.suffix == ".npz"):
                start, trees = finished_run(path), path / "trees.txt"
            else:
                start = load(path)
        if isinstance(start, Model):
            grammar, precision = start.grammar, None
            old = learner_of(grammar, start.card.get("learner"))
            learned = Start.of_model(start, name or "a model in memory", old)
            depth, preprocessing = start.depth, start.preprocessing
        else:
            settings = start.configuration.model
            grammar, precision, old = start.model.grammar, settings.precision, settings.learner
            learned = Start.of(start, name or "a run in memory", trees)
            depth, preprocessing = settings.depth, start.model.preprocessing
        model, learner, options = self.model, self.learner, self.learner_options
        if learner in (AUTO, old.name):
            learner = old.name
            given = {name: value for name, value in options.items() if value is not None}
            options = {**vars(old), **given}
            model = replace(model, precision=model.precision or precision)
        return {
            "learner": learner,
            "learner_options": options,
            "model": replace(
                model,
                categories=model.categories or grammar.categories,
                depth=depth if model.depth == "auto" else model.depth,
            ),
            "preprocessing": {**vars(preprocessing), **self.preprocessing},
            "learned": learned,
        }

    @property
    def _learners(self) -> list[Any]:
        """The learner, or those that ``"auto"`` chooses from."""
        if self.learner != AUTO:
            return [self.learner]
        return possible(self.learner_options, self.search, self.schedule is not None)

    def _settings(self, learner: Learner, text: TextFigures | None = None) -> ChainSettings:
        model = self.model
        if text is not None and model.depth == "auto":
            model = replace(model, depth=learner.depth_for(text))
        return ChainSettings(**vars(model), learner=learner, start=self.learned)

    def preprocess(
        self, corpus: Iterable[Sentence] | PreprocessedCorpus, progress: Progress | None = None
    ) -> tuple[PreprocessedCorpus, Lessons | None, ChainSettings, int, str]:
        """The text, what is learned from, the settings of chains, their number, and why.

        Sentences that have no tree within the memory bound are left out or are an error, as the
        options for reading say. Progress is that of a teacher, if there is one.
        """
        if isinstance(corpus, PreprocessedCorpus):
            sentences: Iterable[Sentence] = corpus.sentences
            preprocessing = corpus.preprocessing
            given = list(Preprocessing.options())
        else:
            sentences = corpus if isinstance(corpus, Corpus) else SentenceList(corpus)
            preprocessing = Preprocessing(**self.preprocessing)
            given = [name for name, value in self.preprocessing.items() if value is not None]
        text = TextFigures.of(sentences, preprocessing)
        chosen = choose(text, self._learners) if self.learner == AUTO else self.learner
        learner = learner_with(chosen, self.learner_options)
        suits = learner.preprocessing_for(text).items()
        preprocessing = replace(preprocessing, **{k: v for k, v in suits if k not in given})
        settings = self._settings(learner.suited_to(text, preprocessing), text)
        if not isinstance(corpus, PreprocessedCorpus):
            known = () if self.learned is None else self.learned.words
            corpus = preprocess(sentences, preprocessing, known)
        corpus = within_bound(corpus, settings.depth, self.reading.skip_broken)
        learner, lessons = settings.learner.lessons(corpus, settings, progress)
        settings = replace(settings, learner=learner)
        chains = self.search.chains or learner.chains_for(text)
        return corpus, lessons, settings, chains, reason(text, settings, preprocessing)

    def configuration(
        self,
        settings: ChainSettings,
        budget: int | None = None,
        sentences: int = 0,
        preprocessing: Preprocessing | None = None,
        chains: int | None = None,
    ) -> Configuration:
        """The settings of the run: how many chains, how long they are, what they are compared by.

        ``budget``: the given one in iterations.
        ``chains``: their number without a race, if it is known.
        """
        learner, options = settings.learner, self.search
        if self.schedule is not None and not learner.samples:
            raise DbpcfgError("a schedule is for samples; other learners have iterations")
        iterations, kept = options.iterations, None if learner.samples else 1
        if kept and iterations is None and budget is None and options.inference != "race":
            iterations = learner.default_iterations(sentences)
        race = is_race(options, iterations is not None or self.schedule is not None)
        if race:
            budget = BUDGET if budget is None else budget
            rungs = rungs_of(budget, options.chains)
            chains, iterations = rungs[0].chains, rungs[-1].iterations
        else:
            chains = chains or options.chains or PAPER_CHAINS
        return Configuration(
            model=settings,
            schedule=self.schedule or Schedule(iterations, kept=kept),
            preprocessing=preprocessing or Preprocessing(),
            chains=chains,
            trees=options.trees or learner.default_trees,
            budget=budget if race else None,
            select=options.select or learner.criterion(settings),
        )
