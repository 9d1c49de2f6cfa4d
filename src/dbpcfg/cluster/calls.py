"""Calls to workers that outlive the workers.

A call names the worker that has what it needs. If that worker is gone, Dask runs the call on
another one, which answers that it has nothing; the caller then sends it all. So the answer to a
lost worker is the same as to a new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from threading import Lock
from typing import TYPE_CHECKING, Any

from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from distributed import Client, Future

MOST_DEATHS = 5
"""Workers that one call may kill, times Dask's own number of attempts, before the run gives up."""
MOST_STRANDS = 2
"""Looks in a row at which no worker has a call, before all that it needs is sent again."""
ABANDONED_SECONDS = 300.0
"""Seconds without any worker after which the run stops."""
SEND_SECONDS = 15.0
"""Seconds that sending something takes at most, however small it is."""
SLOWEST = 1e6
"""Bytes that are sent in a second at least."""
_AGAIN_SECONDS = 0.2
_NONE = "the cluster has no workers any more"
_LOST = "the connection to the scheduler is lost"
_LOOK_SECONDS = 3.0
"""Seconds between two looks at whether there are workers."""


class ClusterLostError(DbpcfgError):
    """The scheduler, or every worker, is gone; the last checkpoint can be resumed."""


class Shared:
    """Something that calls need often: sent once, and then passed on among workers.

    ``content``: what is sent. It is kept, to be sent again if all workers that have it are lost.
    ``everywhere``: whether all workers are sent it now, or each when it first needs it.
    """

    def __init__(self, client: Client, content: object, everywhere: bool = False) -> None:
        self.client, self.content, self.everywhere = client, content, everywhere
        self._future: Future | None = None
        self._lock = Lock()

    def future(self) -> Future:
        """What stands for it in a call; sent again if it was lost."""
        with self._lock:
            if self._future is None or self._future.status in ("cancelled", "lost", "error"):
                self._future = self._sent()
            return self._future

    def send_again(self) -> None:
        """Send it again when it is needed next: no worker has it any more."""
        with self._lock:
            self._future = None

    def _sent(self) -> Future:
        """Send it. That fails if a worker is lost meanwhile, and is then done again."""
        since = time.monotonic()
        while True:
            check_connection(self.client)
            try:
                # Dask waits for ever if a worker is lost at the wrong moment.
                [future] = self.client.sync(self._scatter, callback_timeout=self._patience())
                return future
            except (OSError, TimeoutError, CancelledError, KeyError):  # of a worker's address
                if time.monotonic() - since > ABANDONED_SECONDS:
                    raise ClusterLostError(_NONE) from None
            time.sleep(_AGAIN_SECONDS)

    async def _scatter(self) -> list[Future]:
        # In a list: Dask would take a tuple apart.
        sent: list[Future] = await self.client.scatter(
            [self.content], hash=False, broadcast=self.everywhere, asynchronous=True
        )
        return sent

    def _patience(self) -> float:
        from dask.sizeof import sizeof

        return SEND_SECONDS + float(sizeof(self.content)) / SLOWEST


class Call:
    """A call that is under way on some worker.

    ``worker``: the address of the worker that should run it, if there is one.
    """

    def __init__(
        self,
        client: Client,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        shared: Sequence[Shared] = (),
        worker: str | None = None,
    ) -> None:
        self.client, self.function, self.arguments = client, function, arguments
        self.shared, self.worker = shared, worker
        self._submit()

    def _submit(self) -> None:
        where = {} if self.worker is None else {"workers": [self.worker]}
        shared = [one.future() for one in self.shared]
        check_connection(self.client)
        self.future = self.client.submit(
            self.function,
            *self.arguments,
            *shared,
            pure=False,
            allow_other_workers=bool(where),
            **where,
        )

    def result(self) -> Any:
        """What the call returned, on whatever worker."""
        from distributed import KilledWorker

        deaths, broken, strands, seen = 0, 0, 0, time.monotonic()
        while True:
            try:
                return self.future.result(timeout=_LOOK_SECONDS)
            except TimeoutError:
                workers = self._workers()
                if workers:
                    seen = time.monotonic()
                strands = strands + 1 if workers and self._stranded() else 0
                if strands == MOST_STRANDS:
                    strands = 0
                    for one in self.shared:
                        one.send_again()
                    self._submit()
                elif workers and self.worker is not None and self.worker not in workers:
                    # Dask forgets that another worker would do, if for a moment there was none.
                    self.worker = None
                    self._submit()
                elif not workers and time.monotonic() - seen > ABANDONED_SECONDS:
                    raise ClusterLostError(_NONE) from None
            except OSError:  # the connection to a worker or to the scheduler
                broken += 1
                if broken > MOST_DEATHS:
                    raise
                self._workers()  # raises an error if the scheduler is gone
                time.sleep(_AGAIN_SECONDS)
            except KilledWorker:
                deaths += 1
                if deaths == MOST_DEATHS:
                    raise DbpcfgError(
                        "workers keep dying during this run; perhaps they have too little "
                        "memory for it: see the workers' logs"
                    ) from None
                self._submit()
            except CancelledError as error:
                if "connection" in str(error):
                    raise ClusterLostError(_LOST) from None
                self._submit()  # all workers that had what it needs are gone

    def _stranded(self) -> bool:
        """Whether no worker has the call: Dask may wait for data that no worker has any more."""
        try:
            having = self.client.processing()
        except (OSError, TimeoutError):
            return False
        return not self.future.done() and all(self.future.key not in of for of in having.values())

    def _workers(self) -> set[str]:
        check_connection(self.client)
        try:
            return set(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, TimeoutError):
            raise ClusterLostError(_LOST) from None


def check_connection(client: Client) -> None:
    """Raise an error if the scheduler is gone."""
    if client.status != "running":
        raise ClusterLostError(_LOST)
