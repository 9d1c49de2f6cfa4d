"""A prepared corpus as lines of text or trees."""

from __future__ import annotations

from collections.abc import Iterator

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.errors import DbpcfgError


def corpus_lines(prepared: Prepared, kind: str) -> Iterator[str]:
    """Write a prepared corpus, one line a sentence, in its prepared forms."""
    for sentence, forms in zip(prepared.sentences, prepared.forms, strict=True):
        if kind == "text":
            yield " ".join(forms)
            continue
        if sentence.tree is None:
            raise DbpcfgError(f"{sentence.place}: the sentence has no tree; convert it to text")
        yield str(sentence.tree.replace_words(forms))
