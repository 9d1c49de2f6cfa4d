"""Real corpora, where ``DBPCFG_DATA`` names the folder that has them."""

import os
import re
from html import unescape
from pathlib import Path

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import punctuation_mask
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_trees
from tests.inprocess import InProcess

if "DBPCFG_DATA" not in os.environ:
    pytest.skip("DBPCFG_DATA names no folder with corpora", allow_module_level=True)
DATA = Path(os.environ["DBPCFG_DATA"])
REFERENCE = DATA.parent / "reference"


@pytest.fixture(scope="module")
def adam():
    return read(DATA / "adam")


@pytest.fixture(scope="module")
def wsj():
    return read(DATA / "wsj-sample")


@pytest.fixture(scope="module")
def keyaki():
    return read(DATA / "keyaki")


def reference(name):
    path = REFERENCE / name
    if not path.exists():
        pytest.skip(f"there is no {path}")
    return list(read_trees(path.read_text(encoding="utf-8"), str(path)))


def lowered(sentence, rule):
    """The tree with its words in lower case, but punctuation as it is."""
    marks = punctuation_mask(sentence, rule)
    words = [word if mark else word.lower() for word, mark in zip(sentence.words, marks)]
    return sentence.tree.replace_words(words)


def length(sentence):
    return punctuation_mask(sentence).count(False)


def test_adam(adam):
    assert len(adam) == 16_689
    assert not adam.suspicious
    assert adam.removed == {
        "empty elements": 4_746,
        "nodes without children": 1,
        "words that look like traces": 196,
    }
    assert sum(len(sentence.words) for sentence in adam) == 102_787
    assert len({word.lower() for sentence in adam for word in sentence.words}) == 3_049
    assert all(sentence.tags for sentence in adam)


def test_adam_with_the_traces_that_are_easily_overlooked():
    """102,996 tokens and 3,052 types count *NULL* and the label NONE-… without its first hyphen."""
    raw = read(DATA / "adam", function_tags=True, empty_elements=True)
    tagged = [pair for sentence in raw for pair in zip(sentence.words, sentence.tags)]
    words = [word for word, tag in tagged if not tag.startswith("-NONE-")]
    assert (len(words), len({word.lower() for word in words})) == (102_996, 3_052)


def test_adam_agrees_with_the_reference(adam):
    gold = reference("adam-dev.gold.trees")
    assert [lowered(sentence, "both") for sentence in adam[: len(gold)]] == gold


def test_wsj(wsj):
    assert len(wsj) == 1_921
    assert wsj.removed == {"empty elements": 3_311}
    assert wsj.modified == wsj.suspicious == {}
    lengths = [length(sentence) for sentence in wsj]
    assert [sum(n <= most for n in lengths) for most in (10, 20, 40)] == [265, 1_001, 1_843]


def test_wsj_agrees_with_the_reference(wsj):
    gold = reference("wsj-dev.gold.trees")
    assert [lowered(sentence, "auto") for sentence in wsj if length(sentence) <= 20] == gold


def test_lines_are_where_trees_begin(adam):
    lines = Path(adam.sources[0]).read_text(encoding="utf-8").split("\n")
    for sentence in adam[:2000]:
        assert lines[sentence.line - 1].startswith("(ROOT")


def test_chat():
    to_child, everyone = read(DATA / "chat"), read(DATA / "chat", exclude_speakers=[])
    assert {sentence.speaker for sentence in to_child} == {"MOT", "URS", "RIC"}
    assert {sentence.speaker for sentence in everyone} == {"MOT", "URS", "RIC", "CHI"}
    assert len(to_child) == 1_594
    assert len(everyone) == 5_001
    assert to_child.removed["utterances of CHI"] == 3_414
    assert len(read(DATA / "chat", speakers=["Mother"])) == 1_494
    for sentence in everyone:
        assert sentence.words[-1] in (".", "?", "!", "...")
        for word in sentence.words[:-1]:
            assert word == "," or word.replace("_", "").replace("'", "").isalpha(), sentence


def test_conllu():
    corpus = read(DATA / "conllu")
    assert len(corpus) == 600
    assert not corpus.removed
    assert all(sentence.speaker for sentence in corpus)
    assert all(sentence.tags for sentence in corpus)
    assert 0 < len(read(DATA / "conllu", exclude_speakers=["Target_Child"])) < 600


