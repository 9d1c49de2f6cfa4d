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


def test_classes_of_rare_words(call, tmp_path):
    text = tmp_path / "text.txt"
    lines = ["the dog barked", "the cat slept", "the dog slept", "the cat barked"] * 2
    text.write_text("\n".join([*lines, "the fern slept", "the corn barked"]) + "\n")
    run, options = tmp_path / "run", ["-K", 3, "--chains", 1, "--iterations", 6, "--rare", 1]
    call("induce", text, "--out", run, "--learner", "gibbs", *options)
    sentences, err = call("generate", run, "-n", 300, "--max-length", 6)
    assert {"fern", "corn"} <= set(sentences.split()) <= set(text.read_text().split())
    assert err == ""
    assert call("generate", run, "-n", 300, "--max-length", 6)[0] == sentences

    rules = tmp_path / "rules.tsv"
    call("export", run, rules)
    sentences, err = call("generate", rules, "-n", 300, "--max-length", 6)
    assert "<*rn>" in sentences
    assert err == (
        f"<*rn>: classes of rare words, printed as they are; {rules} does not have their words, "
        "a run does\n"
    )
    assert call("generate", rules, "-n", 3, "--max-length", 6, "--quiet")[1] == ""


def test_a_length_that_no_sentence_has(refuse, tmp_path):
    binary = [[[0, 0], [0, 1.0]], [[0, 0], [0, 0]]]
    grammar = Grammar([1.0, 0.0], binary, [[0.0], [1.0]], Vocabulary(("a",)))
    write_grammar(grammar, tmp_path / "two.tsv")
    assert "no sentence of at most 1 word" in refuse(
        "generate", tmp_path / "two.tsv", "--max-length", 1
    )
