"""What came of a run, in three lines of plain words: what was learned from, trust, what to do next.

`verdict_of` decides, from the trees of the chains alone: gold trees play no part. The agreement of
chains is how many brackets two of them share on average (`dbpcfg.induction.consensus`); chains that
have no vote do not count.

**Trust.** Poor, where the chains share too few brackets, most of them only branch to one side, or
the answer does; fair, where something speaks against it; good otherwise. Good does not mean right:
chains can agree on what is wrong, and only gold trees or a reader can tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from dbpcfg.induction.auto import MIN_SENTENCES, TextFigures
from dbpcfg.induction.consensus import SURE, TRIVIAL, UNSURE
from dbpcfg.io.tables import plural

if TYPE_CHECKING:
    from dbpcfg.induction.run import Run

FEW = 1000
"""Sentences below which more text helped in all trials (docs/results-learners.md)."""
IN_PYTHON = 'run.report("report.html")'
NAMES = {
    "gibbs": "the sampler",
    "em": "EM",
    "vb": "variational Bayes",
    "neural": "the neural grammar",
}
"""Learners in plain words."""
_LEVELS: tuple[tuple[Literal["good", "fair", "poor"], str], ...] = (
    ("good", "the chains agree"),
    ("fair", "with care"),
    ("poor", "do not trust these trees"),
)


@dataclass(frozen=True)
class Verdict:
    """What came of a run."""

    learned: str
    """What was learned from, by which learner, and why."""
    level: Literal["good", "fair", "poor"]
    """How far to trust the trees."""
    trust: str
    """The same, with the reasons."""
    advice: str
    """What would make the result better or surer; may be empty."""
    agreement: float | None
    """The share of brackets that two chains have in common, on average over those that vote.

    None for one chain.
    """
    branching: dict[str, float]
    """The share of the answer's brackets that right-branching and left-branching trees have."""

    def lines(self, look: str = IN_PYTHON) -> list[tuple[str, str]]:
        """The three lines, each with its name.

        ``look``: how to look at the trees.
        """
        see = f"look at the trees: {look}"
        if self.level == "good":
            see = f"look at the trees, as chains can agree on what is wrong: {look}"
        advised = f"{self.advice}; {see}" if self.advice else see
        return [("learned", self.learned), ("trust", self.trust), ("next", advised)]

    def text(self, look: str = IN_PYTHON, width: int | None = None) -> str:
        """The lines as text.

        ``width``: of lines; None for any.
        """
        shown = []
        for name, words in self.lines(look):
            indent = " " * 9
            parts = [words] if width is None else wrap(words, max(20, width - len(indent)))
            shown.append(f"\n{indent}".join([f"{name + ':':9}{parts[0]}", *parts[1:]]))
        return "\n".join(shown)

    def html(self, look: str = IN_PYTHON) -> str:
        """The lines for a notebook."""
        lines = self.lines(look)
        return "".join(f"<div><b>{name}</b>: {escape(words)}</div>" for name, words in lines)

    def json(self, look: str = IN_PYTHON) -> dict[str, Any]:
        """The lines by name, with the figures that they are made from."""
        return {
            **dict(self.lines(look)),
            "level": self.level,
            "agreement": self.agreement,
            "branching": self.branching,
        }


def verdict_of(run: Run) -> Verdict:
    """Judge a finished run."""
    agreement, branching = _agreement(run), run.shared.branching(run.answer)
    reasons = list(_reasons(run, agreement, branching))
    worst = max(weight for _, weight in reasons)
    # What speaks strongly against the trees needs no details.
    shown = [words for words, weight in reasons if worst < 2 or weight == 2]
    level, opening = _LEVELS[worst]
    return Verdict(
        learned=_learned(run),
        level=level,
        trust=f"{opening}: {'; '.join(shown)}",
        advice="; ".join(_advice(run, agreement, branching)),
        agreement=agreement,
        branching=branching,
    )


def _agreement(run: Run) -> float | None:
    """The share of brackets that two of the chains have in common: of those that vote, if any."""
    voters = [chain.settings.chain for chain in run.trusted]
    if not run.voting or not voters:
        return run.shared.agreement()
    return run.shared.among(voters) if len(voters) > 1 else None


