"""``induce`` and ``resume`` as a user meets them."""

from __future__ import annotations

import json
import os

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.corpus import load_corpus
from dbpcfg.induction.induce import induce
from dbpcfg.trees.brackets import read_trees
from tests.cli.small import CHAIN, GOLD, RESULTS, contents, options
from tests.command import dbpcfg, refused


def test_from_text_to_scores(corpus_folder, tmp_path):
    out = tmp_path / "runs" / "first"
    done = dbpcfg("induce", corpus_folder / "text.txt", "--out", out, *options())
    assert done.returncode == 0, done.stderr
    shown = done.stdout.splitlines()
    assert shown[0] == "Chains"
    assert shown[1].split()[:3] == ["chain", "iterations", "burn-in"]
    assert [row.split()[:3] for row in shown[3:5]] == [["0", "20", "10"], ["1", "20", "10"]]
    assert sum(row.endswith("*") for row in shown[3:5]) == 1
    assert "selected by mean log-likelihood" in done.stdout
    assert "R-hat" in done.stdout
    assert "40 sentences" in done.stderr
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    expected = {*RESULTS, "config.toml", "corpus.npz", ".lock"}
    assert names == expected | {f"chains/{n}/{file}" for n in "01" for file in CHAIN}

    # Words as written come back, though learning was from lower case.
    trees = list(read_trees((out / "trees.txt").read_text()))
    assert [tree.words() for tree in trees] == [tree.words() for tree in GOLD]
    assert trees[0].words()[0][0].isupper()
    assert all(word == word.lower() for word in load_corpus(out / "corpus.npz").forms[0])
    scored = dbpcfg("evaluate", corpus_folder / "gold.mrg", out / "trees.txt", "--format", "json")
    assert json.loads(scored.stdout)[0]["rows"][0]["sentences"] == 40

    # The same from Python.
    again = tmp_path / "again"
    words = [tree.words() for tree in GOLD]
    run = induce(words, K=3, chains=2, iterations=20, seed=3, out=again, threads=1)
    assert contents(again) == contents(out)
    assert [str(tree) for tree in run.trees()] == [str(tree) for tree in trees]


