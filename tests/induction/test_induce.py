"""``induce``: its keywords, what it learns from, and runs that cannot fit into memory."""

import inspect
import tomllib
from pathlib import Path
from typing import get_type_hints

import pytest

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.induce import induce
from dbpcfg.induction.run import Run
from dbpcfg.options import INDUCE, InduceOptions, keywords
from tests.induction.small import SENTENCES
from tests.inprocess import InProcess

OPTIONS = {"K": 2, "chains": 1, "iterations": 4, "threads": 1}

# --- keywords -------------------------------------------------------------------------------------


def test_every_option_is_a_keyword_and_documented():
    parameters = inspect.signature(dbpcfg.induce).parameters
    lines = dbpcfg.induce.__doc__.splitlines()
    for name, one in keywords(INDUCE).items():
        assert name in parameters
        assert f"    {name}" in lines
        if name not in ("K", "D", "cluster"):
            assert parameters[name].annotation == one.kind
            described = lines[lines.index(f"    {name}") + 1]
            assert one.help in described or len(one.help) > 80
    assert "options" not in parameters
    assert "spread" in inspect.signature(dbpcfg.resume).parameters


def test_type_checkers_know_the_same_keywords():
    known = get_type_hints(InduceOptions)
    declared = keywords(INDUCE)
    assert known.keys() == declared.keys() - {"K", "D", "cluster"}
    for name, kind in known.items():
        several = declared[name].kind == tuple[str, ...]
        assert kind == (str | declared[name].kind if several else declared[name].kind), name


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"categories": 3}, "no option 'categories'; did you mean K?"),
        ({"depth": 3}, "did you mean D?"),
        ({"iteration": 3}, "no option 'iteration'; did you mean iterations?"),
        ({"itertions": 3}, "no option 'itertions'; did you mean iterations?"),
        ({"smothing": 1, "learner": "em"}, "did you mean smoothing?"),
        ({"xyzzy": 3}, "no option 'xyzzy'; help(dbpcfg.induce) lists all"),
        ({"learner": "foo"}, "no learner 'foo'; choose one of auto, gibbs, em, vb, neural"),
        ({"workers": "elves"}, "workers must be threads or processes, got 'elves'"),
        ({"threads": 0}, "threads must be a whole number from 1 up or none, got 0"),
        ({"cluster": 3}, "3 is not a cluster"),
        ({"spread": "chains"}, "give cluster too"),
        ({"spread": "hay"}, "spread must be chains or sentences or none"),
        ({"encoding": "latin-1"}, "encoding: only for a corpus that is given as a path"),
        ({"learner": dbpcfg, "K": 2}, "learner"),
    ],
    ids=str,
)
def test_keywords_that_cannot_be(given, said):
    with pytest.raises(DbpcfgError) as error:
        dbpcfg.induce(SENTENCES, **{"iterations": 2, **given})
    assert said in str(error.value)


def test_no_bound():
    runs = [induce(SENTENCES, D=D, **OPTIONS) for D in (None, "none", 2)]
    assert [run.configuration.model.depth for run in runs] == [None, None, 2]
    assert runs[0].trees() == runs[1].trees() != runs[2].trees()


# --- sentences ------------------------------------------------------------------------------------

CHAT = """@UTF8
@Begin
@Participants:\tCHI Eve Target_Child, MOT Mother, FAT Father
*CHI:\tcat .
*MOT:\tyes , a cat .
*MOT:\tthe cat sees a dog .
*FAT:\ta Dog sees the cat .
*MOT:\tthe dog !
*CHI:\tdog .
@End
"""


@pytest.fixture
def chat(tmp_path) -> Path:
    (tmp_path / "eve.cha").write_text(CHAT)
    return tmp_path / "eve.cha"


def corpus_table(run: Path) -> dict[str, object]:
    return tomllib.loads((run / "config.toml").read_text())["corpus"]


def learned_from(run: Run) -> list[list[str]]:
    return list(run.corpus.words)


def test_a_corpus_as_read(chat):
    corpus = read(chat)
    run = induce(corpus, **OPTIONS)
    assert learned_from(run) == [list(sentence.words) for sentence in corpus]
    assert len(corpus) == 4  # without the target child
    recorded = run.configuration.corpus
    assert recorded["sources"] == [str(chat)]
    assert (recorded["sentences"], recorded["tokens"]) == (4, 20)
    assert recorded["digest"] == run.corpus.digest()
    assert not {"speakers", "exclude_speakers"} & recorded.keys()


