"""``induce`` and ``resume`` as a user meets them."""

import json

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.evaluation.goldtrees import match_gold
from dbpcfg.induction.corpus import load_corpus
from dbpcfg.induction.directory import read_configuration
from dbpcfg.induction.induce import induce
from dbpcfg.options import INDUCE, LEARNERS
from dbpcfg.trees.brackets import read_trees
from tests.cli.small import CHAIN, GOLD, RESULTS, contents, options
from tests.command import dbpcfg


def test_from_text_to_scores(corpus_folder, tmp_path, call):
    out = tmp_path / "runs" / "first"
    given = ("induce", corpus_folder / "text.txt", "--out", out, *options())
    done = dbpcfg(*given, "--details")  # a process
    assert done.returncode == 0, done.stderr
    shown = done.stdout.splitlines()
    assert shown[0] == "Chains"
    assert shown[1].split()[:3] == ["chain", "iterations", "burn-in"]
    assert [row.split()[:3] for row in shown[3:5]] == [["0", "20", "10"], ["1", "20", "10"]]
    assert sum(row.endswith("*") for row in shown[3:5]) == 1
    assert "selected by mean log-likelihood" in done.stdout
    assert "R-hat" in done.stdout
    assert [line.split(":")[0] for line in shown[-3:]] == ["learned", "trust", "next"]
    assert "from 40 sentences" in shown[-3]
    assert f"dbpcfg report {out} --open" in shown[-1]
    assert "40 sentences" in done.stderr
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    expected = {*RESULTS, ".results", "config.toml", "corpus.npz", ".lock"}
    assert names == expected | {f"chains/{n}/{file}" for n in "01" for file in CHAIN}

    # Words as written come back, though learning was from lower case.
    trees = list(read_trees((out / "trees.txt").read_text()))
    assert [tree.words() for tree in trees] == [tree.words() for tree in GOLD]
    assert trees[0].words()[0][0].isupper()
    assert all(word == word.lower() for word in load_corpus(out / "corpus.npz").forms[0])
    scored, _ = call("evaluate", corpus_folder / "gold.mrg", out / "trees.txt", "--format", "json")
    assert json.loads(scored)[0]["rows"][0]["sentences"] == 40

    # The same from Python.
    again = tmp_path / "again"
    text = corpus_folder / "text.txt"
    run = induce(text, K=3, chains=2, iterations=20, seed=3, out=again, threads=1)
    assert contents(again) == contents(out)
    assert [str(tree) for tree in run.trees()] == [str(tree) for tree in trees]


def test_choosing_sentences_and_forms_and_logging_scores(corpus_folder, tmp_path, call):
    out, gold = tmp_path / "run", corpus_folder / "gold.mrg"
    shown, said = call(
        *("induce", corpus_folder / "text.txt", "--out", out, "--gold", gold, "-q", "--details"),
        *options(max_length=4, rare=3, trees="last", depth="none"),
    )
    assert said == ""  # --quiet: only results
    assert shown.startswith("Chains\n")
    assert "F1 is of single samples and was not used for selection" in shown
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
    scored, _ = call("evaluate", gold, out / "trees.txt", "--gold-length", "4", "--format", "json")
    f1 = json.loads(scored)[0]["rows"][0]["f1"]
    assert float(trace[20].split("\t")[-1]) == pytest.approx(f1, abs=1e-12)


def test_starting_from_another_run(corpus_folder, tmp_path, call):
    text, first, out = corpus_folder / "text.txt", tmp_path / "first", tmp_path / "second"
    call("induce", text, "--out", first, "--no-lowercase", *options(learner="em", depth="none"))
    new = tmp_path / "new.txt"
    new.write_text(text.read_text().replace(" b1 ", " other "))
    _, said = call(
        *("induce", new, "--out", out, "--start", first, "--max-length", 4, "--iterations", 5)
    )
    assert f"starts from {first}, which knows" in said
    found = read_configuration(out)
    assert (found.model.learner.name, found.model.categories, found.model.depth) == ("em", 3, None)
    assert (found.preprocessing.lowercase, found.preprocessing.max_length) == (False, 4)
    table = call("show", out)[0].split("Before and after\n")[1]
    assert "other" in table
    assert "before_and_after" in json.loads(call("show", out, "--format", "json")[0])
    small, model = tmp_path / "small", first / "model.npz"
    _, said = call("induce", new, "--out", small, "--start", model, "--iterations", 5)
    assert f"starts from {model}, which knows" in said
    assert "before_and_after" in json.loads(call("show", small, "--format", "json")[0])
    assert read_configuration(small).start["run"] == str(model)
    lower = tmp_path / "lower"
    call("induce", new, "--out", lower, "--start", first, "--lowercase", "--iterations", 5)
    assert read_configuration(lower).preprocessing.lowercase
    third = ("induce", new, "--out", tmp_path / "third", "--start", first)
    failed = dbpcfg(*third, "-K", "4")
    assert failed.returncode == 2
    assert f"{first} has K = 3, and K = 4 was asked for" in failed.stderr


