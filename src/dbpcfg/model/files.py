"""Models as files, and ``load``: the model of a run, a model file, a rule table, or the example.

A model file is an archive (see ``dbpcfg.io.archive`` for what makes it safe to read): the arrays
``root``, ``binary``, ``lexical`` and ``unknown``, and a header with the words in order, the depth,
the preprocessing, the words of each class with their counts, and a card (``model.card``) that says
what it was learned from. In a run it is ``model.npz``, and
``samples.npz`` beside it has other grammars of the same chain. Of low-rank grammars both have the
factors in place of rules, ``root``, ``parent``, ``left``, ``right`` and ``emission``: this is
version 2 of either format. Models with a consensus of several chains are of two versions more, and
have the grammars of the other chains that vote, and the classes of phrases.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.readers import format_by_content
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.lowrank import (
    Factors,
    LowRankGrammar,
    stack_grammars,
    unstack_grammars,
)
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.archive import ArchiveError, read_archive, text_list, write_archive
from dbpcfg.io.files import read_errors
from dbpcfg.model.card import checked
from dbpcfg.model.model import Model
from dbpcfg.parsing.consensus import Consensus
from dbpcfg.parsing.labels import LatentClasses

FORMAT, VERSION = "dbpcfg model", 1
SAMPLES_FORMAT, SAMPLES_VERSION = "dbpcfg samples", 1
FACTORED = 2
"""The version of both formats that has the factors of low-rank grammars."""
MOST = 2**31
"""Counts of words are less than this."""
MODEL, SAMPLES = "model.npz", "samples.npz"
EXAMPLE = "example"
"""The name of a small model that the package brings, made by ``examples/make_example.py``."""
_GRAMMAR = ("root", "binary", "lexical")
_LAYOUTS: dict[int, dict[str, Any]] = {
    VERSION: dict.fromkeys((*_GRAMMAR, "unknown"), np.float64),
    FACTORED: dict.fromkeys((*Factors._fields, "unknown"), np.float64),
}
CONSENSUS = 2
"""This version and the next have a consensus; without it they are those before."""
_CONSENSUS: dict[str, Any] = {
    "voters_unknown": np.float64,
    "class_names": np.int64,
    "class_priors": np.float64,
    "class_labels": np.float64,
}
MAX_VOTES = 1000
"""Of branching trees: more would take long, and runs have no more chains."""
_OF_GRAMMAR = {*_GRAMMAR, *Factors._fields}
_OF_CLASSES = ("names", "priors", "labels")
_SAMPLES_LAYOUTS = {
    SAMPLES_VERSION: {f"grammars_{name}": np.float64 for name in Grammar.ARRAYS},
    FACTORED: {f"grammars_{name}": np.float64 for name in LowRankGrammar.ARRAYS},
}
_LAYOUTS |= {
    version + CONSENSUS: {**layout, **_SAMPLES_LAYOUTS[version], **_CONSENSUS}
    for version, layout in _LAYOUTS.items()
}


def save_model(model: Model, path: str | Path) -> None:
    """Write a model without its samples; the same model always gives the same bytes."""
    if isinstance(model.grammar, LowRankGrammar):
        version, arrays = FACTORED, model.grammar.factors._asdict()
    else:
        version, arrays = VERSION, {name: getattr(model.grammar, name) for name in _GRAMMAR}
    header = {
        "words": list(model.grammar.vocabulary.words),
        "names": list(model.grammar.names),
        "depth": model.depth,
        "preprocessing": model.preprocessing.table(),
        "classes": {name: dict(words) for name, words in model.classes.items()},
        **({"card": dict(model.card)} if model.card else {}),
    }
    arrays["unknown"] = model.unknown
    if model.consensus is not None:
        version += CONSENSUS
        header["consensus"] = model.consensus.table()
        arrays |= _stacked(model)
        arrays |= {f"class_{name}": array for name, array in model.consensus.arrays().items()}
    write_archive(Path(path), FORMAT, version, header, arrays)


def _stacked(model: Model) -> dict[str, Any]:
    """The arrays of the other chains' grammars, of which there may be none."""
    number = len(model.voters)
    stacks = {
        f"grammars_{name}": [voter.grammar.arrays()[name] for voter in model.voters]
        for name in model.grammar.ARRAYS
    }
    shapes = {f"grammars_{name}": array.shape for name, array in model.grammar.arrays().items()}
    arrays = {name: np.reshape(stack, (number, *shapes[name])) for name, stack in stacks.items()}
    unknown = np.array([voter.unknown for voter in model.voters])
    return {**arrays, "voters_unknown": np.reshape(unknown, (number, model.grammar.categories))}


