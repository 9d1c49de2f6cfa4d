"""The words of a sentence, the strengths of links between them, and which links may be added.

**Input**: lower-cased words, and where stopping punctuation is. Punctuation is recognised by its
exact form, so ``-LRB-`` is punctuation and ``-lrb-`` is a word. All of it is left out; ``. ? ! ; ,
--`` leave a stop behind, on the right of the word before and on the left of the word after.

**Labels** of the words of one sentence, by the lexicon before it learns from it. A word goes by
several *labels* on each side. It is like itself, with strength 1. If things like z were seen next
to it on that side, it stands beside z; if things that stand beside z were seen, it is like z. So
each label seen at its adjacency point 0 gives the word the opposite one.

Neighbours learn from the ten strongest labels of a side; matching also finds one more that did not
fit.

**Matching.**  At an adjacency point of word u, a label of the other word that was also seen there
matches, with the smaller of the two strengths; labels seen no more often than nothing was do not
count.  If the best label is not the only one of its strength, the match is strong but of no use.
The best match of u is taken over its points up to the first that is not used up; a usable one at
that point beats all before.

**Links.**  The stronger of both words' best matches says which word z one of them is like, and so
which statistics to go by: Out for links from that word, In or In* for links into it.

**Admission**: which links may be added between the newest word k and the words before it, and at
what depths.

*From the prefix.*  The words that may link to k are those whose adjacent word on the right it is.
They are kept as a stack, the nearest on top: of those at k − 1 only its base and words before that
stay, and k − 1 joins them.

*Into the prefix.*  Only the word adjacent to k on its left, if there is one.

*Violations.*  If k links to a word that reaches m, and m has a base v on its left that does not
reach k, then the brackets of v and k would cross.  As long as there is such a *resolution
violation* the parser may not move on to the next word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.ccl.lexicon import (
    BESIDE,
    DEEP,
    EITHER,
    FIELDS,
    LEFT,
    LONGEST,
    NEITHER,
    NEVER,
    NONE,
    ONE,
    RIGHT,
    ZERO,
    Lexicon,
    Record,
    Records,
    Single,
    add_link,
    first_depth,
    first_point,
    last_depth,
    least_depth,
    place,
    reaches,
    share,
    stronger_than_block,
)
from dbpcfg.systems.registry import check_sentences

STOPS = frozenset({".", "?", "!", ";", ",", "--"})
PUNCTUATION = STOPS | frozenset(
    {":", "...", "-LCB-", "-LRB-", "-RCB-", "-RRB-", "(", ")", "``", "''", "`", "'", "-"}
)
CURRENCY = frozenset({"$", "#"})


class WordText(NamedTuple):
    """Sentences end to end; sentence s has the words ``starts[s] : starts[s + 1]``, maybe none."""

    words: Longs  # [word]        numbered by first appearance
    stops: Longs  # [word, side] whether stopping punctuation is beside it
    starts: Longs  # [sentence + 1]
    types: int

    def length(self, sentence: int) -> int:
        """The number of words of a sentence."""
        return int(self.starts[sentence + 1] - self.starts[sentence])


class TextReader:
    """Separates words from punctuation; ``$`` and ``#`` are either."""

    def __init__(self, currency_is_punctuation: bool) -> None:
        self.punctuation = PUNCTUATION | (CURRENCY if currency_is_punctuation else frozenset())

    def words(self, sentence: Sequence[str]) -> list[str]:
        """The words of a sentence as written, without punctuation."""
        return [token for token in sentence if token not in self.punctuation]

    def read(self, sentences: Sequence[Sequence[str]]) -> WordText:
        """Number the words of all sentences; raises an error if one is empty or not a list."""
        check_sentences(sentences)
        numbers: dict[str, int] = {}
        words: list[int] = []
        stops: list[list[bool]] = []
        starts = [0]
        for sentence in sentences:
            stop = False
            for token in sentence:
                if token not in self.punctuation:
                    words.append(numbers.setdefault(token.lower(), len(numbers)))
                    stops.append([stop, False])
                    stop = False
                elif token in STOPS and len(words) > starts[-1]:
                    stop = stops[-1][RIGHT] = True
            starts.append(len(words))
        return WordText(
            words=np.array(words, dtype=np.int64),
            stops=np.array(stops, dtype=np.int64).reshape(-1, 2),
            starts=np.array(starts, dtype=np.int64),
            types=len(numbers),
        )


TOKEN = np.dtype(
    [
        ("word", "i8"),
        ("stop", "i8"),  # whether stopping punctuation is on this side
        ("used", "i8"),  # the number of adjacency points used up: always the first ones
        *FIELDS,  # the strongest labels; NONE for one whose name was lost
        ("names", "i8"),  # the number of all labels
        ("name", "i8", (LONGEST + 1,)),
        ("name_strength", "f4", (LONGEST + 1,)),
        # What the record of adjacency point 0 was:
        ("out_share", "f4"),  # Out / Learn
        ("into_share", "f4"),  # In / Learn
        ("seen", "i8"),  # the number of labels
        ("stronger", "i8"),  # the number of them stronger than Block
        ("strongest", "f4"),  # the strength of the strongest
    ]
)
"""One side of one word of a sentence."""


