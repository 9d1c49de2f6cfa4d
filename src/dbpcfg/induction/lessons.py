"""What the neural grammar learns from: short stretches of words, with the brackets of a teacher.

**Stretches.** A sentence is divided at its punctuation marks, and what is longer than a limit is
not learned from, only parsed. Short stretches have most of what there is to learn, at a fraction of
the cost: the chart of n words takes time in proportion to n³.

**The teacher** is CCL (`dbpcfg.systems.ccl`), which reads the same words and marks in seconds. Its
brackets are known brackets of the stretches; the whole sentences are parsed without them. On
written text this keeps chains from the many bad modes of the likelihood (docs/results-learners.md);
in speech to children the grammar is better without it. In languages that do not suit CCL, such as
Icelandic, its brackets do not branch to the side of the language (`dbpcfg.parsing.direction`):
there only those that reach this side are taught, unless all are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from dbpcfg.corpus.preprocessing import PreprocessedCorpus
from dbpcfg.induction.corpus import Lessons, fits_bound
from dbpcfg.io.progress import Progress
from dbpcfg.parsing.direction import branching_side, follows

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


Brackets = Sequence[Sequence[tuple[int, int]]]
"""Those of each sentence."""


def lessons_of(
    corpus: PreprocessedCorpus, depth: int | None, limit: int, brackets: Brackets | None = None
) -> Lessons:
    """The stretches to learn from; without those that have no tree with their brackets.

    ``limit``: the greatest number of words of a stretch; 0 for any number.
    ``brackets``: those of the teacher, if there is one.
    """
    forms, stretches = corpus.encoded, stretches_of(corpus)
    if limit:
        limit = max(limit, _limit_for(SHARE, stretches))
    brackets = [()] * len(forms) if brackets is None else brackets
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


def whole_sentences(corpus: PreprocessedCorpus) -> Lessons:
    """The sentences without the brackets of punctuation, which are for their trees only."""
    forms = corpus.encoded
    numbers = np.arange(len(forms))
    parts = np.stack([numbers, np.zeros_like(numbers), forms.lengths], axis=1)
    return Lessons(replace(forms, brackets=None), parts.astype(np.int64))


def _limit_for(share: float, stretches: Iterable[Sequence[tuple[int, int]]]) -> int:
    """The least limit within which stretches have a share of all words."""
    lengths = np.sort([end - start for own in stretches for start, end in own])
    words = np.cumsum(lengths)
    return int(lengths[np.searchsorted(words, share * words[-1])])


def ccl_brackets(corpus: PreprocessedCorpus, progress: Progress | None = None) -> Brackets:
    """The brackets that CCL finds in each sentence, read with a mark between stretches."""
    from dbpcfg.systems.ccl import CCL

    forms, marked = corpus.encoded, []
    if progress is not None:
        progress.total = len(forms)
    for s, own in enumerate(stretches_of(corpus)):
        # By numbers: a form may look like punctuation to CCL.
        words = [f"w{number}" for number in forms.numbers(s).tolist()]
        text: list[str] = []
        for start, end in own:
            text += [*([_MARK] if start else []), *words[start:end]]
        marked.append(text)
    return [[(i, j) for i, j, _ in tree.spans()] for tree in CCL().fit(marked, progress).trees()]


def suited(corpus: PreprocessedCorpus, brackets: Brackets) -> Brackets:
    """The brackets of a teacher that suit the language: all, if they branch to its side.

    Otherwise those that reach that side of their stretch. In Icelandic, CCL's others are wrong:
    three of four cross a bracket of the treebanks, and one of five of these.
    """
    side = branching_side(corpus.encoded)
    inner = [
        (s, i, j, (i == start, j == end))
        for s, (own, spans) in enumerate(zip(stretches_of(corpus), brackets, strict=True))
        for start, end in own
        for i, j in spans
        if start <= i < j <= end and 1 < j - i < end - start
    ]
    if side is None or not inner:
        return brackets
    left, right = np.mean([edges for *_, edges in inner], axis=0)
    if follows(side, {"right": float(right), "left": float(left)}):
        return brackets
    kept: list[list[tuple[int, int]]] = [[] for _ in brackets]
    for s, i, j, edges in inner:
        if edges[side == "right"]:
            kept[s].append((i, j))
    return kept
