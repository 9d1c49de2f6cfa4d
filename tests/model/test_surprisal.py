"""Measures of every word: what they say, of text and of tables, under one grammar and several."""

import csv
import io
import math
import pickle
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import END
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.tables import cell, line
from dbpcfg.model.columns import COLUMNS, DEFAULT, MEASURES, OF_SENTENCES, PLACES, choose
from dbpcfg.model.model import Model
from dbpcfg.model.surprisal import MeasuredWords, Row
from tests.strategies import random_grammar

SENTENCES = [
    Sentence(("The", "dog", "barked", "."), source="a.txt", line=1),
    Sentence(("walked",), source="a.txt", line=3),
    Sentence(("the", "zebra", "1987", "'s", "."), source="b.txt", line=7),
]
TEXTS = ["The dog , barked .", "the cat barked", "zebra", "dog . cat the dog"]
ROWS = [{"item": 1 + n // 2, "condition": "ab"[n % 2], "s": text} for n, text in enumerate(TEXTS)]
NUMBERS = [name for name in MEASURES if name not in ("form", "kind")]


def over(*words: str, K: int = 3, seed: int = 4) -> Grammar:
    drawn = random_grammar(K, len(words), 0.8, seed)
    return Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(words))


@pytest.fixture(scope="module")
def preprocessed() -> Model:
    """A model with classes of words."""
    words = ("the", "dog", "barked", "<number>", "<*ed>", ".")
    return Model(over(*words), 2, Preprocessing(numbers=True, rare=1), unknown=np.full(3, 0.01))


@pytest.fixture(scope="module")
def model() -> Model:
    """A model with samples."""
    words = ("the", "dog", "cat", "barked", ",", ".")
    samples = tuple(over(*words, seed=seed) for seed in (4, 5, 6))
    return Model(samples[0], 2, unknown=np.full(3, 0.01), samples=samples)


def word_rows() -> list[dict[str, object]]:
    """A word with its punctuation in each row: that is a token more."""
    rows = []
    for story, text in enumerate(TEXTS):
        cells = text.replace(" ,", ",").replace(" .", ".").split()
        rows += [{"story": story, "zone": n, "word": cell} for n, cell in enumerate(cells)]
    return rows


def by_sentence(rows: list[Row]) -> list[list[Row]]:
    numbers = dict.fromkeys(row.sentence for row in rows)
    return [[row for row in rows if row.sentence == number] for number in numbers]


def same(ours, theirs) -> bool:
    return ours == theirs or (ours != ours and theirs != theirs)


def bits(model: Model, texts: list[list[str]], depth: int = 2) -> np.ndarray:
    """−log₂ P of sentences, by the chart."""
    logs = replace(model, depth=depth).parser().log_probabilities(model.encode(texts))
    return -logs / math.log(2)


# --- what the measures say ------------------------------------------------------------------------


def test_words_as_written_forms_and_where_they_stand(preprocessed):
    rows = preprocessed.surprisal(SENTENCES)
    assert rows.columns == DEFAULT
    assert [(row.word, row.form, row.kind) for row in rows] == [
        *(("The", "the", "word"), ("dog", "dog", "word"), ("barked", "barked", "word")),
        *((".", ".", "word"), (END, END, "end")),
        *(("walked", "<*ed>", "class"), (END, END, "end")),
        *(("the", "the", "word"), ("zebra", "<unknown>", "unknown")),
        *(("1987", "<number>", "class"), ("'s", "<unknown>", "unknown")),
        *((".", ".", "word"), (END, END, "end")),
    ]
    places = [(row.source, row.line, row.sentence, row.token) for row in rows]
    assert places[4:7] == [("a.txt", 1, 1, 5), ("a.txt", 3, 2, 1), ("a.txt", 3, 2, 2)]
    assert places[-1] == ("b.txt", 7, 3, 6)


@pytest.mark.parametrize("depth", [None, 1, 3])
def test_surprisals_sum_to_the_sentence_in_bits(preprocessed, depth):
    rows = by_sentence(preprocessed.surprisal(SENTENCES, depth=depth))
    expected = bits(preprocessed, [s.words for s in SENTENCES], depth or 2)
    for sentence, total in zip(rows, expected, strict=True):
        assert sum(row.surprisal for row in sentence) == pytest.approx(total, rel=1e-9)
        written = sum(float(cell(row.surprisal)) for row in sentence)
        assert written == pytest.approx(total, rel=1e-9)


def test_reductions_use_up_the_entropy(preprocessed):
    """What is uncertain at first is certain after the end: H of the first word, all used up."""
    for rows in by_sentence(preprocessed.surprisal(SENTENCES)):
        reductions = [row.next_word_entropy_reduction for row in rows]
        assert sum(reductions) == pytest.approx(rows[0].next_word_entropy)
        assert reductions[-1] == rows[-1].next_word_entropy
        for row, later in pairwise(rows):
            difference = row.next_word_entropy - later.next_word_entropy
            assert row.next_word_entropy_reduction == pytest.approx(difference)
    assert min(reductions) < 0  # it is a signed difference


def test_entropy_by_hand():
    """One category: the first word is one of two, then as many sentences end as go on."""
    grammar = Grammar([1.0], [[[0.2]]], [[0.6, 0.2]], Vocabulary(("a", "b")))
    first, second, _ = Model(grammar, 1).surprisal([["a", "b"]])
    assert first.surprisal == pytest.approx(-math.log2(0.75))
    assert first.next_word_entropy == pytest.approx(0.811278124459)
    assert first.end_probability == 0.0
    end = second.end_probability
    possible = [end, 0.75 * (1 - end), 0.25 * (1 - end)]
    assert second.next_word_entropy == pytest.approx(-sum(p * math.log2(p) for p in possible))
    assert second.depth == pytest.approx(1 - end)
    assert second.surprisal == pytest.approx(-math.log2(possible[2]))


def test_before_the_first_word_and_at_the_end(preprocessed):
    rows = preprocessed.surprisal(SENTENCES, columns=["default", "stores"])
    for first, *_, last in by_sentence(rows):
        assert (first.depth, first.store, first.store_probability) == (0.0, "-", 1.0)
        assert first.store_entropy == 0.0
        assert first.fork == pytest.approx(1.0, abs=1e-12)
        assert math.isnan(last.fork)
        assert math.isnan(last.join)
        assert last.surprisal == pytest.approx(-math.log2(last.end_probability))


def test_stores_have_the_grammars_names():
    """S → NP VP, VP → V NP, NP → D N; and then with noun phrases before nouns."""
    binary, lexical = np.zeros((6, 6, 6)), np.zeros((6, 4))
    binary[0, 1, 2] = binary[1, 3, 4] = binary[2, 5, 1] = 1.0
    lexical[3, 0] = lexical[4, 1] = lexical[5, 2] = 1.0
    words = Vocabulary(("the", "dog", "saw", "it"))
    grammar = Grammar(np.eye(6)[0], binary, lexical, words).named(["S", "NP", "VP", "D", "N", "V"])
    columns = ["default", "stores"]
    rows = Model(grammar, 2).surprisal(["the dog saw the dog"], columns=columns)
    assert [row.store for row in rows] == ["-", "NP/N", "S/VP", "S/NP", "S/N", "-"]
    assert [(row.fork, row.join) for row in rows[:-1]] == [(1, 0), (0, 0), (1, 1), (1, 1), (0, 1)]
    assert all(row.store_probability == 1.0 and row.surprisal == 0.0 for row in rows)
    binary[4] = 0.0
    binary[4, 1, 4], lexical[4, 1] = 0.1, 0.9  # a noun may have a noun phrase before it
    nested = Grammar(np.eye(6)[0], binary, lexical, words).named(grammar.names)
    rows = Model(nested, 2).surprisal(["the dog saw the the dog dog"], columns=["store"])
    assert [row.store for row in rows][4:] == ["S/N", "S/N NP/N", "S/N", "-"]


def test_a_word_that_nothing_can_stand_for():
    """The model has no unknown words: Inf where it happens, and nothing is known afterwards."""
    strict = Model(over("the", "dog"), 2)
    columns = ["default", "stores"]
    given = [["the", "cat", "dog"], ["dog"]]
    rows, after = by_sentence(strict.surprisal(given, columns=columns))
    assert rows[1].surprisal == math.inf
    assert (rows[1].form, rows[1].kind) == ("cat", "unknown")
    assert math.isfinite(rows[1].next_word_entropy + rows[1].depth)
    assert rows[1].store
    assert math.isnan(rows[1].fork)
    assert math.isnan(rows[1].next_word_entropy_reduction)
    assert len(rows) == 4
    for row in rows[2:]:
        assert row.store == ""
        assert all(math.isnan(value) for value in row.values() if isinstance(value, float))
    assert all(math.isfinite(row.surprisal) for row in after)
    table = [{"w": "cat ,"}, {"w": "dog"}]
    found = strict.surprisal(table, word="w", boundary="punctuation", quiet=True)
    assert found[0].surprisal == math.inf
    assert math.isnan(found[1].surprisal)


def test_a_sentence_that_cannot_end():
    binary, lexical = np.zeros((2, 2, 2)), np.array([[0.0, 0.0], [0.5, 0.5]])
    binary[0, 1, 1] = 1.0
    grammar = Grammar(np.array([1.0, 0.0]), binary, lexical, Vocabulary(("a", "b")))
    rows = Model(grammar, 1).surprisal([["a"]])
    assert [row.surprisal for row in rows] == [pytest.approx(1.0), math.inf]
    assert math.isnan(rows[-1].next_word_entropy_reduction)


def test_kinds_of_input_and_threads_change_nothing(preprocessed):
    words = [list(s.words) for s in SENTENCES]
    texts = [" ".join(one) for one in words]
    plain = repr(preprocessed.surprisal(texts))
    for kind in (words, iter(words), tuple(texts)):
        assert repr(preprocessed.surprisal(kind)) == plain
    read = preprocessed.surprisal(SENTENCES)
    assert repr([row | {"source": "<text>", "line": 0} for row in read]) == plain
    many = [repr(preprocessed.surprisal(SENTENCES * 30, threads=threads)) for threads in (1, 3)]
    assert many[0] == many[1]
    without = preprocessed.surprisal(SENTENCES, end=False)
    assert repr(without) == repr([row for row in read if row.kind != "end"])


def test_without_a_bound_all_but_memory_is_measured(preprocessed):
    unbounded = replace(preprocessed, depth=None)
    rows = unbounded.surprisal(SENTENCES)
    assert rows.columns == tuple(name for name in DEFAULT if name != "depth")
    logs = unbounded.parser().log_probabilities(preprocessed.encode([s.words for s in SENTENCES]))
    for sentence, log in zip(by_sentence(rows), logs, strict=True):
        assert sum(row.surprisal for row in sentence) == pytest.approx(-log / math.log(2))
    assert "integration" not in str(unbounded.surprisal(["the"], columns=["all"]).columns)


def test_what_is_expensive_runs_only_for_a_column_that_needs_it(preprocessed, monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("not asked for")

    monkeypatch.setattr("dbpcfg.model.surprisal.WordByWord", refuse)
    monkeypatch.setattr("dbpcfg.parsing.prefixes.next_word_entropies", refuse)
    assert preprocessed.surprisal(SENTENCES, columns=["surprisal", "depth", "integration", "join"])
    for columns in (["next_word_entropy"], ["store"], ["derivation_entropy"]):
        with pytest.raises(AssertionError, match="not asked for"):
            preprocessed.surprisal(SENTENCES, columns=columns)


def test_what_cannot_be_measured(preprocessed):
    unbounded = replace(preprocessed, depth=None)
    for columns in (["depth"], ["storage"], ["stores"], ["derivation_entropy"]):
        with pytest.raises(DbpcfgError, match=r"--depth 2 \(in Python, depth=2\)"):
            unbounded.surprisal(["the"], columns=columns)
    assert repr(unbounded.surprisal(["the"], depth=2)) == repr(preprocessed.surprisal(["the"]))
    with pytest.raises(DbpcfgError, match="a sentence of 1,001 words, which is more than 1,000"):
        preprocessed.surprisal([["the"] * 1001])
    with pytest.raises(DbpcfgError, match="without words"):
        preprocessed.surprisal([["the"], []])
    assert preprocessed.surprisal([]) == []


# --- rows and what other programs read ------------------------------------------------------------

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


def test_rows_are_dicts_with_attributes(preprocessed):
    rows = preprocessed.surprisal(["the dog"])
    assert rows[0].word == rows[0]["word"] == "the"
    with pytest.raises(AttributeError, match="no column 'wrod'"):
        _ = rows[0].wrod
    assert repr(pickle.loads(pickle.dumps(rows))) == repr(rows)


def test_any_word_survives_the_table(preprocessed):
    pandas = pytest.importorskip("pandas")
    rows = preprocessed.surprisal([NASTY], quiet=True)
    text = "".join(map(line, [rows.columns, *(row.values() for row in rows)]))
    read = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t", strict=True))
    assert [row["word"] for row in read] == [*NASTY, END]
    for ours, theirs in zip(read, rows, strict=True):
        assert None not in ours  # no row has more cells than the header
        for name, value in theirs.items():
            if isinstance(value, float):
                assert float(ours[name] or "nan") == pytest.approx(value, rel=1e-11, nan_ok=True)
            else:
                assert ours[name] == str(value)
    simple = pandas.read_csv(io.StringIO(text), sep="\t")
    assert simple.surprisal.sum() == pytest.approx(sum(row.surprisal for row in rows))
    assert simple.fork.isna().tolist() == [False] * len(NASTY) + [True]
    careful = pandas.read_csv(io.StringIO(text), sep="\t", keep_default_na=False, na_values=[""])
    assert careful.word.tolist() == [*NASTY, END]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1))
