"""Read a corpus: any mixture of files, folders, patterns and standard input.

``read("adam.parsed")``, ``read("wsj/")``, ``read("a.cha", "b.cha", speakers=["MOT"])``.  What is of
no use is left out, counted and reported by `Corpus.summary`; what is broken is an error that names
its place and the remedy, or is skipped and listed in `Corpus.skipped`.

Other calls take a path, a corpus or a list for sentences and trees (`sentences_for`, `trees_for`).
A text in place of a list, a method that was not called, and the like are errors that say what to
pass; without these checks a text would be learned from letter by letter.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeAlias, overload

from dbpcfg.corpus.loading import check_plain_text, expand, load_text, name_of
from dbpcfg.corpus.readers import (
    HEAD,
    SKIP_HINT,
    SkippedPart,
    Source,
    Speakers,
    by_content,
    checked_format,
    readers,
    recognised,
)
from dbpcfg.corpus.sentence import Sentence, as_sentences, looks_empty, looks_like_identifier
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import Column, Table, data_frame, html, shortened
from dbpcfg.trees.tree import Tree

SHOWN_SENTENCES, SHOWN_WORDS = 5, 30
"""Sentences, and words of each, that a notebook shows of a corpus."""
_EXAMPLES, _SHOWN = 3, 30
"""Doubtful words, and characters of each, that notes show, at most."""
_LISTED = 10
"""Broken parts that notes list, at most."""


@dataclass(frozen=True, slots=True, repr=False)
class Corpus:
    """Sentences read from files, and counts of what was left out."""

    sentences: list[Sentence]
    """All sentences, in the order of the files."""
    dropped: dict[str, int]
    """How many of what was left out, such as ``{"blank lines": 2}``."""
    sources: tuple[str, ...]
    """The files, in order."""
    formats: tuple[str, ...]
    """The format of each file."""
    speakers: tuple[str, ...] = ()
    """Speakers that were asked for; empty: no choice was made."""
    exclude_speakers: tuple[str, ...] = ()
    """Speakers that were excluded; empty: no choice was made."""
    skipped: tuple[SkippedPart, ...] = ()
    """What was broken and skipped, with its place and the reason."""
    changed: dict[str, int] = field(default_factory=dict)
    """How many of what was changed, such as ``{"constituents with gaps": 2}``."""
    kept: dict[str, int] = field(default_factory=dict)
    """How many of what may be no word, but was kept as one."""

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        return self.sentences[index]

    def __repr__(self) -> str:
        return shortened(f"<Corpus: {self.summary()}>")

    def _repr_html_(self) -> str:
        """What notebooks show: the summary and the first sentences."""
        rows = [(s.source, s.line, " ".join(s.words[:SHOWN_WORDS])) for s in self[:SHOWN_SENTENCES]]
        columns = [Column("file"), Column("line", "count"), Column("sentence")]
        more = len(self) - len(rows)
        notes = [f"and {_number(more, 'sentence')} more"] if more else []
        return html(self.summary(), [Table("", columns, rows, notes)])

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each sentence: where it stands, who said it, its words
        with spaces between them, their number, and its tree in brackets if it has one."""
        columns = ("file", "line", "speaker", "sentence", "words", "tree")
        return data_frame(
            columns,
            (
                (
                    s.source,
                    s.line,
                    s.speaker,
                    " ".join(s.words),
                    len(s.words),
                    s.tree and str(s.tree),
                )
                for s in self
            ),
        )

    def trees(self) -> list[Tree]:
        """The gold tree of every sentence.

        Raises
        ------
        DbpcfgError
            If a sentence has none.
        """
        return [sentence.gold_tree() for sentence in self.sentences]

    def summary(self) -> str:
        """What was read, left out, changed and doubtful, in a few sentences."""
        tokens = sum(len(sentence.words) for sentence in self.sentences)
        formats = ", ".join(dict.fromkeys(self.formats))
        where = self.sources[0] if len(self.sources) == 1 else f"{len(self.sources):,} files"
        size = f"{_number(len(self), 'sentence')} ({_number(tokens, 'token')})"
        read = f"Read {size} from {where} ({formats})."
        if self.dropped:
            read += f" Left out: {_listed(self.dropped)}."
        if self.changed:
            read += f" Changed: {_listed(self.changed)}."
        return f"{read} Kept as words: {_listed(self.kept)}." if self.kept else read

    def notes(self) -> Iterator[str]:
        """The summary if it says more than what was read, and at most ten skipped places."""
        if self.dropped or self.changed or self.kept:
            yield self.summary()
        if self.kept and "penn" in self.formats:
            yield "If this is a CorpusSearch treebank, --input-format corpussearch reads it right."
        yield from map(str, self.skipped[:_LISTED])
        if len(self.skipped) > _LISTED:
            yield f"and {len(self.skipped) - _LISTED:,} others skipped"


