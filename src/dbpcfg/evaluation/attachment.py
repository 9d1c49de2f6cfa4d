"""Attachment scores: how many words have the right head.

*Directed* accuracy is the share of words whose predicted head is the gold head; to be the root is
to have a head like any other.  *Undirected* accuracy also counts a word whose predicted head is one
of its gold dependents: the two words are linked, in the other direction (Klein and Manning 2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.convention import signed
from dbpcfg.io.tables import percent


@dataclass(frozen=True, slots=True)
class AttachmentScore:
    """How many words have the right head."""

    directed_matches: int
    """Words with the gold head."""
    undirected_matches: int
    """Words with the gold head, or a gold dependent as their head."""
    words: int
    """Words that count."""
    signature: str
    """The convention."""

    @property
    def directed(self) -> float:
        """Directed accuracy; nan without words."""
        return self.directed_matches / self.words if self.words else float("nan")

    @property
    def undirected(self) -> float:
        """Undirected accuracy; nan without words."""
        return self.undirected_matches / self.words if self.words else float("nan")

    def __str__(self) -> str:
        scores = f"directed {percent(self.directed)}, undirected {percent(self.undirected)}"
        return f"{scores} ({self.words} words) {self.signature}"


def attachment_score(
    gold: Sequence[Sequence[int]],
    predicted: Sequence[Sequence[int]],
    punctuation: Sequence[Sequence[bool]] | None = None,
) -> AttachmentScore:
    """Score heads against gold heads.

    ``gold``: for each sentence and word the position of the gold head, from 0; −1 for the root.
    ``punctuation``: marks the words of each sentence that are not scored; all are if not given. A
    word whose head is punctuation is scored like any other.
    """
    if len(gold) != len(predicted):
        raise DbpcfgError(f"{len(gold)} sentences with gold heads, {len(predicted)} with predicted")
    directed = undirected = words = 0
    for number, (right, found) in enumerate(zip(gold, predicted), start=1):
        marks = [False] * len(right) if punctuation is None else punctuation[number - 1]
        if not len(right) == len(found) == len(marks):
            raise DbpcfgError(
                f"sentence {number} has {len(right)} gold heads, {len(found)} predicted heads and "
                f"{len(marks)} marks of punctuation; there must be one of each for every word"
            )
        for place, (head, guess, mark) in enumerate(zip(right, found, marks)):
            if not mark:
                words += 1
                directed += bool(head == guess)
                undirected += bool(head == guess or (guess >= 0 and right[guess] == place))
    removed = "punct:counted" if punctuation is None else "punct:removed"
    return AttachmentScore(directed, undirected, words, signed("heads:words", removed))


def gold_heads(sentences: Iterable[Sentence]) -> list[tuple[int, ...]]:
    """The heads of sentences."""
    heads = []
    for sentence in sentences:
        if sentence.heads is None:
            raise DbpcfgError(
                f"{sentence.place}: the sentence has no heads; CoNLL-U has them in column HEAD, "
                f"numbers from 0 to {len(sentence.words)} here"
            )
        heads.append(sentence.heads)
    return heads
