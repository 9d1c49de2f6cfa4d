"""Dependencies: their constituents, and how CoNLL-U writes them.

Dependencies are the *heads* of a sentence, for each word the position of its head, counted from 0,
and −1 for the root.  They become constituents as in Collins (1999): every head with dependents has
exactly one, which is flat and covers all that depends on it, directly or not; its label is the tag
of the head.  Words without dependents have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.tree import Tree

LABEL = "X"
"""The label of constituents whose heads have no tag."""


def tree_from_heads(
    words: Sequence[str], heads: Sequence[int], tags: Sequence[str] | None = None
) -> Tree:
    """Make a tree of the constituents of dependencies.

    ``heads``: for each word the position of its head, from 0; −1 for the root.
    ``tags``: the tag of each word, which labels its preterminal and its constituent. Without tags,
    words have no preterminals, and the label is ``X``.
    """
    for name, items in (("heads", heads), ("tags", tags)):
        if items is not None and len(items) != len(words):
            raise DbpcfgError(f"found {len(items)} {name} for {len(words)} words")
    order = _from_root(heads)
    _check_projective(heads, order)
    parts: list[list[Tree | str]] = [
        [word if tags is None else Tree(tags[place], [word])] for place, word in enumerate(words)
    ]
    dependents = _dependents(heads)
    for head in reversed(order):
        if dependents[head]:
            left = [part for place in dependents[head] if place < head for part in parts[place]]
            right = [part for place in dependents[head] if place > head for part in parts[place]]
            children = [*left, *parts[head], *right]
            parts[head] = [Tree(LABEL if tags is None else tags[head], children)]
    (whole,) = parts[order[0]]
    return whole if isinstance(whole, Tree) else Tree(LABEL, [whole])


def conllu_lines(
    words: Sequence[str],
    heads: Sequence[int],
    tags: Sequence[str] | None = None,
    xpos: Sequence[str] | None = None,
) -> Iterator[str]:
    """Write a sentence with its heads as CoNLL-U.

    ``heads``: for each word the position of its head, from 0; −1 for the root.
    ``tags``: universal parts of speech, one a word, if there are any.
    ``xpos``: other parts of speech, one a word, if there are any.
    Returns a line for each word, and an empty one, without their ends.
    """
    for place, (word, head) in enumerate(zip(words, heads, strict=True)):
        upos, other = (column[place] if column else "_" for column in (tags, xpos))
        relation = "root" if head < 0 else "dep"
        yield "\t".join(
            [str(place + 1), word, "_", upos, other, "_", str(head + 1), relation, "_", "_"]
        )
    yield ""


def _dependents(heads: Sequence[int]) -> list[list[int]]:
    dependents: list[list[int]] = [[] for _ in heads]
    for place, head in enumerate(heads):
        if head >= 0:
            dependents[head].append(place)
    return dependents


def _from_root(heads: Sequence[int]) -> list[int]:
    """All positions, heads before their dependents."""
    n = len(heads)
    for place, head in enumerate(heads):
        if not -1 <= head < n:
            raise DbpcfgError(
                f"the head of word {place + 1} is at position {head}, but there are {n} words; "
                "positions are counted from 0, and the root has -1"
            )
    order = [place for place, head in enumerate(heads) if head == -1]
    if len(order) != 1:
        raise DbpcfgError(f"found {len(order)} roots, expected one word whose head is -1")
    dependents = _dependents(heads)
    for place in order:  # grows
        order.extend(dependents[place])
    if len(order) < n:
        word = min(set(range(n)) - set(order)) + 1
        raise DbpcfgError(f"the heads of word {word} form a cycle, which does not reach the root")
    return order


def _check_projective(heads: Sequence[int], order: Sequence[int]) -> None:
    first, last = list(range(len(heads))), list(range(len(heads)))
    size = [1] * len(heads)
    for place in reversed(order):
        if last[place] - first[place] + 1 != size[place]:
            raise DbpcfgError(
                f"the dependencies are not projective: word {place + 1} and what depends on it are "
                "not next to each other, so they are no constituent"
            )
        head = heads[place]
        if head >= 0:
            first[head] = min(first[head], first[place])
            last[head] = max(last[head], last[place])
            size[head] += size[place]
