"""Arguments of functions that take sentences or trees: a path, a corpus or a list.

Typical mistakes, such as a text in place of a list or a method that was not called, are errors that
say what to pass; otherwise a text would be learned letter by letter.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence, Sized
from typing import Any, TypeAlias

from dbpcfg.corpus.readers import formats_by_extension
from dbpcfg.corpus.reading import Corpus, read
from dbpcfg.corpus.sentence import Sentence, as_sentences
from dbpcfg.errors import DbpcfgError, MissingFileError
from dbpcfg.io.log import note
from dbpcfg.trees.tree import Tree

SentencesLike: TypeAlias = str | os.PathLike[str] | Iterable[Sentence | Sequence[str]]
"""A path, what ``dbpcfg.read`` returns, or sentences: as read, as lists of words, or as texts."""

TreesLike: TypeAlias = str | os.PathLike[str] | Iterable[Sentence | Tree]
"""A path to a treebank, what ``dbpcfg.read`` returns, or trees."""

_SENTENCES = (
    "a path, what dbpcfg.read returns, or a list of sentences, such as ['the dog ran', 'it slept']"
)
_TREES = "a path to a treebank, what dbpcfg.read returns, or a list of trees"


def read_path(
    call: str, path: str | os.PathLike[str], expected: str = _TREES, bracketed: bool = False
) -> Corpus:
    """Read the path that the function ``call`` got as an argument."""
    name = os.fspath(path)
    if isinstance(name, bytes) or not _exists(name):
        raise MissingFileError(f"{call} needs {expected}; there is no file {_short(name)}")
    return read(path, bracketed=bracketed)


def load_sentences(
    call: str, value: SentencesLike, bracketed: bool = False, sentence: bool = False
) -> Corpus | Iterable[Sentence]:
    """Return the corpus itself, the corpus at a path, or the sentences of an iterable.

    ``call``: the name of the function for messages.
    ``bracketed``: see `read`.
    ``sentence``: whether a text that is obviously not a path is a sentence.
    """
    if sentence and isinstance(value, str) and is_sentence(value):
        note(sentence_note(value))
        value = [value]
    if isinstance(value, str | os.PathLike):
        return read_path(call, value, _SENTENCES, bracketed)
    if isinstance(value, Corpus):
        return value
    _check_iterable(call, value, _SENTENCES)
    sentences = (_sentence(call, item, number) for number, item in enumerate(value, start=1))
    return list(sentences) if isinstance(value, Sized) else sentences


def is_sentence(text: str) -> bool:
    """Whether a text is several words, and not a path, even a misspelt one, or a tree."""
    path_or_tree = re.search(r"[/\\\0]|^\s*\(", text) or formats_by_extension(text.strip())
    return len(text.split()) > 1 and not path_or_tree and not _exists(text)


def sentence_note(text: str) -> str:
    """The note that a text is read as a sentence."""
    return f"there is no file {_short(text)}, so it is read as a sentence"


def load_trees(call: str, value: TreesLike, source: str) -> Sequence[Sentence]:
    """Return the sentences of the treebank at a path, or check those of an iterable.

    ``call``: the call for messages, such as ``evaluate(gold, ...)``.
    ``source``: the name for the source of trees in messages.
    """
    if isinstance(value, str | os.PathLike):
        return read_path(call, value).sentences
    _check_iterable(call, value, _TREES)
    items = list(value)
    for number, item in enumerate(items, start=1):
        if not isinstance(item, Sentence | Tree):
            raise DbpcfgError(
                f"{call} needs {_TREES}; item {number} is {_type_of(item)}"
                + "; dbpcfg.trees.brackets.read_trees reads brackets" * isinstance(item, str)
            )
    return as_sentences(items, source)


def _exists(name: str) -> bool:
    return os.path.exists(name) or _matches(name)


def _matches(pattern: str) -> bool:
    return glob.has_magic(pattern) and "\0" not in pattern and bool(glob.glob(pattern))


def _check_iterable(call: str, value: Any, expected: str) -> None:
    if callable(value):
        name = getattr(value, "__name__", "it")
        raise DbpcfgError(f"{call} needs {expected}; {name} is a function: call it, as in {name}()")
    if not isinstance(value, Iterable) or isinstance(value, bytes | dict | Tree | Sentence):
        trees = getattr(value, "trees", None)
        hint = f"; give {type(value).__name__.lower()}.trees()" if callable(trees) else ""
        raise DbpcfgError(f"{call} needs {expected}, not {_type_of(value)}{hint}")


def _sentence(call: str, value: Any, number: int) -> Sentence:
    if isinstance(value, Sentence):
        return value
    if isinstance(value, str):
        return Sentence(tuple(value.split()))
    if isinstance(value, Iterable) and not isinstance(value, bytes | dict | Tree):
        words = tuple(value)
        wrong = [word for word in words if not isinstance(word, str)]
        if not wrong:
            return Sentence(words)
        raise DbpcfgError(
            f"{call}: a sentence is a list of words, but sentence {number} has {_type_of(wrong[0])}"
        )
    hint = "; give tree.words()" if isinstance(value, Tree) else ""
    raise DbpcfgError(
        f"{call}: a sentence is a text or a list of words; sentence {number} is "
        f"{_type_of(value)}{hint}"
    )


def _type_of(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _short(name: object) -> str:
    shown = repr(name)
    return shown if len(shown) <= 60 else f"{shown[:57]}…{shown[0]}"
