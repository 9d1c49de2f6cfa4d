"""The sentences of a run: their words as written, their forms, their punctuation, gold spans.

Gold spans give F1 of a chain's trees, fast enough to be logged as it runs, and never used for
selection. The convention is the paper's: unlabelled spans of two words or more, each once,
punctuation removed, the whole sentence counted, all sentences pooled. ``dbpcfg.evaluation`` gives
the same number, with more detail.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.brackets import BracketError, show_brackets
from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preprocessing import PreprocessedCorpus, Preprocessing, word_class
from dbpcfg.corpus.sentencelist import SentenceList
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.archive import ArchiveError, read_archive, text_list, write_archive
from dbpcfg.io.files import read_errors
from dbpcfg.io.tables import plural
from dbpcfg.numerics.kernels import Bytes, Ints, Longs, kernel
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.trees.tree import Tree

FORMAT, VERSION = "dbpcfg corpus", 2
_DTYPES: dict[str, Any] = {
    "forms": np.int32,
    "words": np.int32,
    "starts": np.int64,
    "punctuation": np.uint8,
    "brackets": np.int32,
    "parts": np.int32,
    "part_brackets": np.int32,
}


class Lessons(NamedTuple):
    """Parts of sentences that are learned from in place of whole sentences."""

    sentences: Encoded
    """The parts, as sentences, with the brackets that they are learned with."""
    parts: Longs
    """``[part, 3]``: the sentence, start and end of each."""
    note: str = ""
    """What speaks against them, to be said before anything is learned."""

    @classmethod
    def of(
        cls, forms: Encoded, parts: Longs, brackets: Sequence[Iterable[tuple[int, int]]]
    ) -> Lessons:
        """Parts of sentences, with their brackets."""
        words = [forms.numbers(s)[start:end].tolist() for s, start, end in parts.tolist()]
        sentences = Encoded.from_numbers(words, forms.vocabulary).with_brackets(brackets)
        return cls(sentences, parts)


@dataclass(frozen=True, repr=False)
class RunCorpus:
    """The sentences of a run, and their words as written, to print trees with."""

    forms: Encoded
    """The sentences in the forms that the model sees."""
    words: Encoded
    """The same sentences as written."""
    punctuation: Sequence[tuple[bool, ...]]
    """Which words of each sentence are punctuation."""
    lessons: Lessons | None = None
    """What is learned from, if not all sentences as they are."""

    @property
    def learned(self) -> Encoded:
        """What is learned from."""
        return self.forms if self.lessons is None else self.lessons.sentences

    def __repr__(self) -> str:
        forms = plural(len(self.forms.vocabulary), "form")
        return f"<RunCorpus: {plural(len(self.forms), 'sentence')}, {forms}>"

    @classmethod
    def of(cls, preprocessed: PreprocessedCorpus) -> RunCorpus:
        """The sentences of a prepared corpus."""
        sentences = preprocessed.sentences
        if isinstance(sentences, SentenceList):
            words = sentences.encoded
        else:
            words = Encoded.from_sentences(sentence.words for sentence in sentences)
        return cls(preprocessed.encoded, words, preprocessed.punctuation)

    def size(self) -> dict[str, int]:
        """The numbers of sentences, tokens and different forms."""
        return {
            "sentences": len(self.forms),
            "tokens": len(self.forms.tokens),
            "forms": len(self.forms.vocabulary),
        }

    def classes(self, preprocessing: Preprocessing) -> dict[str, dict[str, int]]:
        """The words that each class stands for, and how often each of them occurs.

        They are in the letters that the model sees, if these still are of the class.
        """
        if not (preprocessing.rare or preprocessing.numbers):
            return {}
        forms, words = self.forms.vocabulary.words, self.words.vocabulary.words
        pairs = self.forms.tokens.astype(np.int64) * len(words) + self.words.tokens
        classes: dict[str, dict[str, int]] = {}
        for pair, count in zip(*map(np.ndarray.tolist, np.unique(pairs, return_counts=True))):
            form, word = forms[pair // len(words)], words[pair % len(words)]
            letters = preprocessing.fold_case(word)
            if form not in (preprocessing.word_form(word), letters):
                same = word_class(letters, preprocessing.scheme) == form
                members = classes.setdefault(form, {})
                spelling = letters if same else word
                members[spelling] = members.get(spelling, 0) + count
        return classes

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
    arrays: dict[str, Any] = {
        "forms": corpus.forms.tokens,
        "words": corpus.words.tokens,
        "starts": corpus.forms.starts,
        "punctuation": np.fromiter(chain.from_iterable(corpus.punctuation), np.uint8),
        "brackets": _rows(corpus.forms.brackets),
        "parts": _rows(None),
        "part_brackets": _rows(None),
    }
    if corpus.lessons is not None:
        arrays["parts"] = corpus.lessons.parts.astype(np.int32)
        arrays["part_brackets"] = _rows(corpus.learned.brackets)
    write_archive(path, FORMAT, VERSION, header, arrays)


def _rows(brackets: Ints | None) -> Ints:
    return np.zeros((0, 3), dtype=np.int32) if brackets is None else brackets


def load_corpus(path: Path) -> RunCorpus:
    """Read the sentences of a run."""
    with read_errors(path):
        header, arrays = read_archive(path, FORMAT, {VERSION: _DTYPES})
        starts, marks = arrays["starts"], arrays["punctuation"].astype(bool).tolist()
        both = {}
        for name, listed in (("forms", "form_list"), ("words", "word_list")):
            tokens, vocabulary = arrays[name], Vocabulary(text_list(header, listed))
            whole = starts.ndim == 1 and len(starts) > 1 and starts[0] == 0
            if not whole or (np.diff(starts) < 1).any() or starts[-1] != len(tokens):
                raise ArchiveError("its sentences do not begin and end with its words")
            if tokens.min() < 0 or tokens.max() >= len(vocabulary) or len(marks) != len(tokens):
                raise ArchiveError("it has words that are not in its lists")
            both[name] = Encoded(tokens, starts, vocabulary)
        forms = _with_brackets(both["forms"], arrays["brackets"])
        lessons = _lessons(forms, arrays["parts"], arrays["part_brackets"])
    different: dict[tuple[bool, ...], tuple[bool, ...]] = {}
    each = (tuple(marks[a:b]) for a, b in pairwise(starts.tolist()))
    punctuation = [different.setdefault(mask, mask) for mask in each]
    return RunCorpus(forms, both["words"], punctuation, lessons)


def _lessons(forms: Encoded, parts: Ints, brackets: Ints) -> Lessons | None:
    """The parts of a file that are learned from, if they are parts of its sentences."""
    if not len(parts):
        return None
    if parts.ndim != 2 or parts.shape[1] != 3:
        raise ArchiveError("its parts of sentences are not three numbers each")
    s, start, end = parts.T.astype(np.int64)
    if (s < 0).any() or (s >= len(forms)).any():
        raise ArchiveError("it has parts of sentences that are not there")
    if (start < 0).any() or (end <= start).any() or (end > forms.lengths[s]).any():
        raise ArchiveError("it has parts that are not within their sentences")
    bare = Lessons.of(forms, parts.astype(np.int64), [()] * len(parts))
    return bare._replace(sentences=_with_brackets(bare.sentences, brackets))


def _with_brackets(forms: Encoded, brackets: Ints) -> Encoded:
    """The sentences with brackets of a file, if they are as such a file has them."""
    known: list[list[tuple[int, int]]] = [[] for _ in range(len(forms))]
    lengths = forms.lengths.tolist()
    if brackets.ndim == 2 and brackets.shape[1] == 3:
        for s, start, end in brackets.tolist():
            if 0 <= s < len(known) and 0 <= start < end <= lengths[s]:
                known[s].append((start, end))
    bracketed = forms.with_brackets(known)
    if not np.array_equal(_rows(bracketed.brackets), brackets):
        raise ArchiveError("its brackets are not those of its sentences")
    return bracketed


def fits_bound(corpus: Encoded, depth: int | None) -> NDArray[np.bool_]:
    """``[s]``: whether a sentence has a tree with its brackets within the bound.

    Under a grammar of one category every tree is possible, so only bound and brackets decide.
    """
    fits = np.ones(len(corpus), dtype=bool)
    if corpus.brackets is not None and depth is not None:
        some, W = np.unique(corpus.brackets[:, 0]).astype(np.int64), len(corpus.vocabulary)
        lexical = np.full((1, W), 0.5 / W)
        grammar = Grammar(np.ones(1), np.full((1, 1, 1), 0.5), lexical, corpus.vocabulary)
        logs = ChartParser(grammar, depth).log_probabilities(corpus.select(some))
        fits[some] = np.isfinite(logs)
    return fits


def within_bound(
    preprocessed: PreprocessedCorpus, depth: int | None, skip: bool = False
) -> PreprocessedCorpus:
    """The sentences that have a tree with their brackets within the bound.

    ``depth``: the bound D; None for no bound.
    ``skip``: whether the others are left out and counted; else the first is an error.
    """
    corpus = preprocessed.encoded
    if corpus.brackets is None or depth is None:
        return preprocessed
    without = set(np.flatnonzero(~fits_bound(corpus, depth)).tolist())
    if not without:
        return preprocessed
    reason = f"brackets that no tree within the bound D = {depth} has"
    if not skip:
        first = preprocessed.sentences[min(without)]
        raise BracketError(
            f"{first.location}: found {reason}: {show_brackets(first)}; give a greater D, or "
            "skip_broken (--skip-broken) to leave such sentences out"
        )
    kept = [s for s in range(len(preprocessed)) if s not in without]
    if not kept:
        raise BracketError(f"there is no sentence left: all have {reason}")
    sentences = SentenceList(preprocessed.sentences[s] for s in kept)
    return replace(
        preprocessed,
        sentences=sentences,
        encoded=Encoded.from_sentences(corpus[s] for s in kept).with_brackets(sentences.brackets),
        punctuation=[preprocessed.punctuation[s] for s in kept],
        removed={**preprocessed.removed, reason: len(without)},
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
    text: Encoded | None = None
    """The sentences, if others are learned from."""

    def f1(self, starts: Longs, nodes: Ints) -> float:
        """F1 of trees."""
        from dbpcfg.evaluation.parseval import f1

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
    with read_errors(path):
        _, arrays = read_archive(path, GOLD_FORMAT, {GOLD_VERSION: dtypes})
        gold = GoldSpans(arrays["kept"], arrays["words"], arrays["first"], arrays["spans"])
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
