"""CorpusSearch brackets: the treebanks of historical English, IcePaHC, Keyaki and others.

They are Penn brackets with an identifier in each tree, ``( (IP-MAT …) (ID CMMALORY,2.3))``, by
which they are recognised.  They are cleaned as by `dbpcfg.corpus.readers.penn`, and also:

* Nodes ``ID``, ``CODE``, ``META``, ``METADATA``, ``COMMENT`` and ``VERSION`` and comments,
  ``/* … */`` and ``/~* … *~/``, are removed and counted.
* Empty elements have ordinary labels here.  A leaf is empty if it begins and ends with a star, with
  or without an index (``*``, ``*T*-1``, ``*pro*``, ``*-1``), or if it is ``0`` under ``C``, a label
  that begins with ``W`` or one that ends with ``P``.  Any other ``0``, as in ``(NUM 0)``, is a
  word, and reported.  Stars that are tagged as punctuation are words.
* A leaf may be a word and its lemma, ``(N-N maður-maður)``.  Lemmas are removed if nearly all
  leaves of a file are such pairs, and in some both parts are equal, as in ``.-.``; otherwise
  ``law-suit`` is a word.  Words may have hyphens: ``e-mail-e-mail`` is cut in the middle.
* Marks at the ends of words that the treebank has split or emended are removed: ``$inn``,
  ``vilt$``, ``@t``.  The parts stay separate words, and so do those with numbered tags (``ADV21``).
* ``<dash>``, ``<slash>``, ``<paren>`` and ``<$$paren>`` in words become ``-``, ``/``, ``-LRB-`` and
  ``-RRB-``.
* Labels are cut at ``;`` and ``{`` too: ``NP;*SBJ*`` is ``NP``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from dbpcfg.corpus.readers import HEAD, CorpusReader, Source
from dbpcfg.corpus.readers.penn import EMPTY, PENN, Cleaner, read_with
from dbpcfg.corpus.sentence import Sentence, looks_empty
from dbpcfg.trees.tree import Tree

_CATEGORY = re.compile(r"[^-=<;{]+")
_NO_WORDS = frozenset({"ID", "CODE", "META", "METADATA", "COMMENT", "VERSION"})
_COMMENT = re.compile(r"^[ \t]*(?:/\*.*?\*/|/~\*.*?\*~/)", re.DOTALL | re.MULTILINE)
_VISIBLE = re.compile(r"[^\r\n]")
_LEAF = re.compile(r"\(([^\s()]+)\s+([^\s()]+)\s*\)", re.ASCII)
_ID = re.compile(r"\)\s*\(ID\s+[^\s()]+\s*\)|\(ID\s+[^\s()]+\s*\)\s*[()]", re.ASCII)
_WITH_LEMMAS = 0.95
"""The least share of leaves that are words with lemmas, if a file has lemmas."""
_MARKS = re.compile(r"^[$@]+(?=[^\W\d_])|(?<=[^\W\d_])[$@]+$")
_ESCAPE = re.compile(r"<(?:dash|slash|paren|\$\$paren)>")
_ESCAPED = {"<dash>": "-", "<slash>": "/", "<paren>": "-LRB-", "<$$paren>": "-RRB-"}


def _read(text: str, source: Source) -> Iterator[Sentence]:
    text, comments = _COMMENT.subn(lambda comment: _VISIBLE.sub(" ", comment[0]), text)
    source.removed["comments"] += comments
    return read_with(_cleaner(source, _has_lemmas(text)), text, source)


def _cleaner(options: Source, lemmas: bool) -> Cleaner:
    category = cache(_category)
    relabel = cache(str) if options.function_tags else category

    def clean(tree: Tree, source: Source) -> Tree | None:
        def cleaned(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
            tag = category(node.label)
            if tag in _NO_WORDS:
                source.removed[f"{tag} nodes"] += 1
                return None
            if len(parts) == 1 and isinstance(parts[0], str):
                leaf = parts[0]
                if looks_empty(leaf, tag):
                    if not options.empty_elements:
                        source.removed[EMPTY] += 1
                        return None
                    return Tree(relabel(node.label), (leaf,))
                if leaf == "0":
                    source.suspicious["0 that may be an empty element"] += 1
                return Tree(relabel(node.label), (_word(leaf, lemmas, source),))
            children = tuple([part for part in parts if part is not None])
            return Tree.unchecked(relabel(node.label), children) if children else None

        return tree.fold(str, cleaned)

    return clean


def _category(label: str) -> str:
    match = _CATEGORY.match(label)
    return match[0] if match else label


def _word(leaf: str, lemmas: bool, source: Source) -> str:
    if lemmas:
        word = _before_lemma(leaf)
        if word:
            source.removed["lemmas"] += 1
            leaf = word
        else:
            source.suspicious["words without a lemma"] += 1
    bare = _MARKS.sub("", leaf)
    word = _ESCAPE.sub(lambda escape: _ESCAPED[escape[0]], bare)
    source.modified["words with $ or @ at an end"] += bare != leaf
    source.modified["words with escaped characters"] += word != bare
    return word


def _before_lemma(leaf: str) -> str:
    """The word of a word with its lemma; empty if there is no lemma.

    They are separated by the middle hyphen, or the second of two in the middle.
    """
    hyphens = [position for position in range(1, len(leaf) - 1) if leaf[position] == "-"]
    return leaf[: hyphens[len(hyphens) // 2]] if hyphens else ""


def _has_lemmas(text: str) -> bool:
    leaves = [
        leaf
        for label, leaf in _LEAF.findall(text)
        if _category(label) not in _NO_WORDS and not looks_empty(leaf, _category(label))
    ]
    words = [(leaf, _before_lemma(leaf)) for leaf in leaves]
    pairs = [(leaf, word) for leaf, word in words if word]
    equal = any(leaf.lower() == f"{word}-{word}".lower() for leaf, word in pairs)
    return equal and len(pairs) >= _WITH_LEMMAS * len(words)


def _recognises(text: str) -> bool:
    text = _COMMENT.sub("", text[:HEAD])
    return bool(PENN.recognises(text) and _ID.search(text))


CORPUSSEARCH = CorpusReader(_read, PENN.extensions, _recognises, has_function_tags=True)
