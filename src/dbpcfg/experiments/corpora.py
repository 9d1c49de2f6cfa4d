"""The sentences and gold trees of a cell, how trees are scored, and a digest of both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

from dbpcfg.corpus.loading import files_to_read
from dbpcfg.corpus.preprocessing import PreprocessedCorpus, Preprocessing, preprocess
from dbpcfg.corpus.readers import check_format
from dbpcfg.corpus.reading import Corpus, read
from dbpcfg.corpus.sentence import PunctuationRule, Sentence, rule_name
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.evaluate import Evaluation, evaluate
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.io.files import os_errors
from dbpcfg.io.progress import Progress
from dbpcfg.options import FileOptions, ReadingOptions
from dbpcfg.trees.tree import Tree

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Task:
    """Sentences with gold trees, and how trees are scored against them."""

    preprocessed: PreprocessedCorpus
    """The sentences, without those that are too long."""
    convention: Convention
    sources: tuple[str, ...]
    """The files of the treebank."""
    category: str = "NP"
    """The gold category whose recall is measured."""

    @classmethod
    def of(
        cls,
        treebank: Corpus,
        *,
        lowercase: bool = True,
        max_length: int | None = None,
        punctuation: PunctuationRule = "auto",
    ) -> Task:
        """Prepare a treebank.

        ``punctuation``: how punctuation is recognised: ``"auto"``, ``"tags"``, ``"characters"`` or
        ``"both"``.
        """
        treebank.trees()
        preprocessed = preprocess(treebank, Preprocessing(lowercase, max_length, punctuation))
        return cls(preprocessed, _convention(preprocessed), treebank.sources)

    def __len__(self) -> int:
        return len(self.preprocessed)

    def describe(self) -> dict[str, Any]:
        """Digest, size and preprocessing: results are comparable if these are equal."""
        preprocessing = self.preprocessed.preprocessing
        return {
            "digest": self.digest,
            "sentences": len(self),
            "words": sum(marks.count(False) for marks in self.preprocessed.punctuation),
            "lowercase": preprocessing.lowercase,
            "max_length": preprocessing.max_length,
            "punctuation": preprocessing.punctuation,
        }

    @cached_property
    def digest(self) -> str:
        """A digest of the gold trees, and of which words are punctuation."""
        return gold_digest(self.preprocessed.sentences, self.preprocessed.punctuation)

    def score(self, trees: Sequence[Tree], progress: Progress | None = None) -> Evaluation:
        """Score a system's trees."""
        return evaluate(
            self.preprocessed.sentences,
            trees,
            self.preprocessed.punctuation,
            self.convention,
            category=self.category,
            progress=progress.update if progress else None,
        )


def gold_digest(sentences: Iterable[Sentence], punctuation: Iterable[Sequence[bool]]) -> str:
    """A digest of gold trees, and of which words are punctuation."""
    sha = hashlib.sha256()
    for sentence, marks in zip(sentences, punctuation, strict=True):
        marked = "".join("01"[mark] for mark in marks)
        sha.update(f"{sentence.tree}\t{marked}\n".encode("utf-8", "surrogatepass"))
    return f"sha256:{sha.hexdigest()}"


def _convention(preprocessed: PreprocessedCorpus) -> Convention:
    preprocessing = preprocessed.preprocessing
    return Convention(
        max_length=preprocessing.max_length,
        punctuation=rule_name(preprocessed.sentences, preprocessing.punctuation),
    )


@dataclass(frozen=True)
class CellCorpus:
    """The corpus of a cell: its files and how they are read and prepared, or a task."""

    name: str
    """The prefix of cell names; empty if there is only one corpus."""
    paths: tuple[str, ...]
    gold: tuple[str, ...] = ()
    """A treebank of the same sentences, if the corpus itself has no trees."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    task: Task | None = field(default=None, compare=False)
    """Sentences that have already been read and preprocessed, instead of files."""

    @classmethod
    def from_task(cls, task: Task) -> CellCorpus:
        """The corpus of a task."""
        return cls("", task.sources, preprocessing=task.preprocessed.preprocessing, task=task)


class LoadedCorpus(NamedTuple):
    """The sentences of a corpus."""

    preprocessed: PreprocessedCorpus
    """The sentences that dbpcfg learns from."""
    task: Task | None
    """The sentences with gold trees; None if there are none."""


def load_corpus(corpus: CellCorpus) -> LoadedCorpus:
    """Load the sentences and gold trees of a corpus; the last one read from files is cached."""
    if corpus.task is not None:
        return LoadedCorpus(corpus.task.preprocessed, corpus.task)
    return _loaded(corpus)


@lru_cache(maxsize=1)
def _loaded(corpus: CellCorpus) -> LoadedCorpus:
    reading = corpus.reading
    source = read(*corpus.paths, **reading.how(), quiet=True)
    preprocessed = scored = preprocess(source, corpus.preprocessing)
    if corpus.gold:
        decoding = FileOptions(reading.encoding, reading.skip_broken)
        treebank = read(*corpus.gold, **decoding.how(), quiet=True)
        words = [sentence.words for sentence in preprocessed.sentences]
        rule = corpus.preprocessing.punctuation
        gold = match_gold(words, treebank.sentences, ", ".join(corpus.gold), rule)
        scored = replace(preprocessed, sentences=gold.sentences, punctuation=gold.punctuation)
    if any(sentence.tree is None for sentence in scored.sentences):
        return LoadedCorpus(preprocessed, None)
    return LoadedCorpus(preprocessed, Task(scored, _convention(scored), source.sources))


def digest_of(corpus: CellCorpus) -> str:
    """A digest of a corpus, gold trees included."""
    return _digest_of_files(corpus) if corpus.task is None else corpus.task.digest


@cache
def _digest_of_files(corpus: CellCorpus) -> str:
    sha = hashlib.sha256()
    for paths, format in (
        (corpus.paths, check_format(corpus.reading.input_format)),
        (corpus.gold, None),
    ):
        for path in files_to_read(paths, format) if paths else ():
            with os_errors(path), open(path, "rb") as file:
                size = 0
                while block := file.read(_BLOCK):
                    sha.update(block)
                    size += len(block)
                sha.update(f"\0{size}\0".encode())
    return f"sha256:{sha.hexdigest()}"


def digest_if_readable(corpus: CellCorpus) -> str | None:
    """A digest of a corpus; None if a file cannot be read."""
    try:
        return digest_of(corpus)
    except DbpcfgError:
        return None


def forget_corpora() -> None:
    """Clear the caches, because files have changed."""
    _loaded.cache_clear()
    _digest_of_files.cache_clear()
