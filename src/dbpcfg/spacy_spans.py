"""A component of spaCy that adds the constituents of an induced grammar to a ``Doc``, as spans.

``doc.spans["dbpcfg"]`` has a span for every constituent of two words or more, sentence by sentence,
each before those that it contains. Its label is the category; ``span._.dbpcfg_level`` is the number
of constituents around it. Needs ``pip install "dbpcfg[spacy]"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.model.files import load
from dbpcfg.model.model import Model
from dbpcfg.trees.tree import Tree

try:
    from spacy.language import Language
    from spacy.tokens import Doc, Span
except ImportError as error:
    raise DbpcfgError(
        "dbpcfg.spacy_spans needs spaCy: install it with pip install 'dbpcfg[spacy]'"
    ) from error


class ConstituentSpans:
    """Adds constituents to documents; sentences are the document's own, or all of it is one.

    Parameters
    ----------
    model
        The grammar, or the run directory or file that it is loaded from.
    key
        The name of the spans in ``doc.spans``.
    """

    def __init__(self, model: Model | str | Path, key: str = "dbpcfg") -> None:
        self.model = model if isinstance(model, Model) else load(model)
        self.key = key
        Span.set_extension("dbpcfg_level", default=None, force=True)

    def __call__(self, doc: Doc) -> Doc:
        """Add the constituents of a document."""
        return next(self.pipe([doc], 1))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 64) -> Iterator[Doc]:
        """Add the constituents of many documents, of which ``batch_size`` are parsed at once."""
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            sentences = [list(_sentences(doc)) for doc in batch]
            texts = [[token.text for token in s] for one in sentences for s in one]
            trees = iter(self.model.parse(texts, quiet=True) if texts else [])
            for doc, one in zip(batch, sentences, strict=True):
                spans = [span for tokens in one for span in _spans(doc, tokens, next(trees))]
                doc.spans[self.key] = spans
                yield doc


def _sentences(doc: Doc) -> Iterator[list[Any]]:
    """The tokens of each sentence, without those that are white space."""
    for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc]:
        tokens = [token for token in sentence if not token.is_space]
        if tokens:
            yield tokens


def _spans(doc: Doc, tokens: list[Any], tree: Tree) -> Iterator[Span]:
    """The constituents of a sentence, in pre-order."""
    open_ends: list[int] = []
    for start, end, label in tree.spans():
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        span = Span(doc, tokens[start].i, tokens[end - 1].i + 1, label=label)
        span._.dbpcfg_level = len(open_ends)
        open_ends.append(end)
        yield span


@Language.factory("dbpcfg", default_config={"key": "dbpcfg"})
def make_component(nlp: Language, name: str, model: str, key: str) -> ConstituentSpans:
    """The component for ``nlp.add_pipe("dbpcfg", config={"model": "runs/eve"})``."""
    return ConstituentSpans(model, key)
