"""Phrase-structure trees: one immutable type, and its spans.

A `Tree` has a label and children, each of which is a tree or a word; a word is a plain `str`, as in
NLTK.  Every node has at least one child, so it covers a half-open span of words ``start:end``.

Nothing here recurses, as a tree may be deeper than Python's stack.  `Tree.fold` computes from the
words upwards.  Equality, hashes and pickles use the *flat form*: the nodes in pre-order, each as
``(label, number of children)``, and the words.

`dbpcfg.trees.brackets` reads what ``str(tree)`` writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, final

from dbpcfg.errors import DbpcfgError, TreeSyntaxError
from dbpcfg.io.tables import plural

if TYPE_CHECKING:
    from dbpcfg.trees.drawing import Svg

_Word = TypeVar("_Word")
_Node = TypeVar("_Node")
_Flat: TypeAlias = Sequence[tuple[str, int] | str]

_UNWRITABLE = re.compile(r"[\s()]", re.ASCII)
_REPR_LENGTH = 200
_PICTURE_WORDS = 500
_set = object.__setattr__


class Span(NamedTuple):
    """The words ``start:end`` (half-open) that one node covers, and the node's label."""

    start: int
    end: int
    label: str


@final
@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Tree:
    """A label over one or more children; equal to any tree of the same structure.

    ``len(tree)`` is the number of words, ``str(tree)`` is `bracketed`.

    Parameters
    ----------
    label
        The label of the node; it may be empty.
    children
        Trees and words from left to right.

    Raises
    ------
    DbpcfgError
        If there are no children.
    TypeError
        If a child is neither a tree nor a `str`.
    """

    label: str
    children: tuple[Tree | str, ...]

    def __init__(self, label: str, children: Iterable[Tree | str]) -> None:
        if isinstance(children, str):  # would fall apart into letters
            raise TypeError(f"children must be a sequence, like ({children!r},), not one str")
        children = tuple(children)
        if not children:
            raise DbpcfgError(f"a node needs at least one child, but {label!r} is given none")
        for child in children:
            if not isinstance(child, (Tree, str)):
                raise TypeError(f"a child must be a Tree or a str, not {type(child).__name__}")
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "children", children)

    @classmethod
    def unchecked(cls, label: str, children: tuple[Tree | str, ...]) -> Tree:
        """Make a tree without checks, which is faster."""
        tree = object.__new__(cls)
        _set(tree, "label", label)
        _set(tree, "children", children)
        return tree

    # --- nodes, words and spans -----------------------------------------------------------------

    @property
    def preterminal(self) -> bool:
        """Whether the only child is a word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    @property
    def is_binary(self) -> bool:
        """Whether every node is a preterminal or has exactly two trees as children."""
        return all(
            node.preterminal or [type(child) for child in node.children] == [Tree, Tree]
            for node in self.nodes()
        )

    def nodes(self) -> Iterator[Tree]:
        """Every node, in pre-order, this one first."""
        return (item for item in self._walk() if isinstance(item, Tree))

    def leaves(self) -> list[tuple[str, str]]:
        """Each word with its tag: the label of its preterminal, or "" if it has none."""
        leaves: list[tuple[str, str]] = []
        todo: list[Tree | str] = [self]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                leaves.append((item, ""))
                continue
            first = item.children[0]
            if len(item.children) == 1 and isinstance(first, str):
                leaves.append((first, item.label))
            else:
                todo.extend(reversed(item.children))
        return leaves

    def words(self) -> list[str]:
        """The words from left to right."""
        return [word for word, _ in self.leaves()]

    def tags(self) -> list[str]:
        """The label of each word's preterminal, or "" if it has none."""
        return [tag for _, tag in self.leaves()]

    def spans(self, preterminals: bool = False) -> list[Span]:
        """List the span of every node, in pre-order.

        Parameters
        ----------
        preterminals
            Whether those of preterminals are listed too.
        """
        spans: list[Span] = []
        position = 0
        todo: list[Tree | str | int] = [self]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                position += 1
            elif isinstance(item, int):  # all descendants of this span's node have been visited
                start, _, label = spans[item]
                spans[item] = Span(start, position, label)
            else:
                if preterminals or not item.preterminal:
                    todo.append(len(spans))
                    spans.append(Span(position, position, item.label))
                todo.extend(reversed(item.children))
        return spans

    def _walk(self) -> Iterator[Tree | str]:
        """Nodes and words, in pre-order."""
        todo: list[Tree | str] = [self]
        while todo:
            item = todo.pop()
            yield item
            if isinstance(item, Tree):
                todo.extend(reversed(item.children))

    def _flat(self) -> list[tuple[str, int] | str]:
        walk = self._walk()
        return [
            item if isinstance(item, str) else (item.label, len(item.children)) for item in walk
        ]

    def __len__(self) -> int:
        return len(self.leaves())

    def __bool__(self) -> bool:  # without counting the words
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or self._flat() == other._flat()

    def __hash__(self) -> int:
        return hash(tuple(self._flat()))

    def __reduce__(self) -> tuple[Callable[[_Flat], Tree], tuple[_Flat]]:
        return _tree, (self._flat(),)

    # --- the same tree, changed -----------------------------------------------------------------

    def fold(
        self, word: Callable[[str], _Word], node: Callable[[Tree, list[_Word | _Node]], _Node]
    ) -> _Node:
        """Compute a value from the words upwards, from left to right, without recursion.

        Parameters
        ----------
        word
            Returns the value of a word.
        node
            Returns the value of a node, given the node and the values of its children.
        """
        order: list[Tree | str] = []
        todo: list[Tree | str] = [self]
        while todo:
            item = todo.pop()
            order.append(item)
            if isinstance(item, Tree):
                todo.extend(item.children)
        values: list[Any] = []  # of nodes whose parents are still to come
        for item in reversed(order):  # children before their parents
            if isinstance(item, str):
                values.append(word(item))
            else:
                arity = len(item.children)
                children = values[-arity:]
                del values[-arity:]
                values.append(node(item, children))
        value: _Node = values[0]
        return value

    def relabel(self, function: Callable[[str], str]) -> Tree:
        """The same tree with other labels.

        Parameters
        ----------
        function
            Applied to every label, also to those of preterminals.
        """
        return self.fold(str, lambda tree, children: Tree(function(tree.label), children))

    def replace_words(self, words: Iterable[str]) -> Tree:
        """The same tree over other words.

        Parameters
        ----------
        words
            Words from left to right, as many as the tree has.

        Raises
        ------
        DbpcfgError
            If there are more or fewer words than in the tree.
        """
        new = list(words)
        if len(new) != len(self):
            raise DbpcfgError(
                f"expected {plural(len(self), 'word')}, as in the tree, got {len(new)}"
            )
        remaining = iter(new)
        return self.fold(
            lambda _: next(remaining), lambda tree, children: Tree(tree.label, children)
        )

    # --- brackets and pictures --------------------------------------------------------------------

    def bracketed(self) -> str:
        """The tree in brackets, on one line.

        Raises
        ------
        TreeSyntaxError
            If a word is empty, or a word or label has white space.
        """
        return "".join(self._pieces(writable))[1:]

    def _pieces(self, write: Callable[[str, str], str]) -> Iterator[str]:
        """The pieces of the brackets on one line, after an extra space."""
        todo: list[Tree | str | None] = [self]
        while todo:
            item = todo.pop()
            if item is None:
                yield ")"
            elif isinstance(item, str):
                yield " " + write(item, "word")
            else:
                yield " (" + write(item.label, "label")
                todo.append(None)
                todo.extend(reversed(item.children))

    def __str__(self) -> str:
        return self.bracketed()

    def __repr__(self) -> str:  # never fails, and never floods the screen
        pieces = self._pieces(lambda token, _: repr(str(token))[1:-1])
        text = "".join(islice(pieces, _REPR_LENGTH + 1))[1:]  # no piece is empty
        return f"<Tree {text[:_REPR_LENGTH]}{'…' if len(text) > _REPR_LENGTH else ''}>"

    def _repr_svg_(self) -> str | None:
        """The picture that notebooks show; they show brackets if the tree is too wide."""
        from dbpcfg.trees.drawing import tree_svg

        return tree_svg(self) if len(self) <= _PICTURE_WORDS else None

    def plot(self, size: float = 15.0, title: str | None = None) -> Svg:
        """Draw the tree.

        Parameters
        ----------
        size
            The size of the font, in pixels.
        title
            The tooltip; the sentence if not given.

        Returns
        -------
        Svg
            The picture, which a notebook shows: a `str` that can be written to an SVG file.
        """
        from dbpcfg.trees.drawing import tree_svg

        return tree_svg(self, size, title)

    # --- NLTK -----------------------------------------------------------------------------------

    def to_nltk(self) -> Any:
        """The same tree as an ``nltk.Tree``.

        Raises
        ------
        DbpcfgError
            If NLTK is not installed.
        """
        try:
            from nltk.tree import Tree as NltkTree
        except ImportError as error:
            raise DbpcfgError("NLTK is not installed: pip install 'dbpcfg[nltk]'") from error
        return self.fold(str, lambda tree, children: NltkTree(tree.label, children))

    @staticmethod
    def from_nltk(nltk_tree: Any) -> Tree:
        """Convert an NLTK tree.

        Parameters
        ----------
        nltk_tree
            Any kind of ``nltk.Tree``; leaves and labels go through ``str``.

        Raises
        ------
        DbpcfgError
            If it is not an NLTK tree, or has a node without children.
        """
        flat: list[tuple[str, int] | str] = []
        todo = [nltk_tree]
        while todo:
            item = todo.pop()
            if callable(getattr(item, "label", None)):
                flat.append((str(item.label()), len(item)))
                todo.extend(reversed(list(item)))
            elif item is nltk_tree:
                raise DbpcfgError(f"expected an nltk.Tree, got {type(item).__name__}")
            else:
                flat.append(str(item))
        return _tree(flat)


