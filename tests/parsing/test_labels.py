"""Labels of phrases, from those of several chains and from the words at their edges."""

import numpy as np
import pytest

from dbpcfg.parsing import labels as labels_module
from dbpcfg.parsing.consensus import Consensus
from dbpcfg.parsing.derivations import Derivations
from dbpcfg.parsing.direction import branching_trees
from dbpcfg.parsing.labels import LatentClasses, edge_categories
from tests.parsing.test_direction import encoded

SENTENCES = encoded([["a", "b", "c", "d"], ["e"], ["f", "g", "h"]])


def latent_classes(labels: np.ndarray) -> np.ndarray:
    """The classes of phrases from which they are learned."""
    return LatentClasses.learn(labels).of(labels)


def labelled(side: str, seed: int) -> Derivations:
    """Branching trees with categories at random."""
    nodes = branching_trees(SENTENCES, side).nodes.copy()
    nodes[:, 2] = np.random.default_rng(seed).integers(0, 9, len(nodes))
    return Derivations(nodes, SENTENCES)


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_word_at_the_edge_is_the_first_or_the_last(side):
    own, other = labelled("left", 1), labelled("right", 2)
    found = iter(edge_categories(own, other.nodes, side).tolist())
    for s in range(len(SENTENCES)):
        words = {start: c for start, end, c in own[s].tolist() if end - start == 1}
        for start, end, _ in other[s].tolist():
            assert next(found) == words[start if side == "right" else end - 1]
    assert next(found, None) is None


def test_the_edge_decides_where_labels_say_little():
    """Two of three labels are noise half of the time; the word at the edge is wrong at a tenth."""
    numbers = np.random.default_rng(0)
    true = numbers.integers(0, 3, 3000)

    def seen(share: float) -> np.ndarray:
        return np.where(numbers.random(3000) < share, numbers.integers(0, 3, 3000), true)

    own, edges = np.stack([seen(0.7), seen(0.7)], axis=1), np.stack([seen(0.1)] * 2, axis=1)
    alone, both = latent_classes(own), latent_classes(np.hstack([own, 5 + edges]))
    assert (both == true).mean() > 0.9 > 0.7 > (alone == true).mean()


def test_all_phrases_have_a_class_though_some_are_learned_from(monkeypatch):
    numbers = np.random.default_rng(1)
    true = numbers.integers(0, 3, 2000)
    seen = np.where(
        numbers.random((2000, 4)) < 0.2, numbers.integers(0, 3, (2000, 4)), true[:, None]
    )
    seen[:, 1:] = (2 - seen)[:, 1:]  # other names
    whole = latent_classes(seen)
    monkeypatch.setattr(labels_module, "SAMPLE", 300)
    assert (latent_classes(seen) == whole).mean() > 0.98
    assert (whole == true).mean() > 0.95


def test_classes_are_for_other_phrases_too():
    """Also with labels that those phrases did not have from which the classes were learned."""
    numbers = np.random.default_rng(4)
    true = numbers.integers(0, 3, 1000)
    labels = np.stack([true, 2 - true, (true + 1) % 3], axis=1)
    labels[numbers.random(labels.shape) < 0.2] = -1
    classes = LatentClasses.learn(labels[:500])
    assert (classes.of(labels[500:]) == true[500:]).mean() > 0.98
    assert classes.of(np.array([[9, 2, 1], [0, 77, -1]])).tolist() == [0, 0]
    assert classes.of(labels[:0]).tolist() == []


def spans(nodes: np.ndarray, start: int, end: int) -> np.ndarray:
    return (nodes[:, 0] == start) & (nodes[:, 1] == end)


def test_a_consensus_has_classes_by_the_edges_of_its_phrases():
    """Labels say nothing: only the word at the edge tells two kinds of phrases apart."""
    numbers = np.random.default_rng(2)
    kinds = numbers.integers(0, 2, 400)
    corpus = encoded([[f"w{kind}", "x", "y"] for kind in kinds])
    chains = []
    for number in range(3):
        nodes = branching_trees(corpus, "right").nodes.copy()
        nodes[:, 2] = 7
        nodes[spans(nodes, 0, 1), 2] = kinds + 3 * number
        nodes[spans(nodes, 0, 3), 2] = numbers.integers(0, 2, 400)
        chains.append(Derivations(nodes, corpus))

    def agree(side: str | None) -> float:
        nodes = Consensus(side=side).learn(chains)[0].nodes
        same = (nodes[spans(nodes, 0, 3), 2] == kinds).mean()
        return max(same, 1 - same)

    assert agree("right") > 0.95
    assert agree(None) < 0.7
    assert agree("left") < 0.7
