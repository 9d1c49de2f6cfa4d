"""TIGER-XML: the format of TIGERSearch, for TIGER and many other treebanks.

A sentence ``<s>`` has a ``<graph>`` with its words, ``<t id="s1_1" word="Die" pos="ART"/>``, and
its constituents, ``<nt id="s1_500" cat="NP">``, which name their children by
``<edge label="NK" idref="s1_1"/>``.  The words stand in their order.  Lemmas and morphology are not
read; secondary edges are left out and counted, and so are words with the tag ``-NONE-``, traces.

The tree is called ``ROOT``: it stands for ``VROOT``, and holds what no edge leads to, as
punctuation.  Constituents may have gaps: see `dbpcfg.corpus.readers.discontinuity`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

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
from dbpcfg.corpus.readers.xmltext import Element, sentence_elements, xml_with
from dbpcfg.corpus.sentence import Sentence

_SHOWN = 30


def _read(text: str, source: Source) -> Iterator[Sentence]:
    return graph_sentences(sentence_elements(text, "s", source), _graph, source)


def _graph(sentence: Element, removed: Counter[str]) -> Graph:
    graphs = list(sentence.named("graph"))
    if len(graphs) != 1:
        raise Malformed(sentence.line, f"found {len(graphs)} <graph> in <s>, expected one")
    terminals = [t for part in graphs[0].named("terminals") for t in part.named("t")]
    phrases = [nt for part in graphs[0].named("nonterminals") for nt in part.named("nt")]
    nodes: dict[str, GraphNode] = {}
    for element in (*terminals, *phrases):
        name = _needed(element, "id")
        if name in nodes:
            raise Malformed(
                element.line, f"found a second <{element.name}> with the id {name[:_SHOWN]!r}"
            )
        nodes[name] = _node(element)
        removed["secondary edges"] += sum(1 for _ in element.named("secedge"))
    without_parent = dict(nodes)
    for phrase in phrases:
        for edge in phrase.named("edge"):
            child = _needed(edge, "idref")
            if child not in nodes:
                raise Malformed(
                    edge.line,
                    f"found an edge to {child[:_SHOWN]!r}, expected the id of a <t> or <nt>",
                )
            if child not in without_parent:
                raise Malformed(
                    edge.line,
                    f"found a second edge to {child[:_SHOWN]!r}, expected one parent for a node",
                )
            node = without_parent.pop(child)
            node.head = is_head(edge.attributes.get("label", ""))
            nodes[phrase.attributes["id"]].children.append(node)
    root = GraphNode("ROOT", graphs[0].line)
    for node in without_parent.values():
        virtual = node.word is None and node.label == "VROOT"
        root.children += node.children if virtual else [node]
    check_connected(root, [node for node in nodes.values() if node.label != "VROOT"])
    words = [nodes[t.attributes["id"]] for t in terminals]
    spoken = [node for node in words if node.word is not None]
    removed["traces"] += len(words) - len(spoken)
    return root, spoken


def _node(element: Element) -> GraphNode:
    if element.name == "nt":
        return GraphNode(as_label(_needed(element, "cat")), element.line)
    tag = as_label(element.attributes.get("pos", ""))
    word = as_word(_needed(element, "word"), element.line)
    return GraphNode(
        "" if tag == "--" else tag, element.line, word=None if tag == "-NONE-" else word
    )


def _needed(element: Element, name: str) -> str:
    if name not in element.attributes:
        raise Malformed(element.line, f"found <{element.name}> without {name}, which it needs")
    return element.attributes[name]


TIGERXML = CorpusReader(
    _read,
    (".xml", ".tig"),
    xml_with(r"<graph\s[^<>]*\broot\s*=|<(?:edgelabel|terminals)[\s>]"),
)
