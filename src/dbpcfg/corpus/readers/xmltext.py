"""Read untrusted XML sentence by sentence.

Python's parser (expat) reads the text in pieces, and only the elements of one sentence are in
memory.  A document type with declarations is an error, so there are no entities that could grow
without limit or read other files; a document type that only names a file is ignored.  Elements may
be nested 1,000 deep.

Text that is not well-formed is an error, or the well-formed sentences are read: then the text is
cut at the tags of sentences, and every part is read separately.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from xml.parsers import expat

from dbpcfg.corpus.readers import HEAD, Malformed, Source
from dbpcfg.errors import DbpcfgError

MAX_DEPTH = 1000
"""Elements inside each other, at most."""

_PIECE = 1 << 16
"""Characters that are given to the parser at once."""
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);|#)[^\s;&<>]*;?")


@dataclass(slots=True)
class Element:
    """An element and its lines."""

    name: str
    attributes: dict[str, str]
    line: int
    """The line of the start tag."""
    last_line: int = 0
    """The line of the end tag."""
    children: list[Element] = field(default_factory=list)

    def named(self, name: str) -> Iterator[Element]:
        """The children with a name."""
        return (child for child in self.children if child.name == name)


def xml_with(pattern: str) -> Callable[[str], bool]:
    """A function that recognises XML in which a pattern occurs."""
    sign = re.compile(pattern)
    return lambda text: text[:HEAD].lstrip().startswith("<") and bool(sign.search(text, 0, HEAD))


def sentence_elements(text: str, name: str, source: Source) -> Iterator[Element]:
    """Read the elements that are sentences, one by one."""
    any_sentence = False
    try:
        if source.skip_broken:
            for _ in _elements(text, name, source.name):
                pass
        for element in _elements(text, name, source.name):
            any_sentence = True
            yield element
    except Malformed as error:
        if not source.skip_broken:
            source.skip_or_raise(error, error.line, error.line)
        for element in _well_formed(text, name, source, error):
            any_sentence = True
            yield element
    if not any_sentence and not source.skipped:
        raise DbpcfgError(
            f"{source.name}: found no element <{name}>, expected one for each sentence"
        )


def _elements(text: str, name: str, source: str, first_line: int = 1) -> Iterator[Element]:
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    depth = 0
    open_elements: list[Element] = []
    complete: list[Element] = []

    def line() -> int:
        return parser.CurrentLineNumber + first_line - 1

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise Malformed(line(), f"found elements nested more than {MAX_DEPTH:,} deep")
        if open_elements or tag == name:
            element = Element(tag, attributes, line())
            if open_elements:
                open_elements[-1].children.append(element)
            open_elements.append(element)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1
        if open_elements:
            element = open_elements.pop()
            element.last_line = line()
            if not open_elements:
                complete.append(element)

    def document_type(_: str, __: Any, ___: Any, declarations: int) -> None:
        if declarations:
            raise DbpcfgError(
                f"{source}:{line()}: found a document type with declarations (<!DOCTYPE … [), "
                "which are not read, for safety; remove them from the file"
            )
        if unknown := _REFERENCE.search(text):  # expat would leave it out without an error
            position = first_line + text.count("\n", 0, unknown.start())
            raise Malformed(
                position, f"found {unknown[0][:20]!r}, which is not defined in the file"
            )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = document_type
    for position in range(0, len(text) + 1, _PIECE):
        try:
            parser.Parse(text[position : position + _PIECE], position + _PIECE > len(text))
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            raise Malformed(
                error.lineno + first_line - 1,
                f"found XML that is not well-formed ({problem}), expected well-formed XML",
            ) from None
        yield from complete
        complete.clear()


def _well_formed(text: str, name: str, source: Source, fault: Malformed) -> Iterator[Element]:
    """The well-formed sentences of a text that is not well-formed."""
    starts = [match.start() for match in re.finditer(rf"<{name}(?=[\s/>])", text)]
    ending = re.compile(rf"</{name}\s*>")
    line, counted = 1, 0
    for start, stop in pairwise([*starts, len(text)]):
        line += text.count("\n", counted, start)
        counted = start
        end = ending.search(text, start, stop)
        part = text[start : end.end() if end else stop].rstrip()
        try:
            elements = list(_elements(part, name, source.name, line))
        except Malformed as error:
            source.skip_or_raise(error, line, line + part.count("\n"))
        else:
            yield from elements
    if not source.skipped:
        source.skip_or_raise(fault, fault.line, fault.line)
