"""``generate`` as a user meets it."""

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.grammar.exchange import write_grammar
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.trees.brackets import read_trees
from tests.stores import memory_depth


def test_sentences_are_the_words_of_trees(call, center_run, center_model):
    sentences, err = call("generate", center_run, "-n", 20, "--seed", 4)
    trees, _ = call("generate", center_run, "-n", 20, "--seed", 4, "--trees")
    assert err == ""
    found = list(read_trees(trees))
    assert found == center_model.generate(20, 4)
    assert sentences.splitlines() == [" ".join(tree.words()) for tree in found]
    assert (
        call("generate", center_run, "-n", 5, "--seed", 4)[0].splitlines()
        == sentences.splitlines()[:5]
    )
    assert call("generate", center_run, "-n", 20, "--seed", 5)[0] != sentences
    assert max(map(memory_depth, found)) <= 2
    assert "<unknown>" not in sentences


def test_short_sentences(call, center_run):
    sentences, _ = call("generate", center_run, "-n", 50, "--max-length", 3)
    lengths = [len(line.split()) for line in sentences.splitlines()]
    assert len(lengths) == 50
    assert max(lengths) == 3


def test_unknown_words_if_asked_for(call, center_run):
    assert "<unknown>" in call("generate", center_run, "-n", 2000, "--with-unknown")[0]


def test_a_length_that_no_sentence_has(refuse, tmp_path):
    binary = [[[0, 0], [0, 1.0]], [[0, 0], [0, 0]]]
    grammar = Grammar([1.0, 0.0], binary, [[0.0], [1.0]], Vocabulary(("a",)))
    write_grammar(grammar, tmp_path / "two.json")
    assert "no sentence of 1 words or fewer" in refuse(
        "generate", tmp_path / "two.json", "--max-length", 1
    )
