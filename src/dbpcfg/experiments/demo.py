"""The demonstration: language first, then the paper's experiments on synthetic text (section 5.1).

**Utterances.** 800 made-up utterances in the style of child-directed speech
(``corpus.synthetic``), learned by the neural grammar. Its default mini-batches are smaller for so
little text, which takes several times as long and is not needed here.

**Centre-embedding.** 200 sentences of four forms; a, b and c each stand for one of 50 words. Two of
the forms need memory for two fragments. Learned as in the paper: 5 categories, depth 2, β = 0.2.
Corpus, settings and published figures are those of the recipe ``synthetic``, which has all systems.

**Branching.** 200 sentences ``a b`` and ``a b b``, whose trees branch to the left, and their mirror
image. If the model favoured one side, one of the two corpora would be learned better. The paper
does not say with how many categories; here there are three, for a, b and the sentence. (With four
or more, ``a (b b)`` can be described as well as ``(a b) b``, and no trees are the right ones.)

About four chains in ten find the structure of the first corpus; the others stay in another mode,
which is usually right-branching. So many chains run a race (``induction.search``), and the more
probable of the two survivors is chosen. Gold trees are used for scores only. The trees are MBR
trees over the second half of a chain.

In about one draw of the corpus in ten, some word ``b`` happens never to be the first of its phrase.
Nothing in such a corpus shows that it is a ``b``, and sentences with it may get other trees: F1 is
then between 99 and 100. In all other draws tried it was 100.0 (``benchmarks/demo_seeds.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any

from dbpcfg.corpus.synthetic import synthetic_trees, utterances
from dbpcfg.evaluation.evaluate import Evaluation, evaluate
from dbpcfg.evaluation.parseval import Score
from dbpcfg.experiments.recipe import quick_version, read_recipe
from dbpcfg.induction.chain import Chain
from dbpcfg.induction.induce import induce
from dbpcfg.induction.run import Run
from dbpcfg.induction.settings import Configuration
from dbpcfg.io.machine import init_worker, worker_context
from dbpcfg.io.progress import Progress
from dbpcfg.io.tables import Cell, Column, Table, percent, plural
from dbpcfg.systems.branching import Left, Right
from dbpcfg.systems.registry import find
from dbpcfg.trees.printing import beside, draw
from dbpcfg.trees.tree import Tree

RECIPE = read_recipe("synthetic")
SENTENCES = RECIPE.corpus.sentences
PAPER = next(row.axes for row in RECIPE.rows if row.is_dbpcfg)
"""K, D and β of the paper."""
BETA = PAPER["beta"]


@dataclass(frozen=True)
class Experiment:
    """A generated corpus, and the settings that it is learned with."""

    kind: str
    vocabulary: int
    """Words that a, b and c each stand for."""
    categories: int | None
    depth: int | None
    sentences: int = SENTENCES
    batch: int | None = None
    """Sentences of a mini-batch of the neural grammar; None for the sampler."""
    chains: int | None = None
    """None for as many as the budget allows."""
    iterations: int | None = None
    """The length of every chain; None for a race."""
    budget: int | None = None
    """Iterations of all chains of a race together."""

    @property
    def search(self) -> str:
        """Describe the chains."""
        if self.budget is not None:
            chains = "" if self.chains is None else f" of {plural(self.chains, 'chain')}"
            return f"a race{chains} with {plural(self.budget, 'iteration')} in all"
        if self.iterations is None:
            few = f"{plural(self.chains or 0, 'chain')} and mini-batches of {self.batch}"
            return f"the default settings, but for {few}, for speed"
        length = plural(self.iterations, "iteration")
        return f"{plural(self.chains or 0, 'chain')} of {length}"

    def gold(self, seed: int) -> list[Tree]:
        """Generate the corpus."""
        if self.kind == "utterances":
            return utterances(self.sentences, seed)
        return synthetic_trees(self.kind, self.sentences, self.vocabulary, seed)

    def learn(
        self,
        seed: int,
        threads: int | None = None,
        on_progress: Callable[[Chain], None] = lambda chain: None,
        on_plan: Callable[[Configuration], None] = lambda configuration: None,
    ) -> Result:
        """Generate the corpus and induce a grammar from its words.

        ``threads``: processors to use; all if not given.
        """
        gold = self.gold(seed)
        own: dict[str, Any] = {"learner": "neural", "batch": self.batch}
        if self.batch is None:
            own = {"learner": "gibbs", "K": self.categories, "D": self.depth, "beta": BETA}
        run = induce(
            [tree.words() for tree in gold],
            **own,
            chains=self.chains,
            iterations=self.iterations,
            budget=self.budget,
            seed=seed,
            threads=threads,
            on_progress=on_progress,
            on_plan=on_plan,
        )
        return Result(self, gold, run)


CENTER = Experiment(
    "center", RECIPE.corpus.vocabulary, PAPER["K"], PAPER["D"], chains=40, budget=12_000
)
LEFT = Experiment("left", vocabulary=1, categories=3, depth=2, chains=8, iterations=200)
RIGHT = replace(LEFT, kind="right")
LANGUAGE = Experiment("utterances", 0, None, None, sentences=800, batch=64, chains=4)
DRAWN = (5, 6, 7)
"""Words of the utterances that are drawn: the first of each length."""


@dataclass(frozen=True)
class Result:
    """The run of an experiment, scored against the gold trees."""

    experiment: Experiment
    gold: list[Tree]
    run: Run

    @cached_property
    def trees(self) -> list[Tree]:
        """The MBR trees of the selected chain."""
        return self.run.trees()

    @cached_property
    def evaluation(self) -> Evaluation:
        """The scores of these trees."""
        return self.evaluate(self.trees)

    @cached_property
    def chain_scores(self) -> list[float]:
        """F1 of the trees of each chain; it is not used for selection."""
        return [self.evaluate(self.run.trees(chain)).score.f1 for chain in self.run.survivors]

    @property
    def right_chains(self) -> int:
        """The number of chains whose trees have exactly the gold brackets."""
        return sum(score == 1 for score in self.chain_scores)

    def evaluate(self, trees: list[Tree]) -> Evaluation:
        """Score trees of any system."""
        return evaluate(self.gold, trees, self.run.corpus.punctuation)


def run_demo(
    seed: int,
    show: Callable[[str], None] = print,
    *,
    quiet: bool = False,
    width: int = 80,
    ascii: bool = False,
) -> Result:
    """Run the experiments and show their results; return those on language.

    ``width``: columns; trees are drawn side by side as far as they fit.
    """
    if not quiet:
        print("(The first run compiles the kernels, which takes some seconds.)", file=sys.stderr)
    language = _learn(LANGUAGE, seed, quiet)  # a first result, soon
    show(f"{_language_introduction(language, seed)}\n\n{language_table(language)}")
    show(f"\nInduced and gold trees:\n\n{pairs(language, width, ascii)}")
    # The other systems, in a process of their own: kernels are compiled by one thread at a time.
    with worker_context.Pool(1, init_worker) as pool:
        others = pool.apply_async(other_systems, (CENTER.gold(seed), seed))
        left, right = (_learn(side, seed, quiet) for side in (LEFT, RIGHT))
        show(f"\n\n{branching_table(left, right)}\n\n")
        center = _learn(CENTER, seed, quiet)
        show(_introduction(center, seed))
        show(f"\n{_chains_table(center)}")
        show(f"\n{_scores_table(center, others.get())}\n{_labels_line(center)}")
    show(f"\nWhat was learned, a tree of each form:\n\n{pictures(center, width, ascii)}")
    return language


def _learn(experiment: Experiment, seed: int, quiet: bool) -> Result:
    """Run an experiment, with progress on standard error unless ``quiet``."""
    what = f"learning the corpus '{experiment.kind}'"
    if not quiet:
        print(f"{what}: {experiment.search}", file=sys.stderr)
    done: dict[int, int] = {}
    with Progress(f"{what}, iterations", quiet=quiet) as progress:

        def on_plan(configuration: Configuration) -> None:
            each = configuration.schedule.iterations or 0
            progress.total = configuration.budget or configuration.chains * each

        def on_progress(chain: Chain) -> None:
            done[chain.settings.chain] = chain.iteration
            progress.update(sum(done.values()))

        return experiment.learn(seed, on_progress=on_progress, on_plan=on_plan)


def _introduction(result: Result, seed: int) -> str:
    """Describe the corpus and the model."""
    experiment, forms = result.experiment, result.run.corpus.forms
    return (
        "The paper's centre-embedding experiment\n"
        f"Learned from {len(forms)} sentences of {len(forms.vocabulary)} words, drawn with seed "
        f"{seed}, without their trees:\n"
        f"{experiment.categories} categories, memory depth {experiment.depth}, Dirichlet parameter "
        f"{BETA} as in the paper; {experiment.search}."
    )


def _chains_table(result: Result) -> Table:
    """Tabulate the chains, with the F1 of each one's trees."""
    table = result.run.table()
    return Table(
        table.title,
        [*table.columns, Column("F1", "percent")],
        [(*row, f1) for row, f1 in zip(table.rows, result.chain_scores, strict=True)],
        [*table.notes, "F1 of each chain's trees against the gold trees: shown, not used"],
    )


