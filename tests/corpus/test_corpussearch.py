"""CorpusSearch brackets: what is no word goes and is counted, whatever its label."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.readers import detect_format, format_by_content
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import punctuation_mask
from dbpcfg.errors import TreeSyntaxError
from dbpcfg.trees.tree import Tree
from tests.corpus.helpers import read_as, texts, trees_as
from tests.corpus.samples import CORPUSSEARCH, LEMMAS, PENN


def one(inner, **options):
    """The words of a sentence, and what was noted."""
    text = f"( (IP-MAT {inner} (VBD went)) (ID X,1.2))"
    (sentence,), source = read_as("corpussearch", text, **options)
    return " ".join(sentence.words), source


def test_a_small_treebank():
    (first, second), source = read_as("corpussearch", CORPUSSEARCH, "bank.psd")
    assert str(first.tree) == (
        "(ROOT (IP (NP (PRO It)) (VBD befell) (, ,) (CP (C that) (IP (NP (D the) (N queen)) "
        "(MD can) (NEG not) (VB come))) (. .)))"
    )
    assert str(second.tree) == (
        "(ROOT (IP (VBD said) (' ') (CP (IP (NP (D the) (N man)) (VBD slept) "
        '(ADVP (ADV21 a) (ADV22 gain)) (LATIN (FW ergo)))) (" ")))'
    )
    assert (first.line, second.line) == (12, 22)
    assert source.removed == {
        "comments": 2,
        "ID nodes": 2,
        "empty elements": 4,
        "CODE nodes": 2,
        "METADATA nodes": 1,
        "COMMENT nodes": 1,
        "trees without words": 1,
    }
    assert source.modified == {"words with $ or @ at an end": 2}
    assert not source.suspicious
    marks = [word for word, mark in zip(second.words, punctuation_mask(second)) if mark]
    assert marks == ["'", '"']


def test_it_is_recognised_by_its_identifiers():
    for text in (CORPUSSEARCH, LEMMAS):
        assert (
            format_by_content(text) == detect_format("x.psd", text) == detect_format("x.mrg", text)
        )
        assert format_by_content(text) == "corpussearch"
    inside = "( (IP (ID X,1) (N dog)))"
    assert format_by_content(inside) == "corpussearch"
    without = re.sub(r"\(ID [^()]*\)", "", LEMMAS)
    assert format_by_content(without) == detect_format("x.psd", without) == "penn"
    assert format_by_content(PENN) == detect_format("x.psd", PENN) == "penn"
    assert format_by_content("( (S (N the ID card)))") == "penn"
    assert format_by_content("/* a comment */\nx (ID 5)\n") == "text"
    assert detect_format("x.psd", "not a tree") == "penn"


@pytest.mark.parametrize(
    "empty",
    ["(NP *)", "(NP-SBJ *T*-1)", "(NP *ICH*-2)", "(NP-SBJ *exp*)", "(NP-SBJ *con*)", "(NP *arb*)",
     "(NP-OB1 *を*)", "(P *に*)", "(VB *)", "(NP *-1)", "(NP *speaker+pro*)", "(P ***)",
     "(NP *T*=2)", "(C 0)", "(WNP-1 0)", "(WADV 0)", "(WPRO 0)", "(NP-SBJ 0)", "(P 0)",
     "(NP;*SBJ* *pro*)", "(NP (D *))"],
)  # fmt: skip
def test_empty_elements(empty):
    said, source = one(empty)
    assert said == "went"
    assert source.removed == {"empty elements": 1, "ID nodes": 1}
    said, source = one(empty, empty_elements=True)
    assert said.endswith(" went")
    assert source.removed == {"ID nodes": 1}


@pytest.mark.parametrize("word", ["*x", "x*", "*x*y", "5*3", "00", "10", "law-suit", "<P", "$5"])
def test_words_that_are_nearly_empty_elements(word):
    said, source = one(f"(N {word})")
    assert said == f"{word} went"
    assert source.removed == {"ID nodes": 1}
    assert not source.modified


def test_zero_may_be_a_number():
    said, source = one("(NUM 0) (NS men) (, *) (. **)")
    assert said == "0 men * ** went"
    assert source.suspicious == {"0 that may be an empty element": 1}


@pytest.mark.parametrize(
    "inner",
    ["(CODE <P_3>)", "(META (AUTHOR nobody) (DATE 1485))", "(METADATA x y)", "(COMMENT note)",
     "(VERSION (HASH 1))", "(NP (CODE {TEXT:wente}))"],
)  # fmt: skip
def test_nodes_without_words(inner):
    said, source = one(inner)
    assert said == "went"
    assert source.removed.total() == 2


@pytest.mark.parametrize("comment", ["/* a (b */", "/~*\na\n*~/", "  /*\n*\n*/", "/*\nx\n*~/\n*/"])
def test_comments_keep_the_lines(comment):
    text = f"{comment}\n( (IP (N dog)) (ID X,1))\n{comment}\n( (IP (N cat)) (ID X,2))"
    sentences, source = read_as("corpussearch", text)
    lines = comment.count("\n") + 1
    assert [(s.line, *s.words) for s in sentences] == [(lines + 1, "dog"), (2 * lines + 2, "cat")]
    assert source.removed["comments"] == 2
    assert one("(N and/*) (N or*/)")[0] == "and/* or*/ went"  # not where a line begins


def test_lemmas():
    sentences, source = read_as("corpussearch", LEMMAS)
    assert [" ".join(s.words) for s in sentences] == ["Maður inn sá e-mail , - .", "hann sefur ."]
    assert sentences[0].tags == ("N", "D", "VBDI", "N", ",", ",", ".")
    assert source.removed == {"lemmas": 10, "ID nodes": 2, "empty elements": 1}
    assert source.modified == {"words with $ or @ at an end": 2}
    some = LEMMAS + "( (IP (FW amen)) (ID X,3))" + LEMMAS * 2
    sentences, source = read_as("corpussearch", some)
    assert sentences[2].words == ("amen",)
    assert (source.removed["lemmas"], source.suspicious) == (30, {"words without a lemma": 1})


def test_hyphens_are_no_lemmas_unless_all_words_have_them():
    assert one("(N law-suit) (. .-.)")[0] == "law-suit .-. went"
    text = "( (FRAG (N law-suit) (N e-mail)) (ID X,1))"
    assert read_as("corpussearch", text)[0][0].words == ("law-suit", "e-mail")


def test_escapes_and_marks():
    said, source = one("(N and<slash>or) (N <dash>) (' <paren>) (' <$$paren>) (PRO $him) (N a@b)")
    assert said == "and/or - -LRB- -RRB- him a@b went"
    assert source.modified == {"words with escaped characters": 4, "words with $ or @ at an end": 1}


@pytest.mark.parametrize(
    ("label", "cut"),
    [("NP-SBJ", "NP"), ("NP;*SBJ*", "NP"), ("NP=1", "NP"), ("PP;*", "PP"), ("NP{A+B}", "NP"),
     ("-LRB-", "-LRB-"), ("N-N", "N"), ("PRO$", "PRO$"), ("P+N", "P+N"), (";", ";")],
)  # fmt: skip
def test_labels(label, cut):
    text = f"( (IP ({label} (X a) (Y b)) ({label} c)) (ID X,1))"
    assert trees_as("corpussearch", text) == [f"(ROOT (IP ({cut} (X a) (Y b)) ({cut} c)))"]
    whole = trees_as("corpussearch", text, function_tags=True)
    assert whole == [f"(ROOT (IP ({label} (X a) (Y b)) ({label} c)))"]


def test_broken_trees():
    text = CORPUSSEARCH.replace("(N queen))", "(N queen)")
    with pytest.raises(TreeSyntaxError, match=r"^f:12:1: found the end .* --skip-broken"):
        read_as("corpussearch", text)
    (sentence,), source = read_as("corpussearch", text, skip_broken=True)
    assert sentence.line == 22
    assert [(part.line, part.last_line) for part in source.skipped] == [(12, 20)]
    assert source.removed["ID nodes"] == 1
    with pytest.raises(TreeSyntaxError, match=r"^f:1:1: found '/\* no end' outside any bracket"):
        read_as("corpussearch", "/* no end\n( (IP (N a)) (ID X,1))")


@given(texts(CORPUSSEARCH, "()-=;*0 \nNPID/~"))
def test_any_text(text):
    try:
        found, _ = read_as("corpussearch", text)
    except TreeSyntaxError:
        found, _ = read_as("corpussearch", text, skip_broken=True)
    for sentence in found:
        assert list(sentence.words) == sentence.tree.words()
        assert not {"ID", "CODE", "METADATA", "COMMENT"} & {n.label for n in sentence.tree.nodes()}


words = st.sampled_from(["the", "dog", "*", "*T*-1", "*pro*", "0", "."])
labels = st.sampled_from(["IP-MAT", "NP;*", "C", "WNP-1", "NUM", ".", "CODE", "ID"])
nodes = st.recursive(
    st.builds(lambda label, word: Tree(label, [word]), labels, words),
    lambda inner: st.builds(Tree, labels, st.lists(inner, min_size=1, max_size=4)),
)


def naive(tree):
    label = re.split("[-=;]", tree.label)[0]
    if label in ("CODE", "ID"):
        return None
    if tree.preterminal:
        word = tree.children[0]
        if word == "0":
            return None if label in ("C", "WNP", "IP", "NP") else Tree(label, [word])
        star = word.startswith("*") and not (word == "*" and label == ".")
        return None if star else Tree(label, [word])
    children = [child for child in map(naive, tree.children) if child]
    return Tree(label, children) if children else None


@given(st.lists(nodes, min_size=1, max_size=4))
def test_agrees_with_a_naive_definition(several):
    text = "\n".join(f"( {tree} (ID X,{n}))" for n, tree in enumerate(several))
    expected = [str(Tree("ROOT", [left])) for left in map(naive, several) if left]
    assert trees_as("corpussearch", text) == expected


def test_what_is_kept_and_looks_like_no_word_is_reported(tmp_path):
    bare = tmp_path / "bare.psd"
    bare.write_text("( (IP (NP-SBJ *pro*) (C 0) (VBD went) (NP *) (NUM 0)))\n" * 2)
    corpus = read(bare)
    assert corpus.formats == ("penn",)
    assert corpus.suspicious == {"what looks like an empty element, such as *pro*, 0, *": 6}
    said, hint = corpus.notes()
    assert said.endswith(
        "Kept as words: what looks like an empty element, such as *pro*, 0, * (6)."
    )
    assert "--input-format corpussearch" in hint
    assert read(bare, format="corpussearch")[0].words == ("went", "0")
    assert not read(bare, empty_elements=True).suspicious
    text = tmp_path / "a.txt"
    text.write_text("CMTEST,2.3 the dog\n1_book_A-1;JP *T*-1 slept 0 * ***\n3,000.5 yes,\n")
    assert list(read(text).suspicious.items()) == [
        ("what looks like an empty element, such as *T*-1", 1),
        ("what looks like an identifier, such as CMTEST,2.3, 1_book_A-1;JP", 2),
    ]
    penn = tmp_path / "a.mrg"
    penn.write_text("( (S (NNP 0) (CD 0) (NFP *) (SYM **) (: *) (NN dog) (ID 7)))")
    assert read(penn, format="penn").suspicious == {"what looks like an identifier, such as 7": 1}
    penn.write_text("( (S (NN dog)))")
    assert not read(penn).suspicious
    assert not list(read(penn).notes())
