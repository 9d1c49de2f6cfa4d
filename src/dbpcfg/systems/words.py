"""The input of a system, and its trees with the words as written.

Systems that learn get every word, punctuation included, in lower case if the corpus is prepared so.
Punctuation such as ``-LRB-`` keeps its capitals, because systems recognise it by its exact form.
The others get words without punctuation, unless a sentence has nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.corpus.punctuation import by_characters
from dbpcfg.evaluation.alignment import MISSING, align
from dbpcfg.systems.registry import SystemSpec
from dbpcfg.trees.tree import Tree

Words = Sequence[str]


def sentences_for(
    spec: SystemSpec, corpus: Prepared, keep_punctuation: bool = False
) -> list[Words]:
    """The sentences of a corpus as a system gets them."""
    if spec.learns:
        return [
            _lower(sentence.words) if corpus.preparation.lowercase else sentence.words
            for sentence in corpus.sentences
        ]
    return [
        [word for word, mark in zip(sentence.words, marks) if not mark or keep_punctuation]
        or sentence.words
        for sentence, marks in zip(corpus.sentences, corpus.punctuation, strict=True)
    ]


def restore_words(trees: Sequence[Tree], corpus: Prepared) -> list[Tree]:
    """Give a system's trees the words as written.

    ``trees``: one for each sentence, over the words that the system got, or some of them.
    """
    restored = []
    for tree, sentence, marks in zip(trees, corpus.sentences, corpus.punctuation, strict=True):
        words = tree.words()
        where = align(sentence.words, marks, words, sentence.place, "the system's tree")
        restored.append(
            tree.replace_words(
                word if place == MISSING else sentence.words[place]  # has no capitals
                for word, place in zip(words, where)
            )
        )
    return restored


def _lower(words: Words) -> Words:
    return [word if silent else word.lower() for word, silent in zip(words, by_characters(words))]
