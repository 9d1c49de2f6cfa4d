"""Rule tables: written and read again, they are the same to the bit; errors name the location.

NLTK reads what is written in its notation.
"""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import GrammarError, MissingFileError
from dbpcfg.grammar.exchange import from_text, read_grammar, to_text, write_grammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.files import load
from tests.grammar.tables import HOSTILE, assert_same, letters, named_grammars, rules, texts
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
@given(named_grammars())
def test_a_grammar_comes_back_to_the_bit(grammar):
    assert_same(grammar, from_text(to_text(grammar, "tsv", ["a\nnote"])))


@given(grammars())
def test_numbers_of_any_size_come_back(grammar):
    """Rows as Dirichlet draws with a small β make them: most entries are next to nothing."""
    lexical = grammar.lexical.copy()
    lexical[0, 0] += 5e-324
    tiny = Grammar(grammar.root, grammar.binary, lexical, grammar.vocabulary)
    assert_same(tiny, from_text(to_text(tiny)))


@pytest.mark.parametrize("ending", ["tsv", "pcfg", "nltk"])
def test_files(tmp_path, ending):
    grammar = random_grammar(3, 4, 0.3, 1)
    write_grammar(grammar, tmp_path / f"grammar.{ending}", notes=["made for a test"])
    assert "made for a test" in (tmp_path / f"grammar.{ending}").read_text()
    assert_same(grammar, read_grammar(tmp_path / f"grammar.{ending}"))
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


def said(text: str) -> str:
    with pytest.raises(GrammarError) as caught:
        from_text(text, "tsv", "g.tsv")
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
def test_errors_in_a_table(text, place, reason):
    message = said(text)
    assert message.startswith(f"{place}: found ")
    assert reason in message


def test_huge_lines_and_huge_grammars_are_refused():
    assert "g.tsv:2: found a line of 10,000," in said(
        rows("word\tN\t" + "x" * 10_000_000 + "\t\t1")
    )
    assert "found a line of" in said("x" * 10_000_000)
    many = [f"word\tN{n}\tdog\t\t1" for n in range(2000)]
    assert "found 2,000 categories and 1 word, which need 8,000,002,000 numbers" in said(
        rows(*many)
    )


def test_files_that_are_not_there_or_have_no_known_ending(tmp_path):
    with pytest.raises(MissingFileError, match="cannot be read: No such file"):
        read_grammar(tmp_path / "g.tsv")
    with pytest.raises(GrammarError, match=r"does not end in \.tsv"):
        read_grammar(tmp_path / "g.txt")
    (tmp_path / "g.txt").write_text(TABLE)
    assert read_grammar(tmp_path / "g.txt", "tsv").names == ("S", "NP", "VP")
    with pytest.raises(GrammarError, match="one of tsv, nltk, not 'xml'"):
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


# --- what cannot be written -----------------------------------------------------------------------


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\rb", "a\0b", "x" * 30_000])
def test_words_that_no_cell_can_hold(word):
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary((word,)))
    with pytest.raises(GrammarError, match=r"cannot be written in a table: .*; save the model as"):
        to_text(grammar)


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path):
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary(("\t",)))
    with pytest.raises(GrammarError):
        write_grammar(grammar, tmp_path / "g.tsv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("word", "name"), [("", "S"), ("\ud800", "S"), ("a", "a b")])
def test_what_cannot_be_written_at_all(word, name):
    grammar = Grammar(np.ones(1), np.zeros((1, 1, 1)), np.ones((1, 1)), Vocabulary((word,)))
    for format in ("tsv", "nltk"):
        with pytest.raises(GrammarError, match=r"cannot be written|without white space"):
            to_text(grammar.named([name]), format)


# --- NLTK ---------------------------------------------------------------------------------------

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
        ("\n\nS NP VP [1.0]", "g:3", "put spaces around the arrow"),
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
        (
            "S -> A B A [1.0]\nA -> 'a' [1.0]\nB -> 'b' [1.0]",
            "g:1",
            "found 'S' → 'A' 'B' 'A', a rule with 3 children, expected two categories or one word; "
            "make it binary, as by 'S' → 'A' 'B+A' of the same probability and a rule for 'B+A' of "
            "probability 1",
        ),
        ("x" * 10_000_000, "g:1", "expected a rule such as"),
    ],
)
def test_errors_in_a_grammar_of_nltk(text, place, reason):
    with pytest.raises(GrammarError) as caught:
        from_text(text, "nltk", "g")
    assert str(caught.value).startswith(f"{place}: found ")
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 600
