"""CCL as a whole: sentences worked out by hand, a slower CCL to agree with, and odd input."""

import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dbpcfg.io.progress
from dbpcfg.io.progress import Progress
from dbpcfg.systems.ccl import CCL, nested, tree_from_brackets
from dbpcfg.systems.ccl.scoring import PUNCTUATION
from tests.systems.ccl_oracle import ccl_brackets, uncrossed


def parsed(text: str, **settings: bool) -> list[str]:
    sentences = [line.split() for line in text.split("|")]
    return [str(tree) for tree in CCL(**settings).fit(sentences).trees()]


def brackets(sentences, **settings: bool) -> list[set[tuple[int, int]]]:
    trees = CCL(**settings).fit(sentences).trees()
    return [{(s.start, s.end) for s in tree.spans() if s.end - s.start > 1} for tree in trees]


# --- by hand ------------------------------------------------------------------------------------


def test_two_words_that_met_cover_each_other():
    """``a b c``: nothing is known while it is learnt from, so each meets its neighbours, and is no
    head and no base.  When it is parsed, both ends match with strength 1 ("like b", "like a");
    Out, In and In* are all 0, so the matches decide and all links go both ways, at depth 0.
    Every word reaches every other: one bracket.
    """
    assert parsed("a b c") == ["(X a b c)"]


def test_stops_cut():
    """c has a stop on its left, so it is linked to nothing; other punctuation changes nothing."""
    assert parsed("a b , c") == ["(X (X a b) c)"]
    assert parsed("a b `` c") == ["(X a b c)"]


def test_a_word_seen_before_is_closer():
    """``a b``, then ``a b c``.

    After the first sentence a has met "like b" once on its right, b "like a" once on its left, and
    both have met nothing once on the other side.  In the second sentence a and b are linked both
    ways (as above), c to nothing.  a has met b on its right (point 0) and then c (point 1); b has
    met a on its left and c on its right; c has met b.  What b met at its left, a, is something
    that had met labels on its right and none on its left: so In of b's left side is 1, and
    for the same reason In of a's right side is 1.

    Parsing ``a b c`` then: a and b match with strength 1 each; b's match, "like a", is not weaker
    and decides.  a is in the place of a, its right side has Out = 0 and In / Learn = 1/2.  So b→a
    has strength 1/2 and a→b none.  b has met "like c" on its right once and nothing once: no
    match.  c has met "like b": its match decides, b's right side has no Out, In, In*, so c→b has
    the strength of the match and b→c the greatest of b's matches, 0.  With b→a and c→b, b
    reaches a, and c all.
    """
    assert parsed("a b|a b c") == ["(X a b)", "(X (X a b) c)"]


def test_a_small_language():
    assert parsed("the dog .|the cat .|the dog sees the cat .|the cat sees the dog .")[2:] == [
        "(X (X the dog) sees (X the cat))",
        "(X (X the cat) sees (X the dog))",
    ]


def test_the_order_of_sentences_matters():
    assert parsed("a b c d|b c") == ["(X a (X (X b c) d))", "(X b c)"]
    assert parsed("b c|a b c d") == ["(X b c)", "(X (X (X a b) c) d)"]


# --- against a slower CCL -----------------------------------------------------------------------


def corpus(seed: int, sentences: int = 150, classes: int = 4, types: int = 6, longest: int = 12):
    """Sentences from a random walk through classes of words, some of them frequent."""
    rng = random.Random(seed)
    following = [rng.sample(range(classes), 2) for _ in range(classes)]
    found = []
    for _ in range(sentences):
        it, sentence = rng.randrange(classes), []
        for _ in range(rng.randint(1, longest)):
            sentence.append(f"{'abcdef'[it]}{min(int(rng.paretovariate(0.8)), types)}")
            if rng.random() < 0.06:
                sentence.append(rng.choice([",", ".", "``"]))
            it = rng.choice(following[it]) if rng.random() < 0.8 else rng.randrange(classes)
        found.append(sentence)
    return found