def test_cells_come_back(words):
    (read,) = csv.reader(io.StringIO(line(words), newline=""), delimiter="\t")
    assert read == words
    assert line(words).count("\n") == 1


def test_numbers_as_other_programs_write_them():
    given = (math.nan, math.inf, -math.inf, -0.0, 1e-7, 0.1 + 0.2, 3)
    assert [cell(x) for x in given] == ["", "Inf", "-Inf", "0", "1e-07", "0.3", "3"]


# --- tables ---------------------------------------------------------------------------------------


def test_a_table_of_sentences_is_plain_text_word_by_word(model):
    plain = model.surprisal(TEXTS)
    found = model.surprisal(ROWS, text="s")
    assert isinstance(found, MeasuredWords)
    assert found.columns == (*ROWS[0], *OF_SENTENCES)
    for row, measured in zip(found, plain, strict=True):
        assert all(same(row[name], measured[name]) for name in OF_SENTENCES)
        given = ROWS[measured.sentence - 1]
        assert {name: row[name] for name in given} == given
    without = model.surprisal(ROWS, text="s", end=False, keep=["item"])
    assert [row.word for row in without] == [row.word for row in plain if row.word != END]
    assert without.columns[:2] == ("item", "token")


def test_a_table_of_words_sums_to_the_sentences(model):
    rows = model.surprisal(word_rows(), word="word", by=["story"], tokens="punctuation")
    for story, expected in enumerate(bits(model, [text.split() for text in TEXTS])):
        chosen = [row for row in rows if row.story == story]
        total = sum(row.surprisal for row in chosen) + chosen[-1].end_surprisal
        assert total == pytest.approx(expected, abs=1e-9)
        assert all(math.isnan(row.end_surprisal) for row in chosen[:-1])


