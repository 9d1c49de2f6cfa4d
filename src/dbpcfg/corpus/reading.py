"""Read a corpus: any mixture of files, folders, patterns and standard input.

``read("adam.parsed")``, ``read("wsj/")``, ``read("a.cha", "b.cha", speakers=["MOT"])``.  What is
no sentence is left out, counted and reported by `Corpus.summary`; a broken part is an error that
names its line and the remedy, or is skipped and listed in `Corpus.skipped`.

Other functions take a path, a corpus or a list (`load_sentences`, `load_trees`). A text in place of
a list, a method that was not called and the like are errors that say what to pass: otherwise a
text would be learned letter by letter.
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeAlias, overload

from dbpcfg.corpus.loading import (
    check_plain_text,
    display_name,
    files_to_read,
    head_of,
    load_text,
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
from dbpcfg.corpus.sentence import Sentence, as_sentences, looks_empty, looks_like_identifier
from dbpcfg.errors import DbpcfgError, MissingFileError
from dbpcfg.io.log import note
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import Column, Table, data_frame, html, plural, shortened
from dbpcfg.trees.tree import Tree

SHOWN_SENTENCES, SHOWN_WORDS = 5, 30
"""Sentences, and words of each, that a notebook shows of a corpus."""
_MAX_EXAMPLES, _MAX_CHARACTERS = 3, 30
"""Of the suspicious words in a note."""
_MAX_SKIPPED = 10
"""Skipped parts that notes list."""


@dataclass(frozen=True, slots=True, repr=False)
class Corpus:
    """Sentences read from files, and counts of what was left out."""

    sentences: list[Sentence]
    """All sentences, in the order of the files."""
    removed: dict[str, int]
    """What was left out, and how often, such as ``{"blank lines": 2}``."""
    sources: tuple[str, ...]
    """The files, in order."""
    formats: tuple[str, ...]
    """The format of each file."""
    speakers: tuple[str, ...] = ()
    """Speakers that were chosen; empty if no choice was made."""
    exclude_speakers: tuple[str, ...] = ()
    """Speakers that were excluded; empty if no choice was made."""
    age: str | None = None
    """The ages of the target child that were asked for, in months; None: all."""
    text: str | None = None
    """The column of tables that was asked for."""
    skipped: tuple[SkippedPart, ...] = ()
    """Broken parts that were skipped, with their lines and reasons."""
    modified: dict[str, int] = field(default_factory=dict)
    """What was modified, and how often, such as ``{"constituents with gaps": 2}``."""
    suspicious: dict[str, int] = field(default_factory=dict)
    """What was read as a word but may be none, and how often."""

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
        notes = [f"and {plural(more, 'sentence')} more"] if more else []
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
        """What was read, left out, modified and suspicious, in a few sentences."""
        tokens = sum(len(sentence.words) for sentence in self.sentences)
        formats = ", ".join(dict.fromkeys(self.formats))
        where = self.sources[0] if len(self.sources) == 1 else f"{len(self.sources):,} files"
        size = f"{plural(len(self), 'sentence')} ({plural(tokens, 'token')})"
        read = f"Read {size} from {where} ({formats})."
        if self.removed:
            read += f" Left out: {_counts_text(self.removed)}."
        if self.modified:
            read += f" Changed: {_counts_text(self.modified)}."
        return (
            f"{read} Kept as words: {_counts_text(self.suspicious)}." if self.suspicious else read
        )

    def notes(self) -> Iterator[str]:
        """The summary if it has more than what was read, and the first skipped parts."""
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
    """Read all sentences of files, folders, patterns, or ``-`` for standard input.

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
        The encoding of the files; UTF-8 if not given, or what an XML file declares.
    bracketed
        Whether plain text has constituents in square brackets; it is then not mistaken for JSON.
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
    check_format(format)
    if broken not in ("error", "skip"):
        raise DbpcfgError(f"broken must be 'error' or 'skip', not {broken!r}")
    chosen, ages = Speakers.of(speakers, exclude_speakers), AgeRange.of(age)
    files = files_to_read(paths, format)
    sentences: list[Sentence] = []
    formats: list[str] = []
    sources: list[Source] = []
    shown = counted(files, "files read", len(files), quiet if progress is None else True)
    for number, file in enumerate(shown):
        source = Source(
            display_name(file), broken == "skip", chosen, ages, text, function_tags, empty_elements
        )
        sources.append(source)
        if progress is not None:
            progress(number, len(files), source.name)
        content = ""
        if by_line := _read_by_line(file, format, encoding):
            actual, read_lines = by_line
        else:
            content = load_text(file, encoding)
            actual = format or _detect(file, content, bracketed)
        formats.append(actual)
        _check_choices(actual, source)
        try:
            if by_line:
                sentences += read_lines(text_lines(file, encoding), source)
            else:
                sentences += readers[actual].read(content, source)
        except DbpcfgError as error:
            likely = _likely_format(actual, content)
            message = str(error).removesuffix(f"; {SKIP_HINT}") if likely else str(error)
            raise type(error)(message + likely) from None
    if (function_tags or empty_elements) and not any(readers[f].has_function_tags for f in formats):
        raise DbpcfgError(
            "only Penn brackets have function tags and empty elements, and none of these files is "
            "in that format"
        )
    chosen.check()
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
    if not empty_elements:
        totals.suspicious.update(dict(_suspicious(sentences)))
    return Corpus(
        sentences,
        removed,
        names,
        tuple(formats),
        chosen.include or (),
        chosen.exclude or (),
        None if ages is None else ages.text,
        text,
        skipped,
        dict(totals.modified),
        dict(totals.suspicious),
    )


