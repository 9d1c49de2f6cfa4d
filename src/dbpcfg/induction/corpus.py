"""The sentences of a run: their words as written, their forms, their punctuation, gold spans.

Gold spans give F1 of a chain's trees, fast enough to be logged as it runs, and never used for
selection. The convention is the paper's: unlabelled spans of two words or more, each once,
punctuation removed, the whole sentence counted, all sentences pooled. ``dbpcfg.evaluation`` gives
the same number, with more detail.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preparation import Prepared
from dbpcfg.evaluation.parseval import f1
from dbpcfg.io.archive import ArchiveError, read_archive, text_list, write_archive
from dbpcfg.io.files import reading
from dbpcfg.numerics.kernels import Ints, Longs, kernel
from dbpcfg.trees.tree import Tree

FORMAT, VERSION = "dbpcfg corpus", 1
_DTYPES: dict[str, Any] = {
    "forms": np.int32,
    "words": np.int32,
    "starts": np.int64,
    "punctuation": np.uint8,
}


@dataclass(frozen=True, repr=False)
class RunCorpus:
    """The sentences that a run learns from, and their words as written, to print trees with."""

    forms: Encoded
    """The sentences in the forms that the model sees."""
    words: Encoded
    """The same sentences as written."""
    punctuation: list[tuple[bool, ...]]
    """Which words of each sentence are punctuation."""

    def __repr__(self) -> str:
        forms = self.forms
        return f"<RunCorpus: {len(forms):,} sentences, {len(forms.vocabulary):,} forms>"

    @classmethod
    def of(cls, prepared: Prepared) -> RunCorpus:
        """The sentences of a prepared corpus."""
        words = Encoded.from_sentences(sentence.words for sentence in prepared.sentences)
        return cls(prepared.encoded, words, prepared.punctuation)

    def size(self) -> dict[str, int]:
        """The numbers of sentences, tokens and different forms."""
        return {
            "sentences": len(self.forms),
            "tokens": len(self.forms.tokens),
            "forms": len(self.forms.vocabulary),
        }

    def digest(self) -> str:
        """A digest of the sentences: the same for the same text prepared the same way."""
        sha = hashlib.sha256()
        for part in (self.forms, self.words):
            for sentence in part:
                sha.update("\x1f".join(sentence).encode("utf-8", "surrogatepass") + b"\n")
        return f"sha256:{sha.hexdigest()}"


def save_corpus(corpus: RunCorpus, path: Path) -> None:
    """Write the sentences of a run."""
    header = {
        "form_list": list(corpus.forms.vocabulary.words),
        "word_list": list(corpus.words.vocabulary.words),
    }
    marks = [mark for marks in corpus.punctuation for mark in marks]
    arrays = {
        "forms": corpus.forms.tokens,
        "words": corpus.words.tokens,
        "starts": corpus.forms.starts,
        "punctuation": np.array(marks, dtype=np.uint8),
    }
    write_archive(path, FORMAT, VERSION, header, arrays)


def load_corpus(path: Path) -> RunCorpus:
    """Read the sentences of a run."""
    with reading(path):
        header, arrays = read_archive(path, FORMAT, {VERSION: _DTYPES})
        starts, marks = arrays["starts"], arrays["punctuation"].astype(bool).tolist()
        parts = {}
        for name, listed in (("forms", "form_list"), ("words", "word_list")):
            tokens, vocabulary = arrays[name], Vocabulary(text_list(header, listed))
            whole = starts.ndim == 1 and len(starts) > 1 and starts[0] == 0
            if not whole or (np.diff(starts) < 1).any() or starts[-1] != len(tokens):
                raise ArchiveError("its sentences do not begin and end with its words")
            if tokens.min() < 0 or tokens.max() >= len(vocabulary) or len(marks) != len(tokens):
                raise ArchiveError("it has words that are not in its lists")
            parts[name] = Encoded(tokens, starts, vocabulary)
    punctuation = [tuple(marks[a:b]) for a, b in pairwise(starts)]
    return RunCorpus(parts["forms"], parts["words"], punctuation)


GOLD_FORMAT, GOLD_VERSION = "dbpcfg gold spans", 1
LOG_EVERY = 10
"""Iterations between two scores in the trace."""

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class GoldSpans:
    """Gold spans over words without punctuation.

    ``kept[t]``: how many words stand before token t of the corpus in its sentence, itself not
    counted. ``spans`` are dense: sentence s has ``(m + 1)²`` entries from ``first[s]`` on, m its
    number of words.
    """

    kept: Ints
    words: Ints
    first: Longs
    spans: Bytes

    def f1(self, starts: Longs, nodes: Ints) -> float:
        """F1 of trees."""
        counts = span_counts(starts, nodes, self.kept, self.words, self.first, self.spans)
        return float(f1(*counts))


def gold_spans(trees: Sequence[Tree], punctuation: Sequence[Sequence[bool]]) -> GoldSpans:
    """Gold spans of trees."""
    words = np.array([marks.count(False) for marks in map(list, punctuation)], dtype=np.int32)
    first = np.concatenate([[0], np.cumsum((words.astype(np.int64) + 1) ** 2)])
    spans = np.zeros(int(first[-1]), dtype=np.uint8)
    kept: list[int] = []
    for s, (tree, marks) in enumerate(zip(trees, punctuation, strict=True)):
        before = np.concatenate([[0], np.cumsum(~np.array(marks, dtype=bool))])
        kept += before[:-1].tolist()
        for start, end, _ in tree.spans():
            i, j = int(before[start]), int(before[end])
            if j - i > 1:
                spans[first[s] + i * (words[s] + 1) + j] = 1
    return GoldSpans(np.array(kept, dtype=np.int32), words, first, spans)


@kernel
def span_counts(
    starts: Longs, nodes: Ints, kept: Ints, words: Ints, first: Longs, spans: Bytes
) -> tuple[int, int, int]:
    """Numbers of matched, predicted and gold spans over all sentences."""
    matched, predicted, gold = 0, 0, 0
    for s in range(len(words)):
        m, n = words[s], starts[s + 1] - starts[s]
        if m < 2:
            continue
        here = spans[first[s] : first[s + 1]]
        seen = np.zeros(len(here), dtype=np.uint8)
        base = 2 * starts[s] - s
        for t in range(base, base + 2 * n - 1):
            i = kept[starts[s] + nodes[t, 0]]
            j = kept[starts[s] + nodes[t, 1]] if nodes[t, 1] < n else m
            span = i * (m + 1) + j
            if j - i > 1 and not seen[span]:
                seen[span] = 1
                predicted += 1
                matched += here[span]
        for span in range(len(here)):
            gold += here[span]
    return matched, predicted, gold


def save_gold(gold: GoldSpans, path: Path) -> None:
    """Write the gold spans of a run."""
    arrays = {"kept": gold.kept, "words": gold.words, "first": gold.first, "spans": gold.spans}
    write_archive(path, GOLD_FORMAT, GOLD_VERSION, {}, arrays)


def load_gold(path: Path, starts: Longs) -> GoldSpans:
    """Read the gold spans of a run."""
    dtypes = {"kept": np.int32, "words": np.int32, "first": np.int64, "spans": np.uint8}
    with reading(path):
        _, arrays = read_archive(path, GOLD_FORMAT, {GOLD_VERSION: dtypes})
        gold = GoldSpans(**arrays)
        if not _fits(gold, starts):
            raise ArchiveError("its spans are not those of the run's sentences")
    return gold


def _fits(gold: GoldSpans, starts: Longs) -> bool:
    """Whether the kernel, which checks no bounds, will stay within these arrays."""
    lengths, words = np.diff(starts), gold.words.astype(np.int64)
    if words.shape != lengths.shape or gold.kept.shape != (starts[-1],) or gold.spans.ndim != 1:
        return False
    first = np.concatenate([[0], np.cumsum((words + 1) ** 2)])
    return bool(
        np.array_equal(gold.first, first)
        and len(gold.spans) == first[-1]
        and (gold.kept >= 0).all()
        and (gold.kept <= np.repeat(words, lengths)).all()
    )
