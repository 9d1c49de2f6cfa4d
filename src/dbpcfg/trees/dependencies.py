"""Turn dependencies into constituents, and write them as CoNLL-U.

Dependencies are given by *heads*: for each word the position of its head, from 0, or −1 for the
root.  They become constituents as in Collins (1999): every head with dependents has one flat
constituent, which covers all its descendants and has the tag of the head as its label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural
from dbpcfg.trees.tree import Tree

LABEL = "X"
"""The label of constituents whose heads have no tag."""


def tree_from_heads(
    words: Sequence[str], heads: Sequence[int], tags: Sequence[str] | None = None
) -> Tree:
    """The tree of the constituents of dependencies.

    ``heads``: for each word the position of its head, from 0; −1 for the root.
    ``tags``: the labels of preterminals and constituents. Without tags there are no preterminals,
    and constituents are labelled ``X``.
    """
    for name, items in (("head", heads), ("tag", tags)):
        if items is not None and len(items) != len(words):
            raise DbpcfgError(f"found {plural(len(items), name)} for {plural(len(words), 'word')}")
    order = _from_root(heads)
    _check_projective(heads, order)
    parts: list[list[Tree | str]] = [
        [word if tags is None else Tree(tags[i], [word])] for i, word in enumerate(words)
    ]
    dependents = _dependents(heads)
    for head in reversed(order):
        if dependents[head]:
            left = [part for i in dependents[head] if i < head for part in parts[i]]
            right = [part for i in dependents[head] if i > head for part in parts[i]]
            children = [*left, *parts[head], *right]
            parts[head] = [Tree(LABEL if tags is None else tags[head], children)]
    (root,) = parts[order[0]]
    return root if isinstance(root, Tree) else Tree(LABEL, [root])


def conllu_lines(
    words: Sequence[str],
    heads: Sequence[int],
    tags: Sequence[str] | None = None,
    xpos: Sequence[str] | None = None,
) -> Iterator[str]:
    """The lines of a sentence in CoNLL-U, without line ends; the last one is empty.

    ``heads``: for each word the position of its head, from 0; −1 for the root.
    ``tags``: universal parts of speech, if known.
    ``xpos``: other parts of speech, if known.
    """
    for i, (word, head) in enumerate(zip(words, heads, strict=True)):
        upos, language_tag = (column[i] if column else "_" for column in (tags, xpos))
        relation = "root" if head < 0 else "dep"
        yield "\t".join(
            [str(i + 1), word, "_", upos, language_tag, "_", str(head + 1), relation, "_", "_"]
        )
    yield ""


def _dependents(heads: Sequence[int]) -> list[list[int]]:
    dependents: list[list[int]] = [[] for _ in heads]
    for i, head in enumerate(heads):
        if head >= 0:
            dependents[head].append(i)
    return dependents


def _from_root(heads: Sequence[int]) -> list[int]:
    """All positions, each head before its dependents."""
    n = len(heads)
    for i, head in enumerate(heads):
        if not -1 <= head < n:
            raise DbpcfgError(
                f"the head of word {i + 1} is at position {head}, and the sentence has "
                f"{plural(n, 'word')}; positions are counted from 0, and the root has -1"
            )
    order = [i for i, head in enumerate(heads) if head == -1]
    if len(order) != 1:
        raise DbpcfgError(f"found {len(order)} roots, expected one word whose head is -1")
    dependents = _dependents(heads)
    for i in order:  # grows
        order.extend(dependents[i])
    if len(order) < n:
        word = min(set(range(n)) - set(order)) + 1
        raise DbpcfgError(f"the heads of word {word} form a cycle, which does not reach the root")
    return order


def _check_projective(heads: Sequence[int], order: Sequence[int]) -> None:
    first, last = list(range(len(heads))), list(range(len(heads)))
    size = [1] * len(heads)
    for i in reversed(order):
        if last[i] - first[i] + 1 != size[i]:
            raise DbpcfgError(
                f"the dependencies are not projective: word {i + 1} and what depends on it are "
                "not next to each other, so they are no constituent"
            )
        head = heads[i]
        if head >= 0:
            first[head] = min(first[head], first[i])
            last[head] = max(last[head], last[i])
            size[head] += size[i]
