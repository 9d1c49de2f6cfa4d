"""Made-up utterances: every rule and word is used, and nothing but the seed decides."""

import pytest

from dbpcfg.corpus.utterances import CLASSES, utterances
from dbpcfg.errors import DbpcfgError
from tests.command import printed


def test_every_word_occurs_and_every_leaf_has_a_tag():
    trees = utterances(1000)
    used = {word for tree in trees for word in tree.words()}
    assert used == {word for words in CLASSES.values() for word in words.split()} | {
        *("where", "what")
    }
    assert {node.label for tree in trees for node in tree.nodes() if not node.preterminal} == {
        *("S", "SQ", "SBARQ", "NP", "VP", "PP")
    }
    assert {3, 5, 8} < {len(tree) for tree in trees}


def test_the_seed_decides_and_the_number_does_not():
    assert utterances(50) == utterances(100)[:50]
    assert utterances(50, seed=1) != utterances(50)
    assert len(set(map(str, utterances(100)))) > 80


def test_on_the_command_line():
    trees = utterances(3, seed=4)
    options = ("synth", "utterances", "-n", 3, "--seed", 4)
    assert printed(*options) == "".join(f"{tree}\n" for tree in trees)
    assert printed(*options, "--words").splitlines() == [" ".join(t.words()) for t in trees]


def test_there_is_at_least_one():
    with pytest.raises(DbpcfgError, match="at least 1"):
        utterances(0)
