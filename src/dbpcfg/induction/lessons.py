"""What the neural grammar learns from: short stretches of words, with the brackets of a teacher.

**Stretches.** A sentence is divided at its punctuation marks, and what is longer than a limit is
not learned from, only parsed. Short stretches have most of what there is to learn, at a fraction of
the cost: the chart of n words takes time in proportion to n³.

**The teacher** is CCL (`dbpcfg.systems.ccl`), which reads the same words and marks in seconds. Its
brackets are known brackets of the stretches; the whole sentences are parsed without them. On
written text this keeps chains from the many bad modes of the likelihood (docs/results-learners.md);
in speech to children the grammar is better without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.preprocessing import PreprocessedCorpus
from dbpcfg.induction.corpus import Lessons, fits_bound

SHARE = 0.5
"""The limit grows until stretches within it have this share of all words."""
_MARK = ","


def stretches_of(corpus: PreprocessedCorpus) -> list[list[tuple[int, int]]]:
    """The stretches of each sentence between punctuation marks; the sentence, if there is one."""
    divided = []
    for sentence in corpus.sentences:
        n = len(sentence.words)
        edges = sorted({0, n, *(x for span in sentence.brackets for x in span)})
        divided.append(list(pairwise(edges)))
    return divided


def lessons_of(
    corpus: PreprocessedCorpus, depth: int | None, limit: int, with_teacher: bool
) -> Lessons:
    """The stretches to learn from; without those that have no tree with their brackets.

    ``limit``: the greatest number of words of a stretch; 0 for any number.
    """
    forms, stretches = corpus.encoded, stretches_of(corpus)
    if limit:
        limit = max(limit, _limit_for(SHARE, stretches))
    brackets = _ccl_brackets(forms, stretches) if with_teacher else [()] * len(forms)
    places, inside = [], []
    for s, (own, spans) in enumerate(zip(stretches, brackets, strict=True)):
        for start, end in own:
            alone = end - start == 1 and len(own) > 1
            if not alone and (not limit or end - start <= limit):
                places.append((s, start, end))
                inside.append([(i - start, j - start) for i, j in spans if start <= i < j <= end])
    learned = Lessons.of(forms, np.array(places, dtype=np.int64).reshape(-1, 3), inside)
    possible = np.flatnonzero(fits_bound(learned.sentences, depth))
    return Lessons(learned.sentences.select(possible), learned.parts[possible])


def _limit_for(share: float, stretches: Iterable[Sequence[tuple[int, int]]]) -> int:
    """The least limit within which stretches have a share of all words."""
    lengths = np.sort([end - start for own in stretches for start, end in own])
    words = np.cumsum(lengths)
    return int(lengths[np.searchsorted(words, share * words[-1])])


def _ccl_brackets(
    forms: Encoded, stretches: Sequence[Sequence[tuple[int, int]]]
) -> list[list[tuple[int, int]]]:
    """The brackets that CCL finds in each sentence, read with a mark between stretches."""
    from dbpcfg.systems.ccl import CCL

    marked = []
    for s, own in enumerate(stretches):
        # By numbers: a form may look like punctuation to CCL.
        words = [f"w{number}" for number in forms.numbers(s).tolist()]
        text: list[str] = []
        for start, end in own:
            text += [*([_MARK] if start else []), *words[start:end]]
        marked.append(text)
    return [[(i, j) for i, j, _ in tree.spans()] for tree in CCL().fit(marked).trees()]
