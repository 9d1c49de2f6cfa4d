"""Models as files, and ``load``, which finds the model in whatever holds one.

A model file is an archive (see ``dbpcfg.archive`` for what makes it safe to read): the arrays
``root``, ``binary``, ``lexical`` and ``unknown``, and a header with the words in order, the depth
and the preparation. In a run it is ``model.npz``, and ``samples.npz`` beside it has other grammars
of the same chain.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.archive import ArchiveError, read_archive, write_archive
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.grammar.storage import STACKED, stacked, unstacked
from dbpcfg.model import Model
from dbpcfg.options import options_of

FORMAT, VERSION = "dbpcfg model", 1
SAMPLES_FORMAT, SAMPLES_VERSION = "dbpcfg samples", 1
MODEL, SAMPLES = "model.npz", "samples.npz"
_GRAMMAR = ("root", "binary", "lexical")


def save_model(model: Model, path: str | Path) -> None:
    """Write a model; the same model always gives the same bytes."""
    arrays = {name: getattr(model.grammar, name) for name in _GRAMMAR}
    header = {
        "words": list(model.grammar.vocabulary.words),
        "names": list(model.grammar.names),
        "depth": model.depth,
        "preparation": asdict(model.preparation),
    }
    write_archive(Path(path), FORMAT, VERSION, header, {**arrays, "unknown": model.unknown})


def load_model(path: str | Path) -> Model:
    """Read a model, or say what is wrong with the file."""
    dtypes = dict.fromkeys((*_GRAMMAR, "unknown"), np.float64)
    try:
        header, arrays = read_archive(Path(path), FORMAT, VERSION, dtypes)
        unknown = arrays.pop("unknown")
        depth = header.get("depth")
        if depth is not None and type(depth) is not int:
            raise ArchiveError(f"its depth must be a whole number, or null, got {depth!r}")
        grammar = Grammar(vocabulary=Vocabulary(_texts(header, "words")), **arrays)
        return Model(
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


def load(path: str | Path, samples: bool = False) -> Model:
    """The model of a run, of a model file, or of a rule table that someone wrote.

    ``samples``: with the other grammars of the run's chain.
    """
    path = Path(path)
    if path.suffix in (".tsv", ".json", ".pcfg", ".nltk"):
        if samples:
            raise GrammarError(f"{path} is one grammar: only a run has others of the same chain")
        from dbpcfg.grammar.ruletable import read_grammar

        return Model(read_grammar(path), None, Preparation(lowercase=False))
    if path.is_dir():
        if not (path / MODEL).exists():
            raise GrammarError(_no_model(path))
        path = path / MODEL
    model = load_model(path)
    if not samples:
        return model
    grammars = load_samples(path.with_name(SAMPLES), model.grammar.vocabulary)
    return replace(model, samples=tuple(grammars))


def _no_model(path: Path) -> str:
    if (path / "config.toml").exists():
        return f"{path} is a run that is not finished: go on with it by `dbpcfg resume {path}`"
    return f"{path} is no run of dbpcfg: there is no {MODEL} in it"


def _texts(header: dict[str, Any], name: str) -> tuple[str, ...]:
    texts = header.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ArchiveError(f"the {name} in its header must be a list of texts")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise ArchiveError(f"its {name} are not Unicode text ({error.reason})") from None
    return tuple(texts)
