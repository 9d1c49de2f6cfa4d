"""Read corpora from files, folders, patterns and standard input.

``read("adam.parsed")``, ``read("wsj/")``, ``read("a.cha", "b.cha", speakers=["MOT"])``.  What is
left out is counted and reported by `Corpus.summary`.  A broken part of a file is an error, or is
skipped and listed in `Corpus.skipped`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, overload

from dbpcfg.corpus.encodings import full_name, guess_notes
from dbpcfg.corpus.loading import (
    check_plain_text,
    display_name,
    files_to_read,
    load_text,
    read_head,
    text_lines,
)
from dbpcfg.corpus.readers import (
    HEAD,
    SKIP_HINT,
    AgeRange,
    SkippedPart,
    Source,
    Speakers,
    check_format,
    detect_format,
    format_by_content,
    formats_by_extension,
    readers,
)
from dbpcfg.corpus.sentence import Sentence, looks_empty, looks_like_identifier
from dbpcfg.corpus.sentencelist import SentenceList
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.log import note
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import Column, Table, data_frame, html, plural, shortened
from dbpcfg.trees.tree import Tree

SHOWN_SENTENCES, SHOWN_WORDS = 5, 30
"""Notebooks show so many sentences of a corpus, and so many words of each."""
_MAX_EXAMPLES, _MAX_CHARACTERS = 3, 30
"""Notes show so many suspicious words, and so many characters of each."""
_MAX_SKIPPED = 10
"""The most skipped parts that notes list."""


@dataclass(frozen=True, slots=True, repr=False)
class Corpus:
    """Sentences read from files, and counts of what was left out."""

    sentences: Sequence[Sentence]
    """All sentences, in the order of the files."""
    removed: dict[str, int]
    """Counts of what was left out, such as ``{"blank lines": 2}``."""
    sources: tuple[str, ...]
    """The files, in order."""
    formats: tuple[str, ...]
    """The format of each file."""
    speakers: tuple[str, ...] = ()
    """Speakers that were chosen; empty if no choice was made."""
    exclude_speakers: tuple[str, ...] = ()
    """Speakers that were excluded; empty if no choice was made."""
    age: str | None = None
    """The chosen ages of the target child, in months; None for all."""
    text: str | None = None
    """The chosen column of tables."""
    skipped: tuple[SkippedPart, ...] = ()
    """Broken parts that were skipped, with their lines and reasons."""
    modified: dict[str, int] = field(default_factory=dict)
    """Counts of what was modified, such as ``{"constituents with gaps": 2}``."""
    suspicious: dict[str, int] = field(default_factory=dict)
    """Counts of words that may not be words."""
    guessed: dict[str, str] = field(default_factory=dict)
    """The encodings of files that are not UTF-8, if none was given."""

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        found = self.sentences[index]
        return found if isinstance(found, Sentence) else list(found)

    def __repr__(self) -> str:
        return shortened(f"<Corpus: {self.summary()}>")

    def _repr_html_(self) -> str:
        """The summary and the first sentences, for notebooks."""
        rows = [(s.source, s.line, " ".join(s.words[:SHOWN_WORDS])) for s in self[:SHOWN_SENTENCES]]
        columns = [Column("file"), Column("line", "count"), Column("sentence")]
        remaining = len(self) - len(rows)
        notes = [f"and {plural(remaining, 'sentence')} more"] if remaining else []
        return html(self.summary(), [Table("", columns, rows, notes)])

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each sentence."""
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
        """Describe what was read, left out and modified, and what is suspicious."""
        tokens = sum(len(sentence.words) for sentence in self.sentences)
        encodings = map(full_name, self.guessed.values())
        formats = ", ".join(dict.fromkeys([*self.formats, *encodings]))
        source = self.sources[0] if len(self.sources) == 1 else f"{len(self.sources):,} files"
        size = f"{plural(len(self), 'sentence')} ({plural(tokens, 'token')})"
        read = f"Read {size} from {source} ({formats})."
        if self.removed:
            read += f" Left out: {_counts_text(self.removed)}."
        if self.modified:
            read += f" Changed: {_counts_text(self.modified)}."
        return (
            f"{read} Kept as words: {_counts_text(self.suspicious)}." if self.suspicious else read
        )

    def notes(self) -> Iterator[str]:
        """The summary, if anything was left out or modified, and the first skipped parts.

        Before them, which files are not UTF-8.
        """
        yield from guess_notes(self.guessed)
        if self.removed or self.modified or self.suspicious:
            yield self.summary()
        if self.suspicious and "penn" in self.formats:
            yield "If this is a CorpusSearch treebank, --input-format corpussearch reads it right."
        yield from map(str, self.skipped[:_MAX_SKIPPED])
        if len(self.skipped) > _MAX_SKIPPED:
            yield f"and {plural(len(self.skipped) - _MAX_SKIPPED, 'other')} skipped"


