"""Small trees to score, random ones, and the scores' definitions taken literally."""

from itertools import pairwise

from hypothesis import strategies as st

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.evaluation.alignment import TreePair, align_trees
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree

SIGNS = {",", ".", "``", "''", "'", "--"}


def marks(tree: Tree) -> tuple[bool, ...]:
    """Punctuation as these tests have it; the tag POS makes a sign a word, as in treebanks."""
    pairs = zip(tree.words(), tree.tags())
    return tuple(word in SIGNS and tag != "POS" for word, tag in pairs)


def sentence(tree: Tree | str, source: str = "<text>", line: int = 1) -> Sentence:
    tree = read_tree(tree) if isinstance(tree, str) else tree
    return Sentence(tuple(tree.words()), tree=tree, source=source, line=line)


def paired(gold: str | Tree, predicted: str | Tree) -> TreePair:
    first, second = sentence(gold), sentence(predicted)
    return align_trees(first, second, marks(first.tree))


def branching(words: list[str], direction: str = "right", label: str = "X") -> Tree:
    """The right- or left-branching tree, built from the end or from the start."""
    parts = [Tree(label, [word]) for word in (words if direction == "left" else words[::-1])]
    tree = parts[0]
    for part in parts[1:]:
        tree = Tree(label, [tree, part] if direction == "left" else [part, tree])
    return tree


# --- random trees -----------------------------------------------------------------------------

labels = st.sampled_from(["S", "NP", "VP", "X"])


@st.composite
def trees_over(draw: st.DrawFn, words: list[str]) -> Tree:
    """Any tree over these words: of any arity, with unary chains, words bare or tagged."""

    def grow(words: list[str]) -> Tree | str:
        if len(words) == 1:
            item: Tree | str = words[0] if draw(st.booleans()) else Tree("T", words)
        else:
            cuts = draw(st.sets(st.integers(1, len(words) - 1), min_size=1, max_size=4))
            edges = [0, *sorted(cuts), len(words)]
            item = node([grow(words[i:j]) for i, j in pairwise(edges)])
        return node([item]) if draw(st.integers(0, 4)) == 0 else item

    def node(children: list[Tree | str]) -> Tree:
        return Tree(draw(labels), children)

    return node([grow(words)])


@st.composite
def gold_and_predicted(draw: st.DrawFn, longest: int = 7) -> tuple[Tree, Tree]:
    """Two trees over the same words, some of which are the same."""
    words = draw(st.lists(st.sampled_from(["a", "b", "c1"]), min_size=1, max_size=longest))
    return draw(trees_over(words)), draw(trees_over(words))


@st.composite
def punctuated(draw: st.DrawFn, tree: Tree) -> Tree:
    """The tree with signs put in anywhere: bare, tagged, or under a node of their own."""

    def visit(item: Tree | str) -> Tree | str:
        if isinstance(item, str) or item.preterminal:
            return item
        children: list[Tree | str] = []
        for child in [*item.children, None]:
            for sign in draw(st.lists(st.sampled_from(sorted(SIGNS)), max_size=1)):
                forms = [sign, Tree(sign, [sign]), Tree("NP", [Tree(",", [sign])])]
                children.append(draw(st.sampled_from(forms)))
            if child is not None:
                children.append(visit(child))
        return Tree(item.label, children)

    return visit(tree)


# --- definitions ------------------------------------------------------------------------------


def naive_spans(tree: Tree, removed: tuple[bool, ...]) -> list[tuple[int, int, str]]:
    """(start, end, label) of every node that is no preterminal, over the words not removed."""
    numbers = iter([None if mark else n for n, mark in enumerate(removed)])
    kept = [n for n, mark in enumerate(removed) if not mark]

    def visit(item: Tree | str) -> tuple[list[int], list[tuple[int, int, str]]]:
        if isinstance(item, str):
            number = next(numbers)
            return ([] if number is None else [kept.index(number)]), []
        words, spans = [], []
        for child in item.children:
            below, inside = visit(child)
            words += below
            spans += inside
        if words and not item.preterminal:
            spans.insert(0, (words[0], words[-1] + 1, item.label))
        return words, spans

    return visit(tree)[1]
