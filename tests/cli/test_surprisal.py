"""``surprisal`` as a user meets it: text, tables, averages and chosen columns."""

import contextlib
import csv
import io
import random
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.stimuli import END
from dbpcfg.grammar.exchange import write_grammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.directory import finished_run
from dbpcfg.io.tables import line
from dbpcfg.model.columns import DEFAULT, OF_SENTENCES
from dbpcfg.model.model import Model
from tests.cli.small import GOLD
from tests.command import COMMAND
from tests.strategies import random_grammar

WORDS = ("the", "dog", "cat", "'s", '"', "barked", ",", ".")
TEXT = "The dog barked .\n\nthe zebra 's \" barked\n\ndog\n"
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


def tsv(rows) -> str:
    return "".join("\t".join(row) + "\n" for row in [("story", "zone", "word"), *rows])


@pytest.fixture
def model() -> Model:
    drawn = random_grammar(3, len(WORDS), 0.8, 4)
    grammar = Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(WORDS))
    return Model(grammar, 2, unknown=np.full(3, 0.01))


@pytest.fixture
def folder(tmp_path: Path, model: Model) -> Path:
    model.save(tmp_path / "model.npz")
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "stimuli.csv").write_text(STIMULI)
    (tmp_path / "words.tsv").write_text(tsv(WORD_TABLE))
    return tmp_path


