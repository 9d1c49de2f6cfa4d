"""The sentences of a run: their words as written, their forms, their punctuation, gold spans.

Gold spans give F1 of a chain's trees, fast enough to be logged as it runs, and never used for
selection. The convention is the paper's: unlabelled spans of two words or more, each once,
punctuation removed, the whole sentence counted, all sentences pooled. ``dbpcfg.evaluation`` gives
the same number, with more detail.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.corpus.brackets import BracketError, shown
from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preparation import Prepared
from dbpcfg.evaluation.parseval import f1
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.archive import ArchiveError, read_archive, text_list, write_archive
from dbpcfg.io.files import reading
from dbpcfg.numerics.kernels import Bytes, Ints, Longs, kernel
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.trees.tree import Tree

FORMAT, VERSION = "dbpcfg corpus", 1
_DTYPES: dict[str, Any] = {
    "forms": np.int32,
    "words": np.int32,
    "starts": np.int64,
    "punctuation": np.uint8,
}
_WITH_BRACKETS = 2
"""The version of a file that has brackets."""


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
        if self.forms.brackets is not None:
            sha.update(self.forms.brackets.tobytes())
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
    if corpus.forms.brackets is None:
        write_archive(path, FORMAT, VERSION, header, arrays)
    else:
        arrays["brackets"] = corpus.forms.brackets
        write_archive(path, FORMAT, _WITH_BRACKETS, header, arrays)


def load_corpus(path: Path) -> RunCorpus:
    """Read the sentences of a run."""
    with reading(path):
        layouts = {VERSION: _DTYPES, _WITH_BRACKETS: _DTYPES | {"brackets": np.int32}}
        header, arrays = read_archive(path, FORMAT, layouts)
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
        if "brackets" in arrays:
            parts["forms"] = _with_brackets(parts["forms"], arrays["brackets"])
    punctuation = [tuple(marks[a:b]) for a, b in pairwise(starts)]
    return RunCorpus(parts["forms"], parts["words"], punctuation)


def _with_brackets(forms: Encoded, brackets: Ints) -> Encoded:
    """The sentences with brackets of a file, if they are as such a file has them."""
    known: list[list[tuple[int, int]]] = [[] for _ in range(len(forms))]
    lengths = forms.lengths.tolist()
    if brackets.ndim == 2 and brackets.shape[1] == 3:
        for s, start, end in brackets.tolist():
            if 0 <= s < len(known) and 0 <= start < end <= lengths[s]:
                known[s].append((start, end))
    found = forms.with_brackets(known)
    if found.brackets is None or not np.array_equal(found.brackets, brackets):
        raise ArchiveError("its brackets are not those of its sentences")
    return found


def fitting(prepared: Prepared, depth: int | None, skip: bool = False) -> Prepared:
    """The sentences that have a tree with their brackets within the bound.

    Under a grammar of one category every tree is possible, so only bound and brackets decide.

    ``depth``: the bound D; None for no bound.
    ``skip``: whether the others are left out and counted; else the first is an error.
    """
    corpus = prepared.encoded
    if corpus.brackets is None or depth is None:
        return prepared
    some, W = np.unique(corpus.brackets[:, 0]).astype(np.int64), len(corpus.vocabulary)
    lexical = np.full((1, W), 0.5 / W)
    grammar = Grammar(np.ones(1), np.full((1, 1, 1), 0.5), lexical, corpus.vocabulary)
    logs = ChartParser(grammar, depth).log_probabilities(corpus.chosen(some))
    without = set(some[np.isneginf(logs)].tolist())
    if not without:
        return prepared
    reason = f"brackets that no tree within the bound D = {depth} has"
    if not skip:
        first = prepared.sentences[min(without)]
        raise BracketError(
            f"{first.place}: found {reason}: {shown(first)}; give a greater D, or skip_broken "
            "(--skip-broken) to leave such sentences out"
        )
    kept = [s for s in range(len(prepared)) if s not in without]
    if not kept:
        raise BracketError(f"there is no sentence left: all have {reason}")
    return replace(
        prepared,
        sentences=[prepared.sentences[s] for s in kept],
        forms=[prepared.forms[s] for s in kept],
        punctuation=[prepared.punctuation[s] for s in kept],
        dropped={**prepared.dropped, reason: len(without)},
    )


GOLD_FORMAT, GOLD_VERSION = "dbpcfg gold spans", 1
LOG_EVERY = 10
"""Iterations between two scores in the trace."""


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
