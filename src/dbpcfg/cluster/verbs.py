"""``induce`` and ``resume``, on a cluster if one is named."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from dbpcfg.induction import induce as induction
from dbpcfg.induction.execution import no_remark
from dbpcfg.induction.run import Run

P = ParamSpec("P")


def _connecting(verb: Callable[P, Run]) -> Callable[P, Run]:
    """The verb, which connects to the cluster that it is given by name."""

    @wraps(verb)
    def connecting(*arguments: P.args, **options: P.kwargs) -> Run:
        cluster: Any = options.get("cluster")
        if cluster is None or hasattr(cluster, "runner"):
            return verb(*arguments, **options)
        from dbpcfg.cluster.connection import connect, to_stderr

        announce = no_remark if options.get("quiet") else to_stderr
        with connect(cluster, announce=announce) as options["cluster"]:
            return verb(*arguments, **options)

    return connecting


induce = _connecting(induction.induce)
resume = _connecting(induction.resume)
