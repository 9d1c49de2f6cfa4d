"""How a run searches: a race of many chains, or the paper's few chains, each to its end."""

from __future__ import annotations

import re
import time
from typing import Literal, NamedTuple

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.criteria import Criterion
from dbpcfg.induction.initial import initial_state
from dbpcfg.induction.learners import step_of
from dbpcfg.induction.race import BUDGET, plan
from dbpcfg.induction.settings import ChainSettings
from dbpcfg.io.machine import cores
from dbpcfg.io.validation import check_choice

InferenceName = Literal["race", "paper"]
SELECT: Criterion = "likelihood"
"""What chains are compared by, if nothing else is asked for."""
PAPER_CHAINS = 4
"""Chains without a race, if nothing else is asked for."""
ITERATIONS = 100
"""The length of chains of EM and VB, if nothing else is asked for."""
PASSES = 30
"""The same of the neural learner."""

_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(min|h)")
_SECONDS = {"min": 60.0, "h": 3600.0}


class Inference(NamedTuple):
    """The chains of a run, how long they run and what they are compared by."""

    chains: int
    schedule: Schedule
    budget: int | None
    select: Criterion


def chosen(
    model: ChainSettings,
    inference: InferenceName | None = None,
    budget: int | None = None,
    chains: int | None = None,
    iterations: int | None = None,
    schedule: Schedule | None = None,
    select: Criterion | None = None,
) -> Inference:
    """What follows from the options that were given.

    ``inference``: ``"race"`` or ``"paper"``; if not given, a race unless the length of chains is
    given.
    ``chains``: the number of chains, in a race of those that start.
    """
    select = select or _selected_by(model)
    if not model.samples and schedule is not None:
        raise DbpcfgError("a schedule is for samples; other learners have iterations")
    kept = None if model.samples else 1
    length_of_all = PASSES if model.learner == "neural" else ITERATIONS
    if kept and inference is None and budget is None and iterations is None:
        iterations = length_of_all
    each = iterations is not None or schedule is not None
    if is_race(inference, budget is not None, each):
        budget = BUDGET if budget is None else budget
        rungs = plan(budget, model.preliminary_iterations, chains)
        length = Schedule(iterations=rungs[-1].iterations, kept=kept)
        return Inference(rungs[0].chains, length, budget, select)
    if kept and iterations is None:
        iterations = length_of_all
    number = PAPER_CHAINS if chains is None else chains
    return Inference(number, schedule or Schedule(iterations, kept=kept), None, select)


def _selected_by(model: ChainSettings) -> Criterion:
    """What chains are compared by, if nothing is asked for."""
    if model.samples:
        return SELECT
    if model.aside:
        return "heldout"
    return "posterior" if model.learner == "vb" else SELECT


def is_race(inference: InferenceName | None, budget: bool, each: bool) -> bool:
    """Whether chains run a race.

    ``inference``: what was asked for, if anything was.
    """
    if inference is None:
        inference = "paper" if each and not budget else "race"
    check_choice("inference", inference, ("race", "paper"))
    if inference == "race" and each:
        raise DbpcfgError(
            "iterations is the length of every chain; a race has a budget for all of them: "
            "give one of the two"
        )
    if inference == "paper" and budget:
        raise DbpcfgError("a budget is for a race; the paper's chains each run to their end")
    return inference == "race"


def budget_of(text: str) -> int | float:
    """A budget as it is written: iterations, an int, or a time in seconds, a float.

    ``text``: A number of iterations, or minutes or hours: ``6000``, ``30min``, ``2h``.
    """
    if re.fullmatch(r"\d{1,15}", text) and int(text):
        return int(text)
    found = _DURATION.fullmatch(text)
    if found is None or not float(found[1]):
        raise DbpcfgError(
            f"a budget is a number of iterations or a time, like 6000, 30min or 2h, got {text!r}"
        )
    return float(found[1]) * _SECONDS[found[2]]


def iterations_in(
    seconds: float, corpus: Encoded, model: ChainSettings, threads: int | None
) -> int:
    """About how many iterations there are in a time: a few are timed.

    The number is recorded with the run, which can so be repeated; the time cannot.

    ``threads``: processors to use; None for all.
    """
    step = step_of(model)
    state = step(initial_state(corpus, model), corpus, model)  # kernels are compiled now
    began, done = time.perf_counter(), 0
    while not done or time.perf_counter() - began < min(1.0, seconds / 20):
        state = step(state, corpus, model)
        done += 1
    each = (time.perf_counter() - began) / done
    return max(1, int(seconds / each * (threads or cores())))
