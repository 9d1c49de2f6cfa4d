"""The two passes over a text: learn from every sentence in turn, then parse them all."""

from __future__ import annotations

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.ccl.admission import empty_frontier, shift
from dbpcfg.systems.ccl.arrays import LEFT, NONE, RIGHT, Records
from dbpcfg.systems.ccl.learning import (
    EVENTS_PER_WORD,
    Events,
    empty_events,
    learn_events,
    meet_on_the_left,
    meet_on_the_right,
)
from dbpcfg.systems.ccl.lexicon import Lexicon, has_room
from dbpcfg.systems.ccl.links import empty_links
from dbpcfg.systems.ccl.reading import WordText
from dbpcfg.systems.ccl.step import empty_candidates, parse_word
from dbpcfg.systems.ccl.tokens import tokens_of


@kernel
def _parse(tokens: Records, lexicon: Lexicon, events: Events) -> Records:
    """Link the words of a sentence from left to right, and note what is learnt from them."""
    n = len(tokens)
    links, frontier, candidates = empty_links(n), empty_frontier(n), empty_candidates(n)
    now = 0
    for k in range(n):
        if k > 0:
            shift(frontier, links, k)
            if not tokens[k, LEFT].stop:
                now = parse_word(tokens, lexicon, links, frontier, candidates, k, now)
        meet_on_the_left(events, tokens, links, k)
        meet_on_the_right(events, tokens, links, k)
    meet_on_the_right(events, tokens, links, n)
    return links


@kernel
def learn(text: WordText, first: int, last: int, lexicon: Lexicon, faithful: bool) -> int:
    """Learn from sentences ``first:last``; return the next, before ``last`` if room runs out."""
    for sentence in range(first, last):
        start, end = text.starts[sentence], text.starts[sentence + 1]
        if not has_room(lexicon, EVENTS_PER_WORD * (end - start)):
            return sentence
        tokens = tokens_of(text.words[start:end], text.stops[start:end], lexicon, faithful)
        events = empty_events(end - start)
        _parse(tokens, lexicon, events)
        learn_events(events, tokens, lexicon)
    return last


@kernel
def parse(
    text: WordText, first: int, last: int, lexicon: Lexicon, faithful: bool, brackets: Longs
) -> None:
    """Parse sentences ``first:last`` and write two brackets for each of their words."""
    for sentence in range(first, last):
        start, end = text.starts[sentence], text.starts[sentence + 1]
        tokens = tokens_of(text.words[start:end], text.stops[start:end], lexicon, faithful)
        links = _parse(tokens, lexicon, empty_events(end - start))
        _brackets(links, brackets[start:end])


@kernel
def _brackets(links: Records, brackets: Longs) -> None:
    """The brackets (start, end, deep start, deep end) of every word.

    A word's bracket is all that it reaches by paths whose first link has depth 0, on both sides,
    and the word itself; with links of depth 1 there is a second bracket, all that it reaches.
    """
    n = len(links)
    for x in range(n):
        deep, shallow = links[x, LEFT].last, links[x, LEFT].last_shallow
        brackets[x, 0] = x if shallow == NONE else links[shallow, LEFT].reach
        brackets[x, 2] = x if deep == NONE else links[deep, LEFT].reach
    for x in range(n - 1, -1, -1):
        deep, shallow = links[x, RIGHT].last, links[x, RIGHT].last_shallow
        brackets[x, 1] = x + 1 if shallow == NONE else brackets[shallow, 3]
        brackets[x, 3] = x + 1 if deep == NONE else brackets[deep, 3]
