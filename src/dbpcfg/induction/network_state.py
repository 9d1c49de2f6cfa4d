"""What a chain of the neural learner has besides its grammar."""

from __future__ import annotations

from typing import NamedTuple

from dbpcfg.induction.criteria import Measures
from dbpcfg.numerics.kernels import Floats


class NetworkState(NamedTuple):
    """A network after some passes. Its arrays are not written to."""

    parameters: Floats
    """θ, all in one vector."""
    first: Floats
    """Adam's m."""
    second: Floats
    """Adam's s."""
    answer: Floats
    """The parameters of the chain's grammar."""
    steps: int
    """The number of mini-batches so far."""
    since: int
    """The number of passes since the answer."""
    measures: Measures | None
    """Those of the answer; None before the first pass."""