def other_systems(gold: list[Tree], seed: int) -> dict[str, Score]:
    """The scores of the paper's other systems, with the recipe's settings of a quick run."""
    sentences, scores = [tree.words() for tree in gold], dict[str, Score]()
    for row in quick_version(RECIPE).rows:
        if (
            row.system
            and not row.is_dbpcfg
            and row.name in {published.name for published in RECIPE.published}
        ):
            system = find(row.system).make(seed, **(row.settings or {}))
            scores[row.name] = evaluate(gold, system.fit(sentences).trees()).score
    return scores


def _scores_table(result: Result, others: dict[str, Score]) -> Table:
    """Tabulate the scores of all systems on this corpus, those of the paper beside them."""
    names, measures = ("P", "R", "F1"), ("precision", "recall", "f1")
    columns = [Column(f"{of}{name}", "percent") for of in ("", "paper's ") for name in names]
    rows: list[tuple[Cell, ...]] = []
    for published in RECIPE.published:
        score = (others | {"DB-PCFG": result.evaluation.score})[published.name]
        figures = [published.figures[name] / 100 for name in measures]
        rows.append((published.name, *(getattr(score, name) for name in measures), *figures))
    notes = [
        "All systems ran on the same sentences; UHHMM and BMMM+DMV for 100 iterations only:",
        "`dbpcfg reproduce synthetic` runs them in full. The paper's figures are quoted; they are",
        "for its own draw of this corpus, which was not published.",
        result.evaluation.score.signature,
    ]
    return Table("PARSEVAL", [Column("System"), *columns], rows, notes)


