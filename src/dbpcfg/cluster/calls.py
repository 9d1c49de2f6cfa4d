"""Results of calls on workers, whatever becomes of the workers.

All that a call needs is in its arguments, or is the result of another such call. So Dask repeats
what is lost with a worker, and there is nothing to do here but to wait.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from dbpcfg.errors import DbpcfgError

if TYPE_CHECKING:
    from distributed import Client, Future

ABANDONED_SECONDS = 300.0
"""Seconds without any worker after which the run stops."""
LOOK_SECONDS = 3.0
"""Seconds between two looks at whether there are workers."""
MAX_BROKEN = 5
"""Connections that may break while one waits."""
_NONE = "the cluster has no workers any more"
_LOST = "the connection to the scheduler is lost"


class ClusterLostError(DbpcfgError):
    """The scheduler, or every worker, is gone; the last checkpoint can be resumed."""


def check_connection(client: Client) -> None:
    """Raise an error if the scheduler is gone."""
    if client.status != "running":
        raise ClusterLostError(_LOST)


def threads_of_workers(client: Client) -> dict[str, int]:
    """The number of threads of each worker, by its address."""
    check_connection(client)
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except (OSError, TimeoutError):
        raise ClusterLostError(_LOST) from None
    return {address: one["nthreads"] for address, one in workers.items()}


def results(client: Client, futures: Sequence[Future]) -> list[Any]:
    """The results of calls, in their order."""
    from distributed import KilledWorker, wait

    seen, broken = time.monotonic(), 0
    while True:
        check_connection(client)
        try:
            with client.as_current():
                wait(futures, timeout=LOOK_SECONDS)
            # Results may be lost before they are here, and then computed again.
            gathered = client.gather(futures, asynchronous=True)
            done: list[Any] = client.sync(_awaited, gathered, callback_timeout=ABANDONED_SECONDS)
            return done
        except TimeoutError:
            if threads_of_workers(client):
                seen = time.monotonic()
            elif time.monotonic() - seen > ABANDONED_SECONDS:
                raise ClusterLostError(_NONE) from None
        except OSError:  # a connection
            broken += 1
            if client.status == "running" and broken > MAX_BROKEN:
                raise
        except CancelledError:  # as all futures are when the connection is lost
            raise ClusterLostError(_LOST) from None
        except KilledWorker:
            raise DbpcfgError(
                "workers keep dying during this run; perhaps they have too little memory for it: "
                "see the workers' logs"
            ) from None


async def _awaited(gathered: Any) -> Any:
    return await gathered
