"""NLTK's notation: NLTK reads what is written, and so do we."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange import from_text, to_text
from dbpcfg.grammar.pcfg import Grammar
from tests.grammar.tables import letters, named_grammars, rules, texts
from tests.strategies import random_grammar

NAME = r"[\w/][\w/^<>-]*"
nltk_names = st.one_of(
    st.sampled_from(["T", "TOP", "NP-SBJ", "S/NP", "X^Y", "A<B>", "été", "_", "0", "A->B"]),
    st.from_regex(NAME, fullmatch=True).filter(lambda name: name.isascii() or name.isalpha()),
)
nltk_words = texts(letters).filter(lambda word: not {"'", '"'} <= set(word))

nltk_grammars = named_grammars(nltk_names, nltk_words).filter(lambda G: G.lexical.any())


def read_by_nltk(text: str) -> dict[tuple[str, ...], float]:
    from nltk import PCFG, Nonterminal

    grammar = PCFG.fromstring(text)
    top, found = grammar.start(), {}
    for production in grammar.productions():
        right = production.rhs()
        key = [str(child) for child in right]
        if not isinstance(right[0], Nonterminal):
            key = ["word", right[0], ""]
        parent = "T" if production.lhs() == top else str(production.lhs())
        assert (parent, *key) not in found
        found[parent, *key] = production.prob()
    return found


@settings(max_examples=200)
@given(nltk_grammars)
def test_nltk_reads_every_rule_to_the_bit_and_so_do_we(grammar):
    text = to_text(grammar, "nltk", ["a note"])
    assert read_by_nltk(text) == rules(from_text(text, "nltk")) == rules(grammar)


def test_nltk_parses_with_it():
    """NLTK's own chart and ours agree on the probability of the best tree."""
    from nltk import PCFG, ViterbiParser

    from dbpcfg.parsing.chart.parser import ChartParser

    grammar = random_grammar(3, 3, 1.0, 7)
    theirs = ViterbiParser(PCFG.fromstring(to_text(grammar, "nltk")))
    sentence = ["w0", "w2", "w1", "w0"]
    (best,) = theirs.parse(sentence)
    _, logs = ChartParser(grammar, None).viterbi(grammar.vocabulary.encode([sentence]))
    assert math.log(best.prob()) == pytest.approx(logs[0], rel=1e-12)


@pytest.mark.parametrize("word", ["'\"", "a\nb", "a\rb", "a\0b"])
def test_words_that_nltk_cannot_read(word):
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary((word,)))
    with pytest.raises(GrammarError, match=r"NLTK cannot read the word .*; write a table"):
        to_text(grammar, "nltk")


@pytest.mark.parametrize("name", [",", "PRP$", "-LRB-", "a.b", "|"])
def test_categories_that_nltk_cannot_read(name):
    from nltk import PCFG

    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary(("a",)))
    with pytest.raises(GrammarError, match=re.escape(f"NLTK cannot read the category {name!r}")):
        to_text(grammar.named([name]), "nltk")
    with pytest.raises(ValueError, match="Unable to parse line"):
        PCFG.fromstring(f"T -> {name} [1.0]\n{name} -> 'a' [1.0]")


TOY = """
# from a lecture
S -> NP VP [1.0]
VP -> V NP [0.59] | V V \\
    [0.40] | "isn't" [0.01]
V -> 'saw' [0.5] | '"' [.5]
NP -> 'John' [1]
"""


def test_grammars_from_lectures():
    grammar = from_text(TOY, "nltk")
    assert rules(grammar) == read_by_nltk_as_categories(TOY)
    assert grammar.names == ("S", "NP", "VP", "V")
    assert grammar.root.tolist() == [1, 0, 0, 0]
    assert from_text("%start NP\n" + TOY, "nltk").root.tolist() == [0, 1, 0, 0]


def read_by_nltk_as_categories(text: str) -> dict[tuple[str, ...], float]:
    """Where the start symbol is a category: with the root rule that NLTK does without."""
    return read_by_nltk(f"%start ROOT\nROOT -> S [1.0]\n{text}")


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("# nothing\n", "g", "found no rules"),
        ("%begin S\n", "g:1", "found '%begin S', expected %start S"),
        ("\n\nS NP VP [1.0]", "g:3", "put blanks around the arrow"),
        ("S -> 'a'", "g:1", "every expansion needs children, and then its probability"),
        ("S -> 'a' [0.5] |", "g:1", "every expansion needs children"),
        ("S -> 'a' [0.5] 'b' [0.5]", "g:1", "every expansion needs children"),
        ("S -> 'a [1.0]", "g:1", 'found "\'a [1.0]", expected a rule such as'),
        ("S -> a$ [1.0]", "g:1", "found '$ [1.0]', expected a rule such as"),
        ("S -> '' [1.0]", "g:1", "an empty word"),
        ("S -> 'a' [1.0] \\", "g:1", "a backslash at the end"),
        ("S -> 'a' [one]", "g:1", "found 'one', expected a probability"),
        (
            "S -> 'a' [0.9]",
            "g:1",
            "found 1 rule of 'S' from here on, whose probabilities sum to 0.9",
        ),
        ("S -> 'a' [0.5]\nS -> 'a' [0.5]", "g:2", "found 'S' → 'a' again"),
        ("S -> 'a' V [1.0]\nV -> 'b' [1.0]", "g:1", "give the word a category of its own"),
        ("S -> V [0.5] | 'a' [0.5]\nV -> 'b' [1.0]", "g:1", "put the children of 'V' in its place"),
        ("S -> V V V [1.0]\nV -> 'b' [1.0]", "g:1", "a rule with 3 children"),
        ("x" * 10_000_000, "g:1", "expected a rule such as"),
    ],
)
def test_what_is_wrong_with_a_grammar(text, place, reason):
    with pytest.raises(GrammarError) as caught:
        from_text(text, "nltk", "g")
    assert str(caught.value).startswith(f"{place}: found ")
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 600