def read(
    *paths: str | os.PathLike[str],
    format: str | None = None,
    speakers: Iterable[str] | None = None,
    exclude_speakers: Iterable[str] | None = None,
    age: str | None = None,
    text: str | None = None,
    function_tags: bool = False,
    empty_elements: bool = False,
    broken: str = "error",
    encoding: str | None = None,
    bracketed: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    quiet: bool | None = None,
) -> Corpus:
    """Read sentences from files, folders, patterns or standard input.

    Parameters
    ----------
    *paths
        Files, folders, glob patterns, or ``-``.
    format
        ``"text"``, ``"penn"``, ``"chat"``, ``"conllu"`` or another of
        `dbpcfg.corpus.readers.readers`; recognised if not given.
    speakers
        Speakers to read, by code, name or role (CHAT, CoNLL-U, tables and BabyLM). Without any
        choice, speech to children is read without the target child.
    exclude_speakers
        Speakers to leave out.
    age
        Ages of the target child to read, in months, such as ``"24-36"`` (CHAT and tables).
    text
        The column of a table that has the sentences; ``gloss`` if not given.
    function_tags
        Whether labels in Penn brackets keep function tags.
    empty_elements
        Whether Penn brackets keep empty elements.
    broken
        ``"error"``, or ``"skip"`` to skip broken trees, sentences and lines and list them in
        `Corpus.skipped`.
    encoding
        The encoding of the files; if not given, what an XML file declares, or else UTF-8, or
        Latin-1 for files that look like it (`Corpus.guessed`).
    bracketed
        Whether plain text has constituents in square brackets; it is then not mistaken for JSON.
    progress
        Called with the number of files read, the number of files, and the name of the next file.
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
    check_format(format)
    if broken not in ("error", "skip"):
        raise DbpcfgError(f"broken must be 'error' or 'skip', not {broken!r}")
    selection, ages = Speakers.from_names(speakers, exclude_speakers), AgeRange.parse(age)
    files = files_to_read(paths, format)
    sentences = SentenceList()
    formats: list[str] = []
    sources: list[Source] = []
    guessed: dict[str, str] = {}
    shown_files = counted(files, "files read", len(files), quiet if progress is None else True)
    for number, file in enumerate(shown_files):
        source = Source(
            display_name(file),
            broken == "skip",
            selection,
            ages,
            text,
            function_tags,
            empty_elements,
        )
        sources.append(source)
        if progress is not None:
            progress(number, len(files), source.name)
        content = ""
        if line_reader := _read_by_line(file, format, encoding):
            actual, read_lines = line_reader
        else:
            content = load_text(file, encoding, guessed.__setitem__)
            actual = format or _detect(file, content, bracketed)
        formats.append(actual)
        _check_choices(actual, source)
        try:
            if line_reader:
                lines = text_lines(file, encoding, guessed.__setitem__)
                sentences.extend(read_lines(lines, source))
            else:
                sentences.extend(readers[actual].read(content, source))
        except DbpcfgError as error:
            likely = _likely_format(actual, content)
            message = str(error).removesuffix(f"; {SKIP_HINT}") if likely else str(error)
            raise type(error)(message + likely) from None
    if (function_tags or empty_elements) and not any(readers[f].has_function_tags for f in formats):
        raise DbpcfgError(
            "only Penn brackets have function tags and empty elements, and none of these files is "
            "in that format"
        )
    selection.check()
    totals = Source()
    for source in sources:
        totals.merge(source)
    names = tuple(source.name for source in sources)
    removed, skipped = dict(totals.removed), tuple(totals.skipped)
    if not sentences:
        left_out = f"left out were {_counts_text(removed)}" if removed else "it has none"
        raise DbpcfgError(
            f"there is nothing left of {', '.join(names[:3])}"
            f"{' and others' if len(names) > 3 else ''}: {left_out}"
            f"{f'; first: {skipped[0]}' if skipped else ''}{_likely_format(actual, content)}"
        )
    for text_of_note in guess_notes(guessed):
        note(text_of_note)
    if not empty_elements:
        totals.suspicious.update(dict(_suspicious(sentences)))
    return Corpus(
        sentences,
        removed,
        names,
        tuple(formats),
        selection.include or (),
        selection.exclude or (),
        None if ages is None else ages.text,
        text,
        skipped,
        dict(totals.modified),
        dict(totals.suspicious),
        guessed,
    )


def _suspicious(sentences: Iterable[Sentence]) -> Iterator[tuple[str, int]]:
    """Descriptions of words that may not be words, with examples, and their frequencies."""
    seen = Counter[tuple[str, str]]()
    for sentence in sentences:
        seen.update(zip(sentence.words, sentence.tags or repeat("")))
    for name, looks in (
        ("what looks like an empty element", looks_empty),
        ("what looks like an identifier", looks_like_identifier),
    ):
        words = Counter[str]()
        for (word, tag), count in seen.items():
            if looks(word, tag):
                words[word] += count
        if words:
            common = [word[:_MAX_CHARACTERS] for word, _ in words.most_common(_MAX_EXAMPLES)]
            yield f"{name}, such as {', '.join(common)}", words.total()


def _read_by_line(
    file: str, format: str | None, encoding: str | None
) -> tuple[str, Callable[[Iterable[str], Source], Iterator[Sentence]]] | None:
    """The format and reader of a file that can be read line by line; None for other files."""
    formats = (format,) if format else formats_by_extension(file)
    read_lines = readers[formats[0]].read_lines if len(formats) == 1 else None
    if read_lines is None:
        return None
    if format is None and detect_format(file, read_head(file, encoding)) != formats[0]:
        return None
    return formats[0], read_lines


def _check_choices(format: str, source: Source) -> None:
    """Raise an error if a format does not support the chosen speakers, ages or column."""
    reader, name = readers[format], source.name
    if not reader.has_speakers and not source.speakers.is_default:
        raise DbpcfgError(f"{name}: the format {format} has no speakers to choose from")
    if not reader.has_ages and source.ages is not None:
        raise DbpcfgError(f"{name}: the format {format} has no ages to choose from")
    if not reader.has_columns and source.text is not None:
        raise DbpcfgError(
            f"{name}: the format {format} has no columns to choose from; if it is a table, give "
            "--input-format table"
        )


def _detect(file: str, text: str, bracketed: bool) -> str:
    format = detect_format(file, text)
    if format == "text":
        check_plain_text(text[:HEAD], display_name(file), bracketed)
    return format


def _likely_format(format: str, text: str) -> str:
    """A hint for errors about a file that seems to be in another format."""
    likely = format_by_content(text)
    if likely in (format, "text") or format == "text":
        return ""
    return (
        f"; the file was read as {format}, but it begins like {likely}: give "
        f"--input-format {likely} (format={likely!r}), or where a command needs {format}, convert "
        "it with dbpcfg convert"
    )


def _counts_text(counts: dict[str, int]) -> str:
    items = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} ({count:,})" for name, count in items)
