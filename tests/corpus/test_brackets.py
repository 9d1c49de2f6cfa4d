"""Known brackets in text and trees, and where they are after preprocessing."""

import re

import pytest

from dbpcfg.corpus.brackets import BracketError
from dbpcfg.corpus.preprocessing import Preprocessing, drop_malformed, preprocess
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.trees.brackets import read_tree


def of_text(line: str, **options) -> list[str]:
    """The words of each bracket, as they are learned from."""
    seen = Preprocessing(brackets="text", **options).apply(Sentence(tuple(line.split()), line=3))
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
        Preprocessing().apply(given)
    split = Preprocessing(tokens="punctuation").apply(Sentence(given.words, brackets=((0, 2),)))
    assert (split.words, split.brackets) == (("the", "dog", ",", "ran"), ((0, 3),))


def stretches(line: str, **options) -> list[str]:
    """The words of each bracket that follows from punctuation."""
    chosen = Preprocessing(punctuation_brackets=True, **options)
    seen = chosen.apply(Sentence(tuple(line.split()), line=3))
    return [" ".join(seen.words[i:j]) for i, j in sorted(seen.brackets)]


def test_brackets_between_punctuation_marks():
    line = '" no , not the red ball , " said he , the dog .'
    assert stretches(line) == ["no", "not the red ball", "said he", "the dog"]
    assert stretches(line, no_punctuation=True) == stretches(line)
    assert stretches("the dog barks .") == ["the dog barks"]
    corpus = preprocess(
        [Sentence(("the", "dog", "barks", "."))],
        Preprocessing(punctuation_brackets=True, no_punctuation=True),
    )
    assert corpus.encoded.brackets is None  # a whole sentence is none
    assert stretches("a b, c d", tokens="punctuation") == ["a b", "c d"]
    assert stretches("- - -") == []


def test_known_brackets_come_before_those_of_punctuation():
    line = "[the dog , it] barks loud , yes it does"
    assert stretches(line, brackets="text") == ["the dog", "the dog , it", "yes it does"]
    line = "yes it [does , the dog] barks"
    assert stretches(line, brackets="text") == ["does , the dog"]
    assert stretches("[yes , [it does]]", brackets="text") == ["yes", "yes , it does", "it does"]
    line = "[it does ,] the dog barks"
    assert stretches(line, brackets="text") == ["it does", "it does ,", "the dog barks"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("the [dog barked", r"found '\[dog barked', a bracket that is not closed, expected a \]"),
        ("the dog] barked", r"found 'dog\]', which closes a bracket that was not opened, expected"),
        ("the [] dog", r"found \[\], a bracket over no word, expected words"),
        ("[the dog][barked loud]", r"found a square bracket within 'dog\]\[barked', expected"),
        ("[the [old dog", r"found '\[old dog', a bracket"),  # the last one opened
    ],
)
def test_broken_brackets(line, message):
    remedy = r"--skip-broken \(in Python skip_broken=True\) skips such sentences"
    with pytest.raises(BracketError, match=f"^<text>:3: {message}.*; {remedy}$"):
        of_text(line)


@pytest.mark.parametrize("tokens", ["space", "punctuation"])
@pytest.mark.parametrize("span", [(1, 4), (-1, 2), (2, 2), (2, 1)])
def test_brackets_over_words_that_are_not_there(span, tokens):
    said = re.escape(f"found the bracket {span}, which is over words that are not there")
    with pytest.raises(BracketError, match=said):
        Preprocessing(tokens=tokens).apply(Sentence(("a", "b", "c"), brackets=(span,)))


def test_brackets_side_by_side_inside_each_other_and_repeated():
    given = Sentence(("a", "b", "c"), brackets=((2, 3), (0, 2), (0, 3), (1, 2), (0, 2)))
    assert Preprocessing().apply(given) == given


def test_constituents_of_trees():
    """Labels, unary chains and whole sentences say nothing."""
    tree = read_tree("(S (X (NP (D the) (N dog))) (VP (V saw) (NP (N cats)) (, ,)) (. .))")
    preprocessed = preprocess([Sentence.from_tree(tree)], Preprocessing(brackets="trees"))
    assert preprocessed.encoded.brackets.tolist() == [[0, 0, 2], [0, 2, 5]]
    silent = preprocess(
        [Sentence.from_tree(tree)], Preprocessing(brackets="trees", no_punctuation=True)
    )
    assert silent.encoded.brackets.tolist() == [[0, 0, 2], [0, 2, 4]]
    assert "2 known brackets in 1 sentence" in silent.summary()
    assert preprocess([Sentence.from_tree(tree)], Preprocessing()).encoded.brackets is None


def test_brackets_of_the_wrong_kind():
    with pytest.raises(DbpcfgError, match="this sentence has none; a flat tree"):
        Preprocessing(brackets="trees").apply(Sentence(("a", "b")))
    with pytest.raises(DbpcfgError, match="brackets = trees takes those of trees"):
        Preprocessing(brackets="text").apply(Sentence.from_tree(read_tree("(S (A a) (B b))")))


def test_broken_ones_are_skipped_and_counted(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("[the dog] ran\nthe dog] ran\nit [ran\n")
    found = drop_malformed(read(file), Preprocessing(brackets="text"))
    assert [one.line for one in found] == [1]
    assert found.removed == {"sentences with broken brackets": 2}
    assert [part.line for part in found.skipped] == [2, 3]
    assert "text.txt:2: found 'dog]'" in str(found.skipped[0])
    assert "--skip-broken" not in str(found.skipped[0])
