"""The strengths of links between two words.

**Matching.**  At an adjacency point of word u, a label of the other word that was also seen there
matches, with the smaller of the two strengths; labels seen no more often than nothing was do not
count.  If the best label is not the only one of its strength, the match is strong but of no use.
The best match of u is taken over its points up to the first that is not used up; a usable one at
that point beats all before.

**Links.**  The stronger of both words' best matches says which word z one of them is like, and so
which statistics to go by: Out for links from that word, In or In* for links into it.
"""

from __future__ import annotations

from typing import NamedTuple

from dbpcfg.numerics.kernels import kernel
from dbpcfg.systems.ccl.arrays import (
    BESIDE,
    LEFT,
    NEITHER,
    NONE,
    RIGHT,
    ZERO,
    Record,
    Records,
    Single,
)
from dbpcfg.systems.ccl.lexicon import Lexicon, first_point, share
from dbpcfg.systems.ccl.tokens import is_used, strength_of


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
