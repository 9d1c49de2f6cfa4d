"""DMV on the sentences of a corpus."""

import pytest

from dbpcfg.corpus.formats import Source
from dbpcfg.corpus.readers.conllu import CONLLU
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.systems.dmv import DMV, number_tags
from dbpcfg.systems.dmv.model import tags_of, write_conllu

SENTENCE = Sentence(("The", "Dog"), ("DET", "NOUN"), xpos=("DT", "NN"), source="f", line=7)


def test_columns():
    assert tags_of([SENTENCE]) == [("DET", "NOUN")]
    assert tags_of([SENTENCE], "xpos") == [("DT", "NN")]
    assert tags_of([SENTENCE], "form") == [("the", "dog")]


@pytest.mark.parametrize("column", ["upos", "xpos"])
def test_missing_columns(column):
    with pytest.raises(DbpcfgError, match=f"f:7: .* no tags in column {column.upper()}"):
        tags_of([Sentence(("a",), source="f", line=7)], column)


def test_from_conllu_to_conllu():
    numbers, _ = number_tags(tags_of([SENTENCE, SENTENCE]))
    heads = [line.tolist() for line in DMV().fit(numbers).heads()]
    text = "\n".join(write_conllu([SENTENCE, SENTENCE], heads))
    found = list(CONLLU.read(text, Source()))
    assert [(s.words, s.tags, s.xpos) for s in found] == [
        (SENTENCE.words, SENTENCE.tags, SENTENCE.xpos)
    ] * 2
    assert [list(s.heads) for s in found] == heads