def test_gold_trees_are_those_of_the_sentences_kept(corpus_folder, tmp_path, call):
    """Also where the treebank's tags disagree on what is punctuation, and so on what is short."""
    odd = tmp_path / "odd.mrg"
    odd.write_text("".join(f"{tree}\n" for tree in GOLD).replace("(. .)", "(X .)"))
    runs = {"run": odd, "plain": corpus_folder / "gold.mrg"}
    for name, gold in runs.items():
        given = ["--out", tmp_path / name, "--gold", gold, *options(), "--max-length", "4"]
        call("induce", corpus_folder / "text.txt", *given)
    kept = [list(words) for words in load_corpus(tmp_path / "run" / "corpus.npz").words]
    assert 0 < len(kept) < len(GOLD)
    found = match_gold(kept, read(odd).sentences, "odd", "auto")
    assert [tree.words() for tree in found.trees] == kept
    traces = [(tmp_path / name / "chains" / "0" / "trace.tsv").read_bytes() for name in runs]
    assert traces[0] == traces[1]


def test_json_lines(corpus_folder, tmp_path, call):
    shown, said = call(
        *("induce", corpus_folder / "text.txt", "--out", tmp_path / "run", "--json"),
        *(*options(checkpoint=0), "--sample-beta"),
    )
    assert said == ""
    *progress, last = [json.loads(line) for line in shown.splitlines()]
    assert len(progress) == 40
    assert {event["event"] for event in progress} == {"progress"}
    assert progress[-1]["iteration"] == 20
    assert progress[-1]["per_token"] == pytest.approx(
        progress[-1]["log_likelihood"] / sum(len(tree) for tree in GOLD)
    )
    assert last["event"] == "finished"
    assert [row["chain"] for row in last["rows"]] == [0, 1]
    again = ("resume", tmp_path / "run", "--quiet")
    (table,), plain = json.loads(call(*again, "--format", "json")[0]), call(*again)[0]
    assert table == {key: last[key] for key in ("verdict", "title", "rows", "notes")}
    assert table["verdict"]["trust"] in plain
    assert "Chains" not in plain  # without --details
    latex, said = call("resume", tmp_path / "run", "--format", "latex")
    assert latex.startswith(r"\begin{table}")
    assert table["verdict"]["trust"] in said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            ["--depth", "deep"],
            "from 1 up or auto or none, got 'deep'",
        ),
        (["--depth", "0"], "D (depth) must be a whole number from 1 up or auto or none, got 0"),
        (["--beta", "0"], "beta"),
        (["--learner", "adam"], "no learner 'adam'; choose one of auto, gibbs, em"),
        (["--learner", "em", "--sample-beta"], "an option of the learner gibbs, not of em"),
        (["--learner", "em", "--no-sample-beta"], "an option of the learner gibbs, not of em"),
        (
            ["--learner", "gibbs", "--rank", "3"],
            "rank is an option of the learner neural",
        ),
        (["--learner", "neural", "--rate", "0"], "rate must be a number above 0, got 0"),
        (["--select", "taste"], "no criterion 'taste'"),
        (["--budget", "soon"], "such as 6000, 30min or 2h, got 'soon'"),
        (["--spread", "sentences"], "--spread needs --cluster"),
        (["--cluster", "local:no"], "local:N needs the number of processes"),
        (
            ["--learner", "gibbs", "--set", "rank=3"],
            "--set rank=3: the learner gibbs has beta",
        ),
        (["--restarts", "9"], "No such option: --restarts"),
    ],
)
def test_mistakes_are_noticed_before_anything_is_read(tmp_path, refuse, wrong, said):
    out = tmp_path / "run"
    assert said in refuse("induce", tmp_path / "nothing.txt", "--out", out, "-K", "3", *wrong)
    assert not out.exists()