@kernel
def tokens_of(words: Longs, stops: Longs, lexicon: Lexicon, faithful: bool) -> Records:
    """Describe both sides of the words of a sentence."""
    tokens = np.zeros((len(words), 2), TOKEN)
    for x in range(len(words)):
        own = 2 * words[x]
        for side in (LEFT, RIGHT):
            token, point = tokens[x, side], lexicon.points[first_point(words[x], side)]
            token.word, token.stop = words[x], stops[x, side]
            token.out_share = share(point.out, point.learn)
            token.into_share = share(point.into, point.learn)
            token.seen = point.count
            token.stronger = stronger_than_block(point)
            token.strongest = point.strengths[0]
            _add_label(token, own, own, ONE)
            for rank in range(point.count):
                label = point.labels[rank] ^ 1
                if label == own:  # no strength exceeds 1
                    continue
                lost = faithful and side == RIGHT and strength_of(tokens[x, LEFT], label) > ZERO
                strength = share(point.strengths[rank], point.learn)
                _add_label(token, label, NONE if lost else label, strength)
    return tokens


@kernel
def _add_label(token: Record, label: int, listed: int, strength: Single) -> None:
    """Add a label to all names and, perhaps without its own, to the strongest."""
    token.name[token.names] = label
    token.name_strength[token.names] = strength
    token.names += 1
    place(token, token.count, listed, strength)


@kernel
def strength_of(token: Record, label: int) -> Single:
    """How strongly a label describes a token; 0 if it does not."""
    strength = ZERO
    for at in range(token.names):
        if token.name[at] == label:
            strength = token.name_strength[at]
    return strength


@kernel
def is_used(token: Record, position: int) -> bool:
    """Whether an adjacency point is used up; NONE, for a word without a match, never is."""
    return bool(position != NONE and position < token.used)


@kernel
def use(token: Record, position: int) -> None:
    """Use an adjacency point up: the first one that is not, or one that is already."""
    token.used = max(token.used, position + 1)


class Match(NamedTuple):
    """The best usable match of a word with another."""

    strength: Single  # 0 if there is none
    label: int
    position: int  # of the adjacency point, or NONE
    greatest: Single  # strength of the best match, usable or not


class LinkScore(NamedTuple):
    """Strengths of both links between x and k > x, 0 for no link, and their depth."""

    to_k: Single
    from_k: Single
    depth: int
    x_position: int  # the adjacency point of x that a link x→k uses up, or NONE
    k_position: int


@kernel
def _label_match(point: Record, other: Record) -> tuple[Single, int]:
    """The strength of the best label at an adjacency point, and the label or, if tied, NONE."""
    threshold = share(point.block, point.learn)
    best, label = ZERO, NONE
    for rank in range(point.count):
        seen = share(point.strengths[rank], point.learn)
        if seen < best or seen <= threshold:
            break
        strength = min(seen, strength_of(other, point.labels[rank]))
        if strength > best:
            best, label = strength, point.labels[rank]
        elif strength == best:
            label = NONE
    return best, label


@kernel
def best_match(tokens: Records, lexicon: Lexicon, u: int, other: int) -> Match:
    """Match word u with another, on whichever side that is."""
    side = LEFT if other < u else RIGHT
    token, facing = tokens[u, side], tokens[other, 1 - side]
    strength, label, position, greatest = ZERO, NONE, NONE, ZERO
    number = first_point(token.word, side)
    here = 0
    while number != NONE:
        used = is_used(token, here)
        found, which = _label_match(lexicon.points[number], facing)
        greatest = max(greatest, found)
        if which != NONE and (not used or found > strength):
            strength, label, position = found, which, here
        if not used:
            break
        number = lexicon.points[number].following
        here += 1
    return Match(strength, label, position, greatest)


