"""``dbpcfg surprisal`` as a user meets it."""

from __future__ import annotations

import csv
import io
import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dbpcfg.model.measures import WordMeasures

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.exchange import write_grammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.model import Model
from tests.command import COMMAND, refused
from tests.command import dbpcfg as run
from tests.strategies import random_grammar

WORDS = ("the", "dog", "'s", '"', "barked", ".")
TEXT = """\
The dog barked .

the zebra 's " barked

dog
"""


def model(K: int = 3, depth: int | None = 2, unknown: float = 0.01) -> Model:
    drawn = random_grammar(K, len(WORDS), 0.8, 4)
    grammar = Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(WORDS))
    return Model(grammar, depth, unknown=np.full(K, unknown))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    model().save(tmp_path / "model.npz")
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path


def table(printed: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed, newline=""), delimiter="\t"))


def rows_of(*arguments: object, **options) -> list[dict[str, str]]:
    done = run("surprisal", *arguments, **options)
    assert done.returncode == 0, done.stderr
    return table(done.stdout)


def test_a_row_for_each_word_and_each_end(files):
    rows = rows_of(files / "model.npz", files / "text.txt")
    assert tuple(rows[0]) == WordMeasures._fields
    assert [row["word"] for row in rows] == [
        *("The", "dog", "barked", ".", "</s>"),
        *("the", "zebra", "'s", '"', "barked", "</s>"),
        *("dog", "</s>"),
    ]
    # Blank lines leave no sentence behind, and the lines are those of the file.
    assert [(row["sentence"], row["line"]) for row in rows[4:6]] == [("1", "1"), ("2", "3")]
    assert (rows[-1]["sentence"], rows[-1]["line"]) == ("3", "5")
    assert rows[0]["source"] == str(files / "text.txt")
    assert rows[6]["kind"] == "unknown"
    loaded = dbpcfg.load(files / "model.npz")
    logs = loaded.parser().log_probabilities(
        loaded.encode([line.split() for line in TEXT.splitlines() if line])
    )
    for sentence, log_p in enumerate(logs, start=1):
        bits = sum(float(row["surprisal"]) for row in rows if row["sentence"] == str(sentence))
        assert bits == pytest.approx(-log_p / math.log(2), rel=1e-9)