@pytest.fixture
def files(folder: Path, monkeypatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def measured(call, files):
    """Rows and notes of the command with the model above."""

    def measure(*arguments: object, delimiter: str = "\t", **options):
        out, err = call("surprisal", "model.npz", *arguments, **options)
        return rows_of(out, delimiter), err

    return measure


def rows_of(text: str, delimiter: str = "\t") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


# --- text -----------------------------------------------------------------------------------------


def test_a_row_for_each_word_and_each_end(call, measured, model):
    out, err = call("surprisal", "model.npz", "text.txt")
    rows = model.surprisal("text.txt")
    assert out == "".join(map(line, [DEFAULT, *(row.values() for row in rows)]))
    assert "10 words; 1 unknown to the model, 0 replaced by classes" in err
    # Blank lines leave no sentence behind, and the lines are those of the file.
    assert [(row.sentence, row.line) for row in rows[4:6]] == [(1, 1), (2, 3)]
    assert call("surprisal", "model.npz", "text.txt", "-q") == (out, "")
    without, _ = measured("text.txt", "--no-end")
    assert [row["word"] for row in without] == TEXT.split()
    for given in ([], ["-"]):
        typed, _ = call("surprisal", "model.npz", "-q", *given, stdin=TEXT.encode())
        assert out == typed.replace("<stdin>", "text.txt")


def test_no_sentences_are_a_table_without_rows(call, files):
    out, err = call("surprisal", "model.npz", stdin=b"\n\n")
    assert out == line(DEFAULT)
    assert "0 words" in err


def test_options_are_those_of_python(call, measured, model):
    shallow, deep = (measured("text.txt", "-D", depth)[0] for depth in (1, 3))
    assert float(shallow[2]["depth"]) <= 1 < max(float(row["depth"]) for row in deep)
    assert measured("text.txt", "--threads", 1) == measured("text.txt", "--threads", 2)
    options = {"columns": ["word", "surprisal", "storage"], "spillover": 1, "hale": True}
    rows = model.surprisal("text.txt", frequency="text.txt", prefix="m_", **options)
    out, _ = call(
        *("surprisal", "model.npz", "text.txt", "--frequency", "text.txt", "--prefix", "m_"),
        *("--columns", "word, surprisal,storage", "--spillover", 1, "--hale", "-q"),
    )
    assert out == "".join(map(line, [rows.columns, *(row.values() for row in rows)]))
    assert rows.columns[:5] == (
        *("m_word", "m_surprisal", "m_storage_d1", "m_storage_d2", "m_log_frequency"),
    )


def test_punctuation_that_is_attached(measured, model, files):
    """Text and tables: it is noted once, and split as asked for."""
    glued = "the dog, barked.\nthe cat barked.\nthe zebra. the cat the dog\n"
    apart = glued.replace(",", " ,").replace(".", " .")
    note = "the model does not know 4 of 12 words because punctuation is attached, such as 'dog,'"
    (files / "text.txt").write_text(glued)
    (files / "cells.tsv").write_text("s\n" + glued)
    text, cells = ("text.txt",), ("cells.tsv", "--text", "s")
    for given in (text, cells):
        rows, said = measured(*given)
        assert said.count(note) == 1
        assert "--tokens punctuation (in Python tokens='punctuation')" in said
        assert [row["kind"] for row in rows][:3] == ["word", "unknown", "unknown"]
        assert not measured(*given, "-q")[1]
        _, said = measured(*given, "--tokens", "punctuation")
        assert "attached" not in said
    rows, said = measured(*text, "--tokens", "punctuation")
    assert [row["word"] for row in rows] == [
        w for s in apart.splitlines() for w in [*s.split(), END]
    ]
    with pytest.warns(UserWarning, match=note) as caught:
        model.surprisal(glued.splitlines())
    assert [one.filename for one in caught] == [__file__]
    sets_apart = replace(model, preprocessing=Preprocessing(tokens="punctuation"))
    rows = sets_apart.surprisal([{"s": one} for one in glued.splitlines()], text="s")
    assert [row.word for row in rows if row.word != END] == apart.split()


def test_a_few_unknown_words_with_punctuation_are_not_noted(measured, files):
    (files / "text.txt").write_text("the dog 's cat\n" * 20 + "the dog, barked zebra\n")
    assert "attached" not in measured("text.txt")[1]


def test_columns_are_explained(call):
    out, _ = call("surprisal", "--help-columns")
    assert "* surprisal " in out
    assert "  store  " in out
    assert "  storage_d1 …  " in out
    assert "uncertainty about the next word, or the end, before the word\n" in out


def test_a_grammar_that_someone_wrote(call, refuse, tmp_path):
    """Nothing is known to it but two sentences; it has no depth of its own."""
    binary, lexical = np.zeros((3, 3, 3)), np.zeros((3, 2))
    binary[0, 1, 2] = lexical[1, 0] = lexical[2, 1] = 1.0
    grammar = Grammar(np.eye(3)[0], binary, lexical, Vocabulary(("dogs", "bark")))
    write_grammar(grammar.named(["S", "NP", "VP"]), tmp_path / "toy.tsv")
    said = refuse("surprisal", tmp_path / "toy.tsv", "--columns", "depth")
    assert "has none: choose one with --depth" in said
    text = b"dogs bark\ndogs sing now\nbark\n"
    options = ("--columns", "default,stores")
    out, err = call("surprisal", tmp_path / "toy.tsv", "-D", "1", *options, stdin=text)
    rows = rows_of(out)
    unbounded, _ = call("surprisal", tmp_path / "toy.tsv", stdin=text)
    assert [row["surprisal"] for row in rows_of(unbounded)] == [row["surprisal"] for row in rows]
    assert [row["surprisal"] for row in rows] == ["0", "0", "0", "0", "Inf", "", "", "Inf", ""]
    assert rows[1]["store"] == "S/VP"
    assert rows[4]["kind"] == "unknown"
    assert rows[4]["fork"] == rows[5]["store"] == ""
    assert "2 sentences have probability zero" in err
    assert "first <stdin>:2, token 2, 'sing'" in err


def test_three_hundred_words(measured):
    words = np.random.default_rng(0).choice(WORDS, 300).tolist()
    rows, _ = measured(stdin=" ".join(words).encode())
    assert [row["word"] for row in rows] == [*words, "</s>"]
    assert all(float(row["surprisal"]) > 0 for row in rows)


def test_stopping_by_hand_leaves_no_file(folder):
    before = {path.name for path in folder.iterdir()}
    command = [*COMMAND, "surprisal", folder / "model.npz", "--out", folder / "out.tsv"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, "--threads", "2"], **pipes) as process:
        endless = threading.Thread(target=feed, args=[process.stdin], daemon=True)
        endless.start()
        while b"sentences measured: " not in process.stderr.readline():  # it is at work
            assert process.poll() is None
        assert {path.name for path in folder.iterdir()} != before
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
        endless.join(600)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert {path.name for path in folder.iterdir()} == before


def feed(pipe):
    """Writes until nobody reads."""
    with contextlib.suppress(BrokenPipeError), pipe:
        while True:
            pipe.write(TEXT.encode() * 100)