def test_without_punctuation(call, tmp_path):
    """The trees of a run with --no-punctuation have none, nor do those of text that it parses."""
    trees = [
        "(S (NP (D the) (N cat)) (, ,) (VP (V sleeps)) (. .))",
        "(S (NP (N dogs)) (VP (V bark)) (. .))",
    ]
    gold, run = tmp_path / "gold.trees", tmp_path / "run"
    gold.write_text("\n".join(trees * 5) + "\n")
    given = ["-K", "2", "--iterations", "4", "--chains", "1", "--no-punctuation"]
    call("induce", gold, "--gold", gold, "--out", run, *given)
    found = [tree.words() for tree in read_trees((run / "trees.txt").read_text())]
    assert found == [["the", "cat", "sleeps"], ["dogs", "bark"]] * 5
    shown, noted = call("parse", run, gold)
    assert [tree.words() for tree in read_trees(shown)] == found
    assert "words that are only punctuation are left out" in noted
    assert "removed-by-tags" in call("evaluate", gold, run / "trees.txt")[0]
    call("report", run, "--gold", gold, "--out", tmp_path / "page.html")


# --- help -----------------------------------------------------------------------------------------


def flags(text: str) -> set[str]:
    """The options that a help text lists."""
    words = [line.split() for line in text.splitlines() if line.startswith("  -")]
    return {word.strip(",") for row in words for word in row if word.startswith("--")}


def declared(*groups) -> set[str]:
    options = [one for group in groups for one in group.options().values()]
    return {one.flags[-1] if one.flags else f"--{one.key}" for one in options}


def test_help_is_short_and_says_how_to_see_more(call):
    shown, _ = call("induce", "--help")
    assert len(shown.splitlines()) <= 60
    assert max(map(len, shown.splitlines())) <= 80
    assert {"--out", "--learner", "--categories", "--depth", "--budget"} <= flags(shown)
    assert not declared(*LEARNERS.values()) & flags(shown)
    assert "--help-all" in shown


def test_all_of_the_help(call):
    shown, _ = call("induce", "--help-all")
    assert declared(*INDUCE) | {"--out", "--set", "--learner"} <= flags(shown)
    assert " ".join(shown.split()).count("neural: Rank of the binary rules") == 1


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("words", [["--learner", "{}", "--help"], ["--help", "--learner={}"]])
def test_the_help_of_one_learner(call, learner, words):
    shown, _ = call("induce", *(word.format(learner) for word in words))
    others = declared(*LEARNERS.values()) - declared(LEARNERS[learner])
    assert declared(LEARNERS[learner]) <= flags(shown)
    assert not others & flags(shown)
    assert ("--sample-beta" in shown) == (learner == "gibbs")
    assert ("[default: 0.003]" in shown) == (learner == "neural")


def test_what_comes_before_and_after_learning_is_shown(tmp_path, call, monkeypatch):
    """In sentences, and the result does not depend on it."""
    monkeypatch.setattr("dbpcfg.induction.trees.BATCH", 50)
    text = tmp_path / "text.txt"
    text.write_text(
        "".join(f"the w{n % 7} saw , a w{n % 5} w{n % 3} or so on\n" for n in range(120))
    )
    given = ("--chains=2", "--iterations=1", "--categories=6")
    _, said = call("induce", text, "--out", tmp_path / "one", *given, "--threads=1")
    assert "of 240" not in said
    monkeypatch.setattr("dbpcfg.io.progress.PATIENCE", 0.0)
    _, said = call("induce", text, "--out", tmp_path / "two", *given, "--threads=2")
    shown = said.splitlines()
    assert "preparing the text: 120 of 120, 0:00 left" in shown
    trees = [line.partition(",")[0] for line in shown if line.startswith("trees: ")]
    assert trees == [f"trees: {done} of 240" for done in (50, 100, 120, 170, 220, 240)]
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    for hidden in ("--quiet", "--json"):
        _, said = call("induce", text, "--out", tmp_path / hidden, *given, hidden)
        assert said == ""
