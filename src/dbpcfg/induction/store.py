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


class InMemory:
    """Keeps chains as they are: for runs without a directory, whose chains stop at rungs too."""

    def __init__(self) -> None:
        self._chains: dict[int, Chain] = {}

    def load(self, settings: ChainSettings) -> Chain | None:
        """The chain of this number; None if it has not begun."""
        return self._chains.get(settings.chain)

    def save(self, chain: Chain) -> None:
        """Keep the chain."""
        self._chains[chain.settings.chain] = chain
