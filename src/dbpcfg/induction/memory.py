"""Whether a run fits into memory, from its settings and the size of its corpus.

The estimate counts what every run of these settings holds at once, so it is a lower bound: a run
that is said not to fit does not.
"""

from __future__ import annotations

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.chain import GRAMMARS_KEPT
from dbpcfg.induction.configuration import Configuration
from dbpcfg.io.machine import memory_limit, size_text
from dbpcfg.parsing.leftcorner.parser import check_stores
from dbpcfg.parsing.mbr import MOST_BYTES

CHAIN_BYTES = 4096
"""What a chain takes however small it is: its objects, its settings, its traces."""


def needed_bytes(configuration: Configuration, corpus: Encoded) -> int:
    """The memory that a run needs, at least."""
    settings, lengths = configuration.model, corpus.lengths
    K, W, longest = settings.categories, len(corpus.vocabulary), int(lengths.max())
    grammar = 8 * (K + K**3 + K * W)
    samples = configuration.schedule.latest_burn_in + configuration.schedule.retained
    kept = min(GRAMMARS_KEPT // 2, configuration.schedule.retained)
    nodes = 12 * (2 * len(corpus.tokens) - len(corpus))
    spans = 4 * K * int((lengths * (lengths + 1) // 2).sum())
    chain = min(2, samples) * grammar + nodes + CHAIN_BYTES
    counted = kept * grammar + (spans if spans <= MOST_BYTES else 0)
    rungs = configuration.rungs
    survivors = rungs[-1].chains if rungs else configuration.chains
    # One chain at work: the chart's copies of the rules, the counts, and one sentence's chart.
    levels = 2 if settings.depth is None else 2 * settings.depth
    number = 4 if settings.precision == "single" else 8
    cells = longest * (longest + 1) // 2
    work = 5 * number * K**3 + 2 * grammar
    if settings.parser == "chart":
        work += number * K * levels * cells
    return configuration.chains * chain + survivors * counted + work


def check_memory(configuration: Configuration, corpus: Encoded) -> None:
    """Raise an error, with the estimate, if a run cannot fit into memory."""
    settings = configuration.model
    if settings.parser == "leftcorner" and settings.depth is not None:
        check_stores(settings.categories, settings.depth, int(corpus.lengths.max()))
    needed, there = needed_bytes(configuration, corpus), memory_limit()
    if there is not None and needed > there:
        raise DbpcfgError(
            f"this run would need {size_text(needed)} of memory, and there are "
            f"{size_text(there)} ({settings.categories:,} categories, depth "
            f"{'none' if settings.depth is None else f'{settings.depth:,}'}, "
            f"{configuration.chains:,} chains): choose smaller numbers"
        )
