"""Find the gold trees of a run's sentences in a treebank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dbpcfg.corpus.sentence import (
    PunctuationRule,
    Sentence,
    punctuation_mask,
    rule_name,
    without_punctuation,
)
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.io.tables import plural
from dbpcfg.trees.tree import Tree

_QUOTED = 8  # words of a sentence that a message repeats, at most


@dataclass(frozen=True)
class Gold:
    """The gold sentence, with its tree, of each sentence of a run."""

    sentences: list[Sentence]
    """The gold sentences."""
    punctuation: list[tuple[bool, ...]]
    """Whether each of their words is punctuation."""
    convention: Convention
    """The convention for scoring the run."""

    @property
    def trees(self) -> list[Tree]:
        """The gold trees."""
        return [sentence.gold_tree() for sentence in self.sentences]


def match_gold(
    sentences: Sequence[Sequence[str]],
    treebank: Sequence[Sentence],
    name: str,
    rule: PunctuationRule,
) -> Gold:
    """Find the sentences of a run in a treebank of the same or more sentences, in the same order.

    The run may have left out sentences, such as those that were too long. If it has left out
    punctuation, the gold trees do too.
    """
    for sentence in treebank:
        sentence.gold_tree()
    matched = _matching_prefix(sentences, treebank)
    if len(matched) < len(sentences):
        bare = _matching_prefix(
            sentences, [without_punctuation(sentence, rule) for sentence in treebank]
        )
        if len(bare) < len(sentences):  # it is not the punctuation
            raise _mismatch(sentences, treebank, matched, name)
        matched = bare
    convention = Convention(punctuation=rule_name(matched, rule))
    return Gold(matched, [punctuation_mask(gold, rule) for gold in matched], convention)


def _matching_prefix(
    sentences: Sequence[Sequence[str]], treebank: Sequence[Sentence]
) -> list[Sentence]:
    """The gold sentences of as many of the first sentences as occur in this order."""
    matched: list[Sentence] = []
    for gold in treebank:
        if len(matched) < len(sentences) and _same(gold.words, sentences[len(matched)]):
            matched.append(gold)
    return matched


def _mismatch(
    sentences: Sequence[Sequence[str]],
    treebank: Sequence[Sentence],
    matched: Sequence[Sentence],
    name: str,
) -> DbpcfgError:
    hint = "give the treebank of the text that the run learned from"
    if len(treebank) == len(sentences):
        number, gold, words = next(
            (number, gold, words)
            for number, (gold, words) in enumerate(zip(treebank, sentences), start=1)
            if not _same(gold.words, words)
        )
        position, gold_word, run_word = next(
            (position, gold_word, run_word)
            for position, (gold_word, run_word) in enumerate(
                zip_longest(gold.words, words), start=1
            )
            if gold_word is None or run_word is None or _written(gold_word) != _written(run_word)
        )
        return DbpcfgError(
            f"{gold.location} is not sentence {number:,} of the run: word {position} is "
            f"{_named(gold_word)} there and {_named(run_word)} in the run; {hint}"
        )
    missing = sentences[len(matched)]
    text = " ".join(missing[:_QUOTED]) + (" …" if len(missing) > _QUOTED else "")
    last_match = f" after {matched[-1].location}" if matched else ""
    return DbpcfgError(
        f"sentence {len(matched) + 1:,} of the run, {text!r}, is not in {name}{last_match}; the "
        f"treebank has {plural(len(treebank), 'sentence')}, the run {len(sentences):,}: {hint}"
    )


def _same(gold: Sequence[str], words: Sequence[str]) -> bool:
    return list(map(_written, gold)) == list(map(_written, words))


def _written(word: str) -> str:
    """A word as treebanks write it, with names for round brackets."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def _named(word: str | None) -> str:
    return "missing (the sentence has ended)" if word is None else repr(word)
