"""Alpino XML: the Dutch treebanks of Alpino and Lassy, one or many ``<alpino_ds>`` in a file.

A ``<node>`` with nodes in it is a constituent, with its category in ``cat``; one with a ``word`` is
a word, with its tag in ``pos`` or else ``pt``, and its position in the sentence in ``begin``.  A
node with neither, but an ``index``, is a trace of the node with that index: left out and counted.

The order of nodes in the file is not that of the words, and constituents may have gaps: see
`dbpcfg.corpus.readers.discontinuity`.  The encoding is the one that the file declares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from dbpcfg.corpus.readers import CorpusReader, Malformed, Source
from dbpcfg.corpus.readers.discontinuity import (
    Graph,
    GraphNode,
    as_label,
    as_word,
    graph_sentences,
    is_head,
)
from dbpcfg.corpus.readers.xmltext import Element, sentence_elements, xml_with
from dbpcfg.corpus.sentence import Sentence


def _read(text: str, source: Source) -> Iterator[Sentence]:
    return graph_sentences(sentence_elements(text, "alpino_ds", source), _graph, source)


def _graph(sentence: Element, removed: Counter[str]) -> Graph:
    tops = list(sentence.named("node"))
    if len(tops) != 1:
        raise Malformed(
            sentence.line, f"found {len(tops)} <node> in <alpino_ds>, expected one, the top"
        )
    root = GraphNode("", tops[0].line)
    words: dict[int, GraphNode] = {}
    todo = [(tops[0], root)]
    while todo:
        element, parent = todo.pop()
        attributes, inner = element.attributes, list(element.named("node"))
        head = is_head(attributes.get("rel", ""))
        if inner:
            if "cat" not in attributes:
                raise Malformed(element.line, "found a <node> with nodes in it and no cat")
            node = GraphNode(as_label(attributes["cat"]), element.line, head)
            parent.children.append(node)
            todo.extend((child, node) for child in reversed(inner))
        elif "word" in attributes:
            tag = as_label(attributes.get("pos") or attributes.get("pt", ""))
            word = GraphNode(tag, element.line, head, as_word(attributes["word"], element.line))
            parent.children.append(word)
            position = _position(element)
            if position in words:
                raise Malformed(element.line, f"found a second word at {position} (begin)")
            words[position] = word
        elif "index" in attributes:
            removed["traces"] += 1
        else:
            raise Malformed(element.line, "found a <node> without word, nodes and index")
    _check_positions(words)
    top = root.children[0] if root.children else root
    if top.word is not None:  # a sentence of one word
        top = root
        top.label = "top"
    return top, [words[position] for position in sorted(words)]


def _position(element: Element) -> int:
    begin = element.attributes.get("begin", "")
    if not (begin.isdecimal() and begin.isascii() and len(begin) < 10):
        raise Malformed(
            element.line, f"found the position begin={begin[:20]!r} of a word, expected a number"
        )
    return int(begin)


def _check_positions(words: dict[int, GraphNode]) -> None:
    for previous, position in pairwise([-1, *sorted(words)]):
        if position != previous + 1:
            word = str(words[position].word)[:30]
            raise Malformed(
                words[position].line,
                f"found the word {word!r} at {position} (begin), expected one at {previous + 1} "
                "first",
            )


ALPINO = CorpusReader(_read, (".xml",), xml_with(r"<alpino_ds[\s>]"))