def _labels_line(result: Result) -> str:
    """Say how well categories agree with those of the gold trees."""
    constituents, words = (
        percent(table.score().many_to_one)
        for table in (result.evaluation.constituents, result.evaluation.tags)
    )
    return (
        "Categories, each named by the gold category that it mostly stands for, are right on\n"
        f"{constituents}% of the constituents found and {words}% of the words."
    )


def pictures(result: Result, width: int, ascii: bool) -> str:
    """Draw a tree of each form of sentence, shortest first, with the number of correct trees.

    ``width``: columns; trees are drawn side by side as far as they fit.
    """
    forms: dict[str, list[tuple[Tree, Tree]]] = {}
    for gold, induced in zip(result.gold, result.trees, strict=True):
        forms.setdefault(" ".join(word[0] for word in gold.words()), []).append((gold, induced))
    drawings = []
    for form, pairs in sorted(forms.items(), key=lambda item: len(item[0])):
        right = sum(_brackets(gold) == _brackets(induced) for gold, induced in pairs)
        picture = draw(pairs[0][1], ascii=ascii)
        drawings.append(f"{form}\n{right} of {len(pairs)} right\n\n{picture}")
    return beside(drawings, width)


def branching_table(left: Result, right: Result) -> Table:
    """Compare how well the left-branching and the right-branching corpus are learned."""
    experiment = left.experiment
    columns = [
        Column("Corpus"),
        Column("chains", "count"),
        Column("with gold trees", "count"),
        Column("log-likelihood", "number"),
        Column("F1", "percent"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            f"{result.experiment.kind}-branching",
            len(result.run.survivors),
            result.right_chains,
            result.run.best.mean_log_likelihood,
            result.evaluation.score.f1,
        )
        for result in (left, right)
    ]
    notes = [
        "Log-likelihood and F1 are those of the chain of greatest likelihood;",
        f"the two log-likelihoods differ by {percent(difference(left, right), 2)}%.",
        f"{SENTENCES} sentences each; {experiment.categories} categories, memory depth "
        f"{experiment.depth}, {plural(experiment.iterations or 0, 'iteration')}.",
    ]
    return Table("Is one direction of branching favoured?", columns, rows, notes)


