"""Models as files.

A model file is an archive (see ``dbpcfg.files.archive`` for what makes it safe to read): the arrays
``root``, ``binary``, ``lexical`` and ``unknown``, and a header with the words in order, the depth
and the preparation. In a run it is ``model.npz``, and ``samples.npz`` beside it has other grammars
of the same chain.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.files.archive import ArchiveError, read_archive, write_archive
from dbpcfg.files.validation import options_of
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.storage import STACKED, stacked, unstacked
from dbpcfg.model.learned import LearnedGrammar

FORMAT, VERSION = "dbpcfg model", 1
SAMPLES_FORMAT, SAMPLES_VERSION = "dbpcfg samples", 1
MODEL, SAMPLES = "model.npz", "samples.npz"
_GRAMMAR = ("root", "binary", "lexical")


def save_model(model: LearnedGrammar, path: str | Path) -> None:
    """Write a model; the same model always gives the same bytes."""
    arrays = {name: getattr(model.grammar, name) for name in _GRAMMAR}
    header = {
        "words": list(model.grammar.vocabulary.words),
        "names": list(model.grammar.names),
        "depth": model.depth,
        "preparation": asdict(model.preparation),
    }
    write_archive(Path(path), FORMAT, VERSION, header, {**arrays, "unknown": model.unknown})


def load_model(path: str | Path) -> LearnedGrammar:
    """Read a model, or say what is wrong with the file."""
    dtypes = dict.fromkeys((*_GRAMMAR, "unknown"), np.float64)
    try:
        header, arrays = read_archive(Path(path), FORMAT, VERSION, dtypes)
        unknown = arrays.pop("unknown")
        depth = header.get("depth")
        if depth is not None and type(depth) is not int:
            raise ArchiveError(f"its depth must be a whole number, or null, got {depth!r}")
        grammar = Grammar(vocabulary=Vocabulary(_texts(header, "words")), **arrays)
        return LearnedGrammar(
            grammar.named(_texts(header, "names")),
            depth,
            Preparation(**options_of(header, "preparation", Preparation)),
            unknown,
        )
    except OSError as error:
        raise GrammarError(f"{path} cannot be read: {error.strerror}") from None
    except DbpcfgError as error:
        raise GrammarError(f"{path}: {error}") from None


def save_samples(grammars: list[Grammar], path: Path) -> None:
    """Write grammars over one vocabulary, that of the model beside them."""
    write_archive(path, SAMPLES_FORMAT, SAMPLES_VERSION, {}, stacked(grammars))


def load_samples(path: Path, vocabulary: Vocabulary) -> list[Grammar]:
    """Read the grammars back, or say what is wrong with the file."""
    dtypes = dict.fromkeys(STACKED, np.float64)
    try:
        _, arrays = read_archive(path, SAMPLES_FORMAT, SAMPLES_VERSION, dtypes)
        return unstacked(arrays, vocabulary)
    except OSError as error:
        raise GrammarError(f"{path} cannot be read: {error.strerror}") from None
    except DbpcfgError as error:
        raise GrammarError(f"{path}: {error}") from None


def _texts(header: dict[str, Any], name: str) -> tuple[str, ...]:
    texts = header.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ArchiveError(f"the {name} in its header must be a list of texts")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise ArchiveError(f"its {name} are not Unicode text ({error.reason})") from None
    return tuple(texts)