def _tree(flat: _Flat) -> Tree:
    """The tree of a flat form."""
    built: list[Tree | str] = []
    for item in reversed(flat):  # children come before parents, the first child on top
        if isinstance(item, str):
            built.append(item)
        else:
            label, arity = item
            built.append(Tree(label, [built.pop() for _ in range(arity)]))
    (root,) = built
    assert isinstance(root, Tree)
    return root


def writable(token: str, kind: str) -> str:
    """A word or label as written in brackets, or an error if it cannot be written."""
    if not token and kind == "word":
        raise TreeSyntaxError("an empty word cannot be written in brackets")
    if not _UNWRITABLE.search(token):
        return token
    token = token.replace("(", "-LRB-").replace(")", "-RRB-")
    if _UNWRITABLE.search(token):
        raise TreeSyntaxError(f"the {kind} {token!r} has white space: no brackets can hold it")
    return token


def without_words(tree: Tree, removed: Sequence[bool]) -> Tree:
    """The tree without some words, and without nodes that have no words left.

    ``removed``: whether to remove each word; at least one must stay.
    """
    marks = iter(removed)

    def without(node: Tree, parts: list[Tree | str | None]) -> Tree | None:
        children = [part for part in parts if part is not None]
        return Tree(node.label, children) if children else None

    remaining = tree.fold(lambda word: None if next(marks) else word, without)
    assert remaining is not None
    return remaining
