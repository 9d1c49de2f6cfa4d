"""Random trees, and small things that the tests of trees share."""

from hypothesis import strategies as st

from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree

DOG = "(S (NP (D the) (N dog)) (V barks))"
DEPTH = 10_000
"""Deeper than Python's stack."""

# Any characters but the ones that brackets cannot hold, with the awkward ones made likely.
characters = st.one_of(
    st.sampled_from("ab-\xa0\u2003\ufeff\x1c\x85é犬\U0001f436'\"\\"),
    st.characters(exclude_categories=("Cs",), exclude_characters="() \t\n\r\f\v"),
)
words = st.one_of(
    st.sampled_from(["the", "dog", "-LRB-", "-RRB-"]), st.text(characters, min_size=1)
)
labels = st.one_of(st.sampled_from(["S", "NP", "NP-SBJ", "", "-NONE-"]), st.text(characters))
any_tokens = st.text()  # brackets, white space and nothing at all included


def trees_over(label_strategy, word_strategy):
    def node(children):
        return st.builds(Tree, label_strategy, st.lists(children, min_size=1, max_size=4))

    return node(st.recursive(word_strategy, lambda inner: inner | node(inner), max_leaves=12))


trees = trees_over(labels, words)
any_trees = trees_over(any_tokens, any_tokens)


def flatten(lists):
    return [item for items in lists for item in items]


# --- trees to draw --------------------------------------------------------------------------------

HOSTILE = ["<script>", "&amp;", r"\input{x}", "%", "_", "(", ")", "[", "]", "],[", "{", "}", "\\"]
HOSTILE += ["#", "$x$", "~", "^^41", '"', "--", "---", "?`", "a,b", "=", "|", "</svg>", "]]>", "犬"]
drawable_tokens = st.sampled_from(
    [*HOSTILE, "the", "dog", "NP-SBJ", "X1", "a-rather-long-word", "i"]
)


def drawable_trees(token: st.SearchStrategy[str]) -> st.SearchStrategy[Tree]:
    return st.recursive(
        st.builds(lambda label, word: Tree(label, [word]), token | st.just(""), token),
        lambda below: st.builds(
            Tree, token | st.just(""), st.lists(below | token, min_size=1, max_size=4)
        ),
        max_leaves=15,
    )


SMALL = read_tree("(S (NP (D the) (N dog)) (VP barks))")


def deep_tree(depth: int = 5000) -> Tree:
    """A tree deeper than Python's stack."""
    tree = Tree("X", ["w"])
    for _ in range(depth):
        tree = Tree("X", [tree, "w"])
    return tree
