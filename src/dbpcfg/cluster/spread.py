"""How a run is spread over workers: its chains side by side, or the sentences of each in shards.

Chains side by side need no messages to speak of, so that is the choice where there are enough of
them to keep all workers at work, and where each worker can hold the whole corpus.
"""

from __future__ import annotations

from typing import Literal

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.settings import Configuration

Spread = Literal["chains", "shards"]

SHARD_WORK = 10**9
"""Multiplications of one iteration in a shard, at least: about a second. Less is not worth it."""
WHOLE_BYTES = 2**31
"""The most memory for one chain's trees and counts on one worker."""


def spread_of(
    configuration: Configuration, corpus: Encoded, slots: list[str], asked: Spread | None
) -> tuple[Spread, str]:
    """How a run is spread, and a line that says so.

    ``slots``: the addresses of workers, each as often as it has threads.
    ``asked``: how it is to be spread; None to choose.
    """
    if not configuration.model.learner.samples:
        if asked == "shards":
            raise DbpcfgError("shards are for the learner gibbs; others run chains side by side")
        asked = "chains"
    chains, threads, workers = configuration.chains, len(slots), len(set(slots))
    spread: Spread = asked or _chosen(configuration, corpus, threads)
    grammar, back = bytes_per_iteration(configuration, corpus)
    there = f"{workers} worker{'s' * (workers != 1)} with {threads} thread{'s' * (threads != 1)}"
    if spread == "chains":
        line = f"{there}: {chains} chain{'s' * (chains != 1)} side by side, 64 bytes per iteration"
    else:
        line = (
            f"{there}: sentences in {threads} shards, per iteration of a chain "
            f"{_text(grammar)} to each worker and at most {_text(back)} back in all"
        )
    return spread, line


def _text(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 10**6 else f"{size / 1e3:,.0f} kB"


def bytes_per_iteration(configuration: Configuration, corpus: Encoded) -> tuple[int, int]:
    """Of one chain in shards: the bytes of a grammar, and the most that come back in all."""
    K, W = configuration.model.categories, len(corpus.vocabulary)
    rules = K + K**3 + K * W
    used = 8 * min(rules, 2 * len(corpus.tokens))
    return 8 * rules, used + 8 * len(corpus)


def _chosen(configuration: Configuration, corpus: Encoded, threads: int) -> Spread:
    K, lengths = configuration.model.categories, corpus.lengths
    work = int((lengths**3 * K**2 + lengths**2 * K**3).sum())
    spans = 4 * K * int((lengths * (lengths + 1) // 2).sum())
    if threads > 1 and spans + 24 * len(corpus.tokens) > WHOLE_BYTES:
        return "shards"
    if configuration.chains < threads and work > SHARD_WORK * threads:
        return "shards"
    return "chains"