def test_tokens_of_a_row_are_summed_or_the_last_is_taken(model):
    plain = model.surprisal(TEXTS[:1], columns=["all"])
    given = [{"story": 0, "w": row["word"]} for row in word_rows()[:3]]
    options = {"by": ["story"], "tokens": "punctuation", "columns": ["word", "all"]}
    rows = model.surprisal(given, word="w", **options)
    for row, (first, last) in zip(rows, [(0, 1), (1, 3), (3, 5)], strict=True):
        tokens = plain[first:last]
        for name in ("surprisal", "next_word_entropy_reduction", "integration_d1"):
            assert row[name] == pytest.approx(sum(token[name] for token in tokens))
        for name in ("depth", "depth_after", "fork", "join", "storage_d2"):
            assert same(row[name], tokens[-1][name])
    assert [row.word for row in rows] == ["The", "dog ,", "barked ."]
    assert [(row.form, row.kind) for row in rows[:2]] == [("the", "word"), ("dog ,", "word")]
    assert [(row.position, row.length) for row in rows] == [(1, 3), (2, 4), (3, 7)]
    rows = [{"w": "zebra,"}, {"w": "dog."}]
    found = model.surprisal(rows, word="w", boundary="punctuation", tokens="punctuation")
    assert [row.kind for row in found] == ["unknown", "word"]


