"""A grammar as a file (see ``dbpcfg.archive`` for what makes it safe to read).

The arrays are ``root``, ``binary`` and ``lexical``; the header has the words in order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.archive import ArchiveError, read_archive, write_archive
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.pcfg import Grammar

FORMAT, VERSION = "dbpcfg grammar", 1
_ARRAYS = ("root", "binary", "lexical")


def save_grammar(grammar: Grammar, path: str | Path) -> None:
    """Write a grammar; the same grammar always gives the same bytes."""
    arrays = {name: getattr(grammar, name) for name in _ARRAYS}
    words = {"words": list(grammar.vocabulary.words)}
    write_archive(Path(path), FORMAT, VERSION, words, arrays)


def load_grammar(path: str | Path) -> Grammar:
    """Read a grammar, or say what is wrong with the file."""
    try:
        header, arrays = read_archive(
            Path(path), FORMAT, VERSION, dict.fromkeys(_ARRAYS, np.float64)
        )
        return Grammar(vocabulary=Vocabulary(_words(header)), **arrays)
    except DbpcfgError as error:
        raise GrammarError(f"{path}: {error}") from None


def _words(header: dict[str, Any]) -> tuple[str, ...]:
    words = header.get("words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ArchiveError("the words in its header must be a list of texts")
    try:
        "".join(words).encode()
    except UnicodeEncodeError as error:
        raise ArchiveError(f"its words are not Unicode text ({error.reason})") from None
    return tuple(words)
