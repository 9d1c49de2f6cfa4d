"""Tagged text: recognising and reading its formats; `dbpcfg baseline bmmm` writes them."""

import pytest

from dbpcfg.corpus.tagged import read_tagged, tagged_format
from dbpcfg.errors import DbpcfgError

CONLLU = "1\tthe\t_\tDET\t{}\t_\t_\t_\t_\t_\n2\tdog\t_\tNOUN\t{}\t_\t_\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("name", "content", "format", "tags"),
    [
        ("a.txt", "the/1 dog/2\n", "text", ["1", "2"]),
        ("a", "\n\nthe/1 dog/2\n", "text", ["1", "2"]),
        ("a.tsv", "the\t1\ndog\t2\n", "tsv", ["1", "2"]),
        ("a.conllu", CONLLU.format(7, 8), "conllu", ["7", "8"]),
        ("a", CONLLU.format(7, "_"), "conllu", ["7", "_"]),
        ("a.conllu", CONLLU.format("_", "_"), "conllu", ["DET", "NOUN"]),
        ("a.txt", "the dog/2\n", None, None),
        ("a.trees", "the/1 dog/2\n", None, None),
        ("a.txt", "(S (D the) (N dog))\n", None, None),
        ("a.txt", "", None, None),
    ],
)
def test_formats(tmp_path, name, content, format, tags):
    path = tmp_path / name
    path.write_text(content)
    assert tagged_format(str(path)) == format
    if format is not None:
        (sentence,) = read_tagged(str(path), format)
        assert sentence.words == ("the", "dog")
        assert list(sentence.tags) == tags
    assert tagged_format(str(tmp_path)) is tagged_format("nowhere") is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "the/1\na dog/2\n", "a.txt:2: found 'a', expected a word, a slash and its tag"),
        ("a.txt", "the/1\n/1\n", "a.txt:2: found '/1', expected a word, a slash"),
        ("a.tsv", "the\t1\n\ndog\n", "a.tsv:3: found 'dog', expected a word, a tab and its tag"),
        ("a.conllu", CONLLU.replace("DET", "_").replace("NOUN", "_").format("_", "_"), "no tags"),
        ("a.conllu", "1\tthe\n", "a.conllu:1: found 2 tab-separated columns"),
    ],
)
def test_broken_tagged_text(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DbpcfgError, match=message):
        read_tagged(str(path), tagged_format(str(path)))