def _learned(run: Run) -> str:
    forms, chains = run.corpus.forms, plural(len(run.chains), "chain")
    figures = _figures(run)
    if len(run.survivors) < len(run.chains):
        chains += f" raced, {len(run.survivors)} ran to the end"
    return (
        f"from {plural(len(forms), 'sentence')} of {figures.mean_length:.1f} words, by "
        f"{_learner(run, figures)}; {chains}"
    )


def _figures(run: Run) -> TextFigures:
    forms = run.corpus.forms
    return TextFigures(len(forms), len(forms.tokens), len(forms.vocabulary))


def _learner(run: Run, figures: TextFigures) -> str:
    """The learner and what it suits, if it is what such a text is learned with by default."""
    learner = run.configuration.model.learner
    name = NAMES.get(learner.name, f"the learner {learner.name}")
    teacher = getattr(learner, "teacher", None)
    if learner.name == "gibbs" and figures.sentences < MIN_SENTENCES:
        return f"{name}, as suits fewer than {MIN_SENTENCES} sentences"
    if learner.name != "neural" or figures.sentences < MIN_SENTENCES:
        return f"{name} (--learner {learner.name})"
    if teacher == "ccl":
        return f"{name}, taught by CCL, as suits written text"
    if figures.is_speech:
        return f"{name}, from whole sentences, as suits speech"
    return name


def _reasons(
    run: Run, agreement: float | None, branching: dict[str, float]
) -> Iterator[tuple[str, int]]:
    """What is known of the answer, and how much it speaks against it: 0, 1 or 2."""
    chains, one_sided = len(run.survivors), run.shared.one_sided
    if not branching:
        yield "no sentence has three words or more, so there are no brackets to find", 2
        return
    side = max(branching, key=lambda side: branching[side])
    if branching[side] > TRIVIAL:
        found = f"{branching[side]:.0%} of their brackets are those of {side}-branching trees"
        if run.voting and not run.trusted:
            found += ", as no chains agree on more"
        yield f"{found}, so hardly anything was found", 2
        return
    share = "" if agreement is None else f"{agreement:.0%} of their brackets"
    voters = len(run.trusted) if run.voting and run.trusted else chains
    which = "chains share" if voters == chains else "chains that vote share"
    these = f"the two {which}" if voters == 2 else f"two of {voters:,} {which}"
    average = "" if voters == 2 else " on average"
    if agreement is None:
        one = "with one chain" if chains == 1 else "as only one chain votes,"
        yield f"{one} nobody knows how far the trees depend on chance", 1
    elif agreement < UNSURE:
        yield f"{these} only {share}{average}, so the trees depend on chance", 2
    elif agreement < SURE:
        yield f"{these} {share}{average}, so some of the trees depend on chance", 1
    else:
        yield f"{these} {share}{average}", 0
    yield f"{1 - branching[side]:.0%} of the answer differs from {side}-branching trees", 0
    astray = run.shared.astray(run.side) if run.voting else []
    collapsed = [chain for chain in one_sided if chain not in astray]
    if collapsed:
        of = f"{len(collapsed):,} of {chains:,} chains"
        yield f"{of} hardly did more than branch to one side", 1 + (2 * len(collapsed) > chains)
    if astray:
        of = f"{len(astray):,} of {chains:,} chains"
        yield (
            f"{of} did not branch to the {run.side}, as the language does: branching trees voted "
            "in their place",
            1,
        )
    yield from ((note, 1) for note in run.remarks())


def _advice(run: Run, agreement: float | None, branching: dict[str, float]) -> Iterator[str]:
    """What may help, the most likely first."""
    learner, sentences = run.configuration.model.learner.name, len(run.corpus.forms)
    few = f"{plural(sentences, 'sentence')} {'is' if sentences == 1 else 'are'}"
    sure = agreement is not None and agreement >= SURE
    trivial = max(branching.values(), default=0.0) > TRIVIAL
    if sentences < MIN_SENTENCES:
        yield (
            f"{few} too few: from {MIN_SENTENCES} on, the neural grammar is used, and more text "
            f"helps up to {FEW:,} sentences and beyond"
        )
    elif sentences < FEW:
        yield f"{few} few: with {FEW:,} and more, results are better"
    if agreement is None and branching:
        yield "several chains show what is sure: --chains 4"
    if (not sure or trivial) and sentences >= MIN_SENTENCES:
        if learner != "neural":
            yield "try the default learner, the neural grammar: leave --learner out"
        elif trivial or run.shared.one_sided:
            bound = 2 if run.configuration.model.depth != 2 else 3
            yield f"try another memory bound: -D {bound}"
