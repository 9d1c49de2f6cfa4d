"""``probability`` as a user meets it."""

import json
import math
import shutil

import pytest

TEXT = b"a1 b1 c1\n\nC2 zzz\na1 b1 b2 c2\n"


SENTENCES = ["a1 b1 c1", "C2 zzz", "a1 b1 b2 c2"]


def test_a_table_of_sums(call, center_run, center_model, tmp_path):
    (tmp_path / "text.txt").write_bytes(TEXT)
    out, err = call("probability", center_run, tmp_path / "text.txt")
    assert err == ""
    row = out.splitlines()[3].split()
    true = center_model.probability(SENTENCES)
    assert row[:4] == ["all", "3", "9", "11.1"]
    assert float(row[4]) == pytest.approx(true.log_probability, abs=0.05)
    (figures,) = json.loads(call("probability", center_run, "--format", "json", stdin=TEXT)[0])[0][
        "rows"
    ]
    assert figures["log_probability"] == pytest.approx(true.log_probability)
    assert figures["perplexity"] == pytest.approx(math.exp(-true.log_probability / 9))
    assert figures["perplexity_with_ends"] == pytest.approx(math.exp(-true.log_probability / 12))
    assert "\\begin{table}" in call("probability", center_run, "--format", "latex", stdin=TEXT)[0]


def test_a_row_for_each_sentence(call, center_run, center_model):
    out, _ = call("probability", center_run, "--each", stdin=TEXT)
    head, *lines = (line.split("\t") for line in out.splitlines())
    assert head[:3] == ["source", "line", "sentence"]
    expected = list(center_model.probabilities(SENTENCES))
    for n, (line, one) in enumerate(zip(lines, expected, strict=True)):
        row = dict(zip(head, line))
        assert (row["line"], row["sentence"]) == (str((1, 3, 4)[n]), str(n + 1))
        assert (row["tokens"], row["unknown"]) == (str(one.tokens), str(one.unknown))
        assert float(row["log_probability"]) == pytest.approx(one.log_probability, rel=1e-10)
        assert float(row["bits_per_word"]) == pytest.approx(one.bits_per_word, rel=1e-10)


def test_the_mean_over_the_chain(call, center_run, center_model):
    out, _ = call("probability", center_run, "--chain", "--each", stdin=TEXT)
    logs = [float(line.split("\t")[-2]) for line in out.splitlines()[1:]]
    expected = [one.log_probability for one in center_model.probabilities(SENTENCES, chain=True)]
    assert logs == pytest.approx(expected, rel=1e-10)
    out, _ = call("probability", center_run, "--chain", stdin=TEXT)
    assert f"the mean under {len(center_model.samples)} grammars of the chain" in out


def test_sentences_of_probability_zero_are_reported(call, rules):
    out, _ = call("probability", rules, stdin=b"w0 w1\nw0 new\n")
    rows = [line.split() for line in out.splitlines()[3:5]]
    assert [row[0] for row in rows] == ["all", "possible"]
    assert rows[0][4:] == ["-inf", "inf", "inf", "inf"]
    assert rows[1][1:4] == ["1", "2", "0.0"]
    assert "sentences of probability zero: 1" in out
    out, _ = call("probability", rules, "--each", stdin=b"new\n")
    assert out.splitlines()[1].split("\t")[-2:] == ["-Inf", "Inf"]
    out, _ = call("probability", rules, "--unknown", "0.1", stdin=b"w0 w1\nw0 new\n")
    assert "possible" not in out


def test_text_that_has_no_probability(refuse, center_run, tmp_path):
    for text in (b"", b"\n \n"):
        assert "there is no sentence in this text" in refuse("probability", center_run, stdin=text)
    too_long = b"a1\n" + b"a1 " * 1001
    assert "sentence 2 has 1,001 words" in refuse("probability", center_run, stdin=too_long)
    shutil.copy(center_run / "model.npz", tmp_path)
    assert "samples.npz" in refuse("probability", tmp_path, "--chain", stdin=TEXT)