def test_a_shuffled_table_gives_shuffled_rows(model):
    shuffled = word_rows()
    random.Random(5).shuffle(shuffled)
    options = {"word": "word", "by": ["story"], "order": "zone", "tokens": "punctuation"}
    one, other = (model.surprisal(rows, **options) for rows in (word_rows(), shuffled))
    expected = {(row.story, row.zone): repr(row) for row in one}
    assert list(map(repr, other)) == [expected[row["story"], row["zone"]] for row in shuffled]


def test_names_that_a_table_has_already(model):
    """Its columns stay as they are, and the measures of these names get others."""
    reading = [{"position": n, "item": 1, "word": w} for n, w in enumerate(["the", "dog"], 7)]
    options = {"word": "word", "by": ["item"], "order": "position"}
    found = model.surprisal(reading, average="chain", **options)
    assert [(row.position, row.dbpcfg_position) for row in found] == [(7, 1), (8, 2)]
    assert found.columns[:5] == ("position", "item", "word", "dbpcfg_position", "form")
    rows = [{"surprisal": 3, "surprisal_1": 4, "s": "the dog"}]
    first, second, _ = model.surprisal(rows, text="s", spillover=1)
    assert (first.surprisal, second.surprisal_1) == (3, 4)
    assert second.dbpcfg_surprisal_1 == first.dbpcfg_surprisal > 0
    (first, *_) = model.surprisal(rows, text="s", prefix="m_", spillover=1)
    assert {"surprisal", "m_surprisal", "m_surprisal_1"} < set(first)
    (first, *_) = model.surprisal(rows, text="s", keep=["s"])
    assert first.surprisal > 0
    again = model.surprisal(
        rows, text="s", keep=["surprisal", "s"], columns=["surprisal"], end=False
    )
    with pytest.raises(DbpcfgError, match=r"'surprisal' and 'dbpcfg_surprisal': .*--prefix m_"):
        model.surprisal(again, text="s")


