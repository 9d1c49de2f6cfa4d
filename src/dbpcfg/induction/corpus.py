"""The sentences of a run: their words as written, their forms, their punctuation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dbpcfg.corpus.encoded import Encoded, Vocabulary
from dbpcfg.corpus.preparation import Prepared
from dbpcfg.io.archive import ArchiveError, read_archive, text_list, write_archive
from dbpcfg.io.files import reading

FORMAT, VERSION = "dbpcfg corpus", 1
_DTYPES: dict[str, Any] = {
    "forms": np.int32,
    "words": np.int32,
    "starts": np.int64,
    "punctuation": np.uint8,
}


@dataclass(frozen=True)
class RunCorpus:
    """The sentences that a run learns from, and their words as written, to print trees with."""

    forms: Encoded
    """The sentences in the forms that the model sees."""
    words: Encoded
    """The same sentences as written."""
    punctuation: list[tuple[bool, ...]]
    """Which words of each sentence are punctuation."""

    @classmethod
    def of(cls, prepared: Prepared) -> RunCorpus:
        """The sentences of a prepared corpus."""
        words = Encoded.from_sentences(sentence.words for sentence in prepared.sentences)
        return cls(prepared.encoded, words, prepared.punctuation)

    def size(self) -> dict[str, int]:
        """The numbers of sentences, tokens and different forms."""
        return {
            "sentences": len(self.forms),
            "tokens": len(self.forms.tokens),
            "forms": len(self.forms.vocabulary),
        }

    def digest(self) -> str:
        """A digest of the sentences: the same for the same text prepared the same way."""
        sha = hashlib.sha256()
        for part in (self.forms, self.words):
            for sentence in part:
                sha.update("\x1f".join(sentence).encode("utf-8", "surrogatepass") + b"\n")
        return f"sha256:{sha.hexdigest()}"


def save_corpus(corpus: RunCorpus, path: Path) -> None:
    """Write the sentences of a run."""
    header = {
        "form_list": list(corpus.forms.vocabulary.words),
        "word_list": list(corpus.words.vocabulary.words),
    }
    marks = [mark for marks in corpus.punctuation for mark in marks]
    arrays = {
        "forms": corpus.forms.tokens,
        "words": corpus.words.tokens,
        "starts": corpus.forms.starts,
        "punctuation": np.array(marks, dtype=np.uint8),
    }
    write_archive(path, FORMAT, VERSION, header, arrays)


def load_corpus(path: Path) -> RunCorpus:
    """Read the sentences of a run."""
    with reading(path):
        header, arrays = read_archive(path, FORMAT, VERSION, _DTYPES)
        starts, marks = arrays["starts"], arrays["punctuation"].astype(bool).tolist()
        parts = {}
        for name, listed in (("forms", "form_list"), ("words", "word_list")):
            tokens, vocabulary = arrays[name], Vocabulary(text_list(header, listed))
            whole = starts.ndim == 1 and len(starts) > 1 and starts[0] == 0
            if not whole or (np.diff(starts) < 1).any() or starts[-1] != len(tokens):
                raise ArchiveError("its sentences do not begin and end with its words")
            if tokens.min() < 0 or tokens.max() >= len(vocabulary) or len(marks) != len(tokens):
                raise ArchiveError("it has words that are not in its lists")
            parts[name] = Encoded(tokens, starts, vocabulary)
    punctuation = [tuple(marks[a:b]) for a, b in pairwise(starts)]
    return RunCorpus(parts["forms"], parts["words"], punctuation)
