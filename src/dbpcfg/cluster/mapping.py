"""Functions of the parts of a corpus, called on the workers of a cluster.

The parts are sent once, and then held by the workers. Each call sends what else its function needs,
such as the grammar of an iteration: to one worker, from which the others get it, and each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

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
from dbpcfg.induction.mapping import CorpusPart, Divide, Mapper
from dbpcfg.induction.settings import ChainSettings

if TYPE_CHECKING:
    from distributed import Client, Future

SMALL = 2**14
"""Bytes of what is sent with each call: no worker holds it."""


class DaskMapper(Mapper):
    """Calls functions of parts on workers.

    ``slots``: returns the number of calls that the workers can do at a time; the corpus has as many
    parts. It may grow.
    ``threads``: for what is computed in this process.
    """

    def __init__(self, client: Client, slots: Callable[[], int], threads: int = 1) -> None:
        super().__init__(threads)
        self.client, self.slots, self.environment = client, slots, environment()
        self._parts: WeakKeyDictionary[Encoded, dict[Divide, tuple[int, list[CorpusPart]]]]
        self._parts = WeakKeyDictionary()
        self._futures: WeakKeyDictionary[CorpusPart, Future] = WeakKeyDictionary()
        self._lock = Lock()

    def parts(self, corpus: Encoded, divide: Divide) -> list[CorpusPart]:
        """The parts of a corpus, as many as there are slots; more if there are more slots now."""
        slots = max(1, self.slots())
        with self._lock:
            divided = self._parts.setdefault(corpus, {})
            if divided.get(divide, (0, []))[0] < slots:
                divided[divide] = slots, divide(corpus, slots)
            return divided[divide][1]

    def map(
        self, function: Callable[..., Any], parts: Sequence[CorpusPart], *shared: Any
    ) -> list[Any]:
        """``function(part, *shared, 1)`` of each part, in their order."""
        check_connection(self.client)
        vocabulary, n = parts[0].sentences.vocabulary, len(parts)
        sent = [  # what a chain started from is large, and not needed
            replace(one, start=None) if isinstance(one, ChainSettings) else one for one in shared
        ]
        content: Any = packed(sent, vocabulary)
        if len(content) > SMALL:
            content = self.client.submit(_same, content, pure=False)
        futures = self.client.map(
            call_on_part,
            [self.environment] * n,
            [function] * n,
            [self._sent(part) for part in parts],
            [content] * n,
            pure=False,
        )
        return [unpacked(result, vocabulary) for result in results(self.client, futures)]

    def _sent(self, part: CorpusPart) -> Future | Message:
        """What stands for a part in a call."""
        with self._lock:
            future = self._futures.get(part)
            if future is None:
                message = Message.of(part)
                if len(message.content) <= SMALL:
                    return message
                future = self.client.submit(read_message, message, pure=False)
                self._futures[part] = future
            return future


def _same(content: bytes) -> bytes:
    return content


def call_on_part(
    client: Environment, function: Callable[..., Any], part: CorpusPart | Message, content: bytes
) -> bytes:
    """Call a function of a part: this is what a worker does."""
    begin_call(client)
    sentences: CorpusPart = part.read() if isinstance(part, Message) else part
    vocabulary = sentences.sentences.vocabulary
    return packed(function(sentences, *unpacked(content, vocabulary), 1), vocabulary)