def test_choosing_sentences_and_forms_and_logging_scores(corpus_folder, tmp_path):
    out = tmp_path / "run"
    done = dbpcfg(
        *(
            "induce",
            corpus_folder / "text.txt",
            "--out",
            out,
            "--gold",
            corpus_folder / "gold.mrg",
            "-q",
        ),
        *options(max_length=4, rare=3, trees="last", depth="none"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # --quiet: only results
    assert done.stdout.startswith("Chains\n")
    assert "F1 is of single samples and was not used for selection" in done.stdout
    kept = [tree for tree in GOLD if len(tree) <= 5]
    assert 0 < len(kept) < 40
    corpus = load_corpus(out / "corpus.npz")
    assert list(corpus.words) == [tree.words() for tree in kept]
    assert any(form.startswith("<") for form in corpus.forms.vocabulary.words)

    # The logged score of the last sample is what `evaluate` says of the trees of that chain.
    rows = [line.split("\t") for line in (out / "chains.tsv").read_text().splitlines()]
    chosen = next(row[0] for row in rows if row[-1] == "1")
    trace = (out / "chains" / chosen / "trace.tsv").read_text().splitlines()
    assert trace[0].split("\t")[-1] == "f1_not_used_for_selection"
    scored = dbpcfg(
        *("evaluate", corpus_folder / "gold.mrg", out / "trees.txt"),
        *("--gold-length", "4", "--format", "json"),
    )
    f1 = json.loads(scored.stdout)[0]["rows"][0]["f1"]
    assert float(trace[20].split("\t")[-1]) == pytest.approx(f1, abs=1e-12)


def test_gold_trees_are_those_of_the_sentences_kept(corpus_folder, tmp_path):
    """Also where the treebank's tags disagree on what is punctuation, and so on what is short."""
    odd = tmp_path / "odd.mrg"
    odd.write_text("".join(f"{tree}\n" for tree in GOLD).replace("(. .)", "(X .)"))
    run = tmp_path / "run"
    short = [*options(), "--max-length", "4"]
    dbpcfg("induce", corpus_folder / "text.txt", "--out", run, "--gold", odd, *short)
    kept = [list(words) for words in load_corpus(run / "corpus.npz").words]
    assert 0 < len(kept) < len(GOLD)
    gold = match_gold(kept, read(odd).sentences, "odd", "auto")
    assert [tree.words() for tree in gold.trees] == kept
    plain = tmp_path / "plain"
    dbpcfg(
        "induce",
        corpus_folder / "text.txt",
        "--out",
        plain,
        "--gold",
        corpus_folder / "gold.mrg",
        *short,
    )
    traces = [path / "chains" / "0" / "trace.tsv" for path in (run, plain)]
    assert traces[0].read_bytes() == traces[1].read_bytes()


def test_json_lines(corpus_folder, tmp_path):
    done = dbpcfg(
        *("induce", corpus_folder / "text.txt", "--out", tmp_path / "run", "--json"),
        *(*options(checkpoint=0), "--sample-beta"),
    )
    assert done.stderr == ""
    *progress, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(progress) == 40
    assert {event["event"] for event in progress} == {"progress"}
    assert progress[-1]["iteration"] == 20
    assert progress[-1]["per_token"] == pytest.approx(
        progress[-1]["log_likelihood"] / sum(len(tree) for tree in GOLD)
    )
    assert last["event"] == "finished"
    assert [row["chain"] for row in last["rows"]] == [0, 1]


def test_mistakes(corpus_folder, tmp_path):
    out = tmp_path / "run"
    for wrong, said in (
        (["--depth", "deep"], "--depth must be a number from 1 up, or 'none'"),
        (["--depth", "0"], "--depth must be a number from 1 up, or 'none'"),
        (["--beta", "0"], "beta must be a positive number"),
        (["--restarts", "9"], "take 180 iterations, but samples count from 10 on"),
        (["--gold", corpus_folder / "text.txt"], "text.txt:1: the sentence has no tree"),
    ):
        message = refused("induce", corpus_folder / "text.txt", "--out", out, *options(), *wrong)
        assert said in message
        assert not out.exists()
    out.mkdir()
    (out / "thesis.tex").touch()
    message = refused("induce", corpus_folder / "text.txt", "--out", out, *options())
    assert f"dbpcfg resume {out}" in message
    assert f"{out} is no run: there is no config.toml in it" in refused("resume", out)
    assert os.listdir(out) == ["thesis.tex"]


def test_without_punctuation(command, tmp_path):
    """The trees of a run with --no-punctuation have none, nor do those of text that it parses."""
    trees = [
        "(S (NP (D the) (N cat)) (, ,) (VP (V sleeps)) (. .))",
        "(S (NP (N dogs)) (VP (V bark)) (. .))",
    ]
    gold = tmp_path / "gold.trees"
    gold.write_text("\n".join(trees * 5) + "\n")
    run = str(tmp_path / "run")
    options = ["-K", "2", "--iterations", "4", "--chains", "1", "--no-punctuation"]
    command.call("induce", str(gold), "--gold", str(gold), "--out", run, *options)
    found = [tree.words() for tree in read_trees((tmp_path / "run/trees.txt").read_text())]
    assert found == [["the", "cat", "sleeps"], ["dogs", "bark"]] * 5
    shown, noted = command.call("parse", run, str(gold))
    assert [tree.words() for tree in read_trees(shown)] == found
    assert "punctuation is left out" in noted
    shown, _ = command.call("evaluate", str(gold), f"{run}/trees.txt")
    assert "removed-by-tags" in shown
    command.call("report", run, "--gold", str(gold), "--out", str(tmp_path / "page.html"))
