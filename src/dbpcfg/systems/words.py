"""What a system sees of sentences, and its trees in the words as written.

Systems that learn see every word, punctuation included, in lower case if asked for.  What has no
sound, such as ``-LRB-``, keeps its capitals: systems tell punctuation by its exact form.  The
others see words without punctuation; if a sentence has nothing else, then that.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.corpus.punctuation import by_characters
from dbpcfg.evaluation.alignment import MISSING, align
from dbpcfg.systems.registry import SystemSpec
from dbpcfg.trees.tree import Tree

Words = Sequence[str]


def seen_by(kind: SystemSpec, corpus: Prepared, keep_punctuation: bool = False) -> list[Words]:
    """The sentences of a corpus as a system sees them; prepared for length and lower case.

    With ``keep_punctuation``, those who learn nothing get it too.
    """
    if kind.learns:
        return [
            _lower(sentence.words) if corpus.preparation.lowercase else sentence.words
            for sentence in corpus.sentences
        ]
    return [
        [word for word, mark in zip(sentence.words, marks) if not mark or keep_punctuation]
        or sentence.words
        for sentence, marks in zip(corpus.sentences, corpus.punctuation, strict=True)
    ]


def as_written(trees: Sequence[Tree], corpus: Prepared) -> list[Tree]:
    """Trees over words that a system saw, or some of them, as trees over the words as written."""
    restored = []
    for tree, sentence, marks in zip(trees, corpus.sentences, corpus.punctuation, strict=True):
        words = tree.words()
        where = align(sentence.words, marks, words, sentence.place, "the system's tree")
        restored.append(
            tree.replace_words(
                word if place == MISSING else sentence.words[place]  # a sign: it has no capitals
                for word, place in zip(words, where)
            )
        )
    return restored


def _lower(words: Words) -> Words:
    return [word if silent else word.lower() for word, silent in zip(words, by_characters(words))]
