"""Sinica brackets, on made-up sentences."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.punctuation import punctuation_mask
from dbpcfg.corpus.readers.sinica import read_sinica
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Notes
from dbpcfg.errors import DbpcfgError, TreeSyntaxError
from dbpcfg.trees.tree import Tree
from tests.corpus.fuzz import texts

BANK = """\
#1:1.[11] S(agent:NP(property:N(Head:Nba:黑)|Head:Nab:貓)|time:Dd:慢慢|Head:V:走)#，(COMMACATEGORY)
#2:2.[12] NP(Head:DM:兩隻)#

#3:3.[] VP(Head:VC2:吃|goal:NP(Head:Nab:魚))#！(EXCLANATIONCATEGORY)」(PARENTHESISCATEGORY)
"""


def test_words_tags_and_trees():
    first, second, third = read_sinica(BANK, "f")
    assert str(first.tree) == (
        "(ROOT (S (NP (N (Nba 黑)) (Nab 貓)) (Dd 慢慢) (V 走)) (COMMACATEGORY ，))"
    )
    assert first.words == ("黑", "貓", "慢慢", "走", "，")
    assert first.tags == ("Nba", "Nab", "Dd", "V", "COMMACATEGORY")
    assert punctuation_mask(first) == (False, False, False, False, True)
    assert str(second.tree) == "(ROOT (NP (DM 兩隻)))"
    assert third.words == ("吃", "魚", "！", "」")
    assert [sentence.line for sentence in (first, second, third)] == [1, 2, 4]


def test_words_with_signs():
    (sentence,) = read_sinica("NP(Head:Neu:3:20|Head:X:#|Nab:茶)")
    assert sentence.words == ("3:20", "#", "茶")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("#1:1.[1] S(Head:Nba:a", r"found the end of the line, expected 1 more '\)'"),
        ("#1:1.[1] S(NP(Head:Nba:a)#。(X)", r"found '#。\(X\)', expected '\|' or '\)'"),
        ("#1:1.[1] S(Head:Nba:a))#", r"found '\)#' after the tree, expected '#'"),
        ("#1:1.[1] S(Head:Nba:a)#。", "found '#。' after the tree"),
        ("#1:1.[1] S(Head:Nba:a|)", "found '', expected a word such as"),
        ("#1:1.[1] S()", "found '', expected a word such as"),
        ("#1:1.[1] S(Head)", "found 'Head', expected a word such as"),
        ("#1:1.[1] S(Head:Nba:)", "found 'Head:Nba:', expected a word such as"),
        ("#1:1.[1] S(Head:Nba:a b)", "found 'Head:Nba:a b', expected a word such as"),
        ("#1:1.[1] S(agent:(Head:Nba:a))", "found the label 'agent:', expected one such as"),
        ("#1:1.[1] S(a: NP(Head:Nba:a))", "found the label 'a: NP', expected one such as"),
        ("the dog", r"found the end of the line, expected a label and '\('"),
        (")", r"found '\)', expected a label and '\('"),
    ],
)
def test_errors_say_where_and_what(line, message):
    text = BANK + line + "\n" + BANK
    with pytest.raises(TreeSyntaxError, match=f"^f:5: {message}.*; a tree .*--skip-broken"):
        list(read_sinica(text, "f"))
    notes = Notes()
    assert len(list(read_sinica(text, "f", broken="skip", notes=notes))) == 6
    assert [(part.line, part.last_line) for part in notes.skipped] == [(5, 5)]
    assert notes.dropped == {"broken trees": 1}


names = st.text("NVab黑貓", min_size=1, max_size=3)
phrases = st.recursive(
    st.builds(lambda tag, word: Tree(tag, (word,)), names, names),
    lambda inner: st.builds(Tree, names, st.lists(inner, min_size=1, max_size=4)),
).filter(lambda tree: not tree.preterminal)


def written(tree):
    def phrase(node, parts):
        return f"role:{node.label}:{parts[0]}" if node.preterminal else (
            f"role:{node.label}({'|'.join(parts)})"
        )  # fmt: skip

    return tree.fold(str, phrase)


@given(st.lists(phrases, min_size=1))
def test_reads_what_was_written(trees):
    text = "".join(f"#{n}:1.[7] {written(tree)}#。(X)\n" for n, tree in enumerate(trees))
    expected = [Tree("ROOT", [tree, Tree("X", ("。",))]) for tree in trees]
    assert [sentence.tree for sentence in read_sinica(text)] == expected


def test_deep_trees():
    (sentence,) = read_sinica("S(" * 50_000 + "a:b:c" + ")" * 50_000)
    assert sentence.words == ("c",)


@settings(max_examples=400)
@given(texts(BANK, "()|#:\nab"))
def test_any_text_is_trees_or_a_syntax_error(text):
    notes = Notes()
    found = list(read_sinica(text, "f", broken="skip", notes=notes))
    assert all(re.match(r"f:\d+: found ", part.reason) for part in notes.skipped)
    try:
        assert list(read_sinica(text, "f")) == found
        assert not notes.skipped
    except TreeSyntaxError:
        assert notes.skipped
    for sentence in found:
        assert sentence.tree.words() == list(sentence.words)
        str(sentence.tree)


def test_files(tmp_path):
    for name in ("a.parsed", "a", "a.txt", "a.sinica"):
        (tmp_path / name).write_text(BANK, encoding="utf-8")
        assert read(tmp_path / name).formats == ("sinica",)
    for ending in ("txt", "sinica"):
        (tmp_path / f"a.{ending}").unlink()
    assert len(read(tmp_path)) == 3  # a.parsed
    hint = "begins like sinica: give --input-format sinica"
    with pytest.raises(DbpcfgError, match=f"outside any bracket.*read as penn, but it {hint}"):
        read(tmp_path / "a", format="penn")
    with pytest.raises(DbpcfgError, match=hint):
        read(tmp_path / "a", format="conllu")
