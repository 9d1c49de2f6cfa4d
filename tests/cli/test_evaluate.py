"""``evaluate`` as a user meets it."""

import json
import os
from pathlib import Path

import pytest

from dbpcfg.io.tables import percent
from dbpcfg.trees.brackets import read_trees
from tests.cli.small import NEWS

PREDICTED = """\
(X (X the cat) (X (X saw a) (X big dog)))
(X (X it barked) !)
(X well)
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.mrg").write_text(NEWS)
    (tmp_path / "predicted.trees").write_text(PREDICTED)
    return tmp_path


def scores(result) -> list[dict]:
    return json.loads(result[0])[0]["rows"]


def test_a_score_by_hand(call, files):
    """Gold (0,2) (2,6) (3,6) (0,6) and (0,2); predicted (0,2) (2,6) (2,4) (4,6) (0,6) and (0,2)."""
    (row,) = scores(
        call("evaluate", files / "gold.mrg", files / "predicted.trees", "--format", "json")
    )
    assert (row["matched"], row["predicted"], row["gold"]) == (4, 6, 5)
    assert row["precision"] == pytest.approx(4 / 6)
    assert row["sentences"] == 2
    (row,) = scores(
        call(
            *("evaluate", files / "gold.mrg", files / "predicted.trees"),
            *("--format", "json", "--ignore-root", "--max-length", "6"),
        )
    )
    assert (row["matched"], row["predicted"], row["gold"]) == (2, 4, 3)


def test_text_names_its_convention_and_latex_is_a_table(call, files):
    arguments = ("evaluate", files / "gold.mrg", files / "predicted.trees")
    text = call(*arguments)[0]
    assert "labels:no|average:corpus|root:counted|span:>=2|punct:removed-by-tags" in text
    assert "NP discovery" in text
    latex = call(*arguments, "--format", "latex")[0]
    assert r"\toprule" in latex
    assert r"\begin{tabular}" in latex


def test_baselines_can_be_scored_at_once_or_through_a_pipe(call, files):
    at_once = call("evaluate", files / "gold.mrg", "--baseline", "right", "--format", "json")
    printed = call("baseline", "right", files / "gold.mrg", "--quiet")
    assert [str(tree) for tree in read_trees(printed[0])][1] == "(X (X It) (X barked))"
    piped = call(
        "evaluate",
        files / "gold.mrg",
        "-",
        "--format",
        "json",
        "--quiet",
        stdin=printed[0].encode(),
    )
    ours, theirs = scores(at_once)[0], scores(piped)[0]
    assert {k: v for k, v in ours.items() if k != "system"} == {
        k: v for k, v in theirs.items() if k != "system"
    }
    assert ours["gold"] == 5


def test_two_systems_are_compared(call, files):
    shown = call("evaluate", files / "gold.mrg", files / "predicted.trees", "--baseline", "left")[0]
    assert "left-branching" in shown
    assert "permutation" in shown.lower()


TAGGED = "the/1 cat/2 saw/3 a/1 big/3 dog/2 ./4\nit/2 barked/3 !/4\nwell/5\n"


def tables(result) -> dict[str, dict]:
    return {table["title"]: table for table in json.loads(result[0])}


def test_tagged_text_is_scored_with_and_without_trees(call, files):
    (files / "tagged.txt").write_text(TAGGED)
    (files / "tags.tsv").write_text(
        TAGGED.replace("\n", " \n").replace("/", "\t").replace(" ", "\n")
    )
    gold, form = files / "gold.mrg", ("--format", "json")
    shown = tables(call("evaluate", gold, files / "tagged.txt", *form))
    assert list(shown) == ["Word categories"]
    (row,) = shown["Word categories"]["rows"]
    assert row["system"] == "tagged.txt"
    assert row["items"] == 9
    assert "labels:tags|punct:removed-by-tags|length:any" in shown["Word categories"]["notes"][0]
    piped = tables(call("evaluate", gold, "-", *form, "--intervals", stdin=TAGGED.encode()))
    assert piped["Word categories"]["rows"] == [{**row, "system": "standard input"}]
    both = tables(
        call("evaluate", gold, files / "predicted.trees", "--against", files / "tagged.txt", *form)
    )
    assert list(both) == ["PARSEVAL", "NP discovery", "Word categories", "Memory depth"]
    assert both["Word categories"]["rows"] == [row]
    assert [one["system"] for one in both["PARSEVAL"]["rows"]] == ["predicted.trees"]
    twice = tables(
        call("evaluate", gold, files / "tagged.txt", "--against", files / "tags.tsv", *form)
    )
    assert twice["Word categories"]["rows"] == [row, {**row, "system": "tags.tsv"}]


def test_gold_tags_need_no_trees(call, refuse, files):
    rows = ("1\ta\t_\tX", "2\tb\t_\tY")
    (files / "gold.conllu").write_text("".join(row + 6 * "\t_" + "\n" for row in rows))
    (files / "tagged.txt").write_text("a/0 b/0\n")
    gold, form = files / "gold.conllu", ("--format", "json")
    shown = tables(call("evaluate", gold, files / "tagged.txt", *form))
    assert shown["Word categories"]["rows"][0]["many_to_one"] == 0.5
    said = refuse("evaluate", files / "gold.conllu", files / "predicted.trees")
    assert "gold.conllu:1: the sentence has no tree" in said
    (files / "tagged.txt").write_text("a/0 b/0\na/0 b/0\n")
    said = refuse("evaluate", files / "gold.conllu", files / "tagged.txt")
    assert "tagged.txt has 2 sentences, but" in said
    (files / "plain.txt").write_text("a b\n")
    (files / "tagged.txt").write_text("a/0 b/0\n")
    said = refuse("evaluate", files / "plain.txt", files / "tagged.txt")
    assert "plain.txt:1: the gold sentences have no tags to compare with" in said


def test_mismatches_name_both_places(call, refuse, files):
    (files / "other.trees").write_text(PREDICTED.replace("barked", "meowed"))
    said = refuse("evaluate", files / "gold.mrg", files / "other.trees")
    assert "gold.mrg:4" in said
    assert "other.trees:2" in said
    assert "'barked'" in said
    assert "'meowed'" in said
    (files / "short.trees").write_text("".join(PREDICTED.splitlines(keepends=True)[:2]))
    said = refuse("evaluate", files / "gold.mrg", files / "short.trees")
    assert "has 2 trees" in said
    assert "has 3 sentences" in said
    (files / "short.trees").write_text("".join(PREDICTED.splitlines(keepends=True)[1:]))
    said = refuse("evaluate", files / "gold.mrg", files / "short.trees")
    assert "--gold-length 2?" in said
    call("evaluate", files / "gold.mrg", files / "short.trees", "--gold-length", "2")


def test_a_long_single_line(call, refuse, files):
    (files / "line.mrg").write_text(NEWS.replace("\n", " ") * 3_000)  # 600 kB in one line
    result = call("evaluate", files / "line.mrg", "--baseline", "right", "--format", "json")
    assert scores(result)[0]["sentences"] == 6_000
    (files / "line.txt").write_text("word " * 200_000)
    assert "line.txt:1" in refuse("baseline", "right", files / "line.txt")


@pytest.mark.parametrize(
    ("corpus", "options", "sentences", "expected"),
    [
        ("wsj-sample", ("--max-length", 10), 265, ["56.8", "72.0", "63.5"]),
        ("wsj-sample", ("--max-length", 40), 1843, ["35.4", "47.3", "40.5"]),
        ("adam", ("--punctuation", "both"), 16_689, ["68.7", "84.7", "75.9"]),
    ],
)
def test_right_branching_trees_of_real_corpora(call, corpus, options, sentences, expected):
    """The figures that come with the corpora, to the digit."""
    given = ("--baseline", "right", *options, "--format", "json")
    (row,), (phrases,), depths = (
        table["rows"] for table in json.loads(call("evaluate", _data(corpus), *given)[0])
    )
    assert [percent(row[name]) for name in ("precision", "recall", "f1")] == expected
    numbers = [one["number"] for one in depths if one["trees"] == "right-branching"]
    assert numbers == [sentences, *[0] * (len(numbers) - 1)]
    assert corpus != "adam" or percent(phrases["recall"]) == "65.8"


def _data(name: str) -> Path:
    folder = os.environ.get("DBPCFG_DATA")
    if folder is None:
        pytest.skip("set DBPCFG_DATA to the folder of development corpora")
    return Path(folder) / name


def test_a_label_that_no_phrase_has(call, files):
    """As in treebanks of other languages."""
    arguments = ("evaluate", files / "gold.mrg", "--baseline", "right")
    said = call(*arguments, "--category", "np")[0]
    (note,) = [line for line in said.splitlines() if line.startswith("no gold phrase is called np")]
    assert "NP" in note.partition("; --category chooses another label, of ")[2].split(", ")
    assert "no gold phrase" not in call(*arguments)[0]


def test_intervals_and_labels_only_where_there_are_any(call, files):
    plain = call("evaluate", files / "gold.mrg", files / "predicted.trees", "--intervals")[0]
    assert "95% intervals by bootstrap over sentences" in plain
    assert "Constituent labels" not in plain
    labelled = call("evaluate", files / "gold.mrg", files / "gold.mrg")[0]
    assert "Constituent labels" in labelled
    assert "NP (100.0)" in labelled


def test_words_that_look_like_traces_are_read_back(call, tmp_path):
    """What a system writes is what is scored, also where a word looks like a trace."""
    gold, trees = tmp_path / "gold.mrg", tmp_path / "trees.txt"
    gold.write_text("(S (NN star) (VP (V means) (X *PRO*)) ( . .))\n(S (V go) (N *T*-1))\n")
    trees.write_text("(X (X star) (X (X means) (X (X *PRO*) (X .))))\n(X (X go) (X *T*-1))\n")
    printed = call("evaluate", gold, trees)
    assert "Left out" not in printed[1]
    gold.write_text("(S (V go) ( -NONE-ABAR-WH- *T*-1))\n(S (V see) (N it) (WP *NULL*))\n")
    trees.write_text("(X go)\n(X (X see) (X it))\n")
    printed = call("evaluate", gold, trees)
    assert "empty elements (1), words that look like traces (1)." in printed[1]


def test_trees_that_are_not_utf8(refuse, files):
    """--encoding is that of GOLD, so the message must not name it."""
    (files / "gold.mrg").write_bytes("(S (N caf\u00e9) (V x))\n".encode("latin-1"))
    message = refuse("evaluate", files / "gold.mrg", files / "gold.mrg", "--encoding", "latin-1")
    assert "found the byte 0xe9, which is not UTF-8; convert it with `iconv -f" in message
    assert "--encoding" not in message


def test_flattened_trees_are_another_row(call, refuse, files):
    arguments = ("evaluate", files / "gold.mrg", files / "predicted.trees", "--format", "json")
    (plain,) = scores(call(*arguments))
    same, flat = scores(call(*arguments, "--flatten"))
    assert same == plain
    assert flat["system"] == "predicted.trees-F"
    assert flat["predicted"] < same["predicted"]
    assert "--flatten is for the trees of PRED, and there is none" in refuse(
        "evaluate", files / "gold.mrg", "--baseline", "right", "--flatten"
    )
