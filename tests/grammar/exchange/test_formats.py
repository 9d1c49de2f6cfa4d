"""Rule tables: what is written is read again to the bit; what is wrong is named with its place."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange import from_text, read_grammar, to_text, write_grammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.files import load
from tests.grammar.tables import HOSTILE, assert_same, named_grammars, texts
from tests.strategies import grammars, random_grammar

HEADER = "kind\tparent\tleft\tright\tprobability"
TABLE = """\
# a comment, and a blank line

kind\tparent\tleft\tright\tprobability
root\tTOP\tS\t\t0.75
root\tTOP\tNP\t\t0.25
binary\tS\tNP\tVP\t1.0
word\tNP\tdog\t\t0.5
word\tNP\tNP\t\t5e-1
word\tVP\tbarks\t\t1
"""


# --- there and back -------------------------------------------------------------------------------


@settings(max_examples=300)
@given(named_grammars(), st.sampled_from(["tsv", "json"]))
def test_a_grammar_comes_back_to_the_bit(grammar, format):
    assert_same(grammar, from_text(to_text(grammar, format, ["a\nnote"]), format))


@given(named_grammars(word=texts(st.characters(exclude_categories=("Cs",)))))
def test_json_has_room_for_any_word(grammar):
    assert_same(grammar, from_text(to_text(grammar, "json"), "json"))


@given(grammars())
def test_numbers_of_any_size_come_back(grammar):
    """Rows as Dirichlet draws with a small β make them: most entries are next to nothing."""
    lexical = grammar.lexical.copy()
    lexical[0, 0] += 5e-324
    tiny = Grammar(grammar.root, grammar.binary, lexical, grammar.vocabulary)
    assert_same(tiny, from_text(to_text(tiny)))


@pytest.mark.parametrize("ending", ["tsv", "json", "pcfg", "nltk"])
def test_files(tmp_path, ending):
    grammar = random_grammar(3, 4, 0.3, 1)
    write_grammar(grammar, tmp_path / f"grammar.{ending}", notes=["made for a test"])
    assert "made for a test" in (tmp_path / f"grammar.{ending}").read_text()
    assert_same(grammar, read_grammar(tmp_path / f"grammar.{ending}"))
    if ending in ("tsv", "json"):
        model = load(tmp_path / f"grammar.{ending}")
        assert_same(grammar, model.grammar)
        assert model.depth is None


def test_the_order_of_categories_and_words_survives():
    """The first category starts no sentence and the first word is impossible."""
    binary, lexical = np.zeros((2, 2, 2)), np.array([[0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    grammar = Grammar(np.array([0.0, 1.0]), binary, lexical, Vocabulary(("never", "b", "a")))
    assert_same(grammar.named(["B", "A"]), from_text(to_text(grammar.named(["B", "A"]))))


# --- tables that people write ---------------------------------------------------------------------


def test_a_table_by_hand():
    grammar = from_text(TABLE)
    assert grammar.names == ("S", "NP", "VP")
    assert grammar.vocabulary.words == (
        "dog",
        "NP",
        "barks",
    )  # a word may be called like a category
    assert grammar.root.tolist() == [0.75, 0.25, 0]
    assert grammar.binary[0, 1, 2] == 1
    assert grammar.lexical[1].tolist() == [0.5, 0.5, 0]


def test_without_kinds_and_with_columns_in_another_order():
    text = "probability\tparent\tleft\tright\n1\tS\tNP\tVP\n1\tNP\tdog\t\n1\tVP\tbarks\t\n"
    grammar = from_text(text)
    assert grammar.names == ("S", "NP", "VP")
    assert grammar.root.tolist() == [1, 0, 0]
    assert grammar.vocabulary.words == ("dog", "barks")
    top = "probability\tparent\tleft\tright\n1\tQ\tS\t\n"
    same = from_text(text.replace("probability\tparent\tleft\tright\n", top))
    assert_same(grammar, same)


def test_json_by_hand():
    rules = [
        {"parent": "S", "children": ["NP", "NP"], "probability": 1},
        {"parent": "NP", "word": "NP", "probability": 1.0},
    ]
    grammar = from_text(json.dumps({"rules": rules}), "json")
    assert grammar.names == ("S", "NP")
    assert grammar.root.tolist() == [1, 0]
    assert grammar.vocabulary.words == ("NP",)


def said(text: str, format: str = "tsv") -> str:
    with pytest.raises(GrammarError) as caught:
        from_text(text, format, "g.tsv")
    message = str(caught.value)
    assert len(message) < 600
    return message


def rows(*lines: str, header: str = HEADER) -> str:
    return "\n".join([header, *lines])


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", "g.tsv", "found no column 'parent'"),
        (HEADER, "g.tsv", "found no rules"),
        ("word\tN\tdog\t\t1\n", "g.tsv:1", "found the column 'word', expected a header"),
        ("parent\tleft\tright\nS\ta\t\n", "g.tsv:1", "no column 'probability'"),
        (f"{HEADER}\tparent\n", "g.tsv:1", "found the column 'parent', expected a header with"),
        (rows("word\tN\tdog\t\t1\t"), "g.tsv:2", "found 6 cells, expected 5"),
        (rows("rule\tN\tdog\t\t1"), "g.tsv:2", "the kind 'rule', expected root, binary, word"),
        (rows("binary\tN\tdog\t\t1"), "g.tsv:2", "a binary rule with one child"),
        (rows("word\tN\tdog\tcat\t1"), "g.tsv:2", "a word rule with two children"),
        (rows("word\tN\t\t\t1"), "g.tsv:2", "no left child"),
        (rows("word\t\tdog\t\t1"), "g.tsv:2", "the category ''"),
        (rows("word\tN P\tdog\t\t1"), "g.tsv:2", "the category 'N P'"),
        (rows("word\tN\tdog\t\tnan"), "g.tsv:2", "found 'nan', expected a probability"),
        (rows("word\tN\tdog\t\t1.5"), "g.tsv:2", "found '1.5'"),
        (rows("word\tN\tdog\t\t١"), "g.tsv:2", "found '١'"),
        (rows("word\tN\tdog\t\t"), "g.tsv:2", "found ''"),
        (rows("word\tN\tdog\t\t0,5"), "g.tsv:2", "as a decimal number, such as 0.25"),
        (
            rows("word\tN\tdog\t\t0.5", "word\tN\tdog\t\t0.5"),
            "g.tsv:3",
            "found 'N' → 'dog' again, expected each rule once; the same rule is at g.tsv:2",
        ),
        (
            rows("word\tN\tdog\t\t0.5", "word\tM\tcat\t\t1", "word\tN\tcat\t\t0.4"),
            "g.tsv:2",
            "found 2 rules of 'N' from here on, whose probabilities sum to 0.9, expected 1",
        ),
        (
            rows("binary\tS\tN\tV\t1", "word\tN\tdog\t\t1"),
            "g.tsv:2",
            "found 'V', which has no rules, expected a category that has",
        ),
        (
            rows("root\tT\tN\t\t1", "root\tTOP\tN\t\t1", "word\tN\tdog\t\t1"),
            "g.tsv:3",
            "a root rule of 'TOP' after one of 'T'",
        ),
        (
            rows("root\tN\tM\t\t0.5", "word\tN\tdog\t\t0.5", "word\tM\tdog\t\t1"),
            "g.tsv:2",
            "found 'N' → 'M', where 'M' has rules itself, expected two categories or one word",
        ),
        (
            rows("S\tN\tV\t1", "N\tV\t\t1", "V\tbarks\t\t1", header=HEADER[5:]),
            "g.tsv:3",
            "put the children of 'V' in its place",
        ),
    ],
)
def test_what_is_wrong_with_a_table(text, place, reason):
    message = said(text)
    assert message.startswith(f"{place}: found ")
    assert reason in message


def rule(**changes):
    return {"parent": "S", "word": "a", "probability": 1.0, **changes}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "g.tsv:1:2: found Expecting property name"),
        ("[]", "found list, expected an object"),
        ("{}", "found no rules"),
        ('{"rules": [], "rules": []}', "a key twice"),
        ('{"rules": {}}', "g.tsv: rules: found {}, expected a list"),
        ('{"rule": []}', "found the key 'rule'"),
        ("[" * 100_000, "what no rule table has"),
        ('{"rules": [1' + "0" * 5000 + "]}", "what no rule table has"),
        ({"rules": [5]}, "g.tsv: rule 1: found 5, expected a rule such as"),
        ({"rules": [rule(children=["S", "S"])]}, "g.tsv: rule 1: found {'parent': 'S'"),
        ({"rules": [rule(probability=float("nan"))]}, "found NaN"),
        ('{"rules": [{"parent": "S", "word": "a", "probability": 1e999}]}', "found 'inf'"),
        ({"rules": [rule(probability=-0.25)]}, "g.tsv: rule 1: found '-0.25'"),
        ({"rules": [rule(probability="1")]}, "g.tsv: rule 1: found '1'"),
        ({"rules": [rule(word="")]}, "found '', expected a text that is not empty"),
        ('{"rules": [{"parent": "S", "word": "\\ud800", "probability": 1}]}', "lone surrogate"),
        ({"rules": [rule(parent="a b")]}, "found the category 'a b'"),
        ({"rules": [rule(), rule()]}, "g.tsv: rule 2: found 'S' → 'a' again"),
        ({"rules": [rule()], "words": ["a", "a"]}, "g.tsv: words: found one of them twice"),
        ({"rules": [rule()], "categories": ["Q"]}, "found 'Q', which has no rules"),
        ({"rules": [rule()], "start": 3}, "g.tsv: start: found 3"),
        ({"rules": [rule()], "version": 2}, "and version 2, expected 'dbpcfg rules' and 1"),
        (
            {"rules": [{"parent": "S", "children": ["A", "B", "C"], "probability": 1}]},
            "'A', which has no rules",
        ),
        ({"rules": [{"parent": "S", "children": [], "probability": 1}]}, "the children []"),
    ],
)
def test_what_is_wrong_with_json(content, reason):
    message = said(content if isinstance(content, str) else json.dumps(content), "json")
    assert message.startswith("g.tsv")
    assert reason in message


def test_a_rule_with_three_children_is_told_how_to_become_binary():
    three = {"parent": "S", "children": ["A", "B", "A"], "probability": 1}
    words = [rule(parent="A"), rule(parent="B")]
    message = said(json.dumps({"rules": [three, *words]}), "json")
    assert "g.tsv: rule 1: found 'S' → 'A' 'B' 'A', a rule with 3 children" in message
    assert (
        "'S' → 'A' 'B+A' of the same probability and a rule for 'B+A' of probability 1" in message
    )


def test_huge_lines_and_huge_grammars_are_refused_at_once():
    began = time.perf_counter()
    assert "g.tsv:2: found a line of 10,000," in said(
        rows("word\tN\t" + "x" * 10_000_000 + "\t\t1")
    )
    assert "found a line of" in said("x" * 10_000_000)
    many = [f"word\tN{n}\tdog\t\t1" for n in range(2000)]
    assert "found 2,000 categories and 1 words, which need 8,000,002,000 numbers" in said(
        rows(*many)
    )
    assert time.perf_counter() - began < 5


def test_files_that_are_not_there_or_have_no_known_ending(tmp_path):
    with pytest.raises(GrammarError, match="cannot be read: No such file"):
        read_grammar(tmp_path / "g.tsv")
    with pytest.raises(GrammarError, match=r"does not end in \.tsv"):
        read_grammar(tmp_path / "g.txt")
    (tmp_path / "g.txt").write_text(TABLE)
    assert read_grammar(tmp_path / "g.txt", "tsv").names == ("S", "NP", "VP")
    with pytest.raises(GrammarError, match="one of tsv, json, nltk, not 'xml'"):
        from_text(TABLE, "xml")


@settings(max_examples=300)
@given(
    st.lists(
        st.lists(st.sampled_from([*HOSTILE, "S", "N", "1", "0.5", "", "root", "word", "binary"])),
        max_size=6,
    )
)
def test_no_table_breaks_the_reader(lines):
    text = "\n".join([HEADER, *("\t".join(line) for line in lines)])
    try:
        grammar = from_text(text)
    except GrammarError:
        return
    assert_same(grammar, from_text(to_text(grammar)))


@settings(max_examples=300)
@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["rules", "parent", "word", "children", "probability", "start", "words"]),
        inner,
        max_size=4,
    ),
))  # fmt: skip
def test_no_json_breaks_the_reader(content):
    with pytest.raises(GrammarError):
        from_text(json.dumps(content), "json")


# --- what cannot be written -----------------------------------------------------------------------


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\rb", "a\0b", "x" * 30_000])
def test_words_that_no_cell_can_hold(word):
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary((word,)))
    with pytest.raises(
        GrammarError, match=r"cannot stand between tabs.*; write the grammar as JSON"
    ):
        to_text(grammar)
    assert_same(grammar, from_text(to_text(grammar, "json"), "json"))


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path):
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary(("\t",)))
    with pytest.raises(GrammarError):
        write_grammar(grammar, tmp_path / "g.tsv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("word", "name"), [("", "S"), ("\ud800", "S"), ("a", "a b")])
def test_what_cannot_be_written_at_all(word, name):
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary((word,)))
    for format in ("tsv", "json", "nltk"):
        with pytest.raises(GrammarError, match=r"cannot be written|without white space"):
            to_text(grammar.named([name]), format)
