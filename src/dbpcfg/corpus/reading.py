"""Read a corpus: any mixture of files, folders, patterns and standard input.

``read("adam.parsed")``, ``read("wsj/")``, ``read("a.cha", "b.cha", speakers=["MOT"])``.  What is of
no use is left out, counted and reported by `Corpus.summary`; what is broken is an error that names
its place and the remedy, or is skipped and listed in `Corpus.skipped`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import overload

from dbpcfg.corpus.formats import HEAD, Format, by_content, checked_format, recognised
from dbpcfg.corpus.loading import check_plain_text, expand, load_text, name_of
from dbpcfg.corpus.readers.alpino import read_alpino
from dbpcfg.corpus.readers.cess import read_cess
from dbpcfg.corpus.readers.chat import Speakers, read_chat
from dbpcfg.corpus.readers.conllu import read_conllu
from dbpcfg.corpus.readers.export import read_export
from dbpcfg.corpus.readers.penn import read_penn
from dbpcfg.corpus.readers.sinica import read_sinica
from dbpcfg.corpus.readers.text import read_text
from dbpcfg.corpus.readers.tigerxml import read_tigerxml
from dbpcfg.corpus.sentence import SKIP_HINT, Broken, Notes, Sentence, SkippedPart, checked_broken
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import Column, Table, html, shortened
from dbpcfg.trees.tree import Tree

SHOWN_SENTENCES, SHOWN_WORDS = 5, 30
"""Sentences, and words of each, that a notebook shows of a corpus."""
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
    formats: tuple[Format, ...]
    """The format of each file."""
    speakers: tuple[str, ...] = ()
    """Speakers that were asked for; empty: no choice was made."""
    exclude_speakers: tuple[str, ...] = ()
    """Speakers that were excluded; empty: no choice was made."""
    skipped: tuple[SkippedPart, ...] = ()
    """What was broken and skipped, with its place and the reason."""
    changed: dict[str, int] = field(default_factory=dict)
    """How many of what was changed, such as ``{"constituents with gaps": 2}``."""

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

    def trees(self) -> list[Tree]:
        """The gold tree of every sentence.

        Raises
        ------
        DbpcfgError
            If a sentence has none.
        """
        return [sentence.gold_tree() for sentence in self.sentences]

    def summary(self) -> str:
        """What was read, left out and changed, in a few sentences."""
        tokens = sum(len(sentence.words) for sentence in self.sentences)
        formats = ", ".join(dict.fromkeys(self.formats))
        where = self.sources[0] if len(self.sources) == 1 else f"{len(self.sources):,} files"
        size = f"{_number(len(self), 'sentence')} ({_number(tokens, 'token')})"
        read = f"Read {size} from {where} ({formats})."
        if self.dropped:
            read += f" Left out: {_listed(self.dropped)}."
        return f"{read} Changed: {_listed(self.changed)}." if self.changed else read

    def notes(self) -> Iterator[str]:
        """Lines on what was left out or changed: the summary, and at most ten skipped places."""
        if self.dropped or self.changed:
            yield self.summary()
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
        ``"text"``, ``"penn"``, ``"chat"``, ``"conllu"``, ``"cess"``, ``"sinica"``,
        ``"alpino"``, ``"export"`` or ``"tigerxml"``; recognised if not given.
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
    wanted = checked_format(format)
    mode = checked_broken(broken)
    chosen = Speakers.of(speakers, exclude_speakers)
    files = expand(paths, wanted)
    notes = Notes()
    options = _Options(chosen, function_tags, empty_elements, mode, notes)
    sentences: list[Sentence] = []
    formats: list[Format] = []
    shown = counted(files, "files", len(files), quiet if progress is None else True)
    for number, file in enumerate(shown):
        name = name_of(file)
        if progress is not None:
            progress(number, len(files), name)
        text = load_text(file, encoding)
        actual = wanted or _recognised(file, text)
        formats.append(actual)
        try:
            sentences += _sentences(actual, text, name, options)
        except DbpcfgError as error:
            likely = _likely_format(actual, text)
            message = str(error).removesuffix(f"; {SKIP_HINT}") if likely else str(error)
            raise type(error)(message + likely) from None
        if actual not in ("chat", "conllu") and not chosen.by_default:
            raise DbpcfgError(
                f"{name}: the format {actual} knows no speakers, so none can be chosen"
            )
    if (function_tags or empty_elements) and not {"penn", "cess"}.intersection(formats):
        raise DbpcfgError(
            "function tags and empty elements are things of Penn brackets, and no file is in them"
        )
    chosen.check()
    if not sentences:
        left_out = f"left out were {_listed(notes.dropped)}" if notes.dropped else "it has none"
        raise DbpcfgError(
            f"there is nothing left of {', '.join(map(name_of, files[:3]))}"
            f"{' and others' if len(files) > 3 else ''}: {left_out}"
            f"{f'; first: {notes.skipped[0]}' if notes.skipped else ''}"
            f"{_likely_format(actual, text)}"
        )
    return Corpus(
        sentences,
        dict(notes.dropped),
        tuple(map(name_of, files)),
        tuple(formats),
        chosen.only or (),
        chosen.without or (),
        tuple(notes.skipped),
        dict(+notes.changed),
    )


@dataclass(frozen=True, slots=True)
class _Options:
    """What readers are called with, beside the text."""

    speakers: Speakers
    function_tags: bool
    empty_elements: bool
    broken: Broken
    notes: Notes


_BRACKETS = {"penn": read_penn, "cess": read_cess}
_WITH_SPEAKERS = {"chat": read_chat, "conllu": read_conllu}
_TREEBANKS = {
    "alpino": read_alpino,
    "export": read_export,
    "sinica": read_sinica,
    "tigerxml": read_tigerxml,
}


def _sentences(format: Format, text: str, name: str, options: _Options) -> Iterator[Sentence]:
    broken, notes = options.broken, options.notes
    if format in _BRACKETS:
        return _BRACKETS[format](
            text,
            name,
            function_tags=options.function_tags,
            empty_elements=options.empty_elements,
            broken=broken,
            notes=notes,
        )
    if format in _WITH_SPEAKERS:
        speakers = options.speakers
        return _WITH_SPEAKERS[format](text, name, speakers=speakers, broken=broken, notes=notes)
    if format in _TREEBANKS:
        return _TREEBANKS[format](text, name, broken=broken, notes=notes)
    return read_text(text, name, notes.dropped)


def _recognised(file: str, text: str) -> Format:
    found = recognised(file, text)
    if found == "text":
        check_plain_text(text[:HEAD], file, name_of(file))
    return found


def _likely_format(format: Format, text: str) -> str:
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
