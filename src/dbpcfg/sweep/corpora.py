"""The sentences and gold trees of a cell, and a digest of the files they are in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from dbpcfg.comparison.task import Task
from dbpcfg.corpus.formats import checked_format
from dbpcfg.corpus.loading import expand
from dbpcfg.corpus.preparation import Prepared, prepare
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import recognised_by
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.evaluation.parseval import Convention
from dbpcfg.io.files import opening
from dbpcfg.sweep.cells import GridCorpus

_BLOCK = 1 << 20


@dataclass(frozen=True)
class LoadedCorpus:
    """The sentences of a corpus."""

    prepared: Prepared
    """As dbpcfg learns from them."""
    task: Task | None
    """With their gold trees; None if there are none."""


@lru_cache(maxsize=1)
def load_corpus(corpus: GridCorpus) -> LoadedCorpus:
    """Read a corpus and its gold trees; the last one is kept, as cells that follow share it."""
    broken = "skip" if corpus.skip_broken else "error"
    found = read(
        *corpus.paths,
        format=corpus.input_format,
        speakers=corpus.speaker or None,
        exclude_speakers=corpus.exclude_speaker or None,
        broken=broken,
        encoding=corpus.encoding,
        quiet=True,
    )
    prepared = prepare(found, corpus.preparation)
    scored, rule = prepared, corpus.preparation.punctuation
    if corpus.gold:
        treebank = read(*corpus.gold, broken=broken, encoding=corpus.encoding, quiet=True)
        words = [sentence.words for sentence in prepared.sentences]
        gold = match_gold(words, treebank.sentences, ", ".join(corpus.gold), rule)
        scored = replace(prepared, sentences=gold.sentences, punctuation=gold.punctuation)
    if any(sentence.tree is None for sentence in scored.sentences):
        return LoadedCorpus(prepared, None)
    convention = Convention(
        max_length=corpus.preparation.max_length,
        punctuation=recognised_by(scored.sentences, rule),
    )
    return LoadedCorpus(prepared, Task(scored, convention, found.sources))


@cache
def digest_of_files(corpus: GridCorpus) -> str:
    """A digest of all files of a corpus, gold trees included."""
    sha = hashlib.sha256()
    for paths, format in ((corpus.paths, checked_format(corpus.input_format)), (corpus.gold, None)):
        for path in expand(paths, format) if paths else ():
            with opening(path), open(path, "rb") as file:
                size = 0
                while block := file.read(_BLOCK):
                    sha.update(block)
                    size += len(block)
                sha.update(f"\0{size}\0".encode())
    return f"sha256:{sha.hexdigest()}"


def digest_if_readable(corpus: GridCorpus) -> str | None:
    """The same, or None if a file cannot be read."""
    try:
        return digest_of_files(corpus)
    except DbpcfgError:
        return None