def load_model(path: str | Path) -> Model:
    """Read a model file."""
    with read_errors(path, GrammarError):
        header, arrays = read_archive(Path(path), FORMAT, _LAYOUTS)
        unknown = arrays.pop("unknown")
        own = {name: arrays.pop(name) for name in list(arrays) if name in _OF_GRAMMAR}
        depth = header.get("depth")
        if depth is not None and type(depth) is not int:
            raise ArchiveError(f"its depth must be a whole number, or null, got {depth!r}")
        vocabulary = Vocabulary(text_list(header, "words"))
        grammar = (
            LowRankGrammar(Factors(**own), vocabulary)
            if "parent" in own
            else Grammar(vocabulary=vocabulary, **own)
        )
        model = Model(
            grammar.named(text_list(header, "names")),
            depth,
            Preprocessing.of_table(header["preprocessing"], "preprocessing"),
            unknown,
            classes=_classes(header, vocabulary),
            card=checked(header.get("card", {})),
        )
        return _with_consensus(model, header, arrays) if arrays else model


def _with_consensus(model: Model, header: dict[str, Any], arrays: dict[str, Any]) -> Model:
    """A model with what beside it is in its file: the other chains, and how all of them decide."""
    K, rule = model.grammar.categories, header.get("consensus")
    names, priors, labels = (arrays.pop(f"class_{name}") for name in _OF_CLASSES)
    unknown = arrays.pop("voters_unknown")
    grammars = unstack_grammars(arrays, model.grammar.vocabulary)
    if len(unknown) != len(grammars) or any(one.categories != K for one in grammars):
        raise ArchiveError(f"the grammars of other chains must have K = {K} categories")
    if not (
        isinstance(rule, dict)
        and sorted(rule) == ["branching", "selected", "side"]
        and type(rule["selected"]) is bool
        and rule["side"] in (None, "right", "left")
        and type(rule["branching"]) is int
        and 0 <= rule["branching"] <= MAX_VOTES * (rule["side"] is not None)
        and (rule["selected"] or rule["branching"] or grammars)
    ):
        raise ArchiveError("the consensus in its header does not say who votes")
    rule = Consensus(**rule)
    if not (
        names.ndim == priors.ndim == 1
        and labels.ndim == 2
        and labels.shape[1] == len(names) == len(priors)
        and len(labels) % rule.columns(1 + len(grammars)) == 0
        and ((names >= 0) & (names < K)).all()
        and np.isfinite(priors).all()
        and np.isfinite(labels).all()
    ):
        raise ArchiveError("the classes of phrases do not fit the chains")
    voters = tuple(
        replace(model, grammar=grammar, unknown=own, card={})
        for grammar, own in zip(grammars, unknown, strict=True)
    )
    rule = replace(rule, classes=LatentClasses(names, priors, labels))
    return replace(model, voters=voters, consensus=rule)


