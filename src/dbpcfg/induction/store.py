"""Where chains are saved."""

from __future__ import annotations

from typing import Protocol

from dbpcfg.induction.chain import Chain
from dbpcfg.induction.settings import ChainSettings


class ChainStore(Protocol):
    """Where chains are saved."""

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain as it was last saved; None if it never was."""

    def save(self, chain: Chain) -> None:
        """Save the chain as it is."""


class NoChainStore:
    """Saves nothing: for runs in memory."""

    def load(self, settings: ChainSettings) -> Chain | None:
        """None."""
        return None

    def save(self, chain: Chain) -> None:
        """Do nothing."""
