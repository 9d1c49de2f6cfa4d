"""The chains of a run on a cluster: side by side, or each with its sentences on all workers.

**Side by side**, a chain goes to a worker for a block of iterations, and comes back: without the
corpus, which workers hold, and without the counts of spans, of which only those of the block come
back. The client has the whole chain after each block, and workers have nothing that could be lost.

**By sentences**, chains advance in this process, and only what needs the sentences is computed on
workers (`dbpcfg.cluster.mapping`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from dbpcfg.cluster.calls import check_connection, results
from dbpcfg.cluster.messages import (
    Environment,
    Message,
    begin_call,
    environment,
    packed,
    read_message,
    unpacked,
)
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.induction.chain import Chain, advance, no_spans, trees_of
from dbpcfg.induction.corpus import GoldSpans
from dbpcfg.induction.mapping import Mapper
from dbpcfg.induction.search import Schedule

if TYPE_CHECKING:
    from distributed import Client, Future

BLOCK_SECONDS, LONGEST_BLOCK = 2.0, 20.0
"""Seconds of a block: longer than locally, as a chain travels; and at most, if it is large."""
BYTES_PER_SECOND = 1e8
"""Bytes of chains that this process sends, and gets back, in a second: else blocks are longer."""

Work = Callable[..., Chain]
"""What runs a block, as `dbpcfg.induction.chain.advance`."""


def side_by_side(client: Client, at_once: int) -> Work:
    """What advances whole chains on workers, so many at a time."""
    sent: dict[Encoded, Future] = {}
    lock, ours = Lock(), environment()

    def work(
        chain: Chain,
        corpus: Encoded,
        schedule: Schedule,
        seconds: float,
        mapper: Mapper,
        gold: GoldSpans | None,
        until: int | None,
    ) -> Chain:
        check_connection(client)
        with lock:
            if corpus not in sent:  # without what it has computed and remembers
                message = Message.of((replace(corpus), gold))
                sent[corpus] = client.submit(read_message, message, pure=False)
        settings, spans = chain.settings, no_spans(corpus, chain.settings)
        bare = replace(chain, settings=replace(settings, start=None), spans=spans)
        content = packed(bare, corpus, corpus.vocabulary)
        if seconds >= 1:
            least = at_once * len(content) / BYTES_PER_SECOND
            seconds = min(LONGEST_BLOCK, max(BLOCK_SECONDS, least))
        given = ours, content, sent[corpus], schedule, seconds, until
        [result] = results(client, [client.submit(advance_block, *given, pure=False)])
        after: Chain = unpacked(result, corpus, corpus.vocabulary)
        if "counts" in after.spans.__dict__:
            chain.spans.counts += after.spans.counts
        return replace(after, settings=settings, spans=chain.spans)

    return work


def advance_block(
    client: Environment,
    content: bytes,
    sentences: tuple[Encoded, GoldSpans | None],
    schedule: Schedule,
    seconds: float,
    until: int | None,
) -> bytes:
    """Advance a chain on one thread: this is what a worker does."""
    begin_call(client)
    corpus, gold = sentences
    chain: Chain = unpacked(content, corpus, corpus.vocabulary)
    advance(chain, corpus, schedule, seconds, Mapper(), gold, until)
    return packed(chain, corpus, corpus.vocabulary)


def by_sentences(mapper: Mapper, method: str) -> Work:
    """What advances chains here, with a mapper that computes elsewhere.

    ``method``: how the trees of a chain are chosen; once it is finished, they are computed there
    too.
    """

    def work(
        chain: Chain,
        corpus: Encoded,
        schedule: Schedule,
        seconds: float,
        _: Mapper,
        gold: GoldSpans | None,
        until: int | None,
    ) -> Chain:
        advance(chain, corpus, schedule, seconds, mapper, gold, until)
        if chain.finished(schedule):
            for each in (method, "best"):  # which the model needs
                trees_of(chain, corpus, each, mapper)
        return chain

    return work