def _suspicious(sentences: list[Sentence]) -> Iterator[tuple[str, int]]:
    """Words that look like something else, with examples, and how often they occur."""
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
    """The format of a file that is read line by line; None for others, and if only all of a file
    can tell."""
    known = (format,) if format else formats_by_extension(file)
    read_lines = readers[known[0]].read_lines if len(known) == 1 else None
    if read_lines is None:
        return None
    if format is None and detect_format(file, head_of(file, encoding)) != known[0]:
        return None
    return known[0], read_lines


def _check_choices(format: str, source: Source) -> None:
    """Raise an error if a format has nothing of what was chosen."""
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
    return ", ".join(f"{what} ({count:,})" for what, count in items)


GivenSentences: TypeAlias = str | os.PathLike[str] | Iterable[Sentence | Sequence[str]]
"""A path, what ``dbpcfg.read`` returns, or sentences: as read, as lists of words, or as texts."""

GivenTrees: TypeAlias = str | os.PathLike[str] | Iterable[Sentence | Tree]
"""A path to a treebank, what ``dbpcfg.read`` returns, or trees."""

_SENTENCES = (
    "a path, what dbpcfg.read returns, or a list of sentences, such as ['the dog ran', 'it slept']"
)
_TREES = "a path to a treebank, what dbpcfg.read returns, or a list of trees"


def read_path(
    call: str, path: str | os.PathLike[str], wanted: str = _TREES, bracketed: bool = False
) -> Corpus:
    """Read the path that a function was called with."""
    name = os.fspath(path)
    if isinstance(name, bytes) or not _exists(name):
        raise MissingFileError(f"{call} needs {wanted}; there is no file {_short(name)}")
    return read(path, bracketed=bracketed)


def load_sentences(
    call: str, given: GivenSentences, bracketed: bool = False, sentence: bool = False
) -> Corpus | Iterable[Sentence]:
    """Read a path, or check sentences.

    ``bracketed``: see `read`.
    ``sentence``: whether one text that is obviously no path is taken for a sentence.
    Returns the corpus if it is one or was read from a path; else the sentences, as a list if a list
    was given.
    """
    if sentence and isinstance(given, str) and is_sentence(given):
        note(sentence_note(given))
        given = [given]
    if isinstance(given, str | os.PathLike):
        return read_path(call, given, _SENTENCES, bracketed)
    if isinstance(given, Corpus):
        return given
    _check_iterable(call, given, _SENTENCES)
    sentences = (_sentence(call, one, number) for number, one in enumerate(given, start=1))
    return list(sentences) if isinstance(given, Sized) else sentences


def is_sentence(text: str) -> bool:
    """Whether a text is several words, and neither a path, also one with a mistake, nor a tree."""
    other = re.search(r"[/\\\0]|^\s*\(", text) or formats_by_extension(text.strip())
    return len(text.split()) > 1 and not other and not _exists(text)


def sentence_note(text: str) -> str:
    """What is said of a text that is taken for a sentence."""
    return f"there is no file {_short(text)}, so it is read as a sentence"


def load_trees(call: str, given: GivenTrees, source: str) -> list[Sentence]:
    """Read a path, or check trees.

    ``call``: the function that was called and its argument, as messages name them.
    ``source``: the name of the text that trees are lines of.
    """
    if isinstance(given, str | os.PathLike):
        return read_path(call, given).sentences
    _check_iterable(call, given, _TREES)
    items = list(given)
    for number, item in enumerate(items, start=1):
        if not isinstance(item, Sentence | Tree):
            raise DbpcfgError(
                f"{call} needs {_TREES}; item {number} is {_type_of(item)}"
                + "; dbpcfg.trees.brackets.read_trees reads brackets" * isinstance(item, str)
            )
    return as_sentences(items, source)


def _exists(name: str) -> bool:
    return os.path.exists(name) or _matches(name)


def _matches(pattern: str) -> bool:
    return glob.has_magic(pattern) and "\0" not in pattern and bool(glob.glob(pattern))


def _check_iterable(call: str, given: Any, wanted: str) -> None:
    if callable(given):
        name = getattr(given, "__name__", "it")
        raise DbpcfgError(f"{call} needs {wanted}; {name} is a function: call it, as in {name}()")
    if not isinstance(given, Iterable) or isinstance(given, bytes | dict | Tree | Sentence):
        trees = getattr(given, "trees", None)
        hint = f"; give {type(given).__name__.lower()}.trees()" if callable(trees) else ""
        raise DbpcfgError(f"{call} needs {wanted}, not {_type_of(given)}{hint}")


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
            f"{call}: a sentence is a list of words, but sentence {number} has {_type_of(wrong[0])}"
        )
    hint = "; give tree.words()" if isinstance(given, Tree) else ""
    raise DbpcfgError(
        f"{call}: a sentence is a text or a list of words; sentence {number} is "
        f"{_type_of(given)}{hint}"
    )


def _type_of(given: object) -> str:
    return "None" if given is None else f"of type {type(given).__name__}"


def _short(name: object) -> str:
    shown = repr(name)
    return shown if len(shown) <= 60 else f"{shown[:57]}…{shown[0]}"
