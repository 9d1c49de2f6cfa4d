"""``dbpcfg surprisal`` with tables, averages and chosen columns."""

from __future__ import annotations

import csv
import io
import math
import random
from pathlib import Path

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.directory import finished_run
from dbpcfg.model.measures import WordMeasures
from dbpcfg.model.model import Model
from tests.cli.small import GOLD
from tests.strategies import random_grammar

WORDS = ("the", "dog", "cat", "barked", ",", ".")
STIMULI = '''\
item,condition,sentence
1,a,"The dog , barked ."
1,"b ""x""",the cat barked
02,a,'s zebra #1
'''
WORD_TABLE = [
    *(("1", "1", "The"), ("1", "2", "dog,"), ("1", "3", "barked.")),
    *(("1", "4", "the"), ("1", "5", "cat."), ("2", "1", "zebra"), ("2", "2", "dog.")),
]
CHAIN_MEASURES = ("surprisal", "next_word_entropy", "depth", "fork", "end_probability")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    drawn = random_grammar(3, len(WORDS), 0.8, 4)
    grammar = Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(WORDS))
    Model(grammar, 2, unknown=np.full(3, 0.01)).save(tmp_path / "model.npz")
    (tmp_path / "stimuli.csv").write_text(STIMULI)
    lines = ["\t".join(row) for row in [("story", "zone", "word"), *WORD_TABLE]]
    (tmp_path / "words.tsv").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def rows_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def test_a_table_of_sentences(call, files):
    path = files / "stimuli.csv"
    out, err = call("surprisal", files / "model.npz", path, "--text", "sentence", "--threads", 1)
    rows = rows_of(out)
    sentences = [row["sentence"] for row in rows_of(STIMULI)]
    (files / "plain.txt").write_text("".join(f"{s}\n" for s in sentences))
    plain, _ = call("surprisal", files / "model.npz", files / "plain.txt", "--threads", 1, "-q")
    expected = rows_of(plain, "\t")
    assert len(rows) == len(expected)
    for ours, theirs in zip(rows, expected, strict=True):
        shared = [name for name in theirs if name in ours and name != "sentence"]
        assert shared == ["token", *WordMeasures._fields[4:]]
        assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}
        assert ours["sentence"] == sentences[int(theirs["sentence"]) - 1]
    assert [row["item"] for row in rows[-4:]] == ["02"] * 4
    assert rows[6]["condition"] == 'b "x"'
    assert "11 words; 3 unknown" in err
    kept, _ = call(
        *("surprisal", files / "model.npz", path, "--text", "sentence"),
        *("--keep", "condition, item", "--columns", "word,surprisal", "--no-end", "-q"),
    )
    assert kept.splitlines()[0] == "condition,item,word,surprisal"
    assert len(rows_of(kept)) == 11


def test_a_table_of_words_in_any_order(call, files):
    options = ("--word", "word", "--by", "story,zone", "--tokens", "punctuation", "-q")
    out, _ = call("surprisal", files / "model.npz", files / "words.tsv", *options)
    rows = rows_of(out, "\t")
    assert [(r["story"], r["zone"], r["word"]) for r in rows] == WORD_TABLE
    # Stories are divided at punctuation, and punctuation is a token.
    model = dbpcfg.load(files / "model.npz")
    plain = [
        *(row.surprisal for row in model.surprisal(["The dog , barked ."], end=False)),
        *(row.surprisal for row in model.surprisal(["the cat ."], end=False)),
        *(row.surprisal for row in model.surprisal(["zebra dog ."], end=False)),
    ]
    sums = [plain[0], sum(plain[1:3]), sum(plain[3:5]), plain[5], sum(plain[6:8])]
    sums += [plain[8], sum(plain[9:])]
    assert [float(row["surprisal"]) for row in rows] == pytest.approx(sums)
    assert [row["position"] for row in rows] == ["1", "2", "3", "1", "2", "1", "2"]
    shuffled = WORD_TABLE[:]
    random.Random(1).shuffle(shuffled)
    lines = ["\t".join(row) for row in [("story", "zone", "word"), *shuffled]]
    given = "".join(f"{line}\n" for line in lines).encode()
    out, _ = call("surprisal", files / "model.npz", "-", *options, "--table", "tsv", stdin=given)
    other = rows_of(out, "\t")
    assert [(r["story"], r["zone"], r["word"]) for r in other] == shuffled
    key = {(r["story"], r["zone"]): r for r in rows}
    assert other == [key[r["story"], r["zone"]] for r in other]


