"""Rows for reading experiments: what they say, and that other programs read them."""

from __future__ import annotations

import csv
import io
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preparation import Preparation
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError, GrammarError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.tables import cell, line
from dbpcfg.model.measures import END, WordMeasures, as_table, measure, write_tsv
from dbpcfg.model.model import Model
from dbpcfg.parsing.chart.parser import ChartParser
from tests.strategies import random_grammar

VOCABULARY = ("the", "dog", "barked", "<number>", "<*ed>", ".")
SENTENCES = [
    Sentence(("The", "dog", "barked", "."), source="a.txt", line=1),
    Sentence(("walked",), source="a.txt", line=3),
    Sentence(("the", "zebra", "1987", "'s", "."), source="b.txt", line=7),
]


def over(*words: str, K: int = 3, seed: int = 4) -> Grammar:
    drawn = random_grammar(K, len(words), 0.8, seed)
    return Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(words))


@pytest.fixture(scope="module")
def model() -> Model:
    preparation = Preparation(numbers=True, rare=1)
    return Model(over(*VOCABULARY), 2, preparation, unknown=np.full(3, 0.01))


def test_words_as_written_forms_and_where_they_stand(model):
    rows = [row for sentence in measure(model, SENTENCES) for row in sentence]
    assert [(row.word, row.form, row.kind) for row in rows] == [
        ("The", "the", "word"),
        ("dog", "dog", "word"),
        ("barked", "barked", "word"),
        (".", ".", "word"),
        (END, END, "end"),
        ("walked", "<*ed>", "class"),
        (END, END, "end"),
        ("the", "the", "word"),
        ("zebra", "<unknown>", "unknown"),
        ("1987", "<number>", "class"),
        ("'s", "<unknown>", "unknown"),
        (".", ".", "word"),
        (END, END, "end"),
    ]
    places = [(row.source, row.line, row.sentence, row.token) for row in rows]
    assert places[4:7] == [("a.txt", 1, 1, 5), ("a.txt", 3, 2, 1), ("a.txt", 3, 2, 2)]
    assert places[-1] == ("b.txt", 7, 3, 6)


@pytest.mark.parametrize("depth", [None, 1, 3])
def test_surprisals_sum_to_the_sentence_in_bits(model, depth):
    chart = ChartParser(model.grammar_with_unknown, depth or 2)
    logs = chart.log_probabilities(model.encode([s.words for s in SENTENCES]))
    for rows, log_p in zip(measure(model, SENTENCES, depth=depth), logs, strict=True):
        bits = -log_p / math.log(2)
        assert sum(row.surprisal for row in rows) == pytest.approx(bits, rel=1e-9)
        assert sum(float(cell(row.surprisal)) for row in rows) == pytest.approx(bits, rel=1e-9)


def test_reductions_use_up_the_entropy(model):
    """What is uncertain at first is certain after the end: H of the first word, all used up."""
    for rows in measure(model, SENTENCES):
        reductions = [row.next_word_entropy_reduction for row in rows]
        assert sum(reductions) == pytest.approx(rows[0].next_word_entropy)
        assert rows[-1].next_word_entropy_reduction == rows[-1].next_word_entropy
        for row, later in pairwise(rows):
            assert row.next_word_entropy_reduction == pytest.approx(
                row.next_word_entropy - later.next_word_entropy
            )
    assert any(row.next_word_entropy_reduction < 0 for row in rows)  # it is a signed difference


def test_entropy_by_hand():
    """One category: the first word is one of two, then as many sentences end as go on."""
    grammar = Grammar(
        np.ones(1), np.full((1, 1, 1), 0.2), np.array([[0.6, 0.2]]), Vocabulary(("a", "b"))
    )
    (rows,) = measure(Model(grammar, 1), [["a", "b"]])
    assert rows[0].surprisal == pytest.approx(-math.log2(0.75))
    assert rows[0].next_word_entropy == pytest.approx(0.811278124459)
    assert rows[0].end_probability == 0.0
    end = rows[1].end_probability
    possible = [end, 0.75 * (1 - end), 0.25 * (1 - end)]
    assert rows[1].next_word_entropy == pytest.approx(-sum(p * math.log2(p) for p in possible))
    assert rows[1].depth == pytest.approx(1 - end)
    assert rows[1].surprisal == pytest.approx(-math.log2(possible[2]))