@kernel
def score(
    tokens: Records, lexicon: Lexicon, x: int, k: int, to_k_depths: int, from_k_depths: int
) -> LinkScore:
    """Score the links between x and k, given the sets of depths that each may have.

    Let the stronger match be of strength s and its label about word z.  If the label is "beside z",
    the word that has the match is in the place of z; if it is "like z", the other one is.  Call
    that word M, the other one N; with the record of z's adjacency point 0 on the side where N is::

        M→N = min(Out / Learn, s)        N→M = min(In / Learn, s), or with In* for In

    where In* serves unless it is not positive and In is further from 0.  The depth is 1 if M→N is
    not positive, In < 0 and In* > 0.  If neither link is positive, the matches decide: that of N
    is the strength of N→M, and if Out is exactly 0 the greatest of M is that of M→N.
    """
    nothing = Match(ZERO, NONE, NONE, ZERO)
    if to_k_depths != NEITHER:
        of_x = best_match(tokens, lexicon, x, k)
        second = from_k_depths != NEITHER or of_x.strength == ZERO
        of_k = best_match(tokens, lexicon, k, x) if second else nothing
    else:
        of_k = best_match(tokens, lexicon, k, x)
        of_x = best_match(tokens, lexicon, x, k) if of_k.strength == ZERO else nothing
    x_is_strong = of_x.strength > of_k.strength
    strong = of_x if x_is_strong else of_k
    if strong.strength == ZERO:
        return LinkScore(ZERO, ZERO, 0, of_x.position, of_k.position)
    x_is_m = x_is_strong == (strong.label & 1 == BESIDE)
    of_m, of_n = (of_x, of_k) if x_is_m else (of_k, of_x)
    rho = lexicon.points[first_point(strong.label >> 1, RIGHT if x_is_m else LEFT)]

    m_to_n = min(share(rho.out, rho.learn), strong.strength)
    plain = rho.into_star <= ZERO and abs(rho.into) >= abs(rho.into_star)
    n_to_m = min(share(rho.into if plain else rho.into_star, rho.learn), strong.strength)
    depth = 1 if m_to_n <= ZERO and rho.into < ZERO and rho.into_star > ZERO else 0
    if m_to_n <= ZERO and n_to_m <= ZERO:
        n_to_m = of_n.strength
        if m_to_n == ZERO:
            m_to_n = of_m.greatest
    to_k, from_k = (m_to_n, n_to_m) if x_is_m else (n_to_m, m_to_n)
    if to_k < ZERO or not (to_k_depths >> depth) & 1:
        to_k = ZERO
    if from_k < ZERO or not (from_k_depths >> depth) & 1:
        from_k = ZERO
    return LinkScore(to_k, from_k, depth, of_x.position, of_k.position)


WAITING = np.dtype([("word", "i8"), ("depth", "i8")])
STATE = np.dtype([("size", "i8"), ("violation", "i8"), ("violation_depth", "i8")])


class Frontier(NamedTuple):
    """What the newest word can be linked from, and the violation that there may be."""

    stack: Records  # [rank]  words that may link to k, the nearest last, and at what least depth
    state: Records  # [0]     the size of the stack; the violation's base v, or NONE, and its depth


@kernel
def empty_frontier(n: int) -> Frontier:
    """The frontier of a sentence of n words before it is parsed."""
    return Frontier(np.zeros(n, WAITING), np.zeros(1, STATE))


@kernel
def shift(frontier: Frontier, links: Records, k: int) -> None:
    """Move on to word k > 0."""
    state = frontier.state[0]
    base = links[k - 1, LEFT].base  # NONE lies to the left of every word
    kept = 0
    for rank in range(state.size):
        word = frontier.stack[rank].word
        depth = least_depth(links, word, k)
        if word <= base and depth < NEVER:
            frontier.stack[kept].word, frontier.stack[kept].depth = word, depth
            kept += 1
    frontier.stack[kept].word, frontier.stack[kept].depth = k - 1, 0
    state.size = kept + 1
    state.violation = NONE


@kernel
def attach(frontier: Frontier, links: Records, x: int, y: int, depth: int) -> None:
    """Link x to y; note whether that makes a violation, or resolves one."""
    add_link(links, x, y, depth)
    state = frontier.state[0]
    if y > x:
        state.violation = NONE
        return
    m = links[y, LEFT].reach
    if m <= state.violation:
        state.violation = NONE
    inward = links[m, LEFT]
    if inward.base == NONE or reaches(links, inward.base, x):
        return
    nearer = inward.base > state.violation
    if nearer or (inward.base == state.violation and inward.depth < state.violation_depth):
        state.violation, state.violation_depth = inward.base, inward.depth


@kernel
def depths_from_prefix(frontier: Frontier, links: Records, rank: int, k: int) -> int:
    """The set of depths that a link from a word of the stack to k, without a base yet, may have."""
    state = frontier.state[0]
    x = frontier.stack[rank].word
    depths = EITHER if frontier.stack[rank].depth == 0 else DEEP
    if links[k, LEFT].count > 0:
        if x > links[k, LEFT].last:
            return NEITHER
        if reaches(links, k, x):  # through the last link
            depths &= 1 << last_depth(links, k, LEFT)
    if x < state.violation:
        return NEITHER
    if x == state.violation:
        depths &= 1 << state.violation_depth
    return depths


@kernel
def depths_into_prefix(frontier: Frontier, links: Records, k: int) -> int:
    """The set of depths that a link from k to the word adjacent on its left may have."""
    inward = links[k, LEFT]
    head = inward.reach - 1
    if head < 0:
        return NEITHER
    least = least_depth(links, k, head)
    if least == NEVER:
        return NEITHER
    depths = EITHER if least == 0 else DEEP
    if inward.base != NONE:
        if inward.depth == 1:
            depths &= DEEP
        path = first_depth(links, head, k)
        if path != NONE:
            depths &= 1 << path
        if reaches(links, head, inward.base):
            depths &= 1 << inward.depth
    if frontier.state[0].violation != NONE:
        depths &= 1 << last_depth(links, k, LEFT)
    return depths