def test_a_table_without_rows(call, files):
    (files / "none.csv").write_text("item,sentence\n")
    out, _ = call("surprisal", files / "model.npz", files / "none.csv", "--text", "sentence")
    assert out.startswith("item,sentence,token,word,")
    assert out.count("\n") == 1


def test_files_are_written_whole(call, refuse, files):
    table = files / "stimuli.csv"
    arguments = ("surprisal", files / "model.npz", table, "--text", "sentence", "-q")
    out, _ = call(*arguments)
    target = files / "out.csv"
    assert call(*arguments, "--out", target) == ("", "")
    assert target.read_text() == out
    assert "exists; --overwrite replaces it" in refuse(*arguments, "--out", target)
    call(*arguments, "--out", target, "--overwrite")
    (files / "bad.csv").write_text("sentence\nthe dog\n\n\nx\n")
    bad = ("surprisal", files / "model.npz", files / "bad.csv", "--text", "sentence")
    assert "bad.csv:3: found a blank line" in refuse(*bad, "--out", target, "--overwrite")
    assert target.read_text() == out


def test_plain_text_with_chosen_columns(call, files):
    text = files / "plain.txt"
    text.write_text("the dog barked\nthe cat\n")
    out, _ = call(
        *("surprisal", files / "model.npz", text, "--frequency", text),
        *("--columns", "word,surprisal,storage", "--spillover", 1, "--hale", "-q"),
    )
    rows = rows_of(out, "\t")
    assert list(rows[0]) == [
        *("word", "surprisal", "storage_d1", "storage_d2", "log_frequency"),
        *("derivation_entropy", "derivation_entropy_reduction"),
        *("surprisal_1", "storage_d1_1", "storage_d2_1", "log_frequency_1"),
        *("derivation_entropy_1", "derivation_entropy_reduction_1"),
    ]
    assert [row["surprisal_1"] for row in rows] == [
        *("", *(row["surprisal"] for row in rows[:3])),
        *("", *(row["surprisal"] for row in rows[4:6])),
    ]
    assert float(rows[0]["log_frequency"]) == pytest.approx(math.log10(1e6 * 3 / 9))


