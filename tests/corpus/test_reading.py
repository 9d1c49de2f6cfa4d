"""Whole corpora from disk."""

import gzip
import io
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.reading import Corpus, read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_tree
from tests.corpus.samples import (
    ALPINO_SENTENCE,
    CESS,
    CORPUSSEARCH,
    EXPORT,
    SINICA,
    TIGER_HEAD,
    TIGER_SENTENCE,
    TIGER_TAIL,
    alpino,
)

TEXT = "the cat sat .\n\nit purrs\n"
PENN = "( (S (NP-SBJ (PRP it)) (VP (VBZ purrs)) (. .)))\n(S (-NONE- *))\n"
CHAT = "@UTF8\n@Begin\n*CHI:\tcat .\n*MOT:\tyes , a cat .\n*FAT:\tno .\n@End\n"
CONLLU = "# speaker_role = Mother\n1\tit\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n" + (
    "2\tpurrs\tpurr\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)
SAMPLES = {
    "text": TEXT,
    "penn": PENN,
    "chat": CHAT,
    "conllu": CONLLU,
    "cess": CESS,
    "corpussearch": CORPUSSEARCH,
    "sinica": SINICA,
    "alpino": alpino(ALPINO_SENTENCE),
    "export": EXPORT,
    "tigerxml": TIGER_HEAD + TIGER_SENTENCE + TIGER_TAIL,
    "table": "id,gloss,speaker_role\n1,look at the cat,Mother\n",
    "babylm": "= = = The Cat = = =\nthe cat purrs .\n",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cat.txt").write_text(TEXT)
    Path("cat.mrg").write_text(PENN)
    Path("cat.cha").write_text(CHAT)
    Path("cat.conllu").write_text(CONLLU)
    return tmp_path


def words(corpus):
    return [" ".join(sentence.words) for sentence in corpus]


def error_of(*paths, **options):
    with pytest.raises(DbpcfgError) as caught:
        read(*paths, **options)
    return str(caught.value)


def test_each_format(here):
    for ending, said, removed in [
        ("txt", ["the cat sat .", "it purrs"], {"blank lines": 1}),
        ("mrg", ["it purrs ."], {"trees without words": 1, "empty elements": 1}),
        ("cha", ["yes , a cat .", "no ."], {"utterances of CHI": 1}),
        ("conllu", ["it purrs"], {}),
    ]:
        corpus = read(f"cat.{ending}")
        assert words(corpus) == said
        assert corpus.removed == removed
    assert read("cat.txt")[1] == Sentence(("it", "purrs"), source="cat.txt", line=3)


def test_several_files_of_several_formats(here):
    seen = []
    corpus = read(Path("cat.txt"), "*.mrg", "cat.cha", progress=lambda *call: seen.append(call))
    assert words(corpus) == ["the cat sat .", "it purrs", "it purrs .", "yes , a cat .", "no ."]
    assert corpus.sources == ("cat.txt", "cat.mrg", "cat.cha")
    assert corpus.formats == ("text", "penn", "chat")
    assert seen == [(0, 3, "cat.txt"), (1, 3, "cat.mrg"), (2, 3, "cat.cha")]
    assert corpus.summary() == (
        "Read 5 sentences (16 tokens) from 3 files (text, penn, chat). "
        "Left out: blank lines (1), empty elements (1), trees without words (1), "
        "utterances of CHI (1)."
    )


def test_trees(here):
    assert read("cat.txt")[:] == list(read("cat.txt"))
    assert read("cat.conllu").summary() == "Read 1 sentence (2 tokens) from cat.conllu (conllu)."
    assert read("cat.mrg").trees() == [read_tree("(ROOT (S (NP (PRP it)) (VP (VBZ purrs)) (. .)))")]
    with pytest.raises(DbpcfgError, match=r"^cat\.txt:1: the sentence has no tree; gold trees"):
        read("cat.mrg", "cat.txt").trees()


def test_options_of_penn_brackets(here):
    assert str(read("cat.mrg", function_tags=True).trees()[0].children[0].children[0]) == (
        "(NP-SBJ (PRP it))"
    )
    assert len(read("cat.mrg", empty_elements=True)) == 2
    assert "only Penn brackets have function tags" in error_of("cat.txt", function_tags=True)
    assert "only Penn brackets have function tags" in error_of("cat.cha", empty_elements=True)


def test_speakers(here):
    assert words(read("cat.cha", speakers=["MOT"])) == ["yes , a cat ."]
    assert words(read("cat.cha", speakers="chi")) == ["cat ."]
    assert words(read("cat.cha", exclude_speakers=["FAT"])) == ["cat .", "yes , a cat ."]
    assert len(read("cat.cha", exclude_speakers=[])) == 3
    assert len(read("cat.cha", "cat.conllu", speakers=["MOT", "Mother"])) == 2
    assert error_of("cat.cha", speakers=["MOM"]) == (
        "no speaker is called 'MOM'; the speakers are CHI, FAT, MOT"
    )
    assert "no speaker is called 'KID'" in error_of("cat.cha", exclude_speakers=["KID"])
    assert error_of("cat.cha", "cat.mrg", speakers="MOT") == (
        "cat.mrg: the format penn has no speakers to choose from"
    )
    assert error_of("cat.conllu", exclude_speakers="mother") == (
        "there is nothing left of cat.conllu: left out were sentences of Mother (1)"
    )


def test_the_content_of_txt_and_unknown_files_decides(here):
    for format, sample in SAMPLES.items():
        for name in ("x.txt", "x", "x.dat", "x.gz"):
            Path(name).write_bytes(gzip.compress(sample.encode()))
            assert read(name).formats == (format,)
    Path("x.cha").write_text(TEXT)
    assert "expected a line that begins with @" in error_of("x.cha")
    Path("x.mrg").write_text(TEXT)
    assert "outside any bracket" in error_of("x.mrg")


def test_a_format_can_be_forced(here):
    assert words(read("cat.mrg", format="text"))[1] == "(S (-NONE- *))"
    assert "outside any bracket" in error_of("cat.txt", format="penn")
    assert "no format 'csv'" in error_of("cat.txt", format="csv")


def test_a_file_that_is_read_in_the_wrong_format(here):
    Path("a").write_text(SINICA, encoding="utf-8")
    for format in ("penn", "conllu"):
        said = error_of("a", format=format)
        assert f"read as {format}, but it begins like sinica: give --input-format sinica" in said
    latin = alpino(ALPINO_SENTENCE).replace('"1.0"', '"1.0" encoding="ISO-8859-1"')
    Path("b.xml").write_bytes(latin.encode("latin-1"))
    assert read("b.xml")[0].words[3] == "caf\u00e9s"
    Path("c.xml").write_text("<book>the cat</book>")
    assert "found XML" in error_of("c.xml")


def test_standard_input(here, monkeypatch):
    for format, sample in SAMPLES.items():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sample.encode())))
        corpus = read("-")
        assert corpus.formats == (format,)
        assert corpus.sources == ("<stdin>",)
        assert corpus[0].source == "<stdin>"