def _classes(header: dict[str, Any], vocabulary: Vocabulary) -> dict[str, dict[str, int]]:
    """The words of each class."""
    classes = header.get("classes")
    if not isinstance(classes, dict) or not all(
        name in vocabulary.index and isinstance(words, dict) and words and _are_counts(words)
        for name, words in classes.items()
    ):
        raise ArchiveError(
            "the classes in its header must be words of the model, each with some words and how "
            "often these occurred"
        )
    text_list({"classes": [word for words in classes.values() for word in words]}, "classes")
    return classes


def _are_counts(words: dict[str, Any]) -> bool:
    return all(type(count) is int and 0 < count < MOST for count in words.values())


def save_samples(grammars: list[Grammar], path: Path) -> None:
    """Write other grammars of a chain, which share the vocabulary of the model."""
    factored = bool(grammars) and isinstance(grammars[0], LowRankGrammar)
    version = FACTORED if factored else SAMPLES_VERSION
    write_archive(path, SAMPLES_FORMAT, version, {}, stack_grammars(grammars))


def load_samples(path: Path, vocabulary: Vocabulary) -> Sequence[Grammar]:
    """Read other grammars of a chain."""
    with read_errors(path, GrammarError):
        _, arrays = read_archive(path, SAMPLES_FORMAT, _SAMPLES_LAYOUTS)
        return unstack_grammars(arrays, vocabulary)


def load(path: str | Path, samples: bool = False) -> Model:
    """Load the model of a run, a model file, or a rule table.

    Parameters
    ----------
    path
        The directory of a finished run, a model file (``.npz``), or rules as ``.tsv``,
        ``.pcfg`` or ``.nltk``. ``"example"``, unless there is a file or directory of this name, is
        a small model of made-up speech to a child.
    samples
        Whether other grammars of the run's chain are loaded too.

    Returns
    -------
    Model
        The model; that of a rule table has no memory bound and keeps words as written.

    Raises
    ------
    MissingFileError
        If there is no such file; it is a `DbpcfgError` and a `FileNotFoundError`.
    GrammarError
        If there is no model, or the file is damaged or something else, such as a treebank.
    """
    path = Path(path)
    if path == Path(EXAMPLE) and not os.path.lexists(path):
        if samples:
            raise GrammarError("the example is one grammar: only a run has others of its chain")
        path = Path(__file__).with_name("example.npz")
    if path.suffix in (".tsv", ".pcfg", ".nltk"):
        if samples:
            raise GrammarError(f"{path} is one grammar: only a run has others of the same chain")
        from dbpcfg.grammar.exchange import read_grammar

        return Model(read_grammar(path), None, Preprocessing(lowercase=False))
    if path.is_dir():
        if not (path / MODEL).exists():
            raise GrammarError(_no_model(path))
        path = path / MODEL
    _check_kind(path)
    model = load_model(path)
    if not samples:
        return model
    samples_path = path.with_name(SAMPLES)
    grammars = load_samples(samples_path, model.grammar.vocabulary)
    K = model.grammar.categories
    if any(grammar.categories != K for grammar in grammars):
        raise GrammarError(
            f"{samples_path}: its grammars do not have K = {K} categories, as the model does"
        )
    return replace(model, samples=tuple(grammars))


def _check_kind(path: Path) -> None:
    """Raise an error that names the kind of a file if it is text."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return  # which load_model reports
    if start.startswith(b"PK") or b"\0" in start or not start.strip():
        return
    text = start.decode("utf-8", "ignore")
    kinds = {"chat": "a transcript", "text": "text"}
    first = text.lstrip()[:1]
    kind = "a treebank" if first == "(" else kinds.get(format_by_content(text), "a treebank")
    raise GrammarError(
        f"{path} is {kind}, not a model: give a run, a model file (.npz) or a rule table "
        f"(.tsv, .pcfg); sentences and trees are read with dbpcfg.read"
    )


def _no_model(path: Path) -> str:
    if (path / "config.toml").exists():
        return f"{path} is a run that is not finished: resume it with `dbpcfg resume {path}`"
    return f"{path} is not a run of dbpcfg: there is no {MODEL} in it"
