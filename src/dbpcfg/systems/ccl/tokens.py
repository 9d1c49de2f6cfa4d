"""The words of one sentence, as the lexicon describes them before it learns from the sentence.

A word goes by several *labels* on each side.  It is like itself, with strength 1.  If things like z
were seen next to it on that side, it stands beside z; if things that stand beside z were seen, it
is like z.  So each label seen at its adjacency point 0 gives the word the opposite one.

Neighbours learn from the ten strongest labels of a side; matching also finds one more that did not
fit.
"""

from __future__ import annotations

import numpy as np

from dbpcfg.numerics.kernels import Longs, kernel
from dbpcfg.systems.ccl.arrays import LEFT, NONE, ONE, RIGHT, ZERO, Record, Records, Single
from dbpcfg.systems.ccl.lexicon import Lexicon, first_point, share, stronger_than_block
from dbpcfg.systems.ccl.toplist import FIELDS, LONGEST, place

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
