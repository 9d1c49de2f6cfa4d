"""A corpus that a chain passes over in a millisecond or two; chains and runs over it."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.chain import Chain, advance, new_chain
from dbpcfg.induction.induce import induce
from dbpcfg.induction.learners import State, learner_with, learners
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.run import Run
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import ChainSettings

TREES = synthetic_trees("center", sentences=40, vocabulary=4)
SENTENCES = [tree.words() for tree in TREES]
CORPUS = Encoded.from_sentences(SENTENCES)


def settings(learner: str = "gibbs", **flat) -> ChainSettings:
    """The settings of a chain, those of its learner among the others."""
    own = {name: flat.pop(name) for name in learners[learner].options() if name in flat}
    return ChainSettings(**flat, learner=learner_with(learner, own))


def run(iterations: int | Schedule, learner: str = "gibbs", **flat) -> Chain:
    """A chain from start to end."""
    schedule = iterations if isinstance(iterations, Schedule) else Schedule(iterations)
    given = settings(learner, **{"categories": 3, **flat})
    return advance(new_chain(CORPUS, given), CORPUS, schedule, float("inf"))


def first(corpus: Encoded, settings: ChainSettings) -> State:
    return settings.learner.first(corpus, settings)


def step(state: State, corpus: Encoded, settings: ChainSettings, threads: int = 1) -> State:
    return settings.learner.step(state, corpus, settings, Mapper(threads), with_trees=True)


def states(corpus: Encoded, settings: ChainSettings, threads: int = 1) -> Iterator[State]:
    """The states of a chain after its first iteration, its second, and so on."""
    state = first(corpus, settings)
    while True:
        state = step(state, corpus, settings, threads)
        yield state


def state_after(iterations: int, corpus: Encoded, settings: ChainSettings) -> State:
    """The state of a chain after some iterations, at least one."""
    return next(itertools.islice(states(corpus, settings), iterations - 1, None))


OPTIONS = {"K": 3, "chains": 2, "iterations": 30, "sample_beta": True, "exact": True, "seed": 5}


def start(out: Path | None, **changed) -> Run:
    """A run over the sentences."""
    return induce(SENTENCES, out=out, **{**OPTIONS, **changed})


def begin(path: Path, **changed) -> Run:
    """Start a run and stop it at once."""
    run = start(path, checkpoint=0, should_stop=lambda: True, **changed)
    assert not run.finished
    return run


def written(path: Path) -> dict[str, bytes]:
    """All files of a run but its lock, so that one too many is a difference too."""
    files = (file for file in path.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def grammar_bits(grammar: Grammar) -> tuple[bytes, ...]:
    return tuple(array.tobytes() for array in grammar.arrays().values())


def chain_bits(chain: Chain) -> tuple:
    """Everything that a chain is."""
    samples = [
        (s.iteration, s.log_likelihood, grammar_bits(s.grammar)) for s in (chain.best, chain.last)
    ]
    state = (chain.iteration, chain.state.beta, grammar_bits(chain.state.grammar))
    counts = (
        tuple(map(grammar_bits, chain.grammars)),
        chain.burn_in,
        chain.spans.counts.tobytes(),
        chain.scores,
    )
    traces = (chain.logs, chain.betas, repr(chain.measures))  # not a number is itself there
    return chain.settings, traces, samples, state, counts
