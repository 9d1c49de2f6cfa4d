"""The picture of the README: induced trees beside gold trees, with memory under the words.

    python benchmarks/picture.py RUN docs/images/trees.svg

RUN is a run on the Adam corpus of the CHILDES Treebank (``dbpcfg induce adam --out RUN``). The
sentences and their gold trees are made up. Dots under a word are the unfinished fragments
that a left-corner parser has in memory before the word.
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

import dbpcfg
from dbpcfg.evaluation.depths import tree_depth
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.drawing import Item, layout, text_width
from dbpcfg.trees.tree import Tree

GOLD = [
    "(SBARQ what (SQ is (NP the doggie) (VP doing (PP with (NP your shoe)))))",
    "(SQ do you (VP want (VP to (VP put (NP the baby) (PP in (NP the bed))))))",
    "(SBARQ where (SQ did (NP the big dog) go))",
]
SIZE, ROW, GAP, BETWEEN, EDGE = 17, 34, 14, 56, 24
INK, GREY, FOUND, ELSE = "#1c2320", "#6b746f", "#0f766e", "#b45309"


def memory(tree: Tree) -> list[int]:
    """Fragments in memory before each word of a binary tree.

    That is the depth of the right child that begins with the word: see `dbpcfg.evaluation.depths`.
    """
    found: list[int] = []
    todo: list[tuple[Tree, bool, int, int]] = [(tree, False, 1, 0)]
    while todo:
        node, right, depth, before = todo.pop()
        if node.preterminal:
            found.append(before)
        else:
            first, second = node.children
            todo += [(second, True, depth, depth), (first, False, depth + right, before)]
    assert max(found) == tree_depth(tree)
    return found


def halves(text: str, is_word: bool) -> tuple[float, float]:
    return (text_width(text) * SIZE * (1 if is_word else 0.75) / 2,) * 2


def spans(items: list[Item]) -> dict[Item, tuple[int, int]]:
    words = sorted((item for item in items if item.is_word), key=lambda item: item.x)
    at = {word: (n, n + 1) for n, word in enumerate(words)}
    for item in reversed(items):
        if not item.is_word:
            parts = [at[child] for child in item.children]
            at[item] = parts[0][0], parts[-1][1]
    return at


def without_tags(tree: Tree) -> Tree:
    children = (
        child if isinstance(child, str) else child.children[0] if child.preterminal else child
        for child in tree.children
    )
    return Tree(tree.label, [c if isinstance(c, str) else without_tags(c) for c in children])


def drawn(
    tree: Tree, other: Tree, left: float, bottom: float, depths: list[int] | None
) -> list[str]:
    """A tree whose brackets are coloured by whether the other tree has them."""
    items = layout(tree, halves, GAP)
    at, theirs = spans(items), {(s.start, s.end) for s in other.spans()}

    def y(item: Item) -> float:
        return bottom - ROW * item.row

    def colour(item: Item) -> str:
        return FOUND if at[item] in theirs else ELSE

    out = []
    for item in items:
        for child in item.children:
            ink = GREY if child.is_word else colour(child)
            line = (
                f"M{left + item.x:.1f} {y(item) + 5:.1f}L{left + child.x:.1f} {y(child) - 15:.1f}"
            )
            dashed = ' stroke-dasharray="4 3"' if ink == ELSE else ""
            out.append(f'<path d="{line}" stroke="{ink}"{dashed}/>')
        ink, size = (INK, SIZE) if item.is_word else (colour(item), 0.75 * SIZE)
        out.append(
            f'<text x="{left + item.x:.1f}" y="{y(item):.1f}" fill="{ink}" '
            f'font-size="{size:g}">{escape(item.text)}</text>'
        )
    words = sorted((item for item in items if item.is_word), key=lambda item: item.x)
    for word, depth in zip(words, depths or ()):
        for n in range(depth):
            x = left + word.x + 9 * (n - (depth - 1) / 2)
            out.append(f'<circle cx="{x:.1f}" cy="{bottom + 14}" r="3" fill="{INK}"/>')
    return out


def picture(induced: list[Tree], gold: list[Tree]) -> str:
    depths = [memory(tree) for tree in induced]
    shown = [without_tags(tree) for tree in induced]
    placed = [[layout(tree, halves, GAP) for tree in pair] for pair in zip(shown, gold)]
    column = max(pair[0][0].width for pair in placed) + BETWEEN
    width = column + max(pair[1][0].width for pair in placed) + 2 * EDGE
    parts, bottom = [], 40.0
    for name, x in (("induced from words alone", EDGE), ("gold", EDGE + column)):
        parts.append(
            f'<text x="{x}" y="26" text-anchor="start" fill="{GREY}" font-size="15">{name}</text>'
        )
    for pair, items, depth in zip(zip(shown, gold), placed, depths):
        bottom += ROW * max(one[0].row for one in items) + 20
        parts += drawn(*pair, EDGE, bottom, depth)
        parts += drawn(*reversed(pair), EDGE + column, bottom, None)
        bottom += 44
    height = bottom - 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" text-anchor="middle" '
            'font-family="Helvetica, Arial, sans-serif" fill="none" stroke-width="1.4">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *(part.replace("<text", '<text stroke="none"') for part in parts),
            "</svg>\n",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the picture of the README.")
    parser.add_argument("run", help="a run on Adam")
    parser.add_argument("out", help="the SVG file to write")
    given = parser.parse_args()
    gold = [read_tree(text) for text in GOLD]
    induced = dbpcfg.load(given.run).parse([tree.words() for tree in gold])
    Path(given.out).write_text(picture(induced, gold), "utf-8")


if __name__ == "__main__":
    main()