def test_a_prepared_corpus(chat):
    preprocessing = Preprocessing(lowercase=False, max_length=4)
    corpus = read(chat, speakers=["MOT", "FAT"])
    run = induce(preprocess(corpus, preprocessing), **OPTIONS)
    assert len(run.corpus.words) == 2
    assert run.configuration.preprocessing == preprocessing
    assert run.configuration.corpus["speakers"] == ["MOT", "FAT"]
    same = induce(corpus, lowercase=False, max_length=4, **OPTIONS)
    assert same.configuration == run.configuration
    assert same.trees() == run.trees()
    for twice in ({"lowercase": False}, {"rare": 0}, {"encoding": "utf-8"}):
        with pytest.raises(
            DbpcfgError, match=f"{next(iter(twice))}: the corpus is prepared alread"
        ):
            induce(preprocess(corpus, preprocessing), **twice, **OPTIONS)


@pytest.mark.parametrize(
    "form",
    [
        lambda words: words,
        lambda words: iter(words),
        lambda words: map(" ".join, words),
        lambda words: [Sentence(tuple(one), source="elsewhere", line=3) for one in words],
    ],
    ids=["lists of words", "an iterator", "texts", "sentences"],
)
def test_any_sentences(chat, form):
    corpus = read(chat)
    run = induce(form([list(sentence.words) for sentence in corpus]), **OPTIONS)
    assert run.trees() == induce(corpus, **OPTIONS).trees()
    assert run.configuration.corpus == {
        "sources": [],
        "sentences": 4,
        "tokens": 20,
        "forms": len({word.lower() for sentence in corpus for word in sentence.words}),
        "digest": run.corpus.digest(),
    }


@pytest.mark.parametrize(
    ("chosen", "flags"),
    [
        ({}, []),
        ({"speaker": ["MOT", "FAT"]}, ["--speaker", "MOT", "--speaker", "FAT"]),
        ({"exclude_speaker": "FAT", "rare": 1}, ["--exclude-speaker", "FAT", "--rare", "1"]),
        ({"learner": "vb", "D": None, "batch": 2}, ["--learner", "vb", "-D", "none", "--batch", 2]),
    ],
    ids=str,
)
def test_python_does_what_the_command_does(chat, tmp_path, monkeypatch, capsys, chosen, flags):
    theirs, ours = tmp_path / "command", tmp_path / "python"
    numbers = ["-K", 2, "--chains", 1, "--iterations", 4]
    InProcess(monkeypatch, capsys).call("induce", chat, "--out", theirs, "-q", *numbers, *flags)
    dbpcfg.induce(chat, out=ours, **OPTIONS, **chosen)
    recorded = corpus_table(ours)
    assert recorded["sources"] == [str(chat)]
    assert recorded.get("speakers") == chosen.get("speaker")
    for name in ("config.toml", "model.npz", "trees.txt"):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes()


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"K": 5000}, r"would need [\d,]+ GiB of memory, and there are [\d,.]+ GiB"),
        ({"K": 1_000_000}, r"would need .* of memory"),
        ({"D": 1_000_000}, "the depth bound must be at most 10,000, got 1,000,000"),
        ({"chains": 100_000_000, "iterations": 10}, r"would need [\d,]+ GiB of memory"),
        ({"K": 60, "D": 6, "parser": "leftcorner"}, "left-corner parser would need .* stores"),
        ({"K": 200_000, "learner": "neural"}, r"would need .* of memory"),
    ],
    ids=str,
)
def test_what_cannot_fit(tmp_path, options, said):
    out = tmp_path / "runs" / "run"
    for where in (None, out):
        with pytest.raises(DbpcfgError, match=said) as error:
            induce(SENTENCES, out=where, **options)
        assert " 0 GiB" not in str(error.value)
        assert "\n" not in str(error.value)
    assert not out.parent.exists()


def test_usual_runs_fit(monkeypatch):
    given = {"chains": 2, "iterations": 4}
    for limit in (40 * 2**20, None):
        monkeypatch.setattr("dbpcfg.induction.induce.memory_limit", lambda limit=limit: limit)
        assert induce(SENTENCES, 3, **given).finished
    monkeypatch.setattr("dbpcfg.induction.induce.memory_limit", lambda: 2**10)
    with pytest.raises(DbpcfgError, match="would need 1 MiB of memory, and there are 1 MiB"):
        induce(SENTENCES, 3, **given)
