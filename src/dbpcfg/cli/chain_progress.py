"""Progress of chains: a live table on a terminal, lines elsewhere, or JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Literal

from dbpcfg.io.progress import Progress, clock
from dbpcfg.io.tables import plural

if TYPE_CHECKING:
    from dbpcfg.cluster.connection import DaskCluster
    from dbpcfg.induction.chain import Chain
    from dbpcfg.induction.settings import Configuration

FIRST_SECONDS, LINE_SECONDS = 3.0, 10.0
"""Seconds before the first lines and between later ones, without a terminal."""

_BARS = "▁▂▃▄▅▆▇█"

Mode = Literal["auto", "json"]


def sparkline(values: list[float], width: int = 16) -> str:
    """Draw a trace, scaled from its minimum to its maximum."""
    if len(values) > width:
        step = len(values) / width
        values = [values[int((n + 1) * step) - 1] for n in range(width)]
    low, high = min(values), max(values)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] for value in values)


class ChainProgress:
    """Shows the progress of chains; a context manager, because of the live table.

    ``mode``: ``"auto"`` for a live table on a terminal and lines elsewhere, ``"json"`` for one JSON
    object per line on standard output.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode, self.sentences, self.tokens = mode, 1, 1
        self.cluster: DaskCluster | None = None
        """Where the run is computed, if not here: its workers are shown too."""
        self.configuration: Configuration | None = None
        self.chains: dict[int, Chain] = {}
        self.began: dict[int, tuple[int, float]] = {}
        self.rows: dict[int, dict[str, Any]] = {}
        self.next_line = 0.0
        self.live: Any = None

    def __enter__(self) -> ChainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def begin(self, configuration: Configuration) -> None:
        """Show chains from now on; the time left follows from the schedule."""
        self.configuration = configuration
        size = configuration.corpus
        self.sentences, self.tokens = size.get("sentences", 1), size.get("tokens", 1)
        self.next_line = time.monotonic() + min(FIRST_SECONDS, LINE_SECONDS)
        if self.mode == "auto" and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=getattr(sys.stderr, "obeyed", sys.stderr))
            self.live = Live(console=console, refresh_per_second=4, transient=True)
            self.live.start()

    def phase(self, name: str, total: int | None) -> Progress:
        """The progress of what comes before or after chains run."""
        if self.live is not None:
            self.live.stop()
            self.live = None
        return Progress(name, total, quiet=self.mode == "json")

    def show(self, chain: Chain) -> None:
        """Show a chain that has advanced."""
        self.chains[chain.settings.chain] = chain
        row = self._row(chain)
        self.rows[chain.settings.chain] = row
        self._compare()
        if self.mode == "json":
            print(json.dumps({"event": "progress", **row}), flush=True)
        elif self.live is not None:
            self.live.update(self._table())
        elif time.monotonic() > self.next_line:
            self.next_line = time.monotonic() + LINE_SECONDS
            for _, other in sorted(self.rows.items()):
                if other["standing"] != "dropped":
                    print(self._line(other), file=sys.stderr, flush=True)
            if self._race:
                print(self._summary(), file=sys.stderr, flush=True)

    @property
    def _race(self) -> bool:
        return self.configuration is not None and self.configuration.budget is not None

    @property
    def _after(self) -> str:
        """What the time left does not count."""
        samples = any(chain.settings.learner.samples for chain in self.chains.values())
        return "" if samples else "then trees"

    @property
    def _nouns(self) -> tuple[str, str]:
        """The learner's words for an iteration and for iterations."""
        return next(iter(self.chains.values())).settings.learner.iteration

    def _row(self, chain: Chain) -> dict[str, Any]:
        number, now = chain.settings.chain, time.monotonic()
        first, since = self.began.setdefault(number, (chain.iteration, now))
        rate = (chain.iteration - first) / (now - since) if now > since else 0.0
        end, learner = self._end(chain), chain.settings.learner
        row = {
            "chain": number,
            "standing": "",
            "iteration": chain.iteration,
            "log_likelihood": chain.logs[-1] if chain.logs else None,
            "per_token": chain.logs[-1] / self.tokens if chain.logs else None,
            "phase": learner.phases[chain.burn_in is not None],
            "burn_in": chain.burn_in if learner.samples else None,
            "tokens_per_second": round(rate * self.tokens / learner.parts(self.sentences)),
            "seconds_left": round((end - chain.iteration) / rate) if end and rate else None,
            "trace": sparkline(chain.logs) if chain.logs else "",
        }
        if self.cluster is not None:
            row |= self.cluster.size()
            row["seconds_per_iteration"] = round(1 / rate, 3) if rate else None
        return row

    def _end(self, chain: Chain) -> int:
        """The number of iterations of the chain; 0 if that is not known."""
        if self.configuration is None or self._race:
            return 0
        schedule = self.configuration.schedule
        if schedule.iterations is not None:
            return schedule.iterations
        return 0 if chain.burn_in is None else chain.burn_in + schedule.after

    def _compare(self) -> None:
        """Mark the leading chain of a race, and those that were dropped."""
        if self.configuration is None or not self._race:
            return
        from dbpcfg.induction.criteria import criteria
        from dbpcfg.induction.search import running

        configuration, chains = self.configuration, list(self.chains.values())
        if len(chains) < configuration.chains:
            return
        by = criteria[configuration.select]
        left = running(chains, configuration.rungs, by)[-1]
        leader = max(
            left, key=lambda chain: by.of_iterations(chain, _first_counted(chain), chain.iteration)
        )
        racing = {chain.settings.chain for chain in left}
        for number, row in self.rows.items():
            row["standing"] = "" if number in racing else "dropped"
        self.rows[leader.settings.chain]["standing"] = "leads"

    def _summary(self) -> str:
        """The race in one line."""
        from dbpcfg.induction.search import total

        assert self.configuration is not None
        done = sum(chain.iteration for chain in self.chains.values())
        whole = total(self.configuration.rungs)
        begun = sum(first for first, _ in self.began.values())
        seconds = time.monotonic() - min(since for _, since in self.began.values())
        left = seconds / (done - begun) * (whole - done) if done > begun else None
        dropped = [n for n, row in sorted(self.rows.items()) if row["standing"] == "dropped"]
        return (
            f"race: {done:,} of {whole:,} {self._nouns[1]}, {len(self.rows) - len(dropped)} of "
            f"{plural(self.configuration.chains, 'chain')} run"
            + ("" if left is None else f", {clock(round(left))} left")
        )

    def _line(self, row: dict[str, Any]) -> str:
        left = "" if row["seconds_left"] is None else f", {clock(row['seconds_left'])} left"
        if left and self._after:
            left += f", {self._after}"
        speed = f", {row['tokens_per_second']:,} tokens/s" if row["tokens_per_second"] else ""
        phase = row["standing"] or row["phase"]
        one, _ = self._nouns
        return (
            f"chain {row['chain']}: {one} {row['iteration']}{f' ({phase})' * bool(phase)}, "
            f"log-likelihood {row['log_likelihood']:,.1f} {row['trace']}"
            f"{speed}{left}{self._cluster_text(row)}"
        )

    def _cluster_text(self, row: dict[str, Any]) -> str:
        """The cluster's workers, parts of the corpus and time per iteration, if there is one."""
        if self.cluster is None:
            return ""
        parts = f", {plural(row['parts'], 'part')}" if row["parts"] else ""
        seconds = row["seconds_per_iteration"]
        each = "" if seconds is None else f", {seconds:.3g} s per {self._nouns[0]}"
        return f"; {plural(row['workers'], 'worker')}{parts}{each}"

    def _caption(self) -> str | None:
        race = [self._summary()] if self._race else []
        cluster = [self._cluster_text(row).strip("; ") for row in list(self.rows.values())[-1:]]
        return "; ".join(part for part in (*race, *cluster, self._after) if part) or None

    def _table(self) -> Any:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, caption=self._caption())
        for name in (
            "chain",
            self._nouns[0],
            "log-likelihood",
            "per token",
            "trace",
            "",
            "tokens/s",
        ):
            table.add_column(name, justify="left" if name in ("trace", "") else "right")
        if not self._race:
            table.add_column("left", justify="right")
        for _, row in sorted(self.rows.items()):
            left = row["seconds_left"]
            table.add_row(
                str(row["chain"]),
                str(row["iteration"]),
                f"{row['log_likelihood']:,.1f}",
                f"{row['per_token']:.3f}",
                row["trace"],
                row["standing"] or row["phase"],
                f"{row['tokens_per_second']:,}",
                *([] if self._race else ["–" if left is None else clock(left)]),
            )
        return table


def _first_counted(chain: Chain) -> int:
    """The first iteration that counts for the criterion, or the last one if none does."""
    return chain.iteration - max(1, chain.retained)
