"""The words of a sentence, and the strengths of links between them.

**Input**: lower-cased words, and the positions of stopping punctuation. Punctuation is recognised
by its exact form, so ``-LRB-`` is punctuation and ``-lrb-`` is a word. It is removed; ``. ? ! ; ,
--`` leave a stop on the right of the word before and on the left of the word after.

**Labels** of the words of a sentence are given by the lexicon before it learns from the sentence. A
word has several *labels* on each side. It is like itself, with strength 1. If words like z were
seen next to it on that side, it stands beside z; if words that stand beside z were seen, it is like
z. So each label seen at adjacency point 0 gives the word the opposite label.

Neighbours learn from the ten strongest labels of a side; matching uses one more.

**Matching.**  At an adjacency point of word u, a label of the other word that was also seen there
matches, with the smaller of the two strengths; labels must have been seen more often than Block.
If several labels have the greatest strength, the match is strong but not usable.  The best match of
u is taken over its points up to the first that is not used up; a usable match at that point beats
all earlier ones.

**Links.**  The stronger of the best matches of both words says which word z one of them is like,
and so which statistics to use: Out for links from that word, In or In* for links into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.ccl.lexicon import (
    BESIDE,
    FIELDS,
    LEFT,
    LONGEST,
    NEITHER,
    NONE,
    ONE,
    RIGHT,
    ZERO,
    Lexicon,
    Record,
    Records,
    Single,
    first_point,
    place,
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
    """Sentence s has the words ``starts[s] : starts[s + 1]``, possibly none."""

    words: Longs  # [word]        numbered by first appearance
    stops: Longs  # [word, side] whether stopping punctuation is beside it
    starts: Longs  # [sentence + 1]
    types: int

    def length(self, sentence: int) -> int:
        """The number of words of a sentence."""
        return int(self.starts[sentence + 1] - self.starts[sentence])


class TextReader:
    """Separates words from punctuation; ``$`` and ``#`` can be either."""

    def __init__(self, currency_is_punctuation: bool) -> None:
        self.punctuation = PUNCTUATION | (CURRENCY if currency_is_punctuation else frozenset())

    def words(self, sentence: Sequence[str]) -> list[str]:
        """The words of a sentence as written, without punctuation."""
        return [token for token in sentence if token not in self.punctuation]

    def read(self, sentences: Sequence[Sequence[str]]) -> WordText:
        """Number the words of all sentences; raise an error if one is empty or not a list."""
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
        # From the record of adjacency point 0:
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
        own_label = 2 * words[x]
        for side in (LEFT, RIGHT):
            token, point = tokens[x, side], lexicon.points[first_point(words[x], side)]
            token.word, token.stop = words[x], stops[x, side]
            token.out_share = share(point.out, point.learn)
            token.into_share = share(point.into, point.learn)
            token.seen = point.count
            token.stronger = stronger_than_block(point)
            token.strongest = point.strengths[0]
            _add_label(token, own_label, own_label, ONE)
            for rank in range(point.count):
                label = point.labels[rank] ^ 1
                if label == own_label:  # no strength exceeds 1
                    continue
                lost = faithful and side == RIGHT and strength_of(tokens[x, LEFT], label) > ZERO
                strength = share(point.strengths[rank], point.learn)
                _add_label(token, label, NONE if lost else label, strength)
    return tokens


@kernel
def _add_label(token: Record, label: int, listed: int, strength: Single) -> None:
    """Add a label to all names and, as ``listed``, to the strongest labels."""
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
    """Whether an adjacency point is used up; never for NONE, when a word has no match."""
    return bool(position != NONE and position < token.used)


@kernel
def use(token: Record, position: int) -> None:
    """Use up an adjacency point: the first one that is not used up, or one that already is."""
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
    """Match word u with another word on either side."""
    side = LEFT if other < u else RIGHT
    token, facing = tokens[u, side], tokens[other, 1 - side]
    strength, label, position, greatest = ZERO, NONE, NONE, ZERO
    number = first_point(token.word, side)
    index = 0
    while number != NONE:
        used = is_used(token, index)
        point_strength, point_label = _label_match(lexicon.points[number], facing)
        greatest = max(greatest, point_strength)
        if point_label != NONE and (not used or point_strength > strength):
            strength, label, position = point_strength, point_label, index
        if not used:
            break
        number = lexicon.points[number].following
        index += 1
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

    In* is used unless it is not positive and In is further from 0.  The depth is 1 if M→N is not
    positive, In < 0 and In* > 0.  If neither link is positive, N→M gets the strength of the match
    of N, and if Out is exactly 0, M→N gets the greatest strength of M.
    """
    no_match = Match(ZERO, NONE, NONE, ZERO)
    if to_k_depths != NEITHER:
        of_x = best_match(tokens, lexicon, x, k)
        second = from_k_depths != NEITHER or of_x.strength == ZERO
        of_k = best_match(tokens, lexicon, k, x) if second else no_match
    else:
        of_k = best_match(tokens, lexicon, k, x)
        of_x = best_match(tokens, lexicon, x, k) if of_k.strength == ZERO else no_match
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
