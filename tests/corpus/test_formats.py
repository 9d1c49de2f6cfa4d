"""Recognition of formats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.readers import (
    check_format,
    detect_format,
    format_by_content,
    formats_by_extension,
    readers,
)
from dbpcfg.errors import DbpcfgError

ROW = "1 the the DET DT _ 0 root _ _\n".replace(" ", "\t")


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("wsj_0001.mrg", "corpussearch penn"),
        ("a/adam.parsed", "corpussearch penn sinica"),
        ("a.sinica", "sinica"),
        ("x.trees", "corpussearch penn"),
        ("x.psd", "corpussearch penn"),
        ("x.ptb", "corpussearch penn"),
        ("x.penn", "corpussearch penn"),
        ("x.bracket", "corpussearch penn"),
        ("X.MRG.GZ", "corpussearch penn"),
        ("x.tbf", "cess"),
        ("x.export", "export"),
        ("x.xml.gz", "alpino tigerxml"),
        ("x.tig", "tigerxml"),
        ("eve.cha", "chat"),
        ("en-ud.conllu", "conllu"),
        ("x.conll.gz", "conllu"),
        ("x.txt", "text"),
        ("x.txt.gz", "text"),
        ("childes.train", "text"),
        ("Snow.csv.gz", "table"),
        ("x.tsv", "table"),
        ("x.tab", "table"),
        ("x.gz", None),
        ("x.mrg/README", None),
        ("mrg", None),
        (".mrg", None),
        ("-", None),
    ],
)
def test_extensions(path, format):
    assert formats_by_extension(path) == (() if format is None else tuple(format.split()))


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("the cat sat .\n", "text"),
        ("", "text"),
        ("@home we sing\n", "text"),
        ("# heading\nthe cat\n", "text"),
        ("# text and words\n", "text"),
        ("1\tthe cat\n", "text"),
        ("( laughs ) yes .\n", "text"),
        ("(laughs) yes .\n", "text"),
        ("(laughs) (coughs)\n", "text"),
        ("(he laughs) yes .\n", "text"),
        ("(she (softly) laughs)\n", "text"),
        ("() x", "text"),
        ("@UTF8\n@Begin\n", "chat"),
        ("\n@Begin\n", "chat"),
        (ROW, "conllu"),
        ("\n" + ROW, "conllu"),
        ("# a\n# b\n" + ROW, "conllu"),
        (ROW.replace("1", "1-2", 1), "conllu"),
        (ROW.replace("\t_\n", "\n"), "conllu"),  # nine columns: let the reader complain
        ("# sent_id = 1\n", "conllu"),
        ("#text=the cat\n", "conllu"),
        ("# newdoc\n", "conllu"),
        ("(S (V go))", "penn"),
        ("\n( (S (V go)))", "penn"),
        ("((S (V go)))", "penn"),
        ("(ROOT\n    (S\n\t(V go", "penn"),
        ("(S ( (V go)))", "penn"),
        ("(X go)", "penn"),
        ("(X go)\n(X stop)\n", "penn"),
        ("(S (V go) (", "penn"),
        ("\n(\n  (S\n    (sn.e-SUJ *0*)\n    (vmip3s0 ladra ladrar)))", "cess"),
        ("(S (da0ms0 el) (ncms000 perro perro))", "penn"),
        ("#1:1.[4257] NP(Head:Nba:\u6211)#\u3002(PERIODCATEGORY)", "sinica"),
        ("#1 NP(x)", "text"),
        ("%% x\n#FORMAT 4\n", "export"),
        ("#BOS 1 2 3\nthe\tDT", "export"),
        ("#BOSS is here", "text"),
        ("<alpino_ds>", "alpino"),
        ("<?xml version='1.0'?>\n<alpino>\n<alpino_ds id='1'>", "alpino"),
        ("<corpus>\n<s><graph root='s1_500'>", "tigerxml"),
        ("<corpus><head><annotation><edgelabel>", "tigerxml"),
        ("<corpus><s>the dog</s></corpus>", "text"),
        ("see <alpino_ds>", "text"),
        ("(X (X the dog) (X old cat))", "penn"),
        ("id,gloss,speaker_role\n1,no,Mother\n", "table"),
        ('"gloss"\t"target_child_age"\n', "table"),
        ("a gloss, speaker_role and others\n", "text"),
        ("*MOT:\tlook at that .\n", "babylm"),
        ("= = = A Title = = =\nthe cat sat .\n", "babylm"),
        ("the end .\n= = = A Title = = =\n", "babylm"),
        ("*MOT said so\n= = =\n", "text"),
    ],
)
def test_content(text, format):
    assert format_by_content(text) == format


def test_content_decides_between_the_formats_of_an_extension():
    assert detect_format("a.parsed", "#1:1.[4257] NP(Head:Nba:x)#") == "sinica"
    assert detect_format("a.parsed", "@Begin\n") == "penn"
    assert detect_format("a.mrg", "#1:1.[4257] NP(Head:Nba:x)#") == "penn"
    assert detect_format("a.txt", "#1:1.[4257] NP(Head:Nba:x)#") == "sinica"


def test_asking_for_a_format():
    assert [check_format(format) for format in (None, *readers.names())] == [
        None,
        *readers.names(),
    ]
    with pytest.raises(DbpcfgError, match="no format 'xml'; choose one of text, chat, conllu, "):
        check_format("xml")


@given(st.one_of(st.text(), st.text("()ab \n\t#1")))
def test_any_text_has_a_format(text):
    assert format_by_content(text) in readers


@pytest.mark.parametrize(
    "text",
    ["(" * 10**6, "(a " * 10**6, " " * 10**6, "(" + "a" * 10**6, "<" * 10**6, "<graph " * 10**5,
     "%%\n" * 10**5, "#" * 10**6, "#1[" * 10**5],
)  # fmt: skip
def test_long_texts_take_no_time(text):
    format_by_content(text)