def test_layouts_that_make_no_sense(model):
    for table, options, said in (
        (ROWS, {"text": "s", "word": "s"}, r"either --text.* or --word"),
        (ROWS, {"text": "s", "by": ["item"]}, "are for tables with --word"),
        (TEXTS, {"by": ["item"]}, "are for tables: name the column"),
        (3, {"text": "s"}, "a table must be a data frame"),
        (["the dog"], {"text": "s"}, "a table must be a data frame"),
        ([], {"text": "s"}, "the list of rows is empty"),
        ([{"s": "the"}, {"t": "dog"}], {"text": "s"}, "row 2: the keys differ .* in s, t"),
        ([{"s": "the"}, {"s": None}], {"text": "s"}, "the list, row 2: the cell of 's' is empty"),
        (TEXTS, {"spillover": -1}, "spillover must be a number of words"),
    ):
        with pytest.raises(DbpcfgError, match=said):
            model.surprisal(table, **options)


def test_a_path_is_a_table_too(model, tmp_path):
    (tmp_path / "t.csv").write_text("n,s\n1,the dog\n")
    found = model.surprisal(tmp_path / "t.csv", text="s")
    assert [(row.n, row.word) for row in found] == [("1", "the"), ("1", "dog"), ("1", END)]


def test_frames_of_pandas(model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=list("wxyz"))
    found = model.surprisal(frame, text="s")
    assert isinstance(found, pandas.DataFrame)
    listed = model.surprisal(ROWS, text="s")
    pandas.testing.assert_frame_equal(found, listed.to_frame())
    words = pandas.DataFrame(word_rows()).sample(frac=1, random_state=1)
    ours = model.surprisal(words, word="word", by=["story"], order="zone", quiet=True)
    assert ours.index.tolist() == words.index.tolist()
    assert ours[["story", "zone", "word"]].equals(words)
    with pytest.raises(DbpcfgError, match="the data frame, row 2"):
        model.surprisal(pandas.DataFrame({"s": ["the", None]}), text="s")
    assert model.surprisal(frame, text="s", keep=["item"]).columns[1] == "token"
    none = model.surprisal(frame[:0], text="s")
    assert (len(none), tuple(none.columns)) == (0, listed.columns)