def test_folders(here):
    assert "(1 " in error_of(".")
    assert read(".", format="chat").sources == ("./cat.cha",)
    Path("wsj").mkdir()
    for number in range(3):
        Path(f"wsj/{number}.mrg").write_text(PENN)
    assert len(read("wsj")) == 3
    assert len(read("wsj/", "cat.txt")) == 5


def test_mistakes_name_their_file(here):
    assert error_of("no.txt") == (
        "no.txt cannot be read: No such file or directory; is the path right?"
    )
    Path("empty.mrg").write_text("\n")
    assert error_of("cat.mrg", "empty.mrg").startswith("empty.mrg: the file is empty")
    Path("none.mrg").write_text("(S (-NONE- *))")
    assert error_of("none.mrg") == (
        "there is nothing left of none.mrg: left out were empty elements (1), "
        "trees without words (1)"
    )
    for number in range(4):
        Path(f"none{number}.mrg").write_text("(S (-NONE- *))")
    assert "none0.mrg, none1.mrg, none2.mrg and others:" in error_of("none?.mrg")
    assert "nothing to read" in error_of()


def test_broken_parts_are_skipped_if_asked(here):
    Path("bad.mrg").write_text(PENN + "(S (N a)) x\n")
    Path("bad.cha").write_text(CHAT.replace("@End", "no tab\n*MOT\n@End") + "*MOT:\tlate .\n")
    Path("bad.conllu").write_text(CONLLU + "1\tit\n2\tgoes\n\n" + CONLLU)
    for name in ("bad.mrg", "bad.cha", "bad.conllu"):
        assert "; --skip-broken (in Python broken='skip') skips what is broken" in error_of(name)
    penn = read("bad.mrg", broken="skip")
    assert words(penn) == ["it purrs ."]
    assert penn.removed == {"empty elements": 1, "trees without words": 1, "broken trees": 1}
    assert [(part.source, part.line, part.last_line) for part in penn.skipped] == [
        ("bad.mrg", 3, 3)
    ]
    chat = read("bad.cha", broken="skip")
    assert words(chat) == ["yes , a cat .", "no ."]
    assert [part.line for part in chat.skipped] == [6, 7, 9]
    conllu = read("bad.conllu", broken="skip")
    assert words(conllu) == ["it purrs"] * 2
    assert [(part.line, part.last_line) for part in conllu.skipped] == [(5, 6)]
    assert "found 2 tab-separated columns" in conllu.skipped[0].reason
    all_of_them = read("bad.*", broken="skip")
    assert len(all_of_them.skipped) == 5
    assert read("cat.mrg", broken="skip") == read("cat.mrg")
    assert error_of("cat.mrg", broken="drop") == "broken must be 'error' or 'skip', not 'drop'"
    Path("worst.mrg").write_text("(S (N a\n")
    assert "left out were broken trees (1); first: worst.mrg:1:1: found the end" in error_of(
        "worst.mrg", broken="skip"
    )