def test_before_the_first_word_and_at_the_end(model):
    for rows in measure(model, SENTENCES):
        first, last = rows[0], rows[-1]
        assert (first.depth, first.store, first.store_probability) == (0.0, "-", 1.0)
        assert first.store_entropy == 0.0
        assert first.fork == pytest.approx(1.0, abs=1e-12)
        assert math.isnan(last.fork)
        assert math.isnan(last.join)
        assert last.surprisal == pytest.approx(-math.log2(last.end_probability))
        assert all(row.lost == 0.0 for row in rows)


def test_stores_have_the_grammars_names():
    """S → NP VP, VP → V NP, NP → D N; and then with noun phrases before nouns."""
    binary, lexical = np.zeros((6, 6, 6)), np.zeros((6, 4))
    binary[0, 1, 2] = binary[1, 3, 4] = 1.0
    binary[2, 5, 1] = 1.0
    lexical[3, 0] = lexical[4, 1] = lexical[5, 2] = 1.0
    words = Vocabulary(("the", "dog", "saw", "it"))
    grammar = Grammar(np.eye(6)[0], binary, lexical, words).named(["S", "NP", "VP", "D", "N", "V"])
    (rows,) = measure(Model(grammar, 2), [["the", "dog", "saw", "the", "dog"]])
    assert [row.store for row in rows] == ["-", "NP/N", "S/VP", "S/NP", "S/N", "-"]
    assert [(row.fork, row.join) for row in rows[:-1]] == [(1, 0), (0, 0), (1, 1), (1, 1), (0, 1)]
    assert all(row.store_probability == 1.0 and row.surprisal == 0.0 for row in rows)
    binary[4] = 0.0
    binary[4, 1, 4], lexical[4, 1] = 0.1, 0.9  # a noun may have a noun phrase before it
    nested = Grammar(np.eye(6)[0], binary, lexical, words).named(grammar.names)
    (rows,) = measure(Model(nested, 2), [["the", "dog", "saw", "the", "the", "dog", "dog"]])
    assert [row.store for row in rows][4:] == ["S/N", "S/N NP/N", "S/N", "-"]


def test_rows_for_ends_can_be_left_out(model):
    with_ends, without = (list(measure(model, SENTENCES, end=end)) for end in (True, False))
    for both, words in zip(with_ends, without, strict=True):
        assert list(map(str, both[:-1])) == list(map(str, words))  # nan is not itself
        assert both[-1].kind == "end"


def test_threads_and_kinds_of_input_change_nothing(model):
    one = [str(rows) for rows in measure(model, SENTENCES * 30)]
    assert [str(rows) for rows in measure(model, SENTENCES * 30, threads=3)] == one
    plain = [list(s.words) for s in SENTENCES]
    for ours, theirs in zip(measure(model, plain), measure(model, SENTENCES), strict=True):
        assert [row[4:] for row in ours[:-1]] == [row[4:] for row in theirs[:-1]]
        assert ours[0].source == "<text>"


def test_a_word_that_nothing_can_stand_for():
    """The model has no unknown words: Inf where it happens, and nothing is known afterwards."""
    strict = Model(over("the", "dog"), 2)
    rows, after = measure(strict, [["the", "cat", "dog"], ["dog"]])
    assert rows[1].surprisal == math.inf
    assert (rows[1].form, rows[1].kind) == ("cat", "unknown")
    assert math.isfinite(rows[1].next_word_entropy)
    assert math.isfinite(rows[1].depth)
    assert rows[1].store
    assert math.isnan(rows[1].fork)
    assert math.isnan(rows[1].next_word_entropy_reduction)
    for row in rows[2:]:
        assert row.store == ""
        assert all(math.isnan(value) for value in row if isinstance(value, float))
    assert len(rows) == 4
    assert all(math.isfinite(row.surprisal) for row in after)