def read(
    *paths: str | os.PathLike[str],
    format: str | None = None,
    speakers: Iterable[str] | None = None,
    exclude_speakers: Iterable[str] | None = None,
    function_tags: bool = False,
    empty_elements: bool = False,
    broken: str = "error",
    encoding: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    quiet: bool | None = None,
) -> Corpus:
    """Read all sentences of files, folders, patterns, or ``-`` for standard input.

    Parameters
    ----------
    *paths
        Files, folders, glob patterns, or ``-``.
    format
        ``"text"``, ``"penn"``, ``"chat"``, ``"conllu"`` or another of
        `dbpcfg.corpus.readers.readers`; recognised if not given.
    speakers
        Speakers to read, by code, name or role (CHAT and CoNLL-U). Without any choice, CHAT is read
        without the target child.
    exclude_speakers
        Speakers to leave out.
    function_tags
        Whether labels in Penn brackets keep function tags.
    empty_elements
        Whether Penn brackets keep empty elements.
    broken
        ``"error"``, or ``"skip"`` to skip broken trees, sentences and lines and list them in
        `Corpus.skipped`.
    encoding
        The encoding of the files; UTF-8 if not given, or what an XML file declares.
    progress
        Called with the number of files read, the number of files, and the name of the next one.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook, unless ``progress`` is given.

    Returns
    -------
    Corpus
        The sentences in the order of the files, and counts of what was left out.

    Raises
    ------
    DbpcfgError
        If a file cannot be read or is not in its format, or no sentence is left.
    """
    checked_format(format)
    if broken not in ("error", "skip"):
        raise DbpcfgError(f"broken must be 'error' or 'skip', not {broken!r}")
    chosen = Speakers.of(speakers, exclude_speakers)
    files = expand(paths, format)
    sentences: list[Sentence] = []
    formats: list[str] = []
    sources: list[Source] = []
    shown = counted(files, "files read", len(files), quiet if progress is None else True)
    for number, file in enumerate(shown):
        source = Source(name_of(file), broken == "skip", chosen, function_tags, empty_elements)
        sources.append(source)
        if progress is not None:
            progress(number, len(files), source.name)
        text = load_text(file, encoding)
        actual = format or _recognised(file, text)
        formats.append(actual)
        try:
            sentences += readers[actual].read(text, source)
        except DbpcfgError as error:
            likely = _likely_format(actual, text)
            message = str(error).removesuffix(f"; {SKIP_HINT}") if likely else str(error)
            raise type(error)(message + likely) from None
        if not readers[actual].has_speakers and not chosen.by_default:
            raise DbpcfgError(f"{source.name}: the format {actual} has no speakers to choose from")
    if (function_tags or empty_elements) and not any(readers[f].has_function_tags for f in formats):
        raise DbpcfgError(
            "only Penn brackets have function tags and empty elements, and none of these files is "
            "in that format"
        )
    chosen.check()
    noted = Source()
    for source in sources:
        noted.add(source)
    names = tuple(source.name for source in sources)
    dropped, skipped = dict(noted.dropped), tuple(noted.skipped)
    if not sentences:
        left_out = f"left out were {_listed(dropped)}" if dropped else "it has none"
        raise DbpcfgError(
            f"there is nothing left of {', '.join(names[:3])}"
            f"{' and others' if len(names) > 3 else ''}: {left_out}"
            f"{f'; first: {skipped[0]}' if skipped else ''}{_likely_format(actual, text)}"
        )
    if not empty_elements:
        noted.kept.update(dict(_doubtful(sentences)))
    return Corpus(
        sentences,
        dropped,
        names,
        tuple(formats),
        chosen.only or (),
        chosen.without or (),
        skipped,
        dict(noted.changed),
        dict(noted.kept),
    )


def _doubtful(sentences: list[Sentence]) -> Iterator[tuple[str, int]]:
    """What looks like no word, with examples, and how often it occurs."""
    seen = Counter[tuple[str, str]]()
    for sentence in sentences:
        seen.update(zip(sentence.words, sentence.tags or repeat("")))
    for name, looks in (
        ("what looks like an empty element", looks_empty),
        ("what looks like an identifier", looks_like_identifier),
    ):
        found = Counter[str]()
        for (word, tag), count in seen.items():
            if looks(word, tag):
                found[word] += count
        if found:
            examples = ", ".join(word[:_SHOWN] for word, _ in found.most_common(_EXAMPLES))
            yield f"{name}, such as {examples}", found.total()


def _recognised(file: str, text: str) -> str:
    found = recognised(file, text)
    if found == "text":
        check_plain_text(text[:HEAD], file, name_of(file))
    return found


def _likely_format(format: str, text: str) -> str:
    """The end of an error about a file that seems to be in another format."""
    likely = by_content(text)
    if likely in (format, "text") or format == "text":
        return ""
    return (
        f"; the file was read as {format}, but it begins like {likely}: give "
        f"--input-format {likely} (format={likely!r}), or where a command needs {format}, convert "
        "it with dbpcfg convert"
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _listed(dropped: dict[str, int]) -> str:
    reasons = sorted(dropped.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} ({count:,})" for reason, count in reasons)


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
