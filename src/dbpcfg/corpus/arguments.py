"""What Python calls take for sentences and trees: a path, a corpus, or a list.

A path is read. A text in place of a list, a method that was not called, and the like are errors
that say what to pass; without these checks a text would be learned from letter by letter.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence, Sized
from typing import Any, TypeAlias

from dbpcfg.corpus.reading import Corpus, read
from dbpcfg.corpus.sentence import Sentence, as_sentences
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree

GivenSentences: TypeAlias = str | os.PathLike[str] | Iterable[Sentence | Sequence[str]]
"""A path, what ``dbpcfg.read`` returns, or sentences: as read, as lists of words, or as texts."""

GivenTrees: TypeAlias = str | os.PathLike[str] | Iterable[Sentence | Tree]
"""A path to a treebank, what ``dbpcfg.read`` returns, or trees."""

_SENTENCES = (
    "a path, what dbpcfg.read returns, or a list of sentences, such as ['the dog ran', 'it slept']"
)
_TREES = "a path to a treebank, what dbpcfg.read returns, or a list of trees"


def corpus_at(call: str, path: str | os.PathLike[str], wanted: str = _TREES) -> Corpus:
    """Read the path that a function was called with."""
    name = os.fspath(path)
    if isinstance(name, bytes) or not (os.path.exists(name) or _matches(name)):
        raise DbpcfgError(f"{call} needs {wanted}; there is no file {_short(name)}")
    return read(path)


def sentences_for(call: str, given: GivenSentences) -> Corpus | Iterable[Sentence]:
    """Read a path, or check sentences.

    Returns the corpus if it is one or was read from a path; else the sentences, as a list if a list
    was given.
    """
    if isinstance(given, str | os.PathLike):
        return corpus_at(call, given, _SENTENCES)
    if isinstance(given, Corpus):
        return given
    _check_iterable(call, given, _SENTENCES)
    found = (_sentence(call, one, number) for number, one in enumerate(given, start=1))
    return list(found) if isinstance(given, Sized) else found


def trees_for(call: str, given: GivenTrees, source: str) -> list[Sentence]:
    """Read a path, or check trees.

    ``call``: the function that was called and its argument, as messages name them.
    ``source``: the name of the text that trees are lines of.
    """
    if isinstance(given, str | os.PathLike):
        return corpus_at(call, given).sentences
    _check_iterable(call, given, _TREES)
    items = list(given)
    for number, item in enumerate(items, start=1):
        if not isinstance(item, Sentence | Tree):
            raise DbpcfgError(
                f"{call} needs {_TREES}; item {number} is {_kind(item)}"
                + "; dbpcfg.trees.brackets.read_trees reads brackets" * isinstance(item, str)
            )
    return as_sentences(items, source)


def _matches(pattern: str) -> bool:
    return glob.has_magic(pattern) and "\0" not in pattern and bool(glob.glob(pattern))


def _check_iterable(call: str, given: Any, wanted: str) -> None:
    if callable(given):
        name = getattr(given, "__name__", "it")
        raise DbpcfgError(f"{call} needs {wanted}; {name} is a function: call it, as in {name}()")
    if not isinstance(given, Iterable) or isinstance(given, bytes | dict | Tree | Sentence):
        trees = getattr(given, "trees", None)
        hint = f"; give {type(given).__name__.lower()}.trees()" if callable(trees) else ""
        raise DbpcfgError(f"{call} needs {wanted}, not {_kind(given)}{hint}")


def _sentence(call: str, given: Any, number: int) -> Sentence:
    if isinstance(given, Sentence):
        return given
    if isinstance(given, str):
        return Sentence(tuple(given.split()))
    if isinstance(given, Iterable) and not isinstance(given, bytes | dict | Tree):
        words = tuple(given)
        wrong = [word for word in words if not isinstance(word, str)]
        if not wrong:
            return Sentence(words)
        raise DbpcfgError(
            f"{call}: a sentence is a list of words, but sentence {number} has {_kind(wrong[0])}"
        )
    hint = "; give tree.words()" if isinstance(given, Tree) else ""
    raise DbpcfgError(
        f"{call}: a sentence is a text or a list of words; sentence {number} is "
        f"{_kind(given)}{hint}"
    )


def _kind(given: object) -> str:
    return "None" if given is None else f"of type {type(given).__name__}"


def _short(name: object) -> str:
    shown = repr(name)
    return shown if len(shown) <= 60 else f"{shown[:57]}…{shown[0]}"