def test_notes_list_ten_places(here):
    Path("bad.mrg").write_text("(V a) x\n" * 12 + "(V a)\n" * 12)
    notes = list(read("bad.mrg", broken="skip").notes())
    assert notes[0].endswith("Left out: broken trees (12).")
    assert len(notes) == 12
    assert notes[10].startswith("bad.mrg:10:7: found 'x' outside")
    assert notes[11] == "and 2 others skipped"
    assert list(read("cat.conllu").notes()) == []


def test_three_megabytes_on_a_line(here):
    Path("big.txt").write_text("a" * 3_000_000)
    assert "big.txt:1: found a word of 3,000,000 characters" in error_of("big.txt")
    Path("big.mrg").write_text("(X go)" * 10_000)
    assert len(read("big.mrg")) == 10_000
    for name in ("big.mrg", "big.cha", "big.conllu"):
        Path(name).write_text("a" * 3_000_000)
        assert len(error_of(name)) < 500
    for sign in "([\t*@":
        Path("odd").write_text(sign * 100_000)
        for format in SAMPLES:
            assert len(error_of("odd", format=format)) < 500


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(),
        st.text().map(str.encode),
        st.builds(
            lambda sample, place, junk: sample[:place] + junk + sample[place + 1 :],
            st.sampled_from([sample.encode() for sample in SAMPLES.values()]),
            st.integers(0, 300),
            st.binary(max_size=3),
        ),
    ),
    st.sampled_from([None, *SAMPLES]),
    st.booleans(),
)
def test_any_file_is_a_corpus_or_an_error(tmp_path, data, format, packed):
    path = tmp_path / "any"
    path.write_bytes(gzip.compress(data) if packed else data)
    try:
        corpus = read(path, format=format)
    except DbpcfgError as error:
        corpus = str(error)
    if isinstance(corpus, str):
        assert str(path) in corpus
        return
    assert isinstance(corpus, Corpus)
    assert len(corpus) > 0
    assert all(sentence.words for sentence in corpus)
    assert all(sentence.line > 0 for sentence in corpus)
    if corpus.formats == ("text",):
        text = data.decode("windows-1252" if corpus.guessed else "utf-8").removeprefix("\ufeff")
        assert [word for sentence in corpus for word in sentence.words] == text.split()
    assert re.match(r"Read [\d,]+ sentences? \(", corpus.summary())