def test_remarks_go_to_standard_error(files):
    done = run("surprisal", files / "model.npz", files / "text.txt")
    assert "10 words; 1 unknown to the model, 0 replaced by classes" in done.stderr
    quiet = run("surprisal", files / "model.npz", files / "text.txt", "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout == done.stdout


def test_standard_input_with_and_without_a_dash(files):
    given = run("surprisal", files / "model.npz", "-", "-q", input=TEXT).stdout
    assert run("surprisal", files / "model.npz", "-q", input=TEXT).stdout == given
    named = run("surprisal", files / "model.npz", files / "text.txt", "-q").stdout
    assert given == named.replace(str(files / "text.txt"), "<stdin>")


def test_no_sentences_are_a_table_without_rows(files):
    done = run("surprisal", files / "model.npz", input="\n\n")
    assert done.returncode == 0
    assert done.stdout == "\t".join(WordMeasures._fields) + "\n"
    assert "0 words" in done.stderr


def test_options(files):
    path, text = files / "model.npz", files / "text.txt"
    words = rows_of(path, text, "--no-end")
    assert "</s>" not in [row["word"] for row in words]
    assert len(words) == 10
    shallow, deep = (rows_of(path, text, "-D", depth) for depth in (1, 3))
    assert float(shallow[2]["depth"]) <= 1 < max(float(row["depth"]) for row in deep)
    exact = rows_of(path, text, "--threads", "1", "--beam", "0")
    assert exact == rows_of(path, text, "--threads", "2")


def test_a_beam_says_what_it_lost(files):
    done = run("surprisal", files / "model.npz", files / "text.txt", "--beam", "3")
    assert max(float(row["lost"]) for row in table(done.stdout)) > 0
    assert "beam of 3: on average 0." in done.stderr
    assert "error of the beam, on 1 sentence with all memory states: surprisal differs by 0." in (
        done.stderr
    )
    unchecked = run(
        "surprisal", files / "model.npz", files / "text.txt", "--beam", "3", "--no-beam-error"
    )
    assert "error of the beam" not in unchecked.stderr
    assert unchecked.stdout == done.stdout
    model(K=15).save(files / "large.npz")
    done = run("surprisal", files / "large.npz", files / "text.txt", "--depth", "3")
    assert (
        "memory states are possible: keeping the 2,000 most probable at each word; --beam N"
        in done.stderr
    )
    assert done.returncode == 0


def test_a_grammar_that_someone_wrote(tmp_path):
    """Nothing is known to it but two sentences; it has no depth of its own."""
    write_grammar(toy_grammar(), tmp_path / "toy.tsv")
    said = refused("surprisal", tmp_path / "toy.tsv", input="dogs bark\n")
    assert "has none" in said
    assert "--depth 2" in said
    done = run(
        "surprisal", tmp_path / "toy.tsv", "-D", "1", input="dogs bark\ndogs sing now\nbark\n"
    )
    assert done.returncode == 0, done.stderr
    rows = table(done.stdout)
    assert [row["surprisal"] for row in rows] == ["0", "0", "0", "0", "Inf", "", "", "Inf", ""]
    assert rows[1]["store"] == "S/VP"
    assert rows[4]["kind"] == "unknown"
    assert rows[4]["fork"] == rows[5]["store"] == ""
    assert "2 sentences have probability zero" in done.stderr
    assert "<stdin>:2, token 2, 'sing'" in done.stderr


def toy_grammar() -> Grammar:
    binary, lexical = np.zeros((3, 3, 3)), np.zeros((3, 2))
    binary[0, 1, 2] = lexical[1, 0] = lexical[2, 1] = 1.0
    grammar = Grammar(np.eye(3)[0], binary, lexical, Vocabulary(("dogs", "bark")))
    return grammar.named(["S", "NP", "VP"])


def test_falling_out_of_the_beam_has_a_remedy(tmp_path):
    binary, lexical = np.zeros((3, 3, 3)), np.zeros((3, 3))
    binary[0, 1, 1], binary[0, 2, 2] = 0.9, 0.1
    lexical[1], lexical[2] = (0.5, 0.5, 0.0), (0.5, 0.0, 0.5)
    grammar = Grammar(np.eye(3)[0], binary, lexical, Vocabulary(("a", "b", "c")))
    Model(grammar, 1).save(tmp_path / "two.npz")
    done = run("surprisal", tmp_path / "two.npz", "--beam", "1", input="a c\n")
    assert done.returncode == 0
    assert "1 sentence has fallen out of the beam" in done.stderr
    assert "try --beam 10" in done.stderr
    assert [row["surprisal"] for row in table(done.stdout)] == ["1", "", ""]


def test_three_hundred_words(files):
    words = np.random.default_rng(0).choice(WORDS, 300).tolist()
    rows = rows_of(files / "model.npz", input=" ".join(words) + "\n")
    assert [row["word"] for row in rows] == [*words, "</s>"]
    assert all(float(row["surprisal"]) > 0 for row in rows)


def test_stopping_by_hand(files):
    (files / "long.txt").write_text(TEXT * 20_000)
    command = [*COMMAND, "surprisal", str(files / "model.npz"), str(files / "long.txt"), "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"source")
        assert process.stdout.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors


def test_stopping_by_hand_leaves_no_file(files):
    (files / "long.txt").write_text(TEXT * 20_000)
    command = [*COMMAND, "surprisal", str(files / "model.npz"), str(files / "long.txt")]
    before = {path.name for path in files.iterdir()}
    command += ["--out", str(files / "out.tsv"), "--beam", "5", "--threads", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        while b"sentences: " not in process.stderr.readline():  # it is at work
            assert process.poll() is None
        assert {path.name for path in files.iterdir()} != before
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert {path.name for path in files.iterdir()} == before


MEASURED = """
import sys
from dbpcfg.cli.app import main
try:
    main()
except SystemExit:
    pass
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc for peak memory")
@pytest.mark.parametrize("beam", [0, 5])
def test_memory_does_not_grow_with_the_text(files, beam):
    peaks = []
    for words in (10_000, 100_000):
        (files / "long.txt").write_text(TEXT * (words // 10))
        command = ["surprisal", files / "model.npz", files / "long.txt", "--threads", "2"]
        command += ["--out", files / f"{words}.tsv", "--beam", beam, "-q"]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *map(str, command)], capture_output=True, text=True
        )
        peaks.append(int(done.stdout))
    with (files / "100000.tsv").open() as file:
        assert sum(1 for _ in file) == 1 + 130_000
    assert peaks[1] < peaks[0] + 6 * 2**10, peaks  # KiB; a row has more than 200 bytes


def test_mistakes(files):
    path = files / "model.npz"
    assert "nowhere" in refused("surprisal", files / "nowhere", files / "text.txt")
    (files / "empty").mkdir()
    assert "is no run of dbpcfg" in refused("surprisal", files / "empty", files / "text.txt")
    assert "absent.txt cannot be read: No such file" in refused(
        "surprisal", path, files / "absent.txt"
    )
    assert "text.txt" in refused("surprisal", files / "text.txt", files / "text.txt")
    assert "--beam" in refused("surprisal", path, files / "text.txt", "--beam", "-1")
    assert "--depth" in refused("surprisal", path, files / "text.txt", "--depth", "0")
    assert "smaller depth, or a beam" in refused(
        "surprisal", path, files / "text.txt", "--beam", "0", "--depth", "12"
    )
