"""Names of categories, and grammars as notebooks show them."""

from __future__ import annotations

import pickle
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.pcfg import Grammar
from tests.grammar.tables import assert_same, named_grammars
from tests.strategies import random_grammar


def test_categories_are_numbered_unless_named():
    grammar = random_grammar(3, 2, 1.0, 0)
    assert grammar.names == ("X0", "X1", "X2")
    named = grammar.named(["S", "NP", "VP"])
    assert named.names == ("S", "NP", "VP")
    assert grammar.names == ("X0", "X1", "X2")
    assert named.binary is grammar.binary
    assert_same(pickle.loads(pickle.dumps(named)), named)


@pytest.mark.parametrize("names", [["S"], ["S", "S"], ["S", ""], ["A", "B", "C"], []])
def test_every_category_needs_a_name_of_its_own(names):
    with pytest.raises(GrammarError, match="expected 2 different names of categories, got"):
        random_grammar(2, 2, 1.0, 0).named(names)


class Cells(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


@given(named_grammars())
def test_nothing_in_a_grammar_is_taken_for_html(grammar):
    page = Cells(grammar._repr_html_())
    assert page.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "span"}
    for c, name in enumerate(grammar.names):
        assert name.replace("\0", "\ufffd") in page.text.replace("\0", "\ufffd")
        word = grammar.vocabulary.words[int(grammar.lexical[c].argmax())]
        if grammar.lexical[c].max() >= 0.0005:
            assert word in page.text


def test_the_most_probable_come_first():
    lexical = np.array([[0.1, 0.0, 0.6, 0.1, 0.1999, 0.0001]])
    words = Vocabulary(("a", "b", "<script>alert(1)</script>", "d", "e&", "f"))
    page = Grammar(np.ones(1), np.zeros((1, 1, 1)), lexical, words)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; <span" in page
    assert page.index("&lt;script&gt;") < page.index("e&amp;") < page.index("a <span")
    assert "f <span" not in page
    assert "Grammar of 1 categories over 6 words" in page