def test_frames_of_polars(model):
    polars = pytest.importorskip("polars")
    found = model.surprisal(polars.DataFrame(ROWS), text="s")
    assert isinstance(found, polars.DataFrame)
    listed = model.surprisal(ROWS, text="s")
    assert tuple(found.columns) == listed.columns
    assert found["surprisal"].to_list() == [row.surprisal for row in listed]
    words = polars.DataFrame(word_rows())
    ours = model.surprisal(words, word="word", by=["story"], keep=["zone", "word"])
    assert ours.columns[:2] == ["zone", "word"]
    assert ours["word"].to_list() == words["word"].to_list()


# --- averages and columns -------------------------------------------------------------------------


@pytest.mark.parametrize("tables", [False, True])
def test_averages_are_means_of_single_calls(model, tables):
    """Tokens of a row are summed before."""
    options = {"word": "word", "by": ["story"], "tokens": "punctuation"} if tables else {}
    given = word_rows() if tables else TEXTS
    singles = [
        replace(model, grammar=g, samples=()).surprisal(given, **options) for g in model.samples
    ]
    found = model.surprisal(given, average="chain", **options)
    assert "store" not in found[0]
    for n, row in enumerate(found):
        for name in NUMBERS:
            values = np.array([single[n][name] for single in singles])
            assert row[name] == pytest.approx(values.mean(), rel=1e-12, abs=1e-12, nan_ok=True)
            sd = values.std(ddof=1)
            assert row[f"{name}_sd"] == pytest.approx(sd, rel=1e-9, abs=1e-12, nan_ok=True)
    assert max(row.surprisal_sd for row in found) > 0.01
    again = model.surprisal(given, average="chain", threads=3, **options)
    assert repr(again) == repr(found)


def test_averages_over_several_models_and_of_none(model):
    twice = model.surprisal(TEXTS, average=[model, model])
    once = model.surprisal(TEXTS, average="chain")
    assert twice[1].surprisal == pytest.approx(once[1].surprisal)
    one = model.surprisal(TEXTS, average=[replace(model, samples=model.samples[:1])])
    assert math.isnan(one[0].surprisal_sd)
    with pytest.raises(DbpcfgError, match="this model has only one: give the directory of a run"):
        replace(model, samples=()).surprisal(TEXTS, average="chain")
    with pytest.raises(DbpcfgError, match="store has no average"):
        model.surprisal(TEXTS, average="chain", columns=["store"])


