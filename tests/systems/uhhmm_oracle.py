"""The UHHMM by brute force: every sequence of states of a sentence, with full stores.

Written from the definition of the model and with other data structures than the package: a store is
a tuple of pairs (a, b), categories are counted from 0, and every event is listed.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dbpcfg.systems.uhhmm.model import Size, SubModels, zeros

Store = tuple[tuple[int, int], ...]
Event = tuple[str, tuple[int, ...]]
Row = tuple[int, int, int, int, int]


class Sequence(NamedTuple):
    states: tuple[Row, ...]
    events: tuple[Event, ...]
    probability: float


def random_models(size: Size, rng: np.random.Generator, kept: float = 1.0) -> SubModels:
    """Random rows that sum to ``kept``."""
    return SubModels(
        *(
            kept * rng.dirichlet(np.ones(it.shape[-1]), it.shape[:-1]).reshape(it.shape)
            for it in zeros(size)
        )
    )


def successors(
    store: Store, g: int, size: Size, models: SubModels, faithful: bool
) -> Iterator[tuple[int, int, Store, list[Event], float]]:
    """All ways to integrate a word: f, j, the next store, events and probability."""
    d = len(store)
    if d == 0:
        for a in range(size.A):
            for b in range(size.B):
                events = [("root", (0, 0, g, a)), ("exp", (0, g, a, b))]
                yield 1, 0, ((a, b),), events, product(models, events)
        return
    a, b = store[-1]
    above = store[-2][1] + 1 if d > 1 else 0
    for f in (0, 1):
        for j in (0, 1):
            exceeds, empties = f == 1 and j == 0 and d == size.D, f == 0 and j == 1 and d == 1
            if exceeds or empties:
                continue
            decisions: list[Event] = [("fork", (d - 1, b, g, f))]
            forced = (f == 1 and d == size.D) or (f == 0 and d == 1)
            second = ("trans", (d - 1, b, g, j)) if f else ("reduce", (d - 1, a, above, j))
            p = product(models, decisions)
            if faithful or not forced:
                p *= product(models, [second])
            decisions.append(second)
            for new_b in range(size.B):
                if f == 1 and j == 1:
                    events = [("cont", (d - 1, b, g, new_b))]
                    after = (*store[:-1], (a, new_b))
                    yield f, j, after, decisions + events, p * product(models, events)
                elif f == 0 and j == 1:
                    events = [("next", (d - 2, a, above - 1, new_b))]
                    after = (*store[:-2], (store[-2][0], new_b))
                    yield f, j, after, decisions + events, p * product(models, events)
                else:
                    for new_a in range(size.A):
                        if f == 1:
                            events = [("root", (d, b + 1, g, new_a)), ("exp", (d, g, new_a, new_b))]
                            used = [
                                ("root", (d, above if faithful else b + 1, g, new_a)),
                                events[1],
                            ]
                            after = (*store, (new_a, new_b))
                        else:
                            events = [
                                ("act", (d - 1, a, above, new_a)),
                                ("start", (d - 1, a, new_a, new_b)),
                            ]
                            used = events
                            after = (*store[:-1], (new_a, new_b))
                        yield f, j, after, decisions + events, p * product(models, used)


def product(models: SubModels, events: list[Event]) -> float:
    return float(np.prod([getattr(models, name)[place] for name, place in events]))


def sequences(
    words: tuple[int, ...], size: Size, models: SubModels, faithful: bool = False
) -> list[Sequence]:
    """Every sequence of states that ends with one fragment (or is of one word)."""
    found = []

    def extend(store: Store, rows: list[Row], events: list[Event], p: float) -> None:
        t = len(rows)
        a, b = store[-1] if store else (-1, -1)
        for g in range(size.G):
            here: list[Event] = [("pos", (b + 1, g)), ("lex", (g, words[t]))]
            uniform = faithful and t == 0
            q = p * (product(models, here[1:]) / size.G if uniform else product(models, here))
            if t + 1 == len(words):
                if len(store) <= 1:
                    found.append(Sequence((*rows, (0, 1, a, b, g)), (*events, *here), q))
                continue
            for f, j, after, more, r in successors(store, g, size, models, faithful):
                extend(after, [*rows, (f, j, a, b, g)], [*events, *here, *more], q * r)

    extend((), [], [], 1.0)
    return found


def counted(events: Counter[Event], size: Size) -> SubModels:
    """Counts of events as arrays."""
    counts = zeros(size)
    for (name, place), times in events.items():
        getattr(counts, name)[place] += times
    return counts