@pytest.mark.parametrize("faithful", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_on_random_languages(seed, faithful):
    """Violations, blocks, links of depth 1, full lists of labels: all of them occur here."""
    for sentences in (corpus(seed), corpus(10 + seed, 100, classes=6, types=12, longest=25)):
        assert brackets(sentences, faithful=faithful) == ccl_brackets(sentences, faithful)


@settings(max_examples=150)
@given(
    st.lists(st.lists(st.sampled_from("aabbcde,."), min_size=1, max_size=9), max_size=25),
    st.booleans(),
)
def test_agrees_on_any_sentences(sentences, faithful):
    found = brackets(sentences, faithful=faithful)
    expected = ccl_brackets(sentences, faithful)
    for sentence, ours, theirs in zip(sentences, found, expected):
        if set(sentence) - PUNCTUATION:
            assert ours == theirs


def test_the_slip_matters():
    sentences = corpus(0)
    assert brackets(sentences, faithful=True) != brackets(sentences, faithful=False)


# --- trees --------------------------------------------------------------------------------------


tokens = st.sampled_from(["the", "The", "dog", "cat", "sees", ",", ".", "--", "``", "$", "-LRB-"])


@given(st.lists(st.lists(tokens, min_size=1, max_size=15), max_size=10), st.booleans())
def test_trees_are_over_the_words_as_written(sentences, currency):
    punctuation = PUNCTUATION | ({"$"} if currency else set())
    trees = CCL(currency_is_punctuation=currency).fit(sentences).trees()
    assert len(trees) == len(sentences)
    for tree, sentence in zip(trees, sentences):
        words = [token for token in sentence if token not in punctuation]
        assert tree.words() == (words or sentence)
        spans = [(s.start, s.end) for s in tree.spans()]
        assert len(set(spans)) == len(spans)  # no bracket twice
        assert {node.label for node in tree.nodes()} == {"X"}
        assert not any(node.preterminal for node in tree.nodes()) or len(words) <= 1


def crosses(spans) -> bool:
    return any(i < k < j < l for i, j in spans for k, l in spans)


def test_brackets_of_links_that_cross():
    """In one sentence words 6 to 8 are linked to each other at depth 0, word 6 at depth 1 to what
    is before them, and word 8 to what is after them: one constituent inside a bigger one.
    """
    sentences = corpus(443, sentences=40)
    system = CCL().fit(sentences)
    _, text, found = system._fitted
    of_links = [
        {tuple(span) for span in found[i:j].reshape(-1, 2).tolist()}
        for i, j in zip(text.starts, text.starts[1:])
    ]
    crossing = [s for s, spans in enumerate(of_links) if crosses(spans)]
    assert crossing == [11]
    assert {(0, 9), (6, 11)} <= of_links[11]
    spans = brackets(sentences)[11]
    assert {(6, 9), (0, 11)} <= spans
    assert not {(0, 9), (6, 11)} & spans


def test_case_is_ignored_but_kept():
    assert parsed("A b|a B c") == ["(X A b)", "(X (X a B) c)"]


def test_currency():
    text = "costs $ 5|costs $ 6"
    assert [tree.replace("(X ", "").replace(")", "") for tree in parsed(text)] == text.split("|")
    assert parsed(text, currency_is_punctuation=True) == ["(X costs 5)", "(X costs 6)"]


def test_long_sentences():
    rng = random.Random(0)
    short = [[rng.choice("abcdefgh") for _ in range(6)] for _ in range(50)]
    long = [rng.choice("abcdefgh") for _ in range(300)]
    for sentences in ([*short, long], [["a"] * 100] * 3, [["a", "b"] * 50] * 3):
        assert brackets(sentences) == ccl_brackets(sentences)


def test_a_very_long_sentence_gets_a_tree():
    rng = random.Random(0)
    words = [f"w{int(rng.paretovariate(0.7)) % 500}" for _ in range(20_000)]
    assert CCL().fit([words, words]).trees()[1].words() == words


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(1, 8)).filter(lambda it: it[0] < it[1])))
def test_brackets_that_cross_are_read_as_written(spans):
    found = nested(spans)
    assert not any(i < k < j < l for i, j in found for k, l in found)
    assert all(j - i > 1 for i, j in found)
    assert found == {(i, j) for i, j in uncrossed(sorted(spans)) if j - i > 1}
    if not any(i < k < j < l for i, j in spans for k, l in spans):
        assert found == {(i, j) for i, j in spans if j - i > 1}


def test_trees_from_brackets():
    words = list("abcde")
    assert str(tree_from_brackets(words, [])) == "(X a b c d e)"
    assert str(tree_from_brackets(words, [(3, 5), (0, 1), (0, 2), (0, 3), (0, 2), (0, 5)])) == (
        "(X (X (X a b) c) (X d e))"
    )
    assert str(tree_from_brackets(["a"], [(0, 1)])) == "(X a)"
    assert str(tree_from_brackets(words, [(0, 3), (1, 5), (0, 5)])) == "(X a (X b c) d e)"


# --- how it is used -----------------------------------------------------------------------------


def test_progress(monkeypatch):
    monkeypatch.setattr(dbpcfg.io.progress, "PATIENCE", 0.0)
    shown = io.StringIO()
    CCL().fit(corpus(0, sentences=600), Progress("ccl", 600, to=shown))
    done = [int(line.split()[1]) for line in shown.getvalue().splitlines()]
    assert done == sorted(done)
    assert done[-1] == 600
    assert 300 in done  # all learnt, none parsed yet