def test_lags_are_values_of_words_before_within_the_sentence(model):
    found = model.surprisal(TEXTS, spillover=2, columns=["word", "surprisal", "depth", "token"])
    assert found.columns == (
        *("word", "surprisal", "depth", "token"),
        *("surprisal_1", "surprisal_2", "depth_1", "depth_2"),
    )
    for n, row in enumerate(found):
        for lag in (1, 2):
            expected = found[n - lag].surprisal if lag < row.token else math.nan
            assert same(row[f"surprisal_{lag}"], expected)
    found = model.surprisal(TEXTS, average="chain", spillover=1, columns=["surprisal"])
    assert found.columns == ("surprisal", "surprisal_sd", "surprisal_1")
    assert found[1].surprisal_1 == found[0].surprisal


def test_frequency_and_length(model):
    corpus = ["the the dog", "The ."]
    found = model.surprisal(TEXTS[:1], frequency=corpus, columns=["word", "length"])
    assert [row.length for row in found[:5]] == [3, 3, 1, 6, 1]
    per_million = [1e6 * (c + 1) / (5 + 3) for c in (3, 1, 0, 0, 1)]
    assert [row.log_frequency for row in found[:5]] == pytest.approx(np.log10(per_million))
    assert math.isnan(found[-1].log_frequency)
    assert math.isnan(found[-1].length)
    rows = model.surprisal([{"w": "dog ,"}], word="w", boundary="punctuation", frequency=corpus)
    assert rows[0].log_frequency == pytest.approx(math.log10(1e6 / 8))  # that of the comma
    with pytest.raises(DbpcfgError, match="log_frequency needs a corpus"):
        model.surprisal(TEXTS, columns=["log_frequency"])


def test_depths_add_up(model):
    for row in model.surprisal(TEXTS, columns=["all"]):
        if row.kind == "end":
            assert math.isnan(row.depth_after)
            continue
        assert row.storage_d1 + row.storage_d2 == pytest.approx(row.depth_after)
        assert row.storage_d2 <= row.storage_d1 + 1e-12
        assert row.integration_d1 + row.integration_d2 <= row.join + 1e-12
        if row.token == 1:
            assert row.depth_after == pytest.approx(1 - row.join)


def test_derivation_entropies_use_up_what_there_was(model):
    found = model.surprisal(TEXTS, hale=True)
    assert found.columns[-2:] == ("derivation_entropy", "derivation_entropy_reduction")
    assert len({row.derivation_entropy for row in found if row.token == 1}) == 1
    for row, later in pairwise(found):
        if row.kind != "end":
            reduction = row.derivation_entropy - later.derivation_entropy
            assert row.derivation_entropy_reduction == pytest.approx(reduction)
    # A sentence of one word is one of three trees.
    end = next(row for row in found if row.sentence == 3 and row.kind == "end")
    assert 0 < end.derivation_entropy - end.derivation_entropy_reduction <= math.log2(3)


def test_choosing_columns():
    def names(*wanted: str, options: tuple[str, ...] = ()) -> list[str]:
        return list(choose(wanted, ["surprisal", "fork"], 2, options))

    assert names() == ["surprisal", "fork"]
    assert names("storage", "surprisal") == ["storage_d1", "storage_d2", "surprisal"]
    assert names("default", "length", "surprisal") == ["surprisal", "fork", "length"]
    assert names("stores") == ["store", "store_probability", "store_entropy"]
    assert names("integration_d2") == ["integration_d2"]
    added = [name for name in COLUMNS.names() if COLUMNS[name].option]
    everything = names("all", *PLACES, *added)
    assert len(everything) == len(COLUMNS.names()) + 2  # two depths
    assert everything[-11:] == [*PLACES, *added]
    assert names("surprisal", options=("hale",))[1:] == added[3:5]
    for wrong in ("suprisal", "storage_d3"):
        with pytest.raises(DbpcfgError, match=f"no column '{wrong}'; choose from default, all"):
            names(wrong)
