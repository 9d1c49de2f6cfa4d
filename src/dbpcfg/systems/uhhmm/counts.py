"""Events counted from states; the stores follow from them."""

from __future__ import annotations

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Sentences
from dbpcfg.numerics.kernels import Ints, kernel
from dbpcfg.systems.uhhmm.submodels import Size, SubModels, zeros


def count_events(corpus: Encoded, states: Ints, size: Size) -> SubModels:
    """How often each outcome of each sub-model occurs in states.

    ``states``: ``[token, 5]``, as `backward.draw_states` gives them.
    """
    counts = zeros(size)
    add_events(corpus.sentences, states, counts)
    return counts


@kernel
def add_events(sentences: Sentences, states: Ints, counts: SubModels) -> None:
    """Add the events of all words to the counts.

    ``root`` is counted under the awaited category of the word before. Nothing but the tag and the
    word is counted of a last word, and no decision of a first.
    """
    tokens, starts = sentences
    awaited = np.zeros(len(counts.fork) + 1, dtype=np.int64)  # [0] for an empty store
    for s in range(len(starts) - 1):
        depth = 0
        for i in range(starts[s], starts[s + 1]):
            f, j, a, b, g = states[i]
            counts.pos[b + 1, g] += 1
            counts.lex[g, tokens[i]] += 1
            if i + 1 == starts[s + 1]:
                break
            new_a, new_b = states[i + 1, 2], states[i + 1, 3]
            d = depth - 1
            up = awaited[d] if depth > 0 else 0
            if depth > 0:
                counts.fork[d, b, g, f] += 1
                if f == 1:
                    counts.trans[d, b, g, j] += 1
                else:
                    counts.reduce[d, a, up, j] += 1
            if f == 1 and j == 1:
                counts.cont[d, b, g, new_b] += 1
            elif f == 1:
                counts.root[depth, b + 1, g, new_a] += 1
                counts.exp[depth, g, new_a, new_b] += 1
                depth += 1
            elif j == 0:
                counts.act[d, a, up, new_a] += 1
                counts.start[d, a, new_a, new_b] += 1
            else:
                counts.next[d - 1, a, up - 1, new_b] += 1
                depth -= 1
            awaited[depth] = new_b + 1
