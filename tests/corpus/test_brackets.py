"""Known brackets in text and trees, and where they are after preparation."""

import pytest

from dbpcfg.corpus.brackets import BracketError
from dbpcfg.corpus.preparation import Preparation, legible, prepare
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_tree


def of_text(line: str, **options) -> list[str]:
    """The words of each bracket, as they are learned from."""
    seen = Preparation(brackets="text", **options).seen(Sentence(tuple(line.split()), line=3))
    assert not set("[]") & set("".join(seen.words))
    return [" ".join(seen.words[i:j]) for i, j in sorted(seen.brackets)]


def test_brackets_at_the_edges_of_words_or_alone():
    assert of_text("[the dog] barked at [the [old cat]]") == ["the dog", "the old cat", "old cat"]
    assert of_text("[ the dog ] barked [[at] home ]") == ["the dog", "at", "at home"]
    assert of_text("nothing is known") == []


def test_brackets_follow_the_words_that_are_left():
    line = "[the , dog] barked [ , ] [at ,] home ."
    assert of_text(line, no_punctuation=True) == ["the dog", "at"]
    assert of_text("[The dog], who [(as they say) sleeps]: [don't]", tokens="penn") == [
        "The dog",
        "( as they say ) sleeps",
        "do n't",
    ]
    given = Sentence(("the", "dog,", "ran"), brackets=((0, 2), (1, 3)))
    with pytest.raises(BracketError, match=r"brackets \[the dog,\] \[dog, ran\] cross"):
        Preparation().seen(given)
    split = Preparation(tokens="punctuation").seen(Sentence(given.words, brackets=((0, 2),)))
    assert (split.words, split.brackets) == (("the", "dog", ",", "ran"), ((0, 3),))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("the [dog barked", r"<text>:3: found '\[dog barked', a bracket that is not closed"),
        ("the dog] barked", r"<text>:3: found 'dog\]', which closes a bracket that was not opened"),
        ("the [] dog", r"<text>:3: found \[\], a bracket over no word"),
        ("[the dog][barked loud]", r"<text>:3: found a square bracket within 'dog\]\[barked'"),
    ],
)
def test_broken_brackets(line, message):
    with pytest.raises(BracketError, match=message):
        of_text(line)


def test_brackets_over_words_that_are_not_there():
    with pytest.raises(BracketError, match=r"\(1, 4\), which is over words that are not there"):
        Preparation().seen(Sentence(("a", "b", "c"), brackets=((1, 4),)))


def test_constituents_of_trees():
    """Labels, unary chains and whole sentences say nothing."""
    tree = read_tree("(S (X (NP (D the) (N dog))) (VP (V saw) (NP (N cats)) (, ,)) (. .))")
    prepared = prepare([Sentence.from_tree(tree)], Preparation(brackets="trees"))
    assert prepared.encoded.brackets.tolist() == [[0, 0, 2], [0, 2, 5]]
    silent = prepare([Sentence.from_tree(tree)], Preparation(brackets="trees", no_punctuation=True))
    assert silent.encoded.brackets.tolist() == [[0, 0, 2], [0, 2, 4]]
    assert "2 known brackets in 1 sentences" in silent.summary()
    assert prepare([Sentence.from_tree(tree)], Preparation()).encoded.brackets is None


def test_brackets_of_the_wrong_kind():
    with pytest.raises(DbpcfgError, match="this sentence has none; a flat tree"):
        Preparation(brackets="trees").seen(Sentence(("a", "b")))
    with pytest.raises(DbpcfgError, match="brackets = trees takes those of trees"):
        Preparation(brackets="text").seen(Sentence.from_tree(read_tree("(S (A a) (B b))")))


def test_broken_ones_are_skipped_and_counted(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("[the dog] ran\nthe dog] ran\nit [ran\n")
    found = legible(read(file), Preparation(brackets="text"))
    assert [one.line for one in found] == [1]
    assert found.dropped == {"sentences with broken brackets": 2}
    assert [part.line for part in found.skipped] == [2, 3]
    assert "text.txt:2: found 'dog]'" in str(found.skipped[0])
