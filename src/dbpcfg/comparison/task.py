"""The corpus of a comparison: gold trees, which words are punctuation, and a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dbpcfg.corpus.preparation import Preparation, Prepared, prepare
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import PunctuationRule, recognised_by
from dbpcfg.evaluation.evaluate import Evaluation, evaluate
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.io.progress import Progress
from dbpcfg.trees.tree import Tree


@dataclass(frozen=True)
class Task:
    """Sentences with gold trees, and how trees are scored against them."""

    prepared: Prepared
    """The sentences, without those that are too long."""
    convention: Convention
    """How trees are scored."""
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
        prepared = prepare(treebank, Preparation(lowercase, max_length, punctuation))
        convention = Convention(
            max_length=max_length, punctuation=recognised_by(prepared.sentences, punctuation)
        )
        return cls(prepared, convention, treebank.sources)

    def __len__(self) -> int:
        return len(self.prepared)

    def describe(self) -> dict[str, Any]:
        """What must be the same for results to be comparable: digest, size and preparation."""
        preparation = self.prepared.preparation
        return {
            "digest": self.digest(),
            "sentences": len(self),
            "words": sum(marks.count(False) for marks in self.prepared.punctuation),
            "lowercase": preparation.lowercase,
            "max_length": preparation.max_length,
            "punctuation": preparation.punctuation,
        }

    def digest(self) -> str:
        """A digest of the gold trees, and of which words are punctuation."""
        sha = hashlib.sha256()
        for sentence, marks in zip(self.prepared.sentences, self.prepared.punctuation):
            marked = "".join("01"[mark] for mark in marks)
            sha.update(f"{sentence.tree}\t{marked}\n".encode("utf-8", "surrogatepass"))
        return f"sha256:{sha.hexdigest()}"

    def score(self, trees: Sequence[Tree], progress: Progress | None = None) -> Evaluation:
        """Score a system's trees."""
        return evaluate(
            self.prepared.sentences,
            trees,
            self.prepared.punctuation,
            self.convention,
            category=self.category,
            progress=progress.update if progress else None,
        )