def test_a_sentence_that_cannot_end():
    binary, lexical = np.zeros((2, 2, 2)), np.array([[0.0, 0.0], [0.5, 0.5]])
    binary[0, 1, 1] = 1.0
    grammar = Grammar(np.array([1.0, 0.0]), binary, lexical, Vocabulary(("a", "b")))
    (rows,) = measure(Model(grammar, 1), [["a"]])
    assert [row.surprisal for row in rows] == [pytest.approx(1.0), math.inf]
    assert math.isnan(rows[-1].next_word_entropy_reduction)


def test_a_beam_says_what_it_lost(model):
    rows = [row for rows in measure(model, SENTENCES, depth=3, beam=4) for row in rows]
    assert max(row.lost for row in rows) > 0
    bound = sum(row.surprisal - math.log2(1 - row.lost) for row in rows[:5])
    exact = sum(row.surprisal for row in next(measure(model, SENTENCES, depth=3)))
    assert bound > exact


def test_models_without_a_bound_are_refused_with_the_remedy():
    unbounded = Model(over("a", "b"), None)
    with pytest.raises(GrammarError, match=r"--depth 2 \(in Python, depth=2\)"):
        measure(unbounded, [["a"]])
    assert len(next(measure(unbounded, [["a"]], depth=2))) == 2


def test_what_is_no_sentence(model):
    as_text, as_words = (list(measure(model, [it])) for it in ("the dog", ["the", "dog"]))
    assert repr(as_text) == repr(as_words)  # the end has measures that are not numbers
    with pytest.raises(DbpcfgError, match="without words"):
        list(measure(model, [["the"], []]))
    assert list(measure(model, [])) == []


def table(rows: list[WordMeasures]) -> str:
    file = io.StringIO()
    write_tsv(rows, file)
    return file.getvalue()


NASTY = [
    '"',
    '""',
    "'s",
    "''",
    "n't",
    "#1",
    'a"b',
    "\\",
    '\\"',
    "NA",
    "née",
    "汉字",
    "a\tb",
    "a\nb",
]


def test_any_word_survives_the_table(model):
    (rows,) = measure(model, [NASTY])
    text = table(rows)
    read = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t"))
    assert [row["word"] for row in read] == [*NASTY, END]
    for ours, theirs in zip(read, rows, strict=True):
        assert None not in ours  # no row has more cells than the header
        for name, value in theirs._asdict().items():
            if isinstance(value, float):
                assert float(ours[name] or "nan") == pytest.approx(value, rel=1e-11, nan_ok=True)
            else:
                assert ours[name] == str(value)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1))
def test_cells_come_back(words):
    (read,) = csv.reader(io.StringIO(line(words), newline=""), delimiter="\t")
    assert read == words
    assert line(words).count("\n") == 1


def test_pandas_reads_the_table(model):
    pandas = pytest.importorskip("pandas")
    (rows,) = measure(model, [NASTY])
    simple = pandas.read_csv(io.StringIO(table(rows)), sep="\t")
    assert len(simple) == len(rows)
    assert simple.surprisal.sum() == pytest.approx(sum(row.surprisal for row in rows))
    assert simple.fork.isna().tolist() == [False] * len(NASTY) + [True]
    careful = pandas.read_csv(
        io.StringIO(table(rows)), sep="\t", keep_default_na=False, na_values=[""]
    )
    assert careful.word.tolist() == [*NASTY, END]
    assert pandas.DataFrame(as_table(rows)).shape == (len(rows), len(WordMeasures._fields))


def test_numbers_as_other_programs_write_them():
    assert [cell(x) for x in (math.nan, math.inf, -math.inf, -0.0, 1e-7, 0.1 + 0.2)] == [
        "",
        "Inf",
        "-Inf",
        "0",
        "1e-07",
        "0.3",
    ]
    assert cell(3) == "3"


def test_columns(model):
    rows = [row for rows in measure(model, SENTENCES) for row in rows]
    columns = as_table(rows)
    assert tuple(columns) == WordMeasures._fields
    assert columns["word"][:3] == ["The", "dog", "barked"]
    assert all(len(column) == len(rows) for column in columns.values())
    assert as_table([])["word"] == []