MEASURED = """
import sys
import threading
from dbpcfg.cli.app import main
try:
    main()
except SystemExit:
    pass
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc for peak memory")
def test_memory_does_not_grow_with_the_text(folder):
    peaks = []
    for words in (3_000, 30_000):
        (folder / "long.txt").write_text(TEXT * (words // 10))
        command = ["surprisal", folder / "model.npz", folder / "long.txt", "--threads", "2", "-q"]
        command += ["--out", folder / f"{words}.tsv"]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True
        )
        peaks.append(int(done.stdout))
    with (folder / "30000.tsv").open() as file:
        assert sum(1 for _ in file) == 1 + 39_000
    assert peaks[1] < peaks[0] + 4 * 2**10, peaks  # KiB; a row has more than 200 bytes


# --- tables ---------------------------------------------------------------------------------------


def test_a_table_of_sentences(measured, call):
    rows, err = measured("stimuli.csv", "--text", "sentence", "--threads", 1, delimiter=",")
    sentences = [row["sentence"] for row in rows_of(STIMULI, ",")]
    Path("plain.txt").write_text("".join(f"{s}\n" for s in sentences))
    expected, _ = measured("plain.txt", "--threads", 1, "-q")
    for ours, theirs in zip(rows, expected, strict=True):
        assert {name: ours[name] for name in OF_SENTENCES} == {
            name: theirs[name] for name in OF_SENTENCES
        }
        assert ours["sentence"] == sentences[int(theirs["sentence"]) - 1]
    assert [row["item"] for row in rows[-4:]] == ["02"] * 4
    assert rows[6]["condition"] == 'b "x"'
    assert "11 words; 2 unknown" in err
    kept, _ = call(
        *("surprisal", "model.npz", "stimuli.csv", "--text", "sentence", "--no-end", "-q"),
        *("--keep", "condition, item", "--columns", "word,surprisal"),
    )
    assert kept.splitlines()[0] == "condition,item,word,surprisal"
    assert kept.count("\n") == 12


def test_a_table_of_words_in_any_order(measured, model):
    options = ("--word", "word", "--by", "story,zone", "--tokens", "punctuation", "-q")
    rows, _ = measured("words.tsv", *options)
    assert [(r["story"], r["zone"], r["word"]) for r in rows] == WORD_TABLE
    # Stories are divided at punctuation, and punctuation is a token.
    plain = [
        row.surprisal
        for text in ("The dog , barked .", "the cat .", "zebra dog .")
        for row in model.surprisal([text], end=False)
    ]
    sums = [plain[0], sum(plain[1:3]), sum(plain[3:5]), plain[5], sum(plain[6:8])]
    sums += [plain[8], sum(plain[9:])]
    assert [float(row["surprisal"]) for row in rows] == pytest.approx(sums)
    assert [row["position"] for row in rows] == ["1", "2", "3", "1", "2", "1", "2"]
    shuffled = random.Random(1).sample(WORD_TABLE, len(WORD_TABLE))
    other, _ = measured("-", *options, "--table", "tsv", stdin=tsv(shuffled).encode())
    assert [(r["story"], r["zone"], r["word"]) for r in other] == shuffled
    assert sorted(other, key=lambda row: (row["story"], row["zone"])) == rows


def test_a_table_without_rows(call, files):
    Path("none.csv").write_text("item,sentence\n")
    out, _ = call("surprisal", "model.npz", "none.csv", "--text", "sentence")
    assert out.startswith("item,sentence,token,word,")
    assert out.count("\n") == 1


def test_files_are_written_whole(call, refuse, files):
    arguments = ("surprisal", "model.npz", "stimuli.csv", "--text", "sentence", "-q")
    out, _ = call(*arguments)
    assert call(*arguments, "--out", "out.csv") == ("", "")
    assert Path("out.csv").read_text() == out
    assert "exists; --overwrite replaces it" in refuse(*arguments, "--out", "out.csv")
    call(*arguments, "--out", "out.csv", "--overwrite")
    Path("bad.csv").write_text("sentence\nthe dog\n\n\nx\n")
    bad = ("surprisal", "model.npz", "bad.csv", "--text", "sentence", "--overwrite")
    assert "bad.csv:3: found a blank line" in refuse(*bad, "--out", "out.csv")
    assert Path("out.csv").read_text() == out


def test_names_that_the_table_has_already(measured):
    Path("clash.csv").write_text("word,surprisal,s\nx,1,the dog\n")
    (first, *_), _ = measured("clash.csv", "--text", "s", "-q", delimiter=",")
    assert (first["word"], first["surprisal"], first["dbpcfg_word"]) == ("x", "1", "the")
    (first, *_), _ = measured("clash.csv", "--text", "s", "-q", "--prefix", "m_", delimiter=",")
    assert (first["word"], first["surprisal"], first["m_word"]) == ("x", "1", "the")


def test_cells_come_back_from_both_formats(measured):
    nasty = ['"', "a,b", "a\tb", "two\nlines", "'s", "#1", " x ", "é"]
    for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([["cell", "s"], *([cell, "the dog"] for cell in nasty)])
        Path(f"nasty{ending}").write_text(file.getvalue(), newline="")
        options = ("--text", "s", "--no-end", "-q")
        rows, _ = measured(f"nasty{ending}", *options, delimiter=delimiter)
        assert [row["cell"] for row in rows[::2]] == nasty


def test_a_treebank_whose_name_ends_like_that_of_a_table(measured):
    lines = ["\t".join((str(n), word, *"________")) for n, word in enumerate(("the", "dog"), 1)]
    Path("bank.tsv").write_text("".join(f"{line}\n" for line in lines) + "\n")
    assert [row["word"] for row in measured("bank.tsv", "-q")[0]] == ["the", "dog", "</s>"]


# --- averages -------------------------------------------------------------------------------------


def test_averages_over_the_chain_and_over_survivors(call, refuse, center_run, tmp_path):
    text = tmp_path / "text.txt"
    lines = [*(" ".join(tree.words()) for tree in GOLD[:3]), "Nobody knows ."]
    text.write_text("".join(f"{line}\n" for line in lines))
    run = finished_run(center_run)
    for average, models in (("chain", [run.model]), ("survivors", run.models)):
        out, err = call("surprisal", center_run, text, "--average", average, "--threads", 1)
        rows = rows_of(out)
        singles = [
            Model(sample, m.depth, m.preprocessing, m.unknown).surprisal(str(text))
            for m in models
            for sample in m.samples
        ]
        assert f"standard deviations over {len(singles)} grammars" in err
        assert "store" not in rows[0]
        for n, row in enumerate(rows):
            for name in CHAIN_MEASURES:
                values = np.array([single[n][name] for single in singles])
                mean, sd = (float(row[k] or "nan") for k in (name, f"{name}_sd"))
                assert mean == pytest.approx(values.mean(), rel=1e-9, abs=1e-11, nan_ok=True)
                assert sd == pytest.approx(values.std(ddof=1), rel=1e-6, abs=1e-9, nan_ok=True)
    assert len(run.models) == 2
    assert len(singles) == sum(len(chain.grammars) for chain in run.chains)
    again = dbpcfg.load(center_run).surprisal(str(text), average=run.models)
    assert float(rows[0]["surprisal"]) == pytest.approx(again[0].surprisal)
    shallow, _ = call("surprisal", center_run, text, "--average", "survivors", "-D", 1, "-q")
    assert shallow != out
    said = refuse("surprisal", center_run / "model.npz", text, "--average", "survivors")
    assert "is a file; give the directory" in said


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("stimuli.csv", "stimuli.csv is a table: name its column of sentences with --text"),
        ("stimuli.csv --text text", "no column 'text', which --text names; its columns are 'item'"),
        ("stimuli.csv --text sentence --keep region", "no column 'region', which --keep names"),
        ("stimuli.csv --text sentence --word word", "either --text"),
        ("stimuli.csv --text sentence --by item", "are for tables with --word"),
        (
            "stimuli.csv --text sentence --columns item,,x",
            "expected column names separated by commas",
        ),
        ("stimuli.csv --text sentence --speaker MOT", "are for corpora, not for tables"),
        ("stimuli.csv words.tsv --text sentence", "a table is one file, got 2"),
        ("nowhere.csv --text sentence", "nowhere.csv cannot be read: No such file"),
        ("model.npz --text sentence --table csv", "packed with zip"),
        ("words.tsv --word word", "give --by with the columns"),
        ("words.tsv --word word --by story --order word", "'word', the order of the words, must"),
        ("words.tsv --text word --table csv", "is it CSV (--table csv) or TSV (--table tsv)?"),
        ("text.txt --no-quotes", "are for tables with --text or --word"),
        ("text.txt --average chain", "samples.npz"),
        ("text.txt --columns log_frequency", "needs a corpus to count in: give --frequency"),
        ("text.txt --frequency nowhere.txt", "nowhere.txt"),
        ("text.txt --spillover -1", "greater than or equal to 0"),
        ("text.txt --depth 0", "--depth"),
        ("text.txt --depth 12 --columns stores", "leave these columns out, or choose a smaller"),
        ("text.txt --depth 12 --hale", "leave these columns out, or choose a smaller depth"),
        ("absent.txt", "absent.txt cannot be read: No such file"),
    ],
)
def test_mistakes(refuse, files, options, message):
    assert message in refuse("surprisal", "model.npz", *options.split())
