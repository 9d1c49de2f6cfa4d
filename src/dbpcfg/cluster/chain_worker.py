"""A chain on its worker: it stays there, and only its traces travel."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from dbpcfg.cluster.held import address, holdings, once
from dbpcfg.cluster.parcels import Cargo, opened, packed, unpacked_chain
from dbpcfg.induction.chain import Chain, advance, new_chain
from dbpcfg.induction.convergence import Schedule
from dbpcfg.induction.settings import ChainSettings


@dataclass(frozen=True)
class ChainTask:
    """What is to be done with a chain."""

    run: str
    settings: ChainSettings
    schedule: Schedule
    until: int | None
    """The length at which it pauses; None if it does not."""
    since: int
    """The number of iterations that the client knows of; the worker must have as many."""
    seconds: float
    """The time for further iterations; 0 for one, less than 0 for none."""
    whole: bool
    """Whether the client wants the whole chain."""


@dataclass(frozen=True)
class Answer:
    """What a worker has to say of a chain."""

    worker: str
    found: bool
    """Whether it had the chain, or was sent it."""
    iteration: int = 0
    beta: float = 0.0
    burn_in: int | None = None
    traces: dict[str, list[float]] | None = None
    """Of the iterations since those the client knew of: measures, logs and betas."""
    scores: dict[int, float] | None = None
    whole: bytes | None = None


def advance_chain(task: ChainTask, sent: bytes | None, anew: bool, cargo: Cargo) -> Answer:
    """Advance a chain that this worker has, or was sent.

    ``sent``: the chain as it was last saved, if the client sends it.
    ``cargo``: the sentences of the run, and gold spans or None.
    """
    corpus, gold = once(task.run, "corpus", lambda: opened(cargo))
    name, held = task.settings.chain, holdings(task.run)
    with once(task.run, ("lock", name), Lock):
        chain: Chain | None = held.get(name)
        if chain is None or chain.iteration < task.since:
            if sent is not None:
                chain = unpacked_chain(sent, corpus)
            elif anew:
                chain = new_chain(corpus, task.settings)
            else:
                return Answer(address(), False)
        held.pop(name, None)  # should an iteration fail, nothing half done is left
        if task.seconds >= 0:
            advance(chain, corpus, task.schedule, task.seconds, gold=gold, until=task.until)
        held[name] = chain
        return _answer(chain, task)


def _answer(chain: Chain, task: ChainTask) -> Answer:
    since = task.since
    traces = {"logs": chain.logs, "betas": chain.betas, **chain.measures}
    whole = task.whole or chain.finished(task.schedule, task.until)
    return Answer(
        address(),
        True,
        chain.iteration,
        chain.state.beta,
        chain.burn_in,
        {name: values[since:] for name, values in traces.items()},
        {iteration: score for iteration, score in chain.scores.items() if iteration > since},
        packed(chain) if whole else None,
    )
