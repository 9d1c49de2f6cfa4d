"""What ``induce`` learns from: a corpus as read, a prepared one, or any sentences."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import dbpcfg
from dbpcfg.corpus.preparation import Preparation, prepare
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.induce import induce
from dbpcfg.induction.run import Run
from tests import command

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
OPTIONS = {"K": 2, "chains": 1, "iterations": 4, "threads": 1}


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


def test_speakers_are_recorded(chat, tmp_path):
    run = induce(read(chat, speakers=["MOT"]), out=tmp_path / "mother", **OPTIONS)
    assert len(run.corpus.words) == 3
    assert corpus_table(tmp_path / "mother")["speakers"] == ["MOT"]
    others = read(chat, exclude_speakers=["MOT", "CHI"])
    run = induce(others, out=tmp_path / "father", **OPTIONS)
    assert learned_from(run) == [["a", "Dog", "sees", "the", "cat", "."]]
    recorded = corpus_table(tmp_path / "father")
    assert recorded["exclude_speakers"] == ["MOT", "CHI"]
    assert "speakers" not in recorded


def test_a_prepared_corpus(chat):
    preparation = Preparation(lowercase=False, max_length=4)
    corpus = read(chat, speakers=["MOT", "FAT"])
    run = induce(prepare(corpus, preparation), **OPTIONS)
    assert len(run.corpus.words) == 2
    assert run.configuration.preparation == preparation
    assert run.configuration.corpus["sources"] == [str(chat)]
    assert run.configuration.corpus["speakers"] == ["MOT", "FAT"]
    same = induce(corpus, preparation=preparation, **OPTIONS)
    assert same.configuration == run.configuration
    assert same.trees() == run.trees()


def test_preparing_twice_is_an_error(chat):
    prepared = prepare(read(chat), Preparation())
    for preparation in (Preparation(), Preparation(lowercase=False)):
        with pytest.raises(DbpcfgError, match="is prepared already: leave preparation out"):
            induce(prepared, preparation=preparation, **OPTIONS)


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
        ({"speakers": ["MOT", "FAT"]}, ["--speaker", "MOT", "--speaker", "FAT"]),
        ({"exclude_speakers": ["FAT"]}, ["--exclude-speaker", "FAT"]),
    ],
    ids=str,
)
def test_python_records_what_the_command_records(chat, tmp_path, chosen, flags):
    theirs, ours = tmp_path / "command", tmp_path / "python"
    numbers = ["-K", 2, "--chains", 1, "--iterations", 4]
    done = command.dbpcfg("induce", chat, "--out", theirs, "-q", *numbers, *flags)
    assert done.returncode == 0, done.stderr
    dbpcfg.induce(dbpcfg.read(chat, **chosen), out=ours, **OPTIONS)
    assert corpus_table(ours) == corpus_table(theirs)
    assert corpus_table(ours)["sources"] == [str(chat)]
    assert (ours / "config.toml").read_bytes() == (theirs / "config.toml").read_bytes()
    assert (ours / "model.npz").read_bytes() == (theirs / "model.npz").read_bytes()
