"""The files of BabyLM."""

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.errors import DbpcfgError

CHILDES = """\
= = = 010600.cha = = =
*MOT:\tlook at that xxx .
*CHI:\tcar .

*FAT:\t&=laughs .
*MOT:\tit's a car !
"""
SWITCHBOARD = "A:\tWell , yes .\nB:\tNo .\n"
BOOKS = "= = = PG1 = = =\nOnce upon a time .\n= = = PG2 = = =\nThe end .\n"


def write(folder, text, name="childes.train"):
    path = folder / name
    path.write_text(text)
    return path


def texts(corpus):
    return [(one.speaker, " ".join(one.words)) for one in corpus]


def test_speech_to_children(tmp_path):
    corpus = read(write(tmp_path, CHILDES), quiet=True)
    assert texts(corpus) == [("MOT", "look at that ."), ("MOT", "it's a car !")]
    assert corpus.formats == ("babylm",)
    assert corpus.removed == {
        "headings": 1,
        "utterances of CHI": 1,
        "blank lines": 1,
        "utterances without words": 1,
        "retraced, unclear and omitted words, fillers and events": 1,
    }
    assert any("headings (1)" in note for note in corpus.notes())


def test_speakers(tmp_path):
    path = write(tmp_path, CHILDES)
    assert texts(read(path, speakers="CHI", quiet=True)) == [("CHI", "car .")]
    assert len(read(path, exclude_speakers="FAT", quiet=True)) == 3
    with pytest.raises(DbpcfgError, match="no speaker is called 'DAD'; the speakers are CHI, FAT"):
        read(path, speakers="DAD", quiet=True)


def test_books_and_conversations(tmp_path):
    corpus = read(write(tmp_path, BOOKS, "gutenberg.train"), quiet=True)
    assert texts(corpus) == [(None, "Once upon a time ."), (None, "The end .")]
    assert corpus.removed == {"headings": 2}
    path = write(tmp_path, SWITCHBOARD, "switchboard.train")
    assert texts(read(path, quiet=True)) == [("A", "Well , yes ."), ("B", "No .")]


def test_a_folder_of_all_parts(tmp_path):
    for name, text in (("childes", CHILDES), ("gutenberg", BOOKS), ("bnc_spoken", "Yes .\n")):
        write(tmp_path, text, f"{name}.dev")
    corpus = read(tmp_path, quiet=True)
    assert corpus.formats == ("text", "babylm", "babylm")
    assert len(corpus) == 5
