"""``show`` as a user meets it."""

import json
import os
import pty
import subprocess
from dataclasses import replace

import numpy as np

import dbpcfg
from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.evaluation.alignment import has_letter_or_digit
from dbpcfg.grammar.exchange import write_grammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.induction.directory import finished_run
from dbpcfg.model.profile import as_text
from dbpcfg.trees.printing import draw
from tests.cli.small import GOLD, make_run, trees_of
from tests.command import COMMAND


def test_a_run_is_shown_with_its_trees(call, center_run, center_model):
    out, err = call("show", center_run)
    assert err == ""
    assert out == as_text(center_model.profile(trees_of(center_run))) + "\n"
    assert "counted in the 40 trees of the run" in out.replace("\n", " ")
    assert max(map(len, out.splitlines())) <= 80


def test_a_model_is_shown_by_what_is_expected(call, center_run, center_model, rules):
    out, _ = call("show", center_run / "model.npz")
    assert out.startswith(as_text(center_model.profile()) + "\n\nCard\n")
    out, _ = call("show", rules)
    assert "without a memory bound" in out
    assert "\nNP  █" in out
    assert "within memory depth 3" in call("show", rules, "--depth", 3)[0]


def test_the_card_of_a_model_file(call, center_run, tmp_path):
    model = dbpcfg.load(center_run)
    assert model.card["sentences"] == 40
    assert model.card["learner"] == "gibbs"
    assert model.card["chains"] == 2
    out, _ = call("show", center_run / "model.npz")
    rows = dict(line.split("  ", 1) for line in out.split("\nCard\n")[1].splitlines()[2:])
    assert rows["sentences"].strip() == "40"
    found = json.loads(call("show", center_run, "--format", "json")[0])
    assert found["card"] == dict(model.card)
    strange = {"learned_from": ["a\x1b[2J.txt", *"bcde"], "seed": 1234, "f1": 0.5}
    replace(model, card=strange).save(tmp_path / "strange.npz")
    out, _ = call("show", tmp_path / "strange.npz")
    assert "a?[2J.txt, b, c and 2 more" in out
    assert "1,234" in out


def test_the_same_from_python(call, capsys, center_run, corpus_folder):
    shown, _ = call("show", center_run)
    finished = dbpcfg.induce(
        dbpcfg.read(corpus_folder / "gold.mrg"), K=3, D=2, chains=2, iterations=20
    )
    finished.show()
    assert capsys.readouterr().out == shown
    sentences = [tree.words() for tree in GOLD[:5]]
    assert finished.parse(sentences) == dbpcfg.load(center_run).parse(sentences)


def test_trees_are_drawn(call, center_run):
    plain, _ = call("show", center_run)
    out, _ = call("show", center_run, "--trees", 2)
    assert out.startswith(plain)
    pictures = {line.rstrip() for line in draw(trees_of(center_run)[0]).splitlines()}
    assert any(line.strip() for line in pictures & set(out[len(plain) :].splitlines()))
    for asked, given in ((3, 3), (400, 40)):
        shown = json.loads(call("show", center_run, "--trees", asked, "--format", "json")[0])
        assert len(shown["drawn"]) == given
        assert set(shown["drawn"]) <= set(map(str, trees_of(center_run)))
        assert shown["verdict"]["trust"] == finished_run(center_run).verdict.trust


def test_gold_labels(call, center_run, corpus_folder):
    out, _ = call("show", center_run, "--gold", corpus_folder / "gold.mrg", "--format", "json")
    categories = json.loads(out)["categories"]
    words = sum(sum(one["gold"]["tags"].values()) for one in categories)
    assert words == sum(len(tree) - 1 for tree in GOLD)  # without the full stops
    phrases = sum(sum(one["gold"]["phrases"].values()) for one in categories)
    spans = [
        {(s.start, min(s.end, len(tree) - 1)) for s in tree.spans() if s.end - s.start >= 2}
        for tree in trees_of(center_run)
    ]
    assert phrases == sum(len([s for s in of_one if s[1] - s[0] >= 2]) for of_one in spans)
    text, _ = call("show", center_run, "--gold", corpus_folder / "gold.mrg")
    assert "    tags   " in text
    assert (
        r"Gold labels of categories"
        in call("show", center_run, "--gold", corpus_folder / "gold.mrg", "--format", "latex")[0]
    )


def test_gold_trees_of_all_sentences_or_of_those_kept(call, refuse, corpus_folder, tmp_path):
    short = make_run(corpus_folder / "gold.mrg", tmp_path / "short", max_length=4)
    kept = [tree for tree in GOLD if sum(map(has_letter_or_digit, tree.words())) <= 4]
    assert 0 < len(kept) < len(GOLD)
    (tmp_path / "kept.mrg").write_text("".join(f"{tree}\n" for tree in kept))
    whole, _ = call("show", short, "--gold", corpus_folder / "gold.mrg")
    assert call("show", short, "--gold", tmp_path / "kept.mrg")[0] == whole
    (tmp_path / "fewer.mrg").write_text(f"{kept[0]}\n")
    said = refuse("show", short, "--gold", tmp_path / "fewer.mrg")
    assert f"the treebank has 1 sentence, the run {len(kept)}: give the treebank" in said
    (tmp_path / "other.mrg").write_text("".join(f"{tree}\n" for tree in kept[::-1]))
    assert "other.mrg:1" in refuse("show", short, "--gold", tmp_path / "other.mrg")


def terminal_output(columns: int, *arguments: object, **environment: str) -> str:
    """What a command writes to a terminal of this many columns."""
    ours, theirs = pty.openpty()
    surroundings = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **environment}
    for name in {"NO_COLOR"} - set(environment):
        surroundings.pop(name, None)
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=theirs, stderr=theirs, env=surroundings
    )
    os.close(theirs)
    data = b""
    while True:
        try:
            more = os.read(ours, 1 << 16)
        except OSError:  # how a terminal ends
            break
        if not more:
            break
        data += more
    os.close(ours)
    assert process.wait(timeout=600) == 0
    return data.decode().replace("\r\n", "\n")


def test_names_are_bold_on_a_terminal(center_run, center_model):
    expected = center_model.profile(trees_of(center_run))
    assert terminal_output(50, "show", center_run) == as_text(expected, 50, bold=True) + "\n"


def test_no_color_is_respected(center_run, center_model):
    plain = as_text(center_model.profile(trees_of(center_run)), 100) + "\n"
    assert terminal_output(100, "show", center_run, NO_COLOR="1") == plain


def test_how_contracted_forms_are_written_is_shown(call, tmp_path):
    path = tmp_path / "rules.tsv"
    lexical, words = np.array([[0.3, 0.3]]), Vocabulary(("that", "'s"))
    write_grammar(Grammar(np.ones(1), np.full((1, 1, 1), 0.4), lexical, words), path)
    assert "contracted forms are split, with 's as a word" in call("show", path)[0]
    shown = json.loads(call("show", path, "--format", "json")[0])
    assert "verdict" not in shown  # it is of a run
    assert shown["tokens"] == "contracted forms are split, with 's as a word"
