"""``load``: the model of a run, a model file, or a rule table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dbpcfg.corpus.formats import by_content
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange import read_grammar
from dbpcfg.model.files import MODEL, SAMPLES, load_model, load_samples
from dbpcfg.model.model import Model


def load(path: str | Path, samples: bool = False) -> Model:
    """Load the model of a run, a model file, or a rule table.

    Parameters
    ----------
    path
        The directory of a finished run, a model file (``.npz``), or rules as ``.tsv``, ``.json``,
        ``.pcfg`` or ``.nltk``.
    samples
        Whether other grammars of the run's chain are loaded too.

    Returns
    -------
    Model
        The model; that of a rule table has no memory bound and keeps words as written.

    Raises
    ------
    GrammarError
        If there is no model, or the file is damaged or something else, such as a treebank.
    """
    path = Path(path)
    if path.suffix in (".tsv", ".json", ".pcfg", ".nltk"):
        if samples:
            raise GrammarError(f"{path} is one grammar: only a run has others of the same chain")
        return Model(read_grammar(path), None, Preparation(lowercase=False))
    if path.is_dir():
        if not (path / MODEL).exists():
            raise GrammarError(_no_model(path))
        path = path / MODEL
    _check_kind(path)
    model = Model.of(load_model(path))
    if not samples:
        return model
    beside = path.with_name(SAMPLES)
    grammars = load_samples(beside, model.grammar.vocabulary)
    K = model.grammar.categories
    if any(grammar.categories != K for grammar in grammars):
        raise GrammarError(f"{beside}: its grammars do not have the {K} categories of the model")
    return replace(model, samples=tuple(grammars))


def _check_kind(path: Path) -> None:
    """Raise an error that says what a file of text is, if it is one."""
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
    kind = "a treebank" if first == "(" else kinds.get(by_content(text), "a treebank")
    raise GrammarError(
        f"{path} is {kind}, not a model: give a run, a model file (.npz) or a rule table "
        f"(.tsv, .json, .pcfg); sentences and trees are read with dbpcfg.read"
    )


def _no_model(path: Path) -> str:
    if (path / "config.toml").exists():
        return f"{path} is a run that is not finished: resume it with `dbpcfg resume {path}`"
    return f"{path} is no run of dbpcfg: there is no {MODEL} in it"
