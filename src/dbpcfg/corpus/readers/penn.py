"""Penn brackets: treebanks such as the Wall Street Journal (``.mrg``) and CHILDES (``.parsed``).

Trees are read by `dbpcfg.trees.brackets`, whatever their line breaks, and cleaned as is usual for
scoring grammar induction:

* Labels lose their function tags and annotations: everything from the first ``-``, ``=`` or ``<``,
  so that ``NP-SBJ-1``, ``NP=2`` and ``NP-<ANIM>-<AGENT-V1>`` are all ``NP``.  A label that begins
  with one of these is kept whole (``-LRB-``), and so is ``ADVP|PRT``.  Where functions come first,
  in capitals, as in Floresta's ``SUBJ+np`` and ``N<+adjp``, the form is what is left.
* Empty elements are removed and counted, together with parents that they leave empty.  A trace is
  recognised by ``NONE`` in its tag, even after a space, as in ``( -NONE-ABAR-WH- *T*-1)``.  In a
  file with such tags, words such as ``*T*-1``, ``*PRO*`` and ``*NULL*`` are traces under any tag:
  the CHILDES treebank has ``(WP *NULL*)``.  In other files, such as the trees of a run, they are
  words.  Other words with stars are always words, as in web text: ``*``, ``*sigh*``.
* The outer bracket without a label is called ``ROOT``.
* Nodes without children, a mistake in some treebanks, are dropped and counted; but a bracket that
  is a word, as in ``(-LRB- ()``, is an error, since a word would be lost.  Trees without words are
  dropped and counted.
* Comments are lines that begin with ``#``, as in Floresta, or ``%%``, as in NEGRA's Penn brackets,
  and those that are nothing but a tag, ``<s id="1">``; they are removed and counted.

Broken trees are errors, or are skipped.  To skip them, a file is cut before each line that begins
with a round bracket, and parts that are not trees are skipped, including a tree that is followed by
a stray word, as its brackets may be wrong.  If most parts are not balanced, because trees are not
indented, the file is cut at blank lines; if that fails too, the whole file is skipped.

A sentence has tags if all its words have labelled preterminals; in ``(X the dog)`` they have none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

from dbpcfg.corpus.readers import SKIP_HINT, CorpusReader, Source
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import TreeSyntaxError
from dbpcfg.trees.tree import Tree

Cleaner = Callable[[Tree, Source], "Tree | None"]
"""Cleans a tree, and counts what it removes; returns None if nothing is left."""

EMPTY = "empty elements"
"""The name of this count in all readers of brackets."""

_CATEGORY = re.compile(r"[^-=<]+")
_FUNCTION_FIRST = re.compile(r"[^\sa-z+]+\+(?=[a-z])")
_NONE = ("-NONE-", "NONE-")
_HAS_TRACES = re.compile(r"\([^\s()]*NONE|\(\s+-?NONE-", re.ASCII)
_TRACE = re.compile(r"\*+(?:T|ICH|EXP|RNR|PPA|PRO|NULL|OP)\*(?:-\d+)?", re.ASCII)
_COMMENT = re.compile(r"^(?:#|%%|</?[A-Za-z][\w.-]*(?:[ \t][^<>\n]*)?>[ \t]*$).*", re.M)
_CHILDLESS = re.compile(r"\([^\s()]*\s*\)", re.ASCII)
_BORDERS = (re.compile(r"\n(?=\()"), re.compile(r"\n[^\S\n]*\n"))  # column 1, or a blank line
_LOST_WORD = re.compile(r"\(-[LR][RCS]B-\s*\)|[^\s()]\s*\(\s*\)", re.ASCII)


def _read(text: str, source: Source) -> Iterator[Sentence]:
    traces = _HAS_TRACES.search(text) is not None
    return read_with(_cleaner(source.function_tags, source.empty_elements, traces), text, source)


def read_with(clean: Cleaner, text: str, source: Source) -> Iterator[Sentence]:
    """Read trees in brackets, and clean them by the rules of a format."""
    text, comments = _COMMENT.subn("", text.removeprefix("\ufeff"))  # lines keep their numbers
    if comments:
        source.removed["comments"] += comments
    try:
        whole_text = Source(source.name)
        sentences = list(_sentences(text, whole_text, clean))
    except TreeSyntaxError as error:
        if not source.skip_broken:
            raise TreeSyntaxError(f"{error}; {SKIP_HINT}") from None
        sentences = list(_unbroken(text, source, clean))
    else:
        source.merge(whole_text)
    yield from sentences


def _cleaner(function_tags: bool, empty_elements: bool, has_traces: bool) -> Cleaner:
    relabel = cache(str if function_tags else category)
    is_trace = cache(lambda word: has_traces and _TRACE.fullmatch(word) is not None)

    @cache  # most preterminals occur many times
    def preterminal(label: str, word: str) -> Tree | None:
        is_word = empty_elements or not ("NONE" in label or is_trace(word))
        return Tree(relabel(label), (word,)) if is_word else None

    def clean(tree: Tree, source: Source) -> Tree | None:
        def counted(label: str, word: str) -> Tree | None:
            leaf = preterminal(label, word)
            if leaf is None:
                source.removed[EMPTY if "NONE" in label else "words that look like traces"] += 1
            return leaf

        def cleaned(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
            if len(parts) == 1 and isinstance(parts[0], str):
                return counted(node.label, parts[0])
            if len(parts) == 2 and not node.label:
                tag, word = parts
                if isinstance(tag, str) and isinstance(word, str) and tag.startswith(_NONE):
                    return counted(tag, word)
            children = tuple([part for part in parts if part is not None])
            return Tree.unchecked(relabel(node.label), children) if children else None

        return tree.fold(str, cleaned)

    return clean


def _sentences(
    text: str, source: Source, clean: Cleaner, first_line: int = 1
) -> Iterator[Sentence]:
    childless = len(_CHILDLESS.findall(text))
    if childless:
        _check_lost_words(text, source.name, first_line)
        source.removed["nodes without children"] += childless
    from dbpcfg.trees.brackets import read_trees_at

    for line, tree in read_trees_at(text, source.name, drop_empty=True, first_line=first_line):
        root = clean(tree, source) if tree else None
        if root is None:
            source.removed["trees without words"] += 1
            continue
        sentence = Sentence.from_tree(root, source.name, line)
        yield sentence if root.label else replace(sentence, tree=Tree("ROOT", root.children))


def _unbroken(text: str, source: Source, clean: Cleaner) -> Iterator[Sentence]:
    """The sentences of the parts of a text that are not broken."""
    line = 1
    for part in _parts(text):
        unbroken = Source(source.name)
        try:
            sentences = list(_sentences(part, unbroken, clean, line))
        except TreeSyntaxError as error:
            blank = len(part) - len(part.lstrip())
            first = line + part.count("\n", 0, blank)
            last = line + part.rstrip().count("\n")
            reason = str(error).partition("; hint: ")[0]
            source.record_skipped("broken trees", first, last, reason)
        else:
            source.merge(unbroken)
            yield from sentences
        line += part.count("\n")


def _parts(text: str) -> list[str]:
    """Cut a text where trees begin."""
    for border in _BORDERS:
        starts = [0, *(match.end() for match in border.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in pairwise(starts) if start < end]
        if _are_trees(parts):
            return parts
    return [text]


def _are_trees(parts: list[str]) -> bool:
    """Whether most parts are whole trees, and not single lines of trees."""
    surplus = [part.count("(") - part.count(")") for part in parts]
    closers = sum(excess < 0 for excess in surplus)  # trees over several parts have one each
    openers = any("(" in part and ")" not in part for part in parts[:-1])
    few_closers = closers <= max(1, len(parts) // 10)
    return few_closers and not openers and 2 * surplus.count(0) >= len(parts)


def category(label: str) -> str:
    """A label without function tags and annotations."""
    label = _FUNCTION_FIRST.sub("", label, count=1) if "+" in label else label
    match = _CATEGORY.match(label)
    return match[0] if match else label


def _check_lost_words(text: str, source: str, first_line: int) -> None:
    lost = _LOST_WORD.search(text)
    if lost is not None:
        line = text.count("\n", 0, lost.end()) + first_line
        excerpt = text[max(0, lost.end() - 20) : lost.end()].strip()
        raise TreeSyntaxError(
            f"{source}:{line}: found an empty node at the end of {excerpt!r}, expected a word or "
            "a node inside it; hint: a bracket inside a word is written -LRB- or -RRB-"
        )


PENN = CorpusReader(
    _read,
    (".mrg", ".parsed", ".trees", ".psd", ".ptb", ".penn", ".bracket"),
    re.compile(
        r"""\s* (?: (?: (?: \# | %% )[^\n]* | </?[A-Za-z][^<>\n]*>[^\S\n]* ) \n\s* )*
               \( (?: [^\s()]* \s*\( (?: [^\s()]*\s*\( | [^\s()]+\s+[^\s()] )
                  | [^\s()]+\s+[^\s()]+ \s*\)\s* (?: \( | \Z ) )""",
        re.VERBOSE | re.ASCII,
    ).match,
    has_function_tags=True,
)
"""Recognised by one bracket inside another, ``(S (`` or ``( (``, or a word in brackets and then
another bracket or nothing, ``(N dog) (``."""
