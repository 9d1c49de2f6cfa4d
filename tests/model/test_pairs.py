"""Minimal pairs against each sentence's probability by itself, and their accuracies by hand."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.corpus.pairs import pairs_for, read_pairs
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.synthetic import utterances
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.significance import wilson
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.model.model import Model
from dbpcfg.model.pairs import SCORES, MinimalPairs, minimal_pairs
from dbpcfg.report.pairs import plot_pairs
from tests.strategies import random_grammar


def model_of(words, depth=2, seed=0, K=4, **options) -> Model:
    """A random grammar over some words; all others are unknown."""
    drawn = random_grammar(K, len(words), 0.5, seed)
    grammar = Grammar(drawn.root, drawn.binary, drawn.lexical, Vocabulary(tuple(words)))
    return Model(grammar, depth, unknown=np.full(K, 0.01), **options)


def by_hand(model: Model, good: list[str], bad: list[str]) -> dict[str, float]:
    """Points of a pair, by the probability and surprisal of one sentence at a time."""
    logs = [model.probability([words], quiet=True).log_probability for words in (good, bad)]
    found = {"log_probability": logs, "per_word": [logs[0] / len(good), logs[1] / len(bad)]}
    lowered = [[word.lower() for word in words] for words in (good, bad)]
    at = 0
    while at < min(map(len, lowered)) and lowered[0][at] == lowered[1][at]:
        at += 1
    rows = [model.surprisal([words], quiet=True) for words in (good, bad)]
    found["critical_word"] = [-one[at].surprisal for one in rows]
    points = {}
    for name, (one, other) in found.items():
        close = math.isclose(one, other, rel_tol=1e-12, abs_tol=0.0)
        points[name] = 0.5 if close else float(one > other)
    return {"logs": logs, "surprisals": [-x for x in found["critical_word"]], "points": points}


def check(model: Model, pairs) -> MinimalPairs:
    result = minimal_pairs(model, pairs, threads=2, quiet=True)
    (scored,) = result.results.values()
    points = dict.fromkeys(SCORES, 0.0)
    for one in scored:
        good, bad = list(one.pair.good.words), list(one.pair.bad.words)
        expected = by_hand(model, good, bad)
        found = [one.good.log_probability, one.bad.log_probability]
        assert found == pytest.approx(expected["logs"], rel=0, abs=1e-9)
        found = [one.good.surprisal, one.bad.surprisal]
        assert found == pytest.approx(expected["surprisals"], rel=0, abs=1e-9)
        for score in SCORES:
            assert one.right(score) == expected["points"][score], (good, bad, score)
            points[score] += expected["points"][score]
    for score in SCORES:
        assert result.accuracy(score).accuracy == pytest.approx(
            points[score] / len(scored), abs=1e-12
        )
    return result


def changed(words: list[str], number: int) -> list[str]:
    """Something else than a sentence: words swapped, one doubled, left out, or unknown."""
    at = number % len(words)
    kinds = [
        words[:at] + words[at : at + 2][::-1] + words[at + 2 :],
        words[: at + 1] + words[at:],
        words[:at] + words[at + 1 :] if len(words) > 1 else [*words, "you"],
        [*words[:at], "wugs", *words[at + 1 :]],
        words[: max(1, len(words) - 1)],
    ]
    return kinds[number % len(kinds)]


@pytest.mark.parametrize("depth", [None, 2])
def test_made_up_utterances_one_at_a_time(depth):
    sentences = [tree.words() for tree in utterances(200, seed=3)]
    known = sorted({word for words in sentences for word in words})[::-2]  # half of them
    pairs = [(" ".join(s), " ".join(changed(s, n))) for n, s in enumerate(sentences)]
    result = check(model_of(known, depth), pairs)
    counted = result.accuracy()
    assert counted.pairs == 200
    assert 0 < counted.same < 100  # an unknown word for another
    assert counted.ties >= counted.same


@pytest.mark.skipif("DBPCFG_DATA" not in os.environ, reason="needs DBPCFG_DATA")
def test_zorro_one_at_a_time():
    folder = Path(os.environ["DBPCFG_DATA"], "zorro")
    pairs = [pair for path in sorted(folder.iterdir()) for pair in read_pairs([path])[::120]][:200]
    words = sorted({word.lower() for pair in pairs for s in pair[:2] for word in s.words})
    result = check(model_of(words[::-2], K=5), pairs)
    assert len(result) == 200
    assert len(result.paradigms) == 12


class Script:
    """A model worked out in NumPy alone, from its arrays.

    The bounded grammar is written out as a PCFG of K symbols on each level, (L,1), (R,1) to
    (L,D+1), given that all trees fit; prefixes are those of Jelinek and Lafferty (1991).
    """

    def __init__(self, model: Model) -> None:
        grammar, unknown, D = model.grammar, model.unknown, model.depth
        words = grammar.vocabulary.words
        self.number = {word: n for n, word in enumerate(words)}
        rest, K, levels = (1.0 - unknown)[:, None], grammar.categories, 2 * D + 1
        lexical = np.hstack([grammar.lexical * rest, unknown[:, None]])
        binary = grammar.binary * rest[:, None]
        emission = np.tile(lexical, (levels, 1))
        rules = np.zeros((levels * K,) * 3)
        for d in range(D):
            L, R, below = (slice(K * n, K * (n + 1)) for n in range(2 * d, 2 * d + 3))
            rules[L, L, R] = rules[R, below, R] = binary
        h = np.zeros(levels * K)  # the probability that a tree fits
        for _ in range(5000):
            h = emission.sum(axis=1) + np.einsum("xyz,y,z->x", rules, h, h)
        root = np.zeros(levels * K)
        root[:K] = grammar.root * h[:K]
        self.root, self.emission = root / root.sum(), emission / h[:, None]
        self.rules = np.einsum("xyz,y,z,x->xyz", rules, h, h, 1 / h)
        self.corners = np.linalg.inv(np.eye(levels * K) - self.rules.sum(axis=2))

    def log_probabilities(self, words: list[str]) -> tuple[float, float]:
        """Logarithms of P(words) and P(words …)."""
        known = [self.number.get(word.lower(), len(self.number)) for word in words]
        n, size = len(words), len(self.root)
        inside, begun = np.zeros((n, n + 1, size)), np.zeros((n, size))
        for i in reversed(range(n)):
            inside[i, i + 1] = self.emission[:, known[i]]
            for j in range(i + 2, n + 1):
                pairs = inside[i, i + 1 : j].T @ inside[i + 1 : j, j]
                inside[i, j] = np.einsum("xyz,yz->x", self.rules, pairs)
            pairs = inside[i, i + 1 : n].T @ begun[i + 1 :]
            corner = np.einsum("xyz,yz->x", self.rules, pairs)
            begun[i] = self.corners @ (corner if i < n - 1 else self.emission[:, known[i]])
        return math.log(self.root @ inside[0, n]), math.log(self.root @ begun[0])

    def surprisal(self, words: list[str], at: int) -> float:
        """That of a word, or of the end after the last, in bits."""
        before = self.log_probabilities(words[:at])[1] if at else 0.0
        whole, begun = self.log_probabilities(words[: at + 1])
        return (before - (whole if at == len(words) else begun)) / math.log(2)


@pytest.mark.skipif("DBPCFG_DATA" not in os.environ, reason="needs DBPCFG_DATA")
def test_zorro_agrees_with_an_independent_script():
    pairs = []
    for path in sorted(Path(os.environ["DBPCFG_DATA"], "zorro").iterdir()):
        lines = path.read_text(encoding="utf-8").splitlines()
        pairs += [(good, bad) for bad, good in zip(lines[::240], lines[1::240])]
    pairs = pairs[:200]
    words = sorted({word.lower() for pair in pairs for text in pair for word in text.split()})
    model = model_of(words[::-2], depth=2)
    script, points = Script(model), 0.0
    (found,) = minimal_pairs(model, pairs, quiet=True).results.values()
    assert len(found) == 200
    for (good, bad), one in zip(pairs, found):
        texts = good.split(), bad.split()
        same = [a.lower() == b.lower() for a, b in zip(*texts)]
        at = [*same, False].index(False)
        logs = [script.log_probabilities(text)[0] for text in texts]
        surprisals = [script.surprisal(text, at) for text in texts]
        own = [one.good.log_probability, one.bad.log_probability]
        assert own == pytest.approx(logs, rel=0, abs=1e-9)
        own = [one.good.surprisal, one.bad.surprisal]
        assert own == pytest.approx(surprisals, rel=0, abs=1e-9)
        points += 0.5 if abs(logs[0] - logs[1]) < 1e-9 else float(logs[0] > logs[1])
    assert sum(one.right() for one in found) == points


# --- points ---------------------------------------------------------------------------------------


def symmetric() -> Model:
    """Two categories that no rule tells apart, so that swapped words have the same probability."""
    K, words = 2, ("a", "b")
    binary = np.full((K, K, K), 0.4 / (K * K))
    lexical = np.array([[0.5, 0.1], [0.1, 0.5]])
    grammar = Grammar(np.full(K, 0.5), binary, lexical, Vocabulary(words))
    return Model(grammar, None)


def test_ties_are_half_right():
    result = minimal_pairs(symmetric(), [("a b a", "b a b"), ("a a", "a a a")], quiet=True)
    swapped, longer = result.results["model"]
    assert [swapped.right(score) for score in SCORES] == [0.5, 0.5, 0.5]
    assert not swapped.same
    assert longer.right() == 1.0
    assert result.accuracy().ties == 1


def test_unknown_words_that_are_all_the_same():
    model = model_of(["the", "dog"])
    pairs = [("the wug", "the blick"), ("The Dog", "the dog"), ("dog wug", "dog the")]
    result = minimal_pairs(model, pairs, quiet=True)
    assert [one.same for one in result.results["model"]] == [True, True, False]
    assert [one.right() for one in result.results["model"]][:2] == [0.5, 0.5]
    assert result.accuracy().same == 2
    capitals = replace(model, preprocessing=Preprocessing(lowercase=False))
    (_, dog, _) = minimal_pairs(capitals, pairs, quiet=True).results["model"]
    assert not dog.same


def test_impossible_sentences():
    model = replace(model_of(["the", "dog"]), unknown=None)
    pairs = [("the wug", "the blick"), ("the dog", "the wug"), ("wug the dog", "wug dog the")]
    first, second, third = minimal_pairs(model, pairs, quiet=True).results["model"]
    assert first.good.log_probability == -math.inf
    assert [first.right(score) for score in SCORES] == [0.5, 0.5, 0.5]
    assert [second.right(score) for score in SCORES] == [1.0, 1.0, 1.0]
    assert [third.right(score) for score in SCORES] == [0.5, 0.5, 0.5]
    assert math.isnan(third.good.surprisal)


def test_sentences_are_prepared_as_the_model_learned():
    model = model_of(["the", "dog", "barks"], preprocessing=Preprocessing(no_punctuation=True))
    plain = minimal_pairs(model, [("the dog barks", "dog the barks")], quiet=True)
    marked = minimal_pairs(model, [("The dog barks .", "dog the barks !")], quiet=True)
    attached = minimal_pairs(
        model, [("The dog barks.", "Dog the barks!")], tokens="punctuation", quiet=True
    )
    found = [
        (one.good, one.bad)
        for result in (plain, marked, attached)
        for one in result.results["model"]
    ]
    assert found[0] == found[1] == found[2]


# --- tables ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared() -> MinimalPairs:
    models = {"one": model_of(["a", "b"], seed=1), "two": model_of(["a", "b"], seed=2)}
    pairs = [
        p._replace(paradigm=f"p{n % 3}")
        for n, p in enumerate(pairs_for([("a b", "b a"), ("a a", "a b"), ("x", "y"), ("b", "a b")]))
    ]
    return minimal_pairs(models, pairs, quiet=True)


def test_tables_of_one_model_and_of_several(compared):
    tables = compared.tables()
    assert [table.title for table in tables] == [
        "Minimal pairs, by log P", "Minimal pairs, by per word", "Minimal pairs, by critical word"
    ]  # fmt: skip
    for table, score in zip(tables, SCORES):
        rows = table.json()["rows"]
        assert [row["paradigm"] for row in rows] == ["p0", "p1", "p2", "all"]
        for row, paradigm in zip(rows, ("p0", "p1", "p2", None)):
            for model in ("one", "two"):
                expected = compared.accuracy(score, paradigm, model)
                assert row[model] == expected.accuracy
                assert (row[f"{model}_from"], row[f"{model}_to"]) == (expected.low, expected.high)
                assert row[f"{model}_same"] == expected.same
        assert rows[2]["one"] == 0.5
        assert "one" in table.latex()
    (alone,) = MinimalPairs({"one": compared.results["one"]}).tables()
    (row,) = [row for row in alone.json()["rows"] if row["paradigm"] == "all"]
    assert row["pairs"] == 4
    assert row["same"] == 1
    assert [row[score] for score in SCORES] == [compared.accuracy(s).accuracy for s in SCORES]


def test_rows_and_what_is_shown(compared):
    rows = list(compared.rows())
    assert [row["model"] for row in rows] == ["one"] * 4 + ["two"] * 4
    assert (rows[1]["good"], rows[1]["bad"], rows[1]["critical_word"]) == ("a a", "a b", 2)
    assert repr(compared) == "<MinimalPairs: 4 pairs, 3 paradigms, 2 models>"
    assert compared._repr_html_().count("<table>") == 3
    pytest.importorskip("pandas")
    assert len(compared.to_frame()) == 8


def test_a_figure(compared):
    pytest.importorskip("matplotlib")
    figure = plot_pairs(compared)
    assert [axes.get_title() for axes in figure.axes] == list(SCORES.values())
    marks = figure.axes[0].lines[1].get_xdata()  # the first is the line at chance
    names = ("p0", "p1", "p2", None)
    assert list(marks) == [100 * compared.accuracy(paradigm=name).accuracy for name in names]


def test_mistakes(compared):
    with pytest.raises(DbpcfgError, match="no pair of the paradigm 'p9'"):
        compared.accuracy(paradigm="p9")
    with pytest.raises(DbpcfgError, match="score must be log_probability, per_word or"):
        compared.accuracy("perplexity")
    with pytest.raises(DbpcfgError, match="there are no minimal pairs"):
        minimal_pairs(model_of(["a"]), [])
    with pytest.raises(DbpcfgError, match="there is no model"):
        minimal_pairs({}, [("a", "b")])


def test_wilson():
    # Newcombe (1998), table I: 81 of 263 and 15 of 148; and the ends
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(29, 29) == pytest.approx((0.8830, 1.0), abs=5e-5)
