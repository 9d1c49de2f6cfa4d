"""NEGRA export: the format of the NEGRA, TIGER and TüBa-D/Z treebanks, versions 3 and 4.

A sentence stands between ``#BOS`` and ``#EOS`` with its number.  A line is a word or, if it begins
with ``#`` and a number from 500, a constituent; its columns are separated by tabs (or spaces):

* version 3: word, tag, morphology, edge, parent;
* version 4: word, lemma, tag, morphology, edge, parent.

``#FORMAT`` says which; without it, it is where the number of the parent is.  The parent is a
constituent, or 0, the root, which is called ``ROOT``.  Pairs of columns after the parent are
secondary edges: left out and counted.  Comments, from ``%%``, and tables, from ``#BOT`` to
``#EOT``, are not read; ``--`` in place of a tag means that there is none.  Constituents may have
gaps: see `dbpcfg.corpus.readers.discontinuity`.  A broken sentence ends at the next ``#BOS``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from dbpcfg.corpus.readers import CorpusReader, Malformed, Source
from dbpcfg.corpus.readers.discontinuity import (
    Graph,
    GraphNode,
    as_label,
    as_word,
    check_connected,
    graph_sentences,
    is_head,
)
from dbpcfg.corpus.sentence import Sentence

_SEPARATOR = re.compile(r"[\t ]*\t[\t ]*")
_PHRASE = re.compile(r"#([0-9]{3,9})")
_FIRST_PHRASE = 500
_PARENT = re.compile(r"[0-9]{1,9}")
_NONE = "--"
_SHOWN = 30
_NUMBERS = ("3", "4")


@dataclass(slots=True)
class _SentenceLines:
    """The lines of a sentence."""

    line: int
    number: str
    version: str
    last_line: int = 0
    rows: list[tuple[int, str]] = field(default_factory=list)
    fault: Malformed | None = None


def _read(text: str, source: Source) -> Iterator[Sentence]:
    return graph_sentences(_blocks(text), _graph, source)


def _blocks(text: str) -> Iterator[_SentenceLines]:
    """Cut a text into sentences; lines outside sentences become a sentence with a fault."""
    block: _SentenceLines | None = None
    outside: _SentenceLines | None = None
    version, table = "", False
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, start=1):
        command, name = [*(token[:_SHOWN] for token in line.split(None, 2)), "", ""][:2]
        if command == "#BOS":
            if block is not None:
                block.fault = Malformed(number, f"found #BOS, expected #EOS {block.number!r} first")
                yield block
            if outside is not None:
                yield outside
            block, outside, table = _SentenceLines(number, name, version, number), None, False
        elif block is not None:
            block.last_line = number if command else block.last_line
            if command == "#EOS":
                if name != block.number:
                    block.fault = Malformed(
                        number, f"found #EOS {name!r}, expected {block.number!r}"
                    )
                yield block
                block = None
            elif command and not line.startswith("%%"):
                block.rows.append((number, line))
        elif command == "#FORMAT":
            version = name
            if version not in _NUMBERS:
                fault = f"found #FORMAT {version!r}, expected version 3 or 4"
                yield _SentenceLines(number, "", "", number, fault=Malformed(number, fault))
        elif command in ("#BOT", "#EOT"):
            table = command == "#BOT"
        elif command and not line.startswith("%%") and not table:
            if outside is None:
                fault = f"found {line.strip()[:_SHOWN]!r} outside a sentence, expected #BOS"
                outside = _SentenceLines(number, "", "", number, fault=Malformed(number, fault))
            outside.last_line = number
    if block is not None:
        block.fault = Malformed(block.line, "found no #EOS after this #BOS")
        yield block
    if outside is not None:
        yield outside


def _graph(block: _SentenceLines, removed: Counter[str]) -> Graph:
    if block.fault is not None:
        raise block.fault
    root = GraphNode("ROOT", block.line)
    phrases = {"0": root}
    nodes: list[tuple[GraphNode, str]] = []
    words: list[GraphNode] = []
    for line, row in block.rows:
        columns = _columns(row)
        column = _parent_column(columns, block.version, line)
        name, parent = columns[0], columns[column]
        label, head = columns[column - 3], is_head(columns[column - 1])
        label = "" if label == _NONE else as_label(label)
        phrase = _PHRASE.fullmatch(name)
        if phrase is not None and int(phrase[1]) >= _FIRST_PHRASE:
            node = GraphNode(label, line, head)
            if phrase[1] in phrases:
                raise Malformed(line, f"found {name} again, expected one line for a constituent")
            phrases[phrase[1]] = node
        else:
            node = GraphNode(label, line, head, as_word(name, line))
            words.append(node)
        nodes.append((node, parent))
        removed["secondary edges"] += (len(columns) - column - 1) // 2
    for node, parent in nodes:
        if parent not in phrases:
            raise Malformed(
                node.line,
                f"found the parent {parent}, expected 0 or a line #{parent} in the sentence",
            )
        phrases[parent].children.append(node)
    check_connected(root, [node for node, _ in nodes])
    removed["nodes without children"] += sum(
        not node.children for node, _ in nodes if node.word is None
    )
    return root, words


def _columns(row: str) -> list[str]:
    columns = _SEPARATOR.split(row.strip()) if "\t" in row else row.split()
    comment = next((n for n, c in enumerate(columns) if n and c.startswith("%%")), len(columns))
    return columns[:comment]


def _parent_column(columns: list[str], version: str, line: int) -> int:
    for column in (int(version) + 1,) if version in _NUMBERS else (4, 5):
        if column < len(columns) and _PARENT.fullmatch(columns[column]):
            return column
    layout = "word, tag, morphology, edge, parent"
    if version != "3":
        layout += " (version 3; version 4 has the lemma after the word)"
    raise Malformed(
        line, f"found no number of a parent in {' '.join(columns)[:_SHOWN]!r}, expected {layout}"
    )


EXPORT = CorpusReader(
    _read,
    (".export", ".negra"),
    re.compile(r"(?:\s*%%.*\n)*\s*\#(?:FORMAT|BOT|BOS)[ \t]+[A-Z0-9]").match,
)