@pytest.mark.parametrize(("name", "lines"), [("stray-token", (8, 15)), ("unclosed", (2, 2))])
def test_broken_trees_are_skipped(name, lines):
    path = DATA / "dirty" / f"{name}.parsed"
    with pytest.raises(DbpcfgError, match="--skip-broken"):
        read(path)
    corpus = read(path, broken="skip")
    assert len(corpus) == 2
    assert [(part.line, part.last_line) for part in corpus.skipped] == [lines]


def test_odd_traces():
    corpus = read(DATA / "dirty" / "odd-trace.parsed")
    assert [" ".join(s.words) for s in corpus] == ["which one does he like ?", "star means ."]
    assert corpus.removed == {"words that look like traces": 1, "empty elements": 1}


def test_latin1():
    path = DATA / "dirty" / "latin1.parsed"
    corpus = read(path)
    assert corpus[0].words == ("caf\u00e9", "opens")
    assert corpus.guessed == {str(path): "iso-8859-1"}
    assert read(path, encoding="latin-1").guessed == {}


def test_keyaki(keyaki):
    assert set(keyaki.formats) == {"corpussearch"}
    assert len(keyaki) == 4_448
    assert keyaki.removed == {
        "empty elements": 19_246,
        "ID nodes": 4_449,
        "trees without words": 1,
    }
    assert keyaki.modified == keyaki.suspicious == {}


def branching(program, gold, side, *options):
    """Precision, recall, F1 and the number of sentences; and the recall of noun phrases."""
    said = program.call("evaluate", gold, "--baseline", side, *options)[0].split("\n")
    parseval, phrases, *_ = (line.split() for line in said if line.startswith(f"{side}-"))
    return [*parseval[1:4], parseval[7]], phrases[1]


@pytest.mark.parametrize(
    ("side", "scores", "recall"),
    [("right", "10.3 17.8 13.1 2884", None), ("left", "28.2 48.7 35.7 2884", "34.9")],
)
def test_keyaki_agrees_with_an_independent_script(
    keyaki, tmp_path, monkeypatch, capsys, side, scores, recall
):
    """The script takes 2 to 20 words, of which brackets are some, and scores without brackets."""
    chosen = [s for s in keyaki if 2 <= len(s.words) - s.tags.count("PU") <= 20]
    assert len(chosen) == 2_920
    assert sum(len(sentence.words) for sentence in chosen) == 37_827
    assert len({word for sentence in chosen for word in sentence.words}) == 5_653
    gold = tmp_path / "gold.trees"
    gold.write_text("".join(f"{sentence.tree}\n" for sentence in chosen), encoding="utf-8")
    program = InProcess(monkeypatch, capsys)
    found, found_recall = branching(program, gold, side)
    assert found == scores.split()
    assert recall in (None, found_recall)  # the script has no recall for right branching


def test_keyaki_by_our_own_count_of_words(monkeypatch, capsys):
    """Brackets are no words for the limit either, so that 40 sentences more are scored."""
    program = InProcess(monkeypatch, capsys)
    found = branching(program, DATA / "keyaki", "left", "--max-length", "20")
    assert found == (["28.0", "48.5", "35.5", "2924"], "34.6")


def test_cess():
    corpus = read(DATA / "formats" / "cess")
    assert set(corpus.guessed.values()) == {"iso-8859-1"}
    assert corpus.sentences == read(DATA / "formats" / "cess", encoding="latin-1").sentences
    assert set(corpus.formats) == {"cess"}
    assert sum(len(sentence.words) for sentence in corpus) == 3_348
    assert all(sentence.tags for sentence in corpus)
    assert "*0*" not in {word for sentence in corpus for word in sentence.words}


def test_sinica():
    corpus = read(DATA / "formats" / "sinica.parsed")
    assert corpus.formats == ("sinica",)
    assert len(corpus) == 400
    assert not corpus.removed
    assert all(punctuation_mask(s).index(True) == len(s.words) - 1 for s in corpus)
    assert all(len(sentence.tree.children) == 2 for sentence in corpus)


def test_alpino():
    corpus = read(DATA / "formats" / "alpino-latin1.xml")
    assert corpus.formats == ("alpino",)
    assert len(corpus) == 60
    assert corpus.removed == {"traces": 98}
    assert corpus.modified == {"constituents with gaps": 59, "children raised to close gaps": 70}
    assert all(sentence.tags for sentence in corpus)
    raw = (DATA / "formats" / "alpino-latin1.xml").read_text(encoding="iso-8859-1")
    given = [unescape(text).split() for text in re.findall("<sentence>(.*)</sentence>", raw)]
    shown = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
    assert [list(s.words) for s in corpus] == [[w.translate(shown) for w in s] for s in given]
