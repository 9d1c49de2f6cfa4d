"""Tables in, tables out: measures of a table are those of plain text, word by word."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from dbpcfg.model.measures import END, WordMeasures
from dbpcfg.model.stimuli import TableLayout
from dbpcfg.model.stimulus_frames import MeasuredTable

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.columns import DERIVATION, ColumnChoice, known_columns
from dbpcfg.model.model import Model
from tests.strategies import random_grammar

WORDS = ("the", "dog", "cat", "barked", ",", ".")
SENTENCES = ["The dog , barked .", "the cat barked", "zebra", "dog . cat the dog"]
ROWS = [
    {"item": 1 + n // 2, "condition": "ab"[n % 2], "sentence": text}
    for n, text in enumerate(SENTENCES)
]
MEASURES = WordMeasures._fields[WordMeasures._fields.index("surprisal") :]


def grammar(seed: int) -> Grammar:
    drawn = random_grammar(3, len(WORDS), 0.8, seed)
    return Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(WORDS))


@pytest.fixture(scope="module")
def model() -> Model:
    samples = tuple(grammar(seed) for seed in (4, 5, 6))
    return Model(grammar(4), 2, unknown=np.full(3, 0.01), samples=samples)


def word_rows() -> list[dict[str, object]]:
    """A word with its punctuation in each row: that is a token more."""
    rows = []
    for story, text in enumerate(SENTENCES):
        cells = text.replace(" ,", ",").replace(" .", ".").split()
        rows += [{"story": story, "zone": n, "word": cell} for n, cell in enumerate(cells)]
    return rows


def same(ours, theirs) -> bool:
    return ours == theirs or (ours != ours and theirs != theirs)


def test_a_table_of_sentences_is_plain_text_word_by_word(model):
    plain = model.surprisal(SENTENCES)
    found = model.surprisal(ROWS, text="sentence")
    assert isinstance(found, MeasuredTable)
    assert len(found) == len(plain)
    for row, measured in zip(found, plain, strict=True):
        for name in ("word", "form", "kind", "token", *MEASURES):
            assert same(row[name], getattr(measured, name)), name
        given = ROWS[measured.sentence - 1]
        assert {name: row[name] for name in given} == given
    assert found.columns == (*ROWS[0], "token", "word", "form", "kind", *MEASURES)
    without = model.surprisal(ROWS, text="sentence", end=False, keep=["item"])
    assert [row["word"] for row in without] == [row.word for row in plain if row.word != END]
    assert list(without[0])[:2] == ["item", "token"]


def test_sums_are_the_probability_of_the_sentence(model):
    logs = model.parser().log_probabilities(model.encode([s.split() for s in SENTENCES]))
    bits = -np.array(logs) / math.log(2)
    found = model.surprisal(ROWS, text="sentence")
    for text, expected in zip(SENTENCES, bits, strict=True):
        total = sum(row["surprisal"] for row in found if row["sentence"] == text)
        assert total == pytest.approx(expected, abs=1e-9)
    rows = model.surprisal(word_rows(), word="word", by=["story"], tokens="punctuation")
    for story, expected in enumerate(bits):
        chosen = [row for row in rows if row["story"] == story]
        total = sum(row["surprisal"] for row in chosen) + chosen[-1]["end_surprisal"]
        assert total == pytest.approx(expected, abs=1e-9)
        assert all(math.isnan(row["end_surprisal"]) for row in chosen[:-1])


def test_tokens_of_a_row_are_summed_or_the_last_is_taken(model):
    plain = model.surprisal(SENTENCES[:1], columns=["all"])
    rows = model.surprisal(
        word_rows()[:3], word="word", by=["story"], tokens="punctuation", columns=["all"]
    )
    assert [row["word"] for row in model.surprisal(
        [{"story": 0, "w": r["word"]} for r in word_rows()[:3]], word="w", by=["story"],
        tokens="punctuation", columns=["word"])] == ["The", "dog ,", "barked ."]  # fmt: skip
    assert len(rows) == 3
    pairs = [(0, 1), (1, 3), (3, 5)]
    for row, (first, last) in zip(rows, pairs, strict=True):
        tokens = plain[first:last]
        for name in ("surprisal", "next_word_entropy_reduction", "integration_d1"):
            assert row[name] == pytest.approx(sum(token[name] for token in tokens))
        for name in ("depth", "depth_after", "store", "fork", "join", "storage_d2"):
            assert same(row[name], tokens[-1][name])
    assert [row["position"] for row in rows] == [1, 2, 3]
    assert [row["length"] for row in rows] == [3, 4, 7]
    assert [row["form"] for row in rows] == ["the", "dog ,", "barked ."]
    assert rows[1]["kind"] == "word"


def test_kinds_of_several_tokens(model):
    rows = [{"w": "zebra,"}, {"w": "dog."}]
    found = model.surprisal(rows, word="w", boundary="punctuation", tokens="punctuation")
    assert [row["kind"] for row in found] == ["unknown", "word"]


def test_a_shuffled_table_gives_shuffled_rows(model):
    straight = word_rows()
    shuffled = straight[:]
    random.Random(5).shuffle(shuffled)
    options = {"word": "word", "by": ["story"], "order": "zone", "tokens": "punctuation"}
    one, other = (model.surprisal(rows, **options) for rows in (straight, shuffled))
    assert [(row["story"], row["zone"]) for row in other] == [
        (row["story"], row["zone"]) for row in shuffled
    ]
    expected = {(row["story"], row["zone"]): row for row in one}
    for row in other:
        theirs = expected[row["story"], row["zone"]]
        assert all(same(row[name], theirs[name]) for name in row)


def test_impossible_words_in_a_row():
    strict = Model(grammar(4), 2)
    found = strict.surprisal([{"w": "zebra ,"}, {"w": "dog"}], word="w", boundary="punctuation")
    assert found[0]["surprisal"] == math.inf
    assert math.isnan(found[1]["surprisal"])


def test_averages_are_means_of_single_calls(model):
    singles = [replace(model, grammar=g, samples=()).surprisal(SENTENCES) for g in model.samples]
    found = model.surprisal(SENTENCES, average="chain")
    assert "store" not in found[0]
    for n, row in enumerate(found):
        for name in MEASURES:
            if name == "store":
                continue
            values = np.array([getattr(single[n], name) for single in singles])
            assert row[name] == pytest.approx(values.mean(), rel=1e-12, abs=1e-12, nan_ok=True)
            sd = values.std(ddof=1)
            assert row[f"{name}_sd"] == pytest.approx(sd, rel=1e-9, abs=1e-12, nan_ok=True)
    assert max(row["surprisal_sd"] for row in found) > 0.01


def test_averages_of_rows_sum_tokens_first(model):
    options = {"word": "word", "by": ["story"], "tokens": "punctuation"}
    found = model.surprisal(word_rows(), average="chain", **options)
    singles = [
        replace(model, grammar=g, samples=()).surprisal(word_rows(), **options)
        for g in model.samples
    ]
    for n, row in enumerate(found):
        values = [single[n]["surprisal"] for single in singles]
        assert row["surprisal"] == pytest.approx(np.mean(values))
        assert row["surprisal_sd"] == pytest.approx(np.std(values, ddof=1))


def test_averages_over_several_models_and_of_none(model):
    twice = model.surprisal(SENTENCES, average=[model, model])
    once = model.surprisal(SENTENCES, average="chain")
    assert twice[1]["surprisal"] == pytest.approx(once[1]["surprisal"])
    one = model.surprisal(SENTENCES, average=[replace(model, samples=model.samples[:1])])
    assert math.isnan(one[0]["surprisal_sd"])
    with pytest.raises(DbpcfgError, match="this model has one only: give the directory of a run"):
        replace(model, samples=()).surprisal(SENTENCES, average="chain")
    with pytest.raises(DbpcfgError, match="store is a state of one grammar"):
        model.surprisal(SENTENCES, average="chain", columns=["store"])


def test_lags_are_values_of_words_before_within_the_sentence(model):
    found = model.surprisal(SENTENCES, spillover=2, columns=["word", "surprisal", "depth", "token"])
    assert found.columns == (
        *("word", "surprisal", "depth", "token"),
        *("surprisal_1", "surprisal_2", "depth_1", "depth_2"),
    )
    starts = [n for n, row in enumerate(found) if row["token"] == 1]
    for n, row in enumerate(found):
        start = max(s for s in starts if s <= n)
        for lag in (1, 2):
            expected = found[n - lag]["surprisal"] if n - lag >= start else math.nan
            assert same(row[f"surprisal_{lag}"], expected)
    with pytest.raises(DbpcfgError, match="spillover must be a number of words"):
        model.surprisal(SENTENCES, spillover=-1)


def test_lags_of_means_but_not_of_deviations(model):
    found = model.surprisal(SENTENCES, average="chain", spillover=1, columns=["surprisal"])
    assert found.columns == ("surprisal", "surprisal_sd", "surprisal_1")
    assert found[1]["surprisal_1"] == found[0]["surprisal"]


def test_frequency_and_length(model):
    corpus = ["the the dog", "The ."]
    found = model.surprisal(SENTENCES[:1], frequency=corpus, columns=["word", "length"])
    assert [row["length"] for row in found[:5]] == [3, 3, 1, 6, 1]
    per_million = [1e6 * (c + 1) / (5 + 3) for c in (3, 1, 0, 0, 1)]
    assert [row["log_frequency"] for row in found[:5]] == pytest.approx(np.log10(per_million))
    assert math.isnan(found[-1]["log_frequency"])
    assert math.isnan(found[-1]["length"])
    rows = model.surprisal([{"w": "dog ,"}], word="w", boundary="punctuation", frequency=corpus)
    assert rows[0]["log_frequency"] == pytest.approx(math.log10(1e6 / 8))  # that of the comma
    with pytest.raises(DbpcfgError, match="log_frequency needs a corpus"):
        model.surprisal(SENTENCES, columns=["log_frequency"])


def test_depths_add_up(model):
    for row in model.surprisal(SENTENCES, columns=["all"]):
        if row["kind"] == "end":
            assert math.isnan(row["depth_after"])
            continue
        assert row["storage_d1"] + row["storage_d2"] == pytest.approx(row["depth_after"])
        assert row["storage_d2"] <= row["storage_d1"] + 1e-12
        assert row["integration_d1"] + row["integration_d2"] <= row["join"] + 1e-12
        if row["token"] == 1:
            assert row["depth_after"] == pytest.approx(1 - row["join"])


def test_derivation_entropies_use_up_what_there_was(model):
    found = model.surprisal(SENTENCES, hale=True)
    assert found.columns[-2:] == ("derivation_entropy", "derivation_entropy_reduction")
    first = [row["derivation_entropy"] for row in found if row["token"] == 1]
    assert len(set(first)) == 1
    for row, later in pairwise(found):
        if row["kind"] != "end":
            reduction = row["derivation_entropy"] - later["derivation_entropy"]
            assert row["derivation_entropy_reduction"] == pytest.approx(reduction)
    # A sentence of one word is one of three trees.
    end = next(row for row in found if row["sentence"] == 3 and row["kind"] == "end")
    left = end["derivation_entropy"] - end["derivation_entropy_reduction"]
    assert 0 < left <= math.log2(3)
    with pytest.raises(DbpcfgError, match="not from a beam of 5"):
        model.surprisal(SENTENCES, hale=True, beam=5)


def test_choosing_columns(model):
    def names(*wanted: str, **options) -> list[str]:
        choice = ColumnChoice(wanted or None, **options)
        return [column.name for column in choice.columns(["surprisal", "store"], 2)]

    assert names() == ["surprisal", "store"]
    assert names("storage", "surprisal") == ["storage_d1", "storage_d2", "surprisal"]
    assert names("default", "length", "surprisal") == ["surprisal", "store", "length"]
    assert names("integration_d2") == ["integration_d2"]
    hidden = {*("source", "line", "sentence", "token", "word", "form", "kind"), "log_frequency"}
    assert set(names("all")) == set(known_columns(2)) - hidden - set(DERIVATION)
    assert names("surprisal", hale=True)[1:] == [
        "derivation_entropy",
        "derivation_entropy_reduction",
    ]
    with pytest.raises(DbpcfgError, match="no column 'suprisal'; choose from default, all"):
        names("suprisal")
    with pytest.raises(DbpcfgError, match="no column 'storage_d3'"):
        names("storage_d3")


def test_names_that_clash_need_a_prefix(model):
    rows = [{"surprisal": 3, "s": "the dog"}]
    with pytest.raises(DbpcfgError, match=r"the list has a column 'surprisal', .*--prefix m_"):
        model.surprisal(rows, text="s")
    (first, *_) = model.surprisal(rows, text="s", prefix="m_", spillover=1)
    assert first["surprisal"] == 3
    assert first["m_surprisal"] > 0
    assert "m_surprisal_1" in first
    assert len(model.surprisal(rows, text="s", keep=["s"])) == 3
    assert len(model.surprisal(rows, text="s", columns=["depth"])) == 3


def test_layouts_that_make_no_sense(model):
    with pytest.raises(DbpcfgError, match=r"either --text.* or --word"):
        TableLayout("a", "b")
    with pytest.raises(DbpcfgError, match="are for tables with --word"):
        TableLayout("a", by=["item"])
    with pytest.raises(DbpcfgError, match="a table must be a data frame"):
        model.surprisal(3, text="s")
    with pytest.raises(DbpcfgError, match="a table must be a data frame"):
        model.surprisal(["the dog"], text="s")
    with pytest.raises(DbpcfgError, match="the list of rows is empty"):
        model.surprisal([], text="s")
    with pytest.raises(DbpcfgError, match="row 2: the keys differ from those of row 1 in s, t"):
        model.surprisal([{"s": "the"}, {"t": "dog"}], text="s")
    with pytest.raises(DbpcfgError, match="the list, row 2: the cell of 's' is empty"):
        model.surprisal([{"s": "the"}, {"s": None}], text="s")


def test_a_path_is_a_table_too(model, tmp_path):
    (tmp_path / "t.csv").write_text("n,s\n1,the dog\n")
    found = model.surprisal(tmp_path / "t.csv", text="s")
    assert [row["word"] for row in found] == ["the", "dog", END]
    assert found[0]["n"] == "1"


def test_threads_change_nothing(model):
    rows = ROWS * 20
    one, three = (
        model.surprisal(rows, text="sentence", average="chain", threads=n) for n in (1, 3)
    )
    assert repr(one) == repr(three)


def test_frames_of_pandas(model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=list("wxyz"))
    found = model.surprisal(frame, text="sentence")
    assert isinstance(found, pandas.DataFrame)
    listed = model.surprisal(ROWS, text="sentence")
    assert tuple(found.columns) == listed.columns
    assert found["surprisal"].tolist() == [row["surprisal"] for row in listed]
    assert found.index.tolist() == list(range(len(found)))
    assert found["item"].dtype == frame["item"].dtype
    words = pandas.DataFrame(word_rows()).sample(frac=1, random_state=1)
    ours = model.surprisal(words, word="word", by=["story"], order="zone")
    assert ours.index.tolist() == words.index.tolist()
    assert ours[["story", "zone", "word"]].equals(words)
    missing = pandas.DataFrame({"s": ["the", None]})
    with pytest.raises(DbpcfgError, match="the data frame, row 2"):
        model.surprisal(missing, text="s")
    assert model.surprisal(frame, text="sentence", keep=["item"]).columns[1] == "token"
    assert listed.to_frame()["depth"].tolist() == found["depth"].tolist()


def test_frames_of_polars(model):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    found = model.surprisal(frame, text="sentence")
    assert isinstance(found, polars.DataFrame)
    listed = model.surprisal(ROWS, text="sentence")
    assert tuple(found.columns) == listed.columns
    assert found["surprisal"].to_list() == [row["surprisal"] for row in listed]
    words = polars.DataFrame(word_rows())
    ours = model.surprisal(words, word="word", by=["story"], keep=["zone", "word"])
    assert ours.columns[:2] == ["zone", "word"]
    assert ours["word"].to_list() == words["word"].to_list()


class Frame:
    """A data frame as far as a table needs one, for where pandas is not installed."""

    def __init__(self, columns: dict[str, list]) -> None:
        self.data, self.iloc = columns, self
        self.columns = list(columns)

    def __len__(self) -> int:
        return len(next(iter(self.data.values())))

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.data[key]
        if key and isinstance(key[0], int):
            return Frame({name: [cells[n] for n in key] for name, cells in self.data.items()})
        return Frame({name: self.data[name] for name in key})

    def copy(self) -> Frame:
        return self

    def reset_index(self, drop: bool) -> Frame:
        return self

    def assign(self, **columns: list) -> Frame:
        return Frame(self.data | columns)


def test_frames_are_known_by_what_they_can_do(model):
    frame = Frame({name: [row[name] for row in ROWS] for name in ROWS[0]})
    found = model.surprisal(frame, text="sentence", keep=["item"])
    listed = model.surprisal(ROWS, text="sentence", keep=["item"])
    assert isinstance(found, Frame)
    assert tuple(found.columns) == listed.columns
    assert found["surprisal"] == [row["surprisal"] for row in listed]