def difference(left: Result, right: Result) -> float:
    """Return the relative difference between the best log-likelihoods of two experiments."""
    first, second = (result.run.best.mean_log_likelihood for result in (left, right))
    return abs(first - second) / abs(first)


def _language_introduction(result: Result, seed: int) -> str:
    run, examples = result.run, "; ".join(" ".join(tree.words()) for tree in result.gold[:3])
    verdict = dict(run.verdict.lines())
    return (
        "Language\n"
        f"{len(run.corpus.forms)} made-up utterances of {len(run.corpus.forms.vocabulary)} words, "
        f"in the style of speech to children, drawn with\nseed {seed}: {examples}; and so on.\n"
        f"Learned without their trees, with {result.experiment.search}:\n"
        + "\n".join(wrap(f"{verdict['learned']}. Trust: {verdict['trust']}.", 80))
    )


def language_table(result: Result) -> Table:
    """Tabulate scores of the utterances' trees beside branching baselines."""
    sentences = [tree.words() for tree in result.gold]
    systems = [
        (f"{system.name}-branching", system.fit(sentences).trees()) for system in (Left(), Right())
    ]
    columns = [Column("System"), *(Column(name, "percent") for name in ("P", "R", "F1"))]
    rows: list[tuple[Cell, ...]] = []
    for name, trees in [*systems, ("this run", result.trees)]:
        evaluation = result.evaluate(trees)
        score = evaluation.score
        rows.append((name, score.precision, score.recall, score.f1, evaluation.recall.recall))
    notes = ["NP recall: share of the gold noun phrases found", result.evaluation.score.signature]
    return Table("PARSEVAL", [*columns, Column("NP recall", "percent")], rows, notes)


def pairs(result: Result, width: int, ascii: bool) -> str:
    """Draw some induced trees, each beside its gold tree."""
    drawings = []
    for length in DRAWN:
        number = next((n for n, tree in enumerate(result.gold) if len(tree) == length), None)
        if number is None:
            continue
        gold, induced = result.gold[number], result.trees[number]
        gold_brackets = _brackets(gold)
        common = len(gold_brackets & _brackets(induced))
        caption = f"induced: {common} of {plural(len(gold_brackets), 'gold bracket')}"
        drawing = [
            f"{caption}\n\n{draw(induced, ascii=ascii)}",
            f"gold\n\n{draw(gold, ascii=ascii)}",
        ]
        drawings.append(beside(drawing, width))
    return "\n\n".join(drawings)


def _brackets(tree: Tree) -> set[tuple[int, int]]:
    return {(span.start, span.end) for span in tree.spans()}
