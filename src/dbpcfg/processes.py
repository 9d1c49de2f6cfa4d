"""How processes that this package starts behave."""

from __future__ import annotations

import os
import signal
from multiprocessing import parent_process
from threading import Thread


def leave_signals_to_parent() -> None:
    """Leave Ctrl-C to the process that started this one, and end when that one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
