"""Which word is which, and both trees as spans over the words without punctuation."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import (
    MISSING,
    AlignmentError,
    align,
    align_trees,
    brackets,
    has_letter_or_digit,
    number_words,
)
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.helpers import (
    gold_and_predicted,
    marks,
    naive_spans,
    paired,
    punctuated,
    sentence,
)


def aligned(gold: str, predicted: str, punctuation: str = "") -> list[int]:
    """Words separated by spaces; ``punctuation`` lists positions of gold words."""
    words = gold.split()
    marked = {int(position) for position in punctuation.split()}
    return list(align(words, [n in marked for n in range(len(words))], predicted.split()))


@pytest.mark.parametrize(
    ("gold", "punctuation", "predicted", "expected"),
    [
        ("the dog barks", "", "the dog barks", [0, 1, 2]),
        ("The DOG barks", "", "the dog Barks", [0, 1, 2]),
        ("go , dog , go .", "1 3 5", "go dog go", [0, 2, 4]),
        ("go dog go", "", ", go dog -- go .", [-1, 0, 1, -1, 2, -1]),
        ("( a [ b { c ) ] }", "", "-LRB- a -lsb- b -LCB- c -RRB- -RSB- -RCB-", list(range(9))),
        (":-( x", "", ":--LRB- x", [0, 1]),
        ("-LRB- a -RRB-", "0 2", "a", [1]),
        ("a", "", "-LRB- a -RRB-", [-1, 0, -1]),
        # The possessive sign is a gold word, and systems that go by form leave it out.
        ("the boys ' dog .", "4", "the boys dog", [0, 1, 3]),
        # Signs between the same words pair with their like, not with what comes first.
        ("a . , b", "1 2", "a , b", [0, 2, 3]),
        ("a , ' , b", "1 3", "a ' , b", [0, 2, 3, 4]),
        ("a ' ' b", "1", "a ' b", [0, 2, 3]),  # of two like signs, the one that is a word
        ("a , , b", "1 2", "a , b", [0, 1, 3]),  # else the first
        ("' . . .", "1 2 3", ". . . '", [-1, -1, -1, 0]),  # a word is more than all punctuation
        ("a -- ' b", "1", "a ' -- b", [0, 2, -1, 3]),
        # A gold word may have letters and be punctuation, says the mask.
        ("um dog um um runs", "0 2 3", "dog um runs", [1, 2, 4]),
        ("um um go", "0", "um go", [1, 2]),
        (". .", "0 1", ".", [0]),
    ],
)
def test_examples(gold, punctuation, predicted, expected):
    assert aligned(gold, predicted, punctuation) == expected


@pytest.mark.parametrize(
    ("gold", "punctuation", "predicted", "position", "words"),
    [
        ("the dog barks", "", "the cat barks", 2, ("'dog'", "'cat'")),
        ("the , dog barks", "1", "the cat barks", 3, ("'dog'", "'cat'")),
        ("the ' dog barks", "", "the cat barks", 3, ("'dog'", "'cat'")),
        ("the dog", "", "the dog barks", 3, ("missing (the sentence ends)", "'barks'")),
        ("the dog barks .", "3", "the dog .", 3, ("'barks'", "missing (the sentence ends)")),
    ],
)
def test_other_words_are_an_error_that_names_both_places(
    gold, punctuation, predicted, position, words
):
    marked = [str(n) in punctuation.split() for n in range(len(gold.split()))]
    with pytest.raises(AlignmentError) as caught:
        align(gold.split(), marked, predicted.split(), "gold.mrg:7", "out.trees:5")
    message = str(caught.value)
    assert message.startswith("gold.mrg:7 and out.trees:5 are not the same sentence")
    assert f"word {position} of the first is {words[0]}" in message
    assert re.search(rf"of the second is {re.escape(words[1])}", message)
    assert "line i of PRED must be the tree of line i of GOLD" in message
    assert isinstance(caught.value, DbpcfgError)


def test_marks_must_be_as_many_as_words():
    with pytest.raises(AlignmentError, match="g:1: 2 words but 1 mark of punctuation"):
        align(["a", "b"], [False], ["a", "b"], "g:1")


def test_what_is_only_signs():
    assert not any(map(has_letter_or_digit, ["-LRB-", "-rcb-", "--", "...", "'", "$", ""]))
    assert all(map(has_letter_or_digit, ["a", "3", "n't", "é", "犬", "-LRB-a", "lrb"]))


def every_alignment(gold, punctuation, predicted, i=0, j=0):
    """All sets of pairs that the rules allow."""
    if (i, j) == (len(gold), len(predicted)):
        yield ()
    if i < len(gold) and j < len(predicted) and gold[i] == predicted[j]:
        for rest in every_alignment(gold, punctuation, predicted, i + 1, j + 1):
            yield ((i, j), *rest)
    if i < len(gold) and (punctuation[i] or not gold[i].isalnum()):
        yield from every_alignment(gold, punctuation, predicted, i + 1, j)
    if j < len(predicted) and not predicted[j].isalnum():
        yield from every_alignment(gold, punctuation, predicted, i, j + 1)


tokens = st.lists(st.sampled_from(["a", "b", ".", "'"]), max_size=6)


@st.composite
def similar(draw):
    """A gold sentence with marks, and one made from it by leaving out and putting in."""
    gold = draw(tokens)
    punctuation = [
        draw(st.integers(0, 3)) == 0 if word == "a" else draw(st.booleans()) for word in gold
    ]
    predicted = []
    for word, mark in zip(gold, punctuation):
        predicted += draw(st.lists(st.sampled_from([".", "'"]), max_size=1))
        if not ((mark or word != "a") and draw(st.booleans())):
            predicted.append(word)
    return gold, punctuation, predicted


@given(similar() | st.tuples(tokens, st.just(None), tokens))
def test_no_alignment_is_better(case):
    gold, punctuation, predicted = case
    punctuation = [False] * len(gold) if punctuation is None else punctuation

    def worth(pairs):
        return sum(not punctuation[i] for i, _ in pairs), len(pairs)

    possible = list(every_alignment(gold, punctuation, predicted))
    if not possible:
        with pytest.raises(AlignmentError):
            align(gold, punctuation, predicted)
        return
    where = align(gold, punctuation, predicted)
    pairs = tuple((i, j) for j, i in enumerate(where) if i != MISSING)
    assert pairs in possible
    assert worth(pairs) == max(map(worth, possible))


def test_long_sentences():
    words = [f"w{n}" for n in range(5000)]
    punctuated = [token for word in words for token in (word, ",")]
    where = align(punctuated, [False, True] * 5000, words)
    assert list(where) == list(range(0, 10_000, 2))


@pytest.mark.parametrize("top", ["", "ROOT", "TOP", "S1", "VROOT"])
def test_top_labels(top):
    found, _ = brackets(read_tree(f"({top} (S a (NP b c)) (. .))"), [0, 1, 2, -1])
    assert found == {(0, 3): ("S",), (1, 3): ("NP",)}
    found, _ = brackets(read_tree(f"(S ({top} a b) c)"), [0, 1, 2])
    assert found == {(0, 3): ("S",), (0, 2): (top,)}, "only the top node is a top node"
    assert brackets(read_tree(f"(S ({top} a b))"), [0, 1])[0] == {(0, 2): ("S", top)}


def test_words_missing_from_the_prediction():
    """They lie inside a span if words on both sides do, and outside at its edge."""
    gold = "(S (NP (NP the boys (POS ')) dogs) (VP bark))"
    inside = paired(gold, "(X (X the (X boys dogs)) bark)")
    assert list(inside.predicted) == [(0, 5), (0, 4), (1, 4)]
    edge = paired(gold, "(X (X the boys) (X dogs bark))")
    assert list(edge.predicted) == [(0, 5), (0, 2), (3, 5)]
    assert edge.predicted_tags == [""] * 5


def test_words_missing_from_the_gold_tree():
    trees = paired("(S (NP a b) c)", "(X (X -- a) (X . ,) (X (X b (Q --)) c))")
    assert trees.predicted == {(0, 3): ("X",), (0, 1): ("X",), (1, 3): ("X",), (1, 2): ("X",)}


def test_gold_tags_are_the_sentences_own_if_it_has_any():
    gold = Sentence(("a", ","), tags=("N", ","), tree=read_tree("(S a ,)"))
    assert align_trees(gold, sentence("(X a)"), (False, True)).gold_tags == ["N"]


def test_a_sentence_without_a_tree():
    with pytest.raises(DbpcfgError, match=r"here\.txt:3: found words but no tree"):
        align_trees(Sentence(("a",), source="here.txt", line=3), sentence("(X a)"), (False,))


@given(gold_and_predicted(), st.data())
def test_spans_are_those_of_the_definition(trees, data):
    tree = data.draw(punctuated(trees[0]))
    expected: dict[tuple[int, int], tuple[str, ...]] = {}
    for start, end, label in naive_spans(tree, marks(tree)):
        expected[start, end] = (*expected.get((start, end), ()), label)
    assert brackets(tree, number_words(marks(tree)))[0] == expected


def test_deep_trees():
    tree = read_tree("(X a " * 20_000 + "b" + ")" * 20_000)
    found, tags = brackets(tree, range(20_001))
    assert len(found) == 20_000
    assert len(tags) == 20_001