def test_averages_over_the_chain_and_over_survivors(call, refuse, center_run, tmp_path):
    text = tmp_path / "text.txt"
    lines = [*(" ".join(tree.words()) for tree in GOLD[:3]), "Nobody knows ."]
    text.write_text("".join(f"{line}\n" for line in lines))
    run = finished_run(center_run)
    for average, models in (("chain", [run.model]), ("survivors", run.models)):
        out, err = call("surprisal", center_run, text, "--average", average, "--threads", 1)
        rows = rows_of(out, "\t")
        singles = [
            Model(sample, m.depth, m.preparation, m.unknown).surprisal(str(text))
            for m in models
            for sample in m.samples
        ]
        assert f"standard deviations over {len(singles)} grammars" in err
        assert "store" not in rows[0]
        for n, row in enumerate(rows):
            for name in CHAIN_MEASURES:
                values = np.array([getattr(single[n], name) for single in singles])
                mean, sd = (float(row[k] or "nan") for k in (name, f"{name}_sd"))
                assert mean == pytest.approx(values.mean(), rel=1e-9, abs=1e-11, nan_ok=True)
                assert sd == pytest.approx(values.std(ddof=1), rel=1e-6, abs=1e-9, nan_ok=True)
    assert len(run.models) == 2
    assert len(singles) == sum(len(chain.grammars) for chain in run.chains)
    again = dbpcfg.load(center_run).surprisal(str(text), average=run.models)
    assert float(rows[0]["surprisal"]) == pytest.approx(again[0]["surprisal"])
    shallow, _ = call("surprisal", center_run, text, "--average", "survivors", "-D", 1, "-q")
    assert shallow != out
    said = refuse("surprisal", center_run / "model.npz", text, "--average", "survivors")
    assert "is a file; give the directory" in said
    (tmp_path / "alone.npz").write_bytes((center_run / "model.npz").read_bytes())
    assert "samples.npz" in refuse("surprisal", tmp_path / "alone.npz", text, "--average", "chain")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("stimuli.csv", "stimuli.csv is a table: name its column of sentences with --text"),
        ("stimuli.csv --text text", "no column 'text', which --text names; its columns are 'item'"),
        ("stimuli.csv --text sentence --keep region", "no column 'region', which --keep names"),
        ("stimuli.csv --text sentence --word word", "either --text"),
        ("stimuli.csv --text sentence --by item", "are for tables with --word"),
        ("stimuli.csv --text sentence --columns surprise", "there is no column 'surprise'"),
        ("stimuli.csv --text sentence --columns item,,x", "expected names of columns with commas"),
        ("stimuli.csv --text sentence --columns sentence", "has a column 'sentence', and so have"),
        ("stimuli.csv --text sentence --speaker MOT", "are for corpora, not for tables"),
        ("stimuli.csv words.tsv --text sentence", "a table is one file, got 2"),
        ("nowhere.csv --text sentence", "nowhere.csv cannot be read: No such file"),
        ("model.npz --text sentence", "give --table csv or --table tsv"),
        ("model.npz --text sentence --table csv", "packed with zip"),
        ("words.tsv --word word", "give --by with the columns"),
        ("words.tsv --word word --by story --order word", "'word', the order of the words, must"),
        ("words.tsv --text word --table csv", "is it CSV (--table csv) or TSV (--table tsv)?"),
        ("plain.txt --by item", "are for tables: name the column of sentences with --text"),
        ("plain.txt --average best", "'best' is not one of 'chain', 'survivors'"),
        ("plain.txt --average chain", "samples.npz"),
        ("plain.txt --hale --beam 3", "not from a beam of 3"),
        ("plain.txt --columns log_frequency", "needs a corpus to count in: give --frequency"),
        ("plain.txt --frequency nowhere.txt", "nowhere.txt"),
        ("plain.txt --spillover -1", "greater than or equal to 0"),
    ],
)
def test_mistakes(refuse, files, monkeypatch, options, message):
    monkeypatch.chdir(files)
    (files / "plain.txt").write_text("the dog\n")
    assert message in refuse("surprisal", "model.npz", *options.split())


def test_a_treebank_whose_name_ends_like_that_of_a_table(call, files):
    lines = [
        "\t".join((str(n), word, *"______", "_", "_")) for n, word in enumerate(("the", "dog"), 1)
    ]
    (files / "bank.tsv").write_text("".join(f"{line}\n" for line in lines) + "\n")
    out, _ = call("surprisal", files / "model.npz", files / "bank.tsv", "--out", "-", "-q")
    assert [row["word"] for row in rows_of(out, "\t")] == ["the", "dog", "</s>"]
    call("surprisal", files / "model.npz", files / "bank.tsv", "--out", files / "out.tsv", "-q")
    assert (files / "out.tsv").read_text() == out


def test_clashes_and_their_remedy(call, refuse, files):
    (files / "clash.csv").write_text("word,surprisal,s\nx,1,the dog\n")
    arguments = ("surprisal", files / "model.npz", files / "clash.csv", "--text", "s", "-q")
    assert "has a column 'word', and so have the measures" in refuse(*arguments)
    out, _ = call(*arguments, "--prefix", "m_")
    (first, *_) = rows_of(out)
    assert (first["word"], first["surprisal"], first["m_word"]) == ("x", "1", "the")


def test_cells_come_back_from_both_formats(call, files):
    nasty = ['"', "a,b", "a\tb", "two\nlines", "'s", "#1", " x ", "é"]
    for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([["cell", "s"], *([cell, "the dog"] for cell in nasty)])
        path = files / f"nasty{ending}"
        path.write_text(file.getvalue(), newline="")
        out, _ = call("surprisal", files / "model.npz", path, "--text", "s", "--no-end", "-q")
        rows = rows_of(out, delimiter)
        assert [row["cell"] for row in rows[::2]] == nasty
