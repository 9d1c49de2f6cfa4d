"""The gold trees of a run's sentences, found in a treebank of these or of more sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dbpcfg.corpus.punctuation import (
    PunctuationRule,
    punctuation_mask,
    recognised_by,
    without_punctuation,
)
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.convention import Convention
from dbpcfg.trees.tree import Tree

_QUOTED = 8  # words of a sentence that a message repeats, at most


@dataclass(frozen=True)
class Gold:
    """Gold sentences, one for each sentence of a run; every one has a tree."""

    sentences: list[Sentence]
    """The gold sentences."""
    punctuation: list[tuple[bool, ...]]
    """Whether each of their words is punctuation."""
    convention: Convention
    """How the run is scored."""

    @property
    def trees(self) -> list[Tree]:
        """Its trees."""
        return [sentence.gold_tree() for sentence in self.sentences]


def match_gold(
    sentences: Sequence[Sequence[str]],
    treebank: Sequence[Sentence],
    name: str,
    rule: PunctuationRule,
) -> Gold:
    """Find each of a run's sentences in a treebank, in order.

    A run may have left sentences out, as those that were too long. Taking the first sentence that
    is the same word by word finds all of them if anything does. If the run has left punctuation
    out, so do the gold trees.

    Returns the gold sentences that were found; others are left out.
    """
    for sentence in treebank:
        sentence.gold_tree()
    try:
        found = _same_sentences(sentences, treebank, name)
    except DbpcfgError:
        bare = [without_punctuation(sentence, rule) for sentence in treebank]
        try:
            found = _same_sentences(sentences, bare, name)
        except DbpcfgError:
            bare = []
        if not bare:  # it is not the punctuation
            raise
    convention = Convention(punctuation=recognised_by(found, rule))
    return Gold(found, [punctuation_mask(one, rule) for one in found], convention)


def _same_sentences(
    sentences: Sequence[Sequence[str]], treebank: Sequence[Sentence], name: str
) -> list[Sentence]:
    if len(treebank) == len(sentences):
        found = list(treebank)
        for number, sentence in enumerate(found):
            _check_same(sentence, sentences[number], number)
        return found
    return _among(treebank, sentences, name)


def _check_same(sentence: Sentence, words: Sequence[str], number: int) -> None:
    for place, (gold, word) in enumerate(zip_longest(sentence.words, words)):
        if gold is None or word is None or _written(gold) != _written(word):
            raise DbpcfgError(
                f"{sentence.place} is not sentence {number + 1:,} of the run: word {place + 1} is "
                f"{_named(gold)} there and {_named(word)} in the run; give the treebank of the "
                "text that the run learned from"
            )


def _among(
    treebank: Sequence[Sentence], sentences: Sequence[Sequence[str]], name: str
) -> list[Sentence]:
    found: list[Sentence] = []
    for sentence in treebank:
        if len(found) == len(sentences):
            break
        wanted = sentences[len(found)]
        if list(map(_written, sentence.words)) == list(map(_written, wanted)):
            found.append(sentence)
    if len(found) == len(sentences):
        return found
    missing = sentences[len(found)]
    text = " ".join(missing[:_QUOTED]) + (" …" if len(missing) > _QUOTED else "")
    after = f" after {found[-1].place}" if found else ""
    raise DbpcfgError(
        f"sentence {len(found) + 1:,} of the run, {text!r}, is not in {name}{after}; the treebank "
        f"has {len(treebank):,} sentences, the run {len(sentences):,}: give the treebank of the "
        "text that the run learned from"
    )


def _written(word: str) -> str:
    """A word as treebanks write it: without round brackets."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def _named(word: str | None) -> str:
    return "missing (the sentence has ended)" if word is None else repr(word)
