"""DMV on the sentences of a corpus: which of their columns are tags, and CoNLL-U with heads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.dependencies import conllu_lines

Column: TypeAlias = Literal["upos", "xpos", "form"]
"""The columns of CoNLL-U that can be tags. In other formats, parts of speech are ``"upos"``."""


def tags_of(sentences: Iterable[Sentence], column: Column = "upos") -> list[tuple[str, ...]]:
    """The tags of sentences.

    ``column``: ``"upos"``, ``"xpos"``, or ``"form"`` for the words themselves, in lower case.
    """
    tags = []
    for sentence in sentences:
        if column == "form":
            found: tuple[str, ...] | None = tuple(word.lower() for word in sentence.words)
        else:
            found = sentence.tags if column == "upos" else sentence.xpos
        if found is None:
            raise DbpcfgError(
                f"{sentence.place}: the sentence has no tags in column {column.upper()}; choose "
                "another column, such as FORM, the words themselves"
            )
        tags.append(found)
    return tags


def write_conllu(sentences: Iterable[Sentence], heads: Iterable[Sequence[int]]) -> Iterator[str]:
    """Write sentences with heads as CoNLL-U: words, both kinds of tags, and heads.

    ``heads``: the heads of each sentence, as positions from 0, −1 for the root.
    """
    for sentence, of_sentence in zip(sentences, heads, strict=True):
        yield from conllu_lines(sentence.words, of_sentence, sentence.tags, sentence.xpos)
