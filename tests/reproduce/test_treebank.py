"""The sentences of a recipe: length limits, halves, development sets, samples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.errors import DbpcfgError
from dbpcfg.reproduce.recipe import Selection
from dbpcfg.reproduce.recipefile import quick_version, read_recipe
from dbpcfg.reproduce.treebank import recipe_trees, write_corpus
from dbpcfg.trees.brackets import read_tree
from tests.reproduce.small import write_recipe

LENGTHS = [1, 5, 2, 3, 5, 4, 1, 2]
BANK = [f"(S (. .) {' '.join(f'(N w{n})' for _ in range(k))})" for n, k in enumerate(LENGTHS)]


def chosen(tmp_path, selection, without=None):
    recipe = read_recipe(str(write_recipe(tmp_path)))
    (tmp_path / "bank.mrg").write_text("\n".join(BANK))
    recipe = replace(recipe, corpus=replace(recipe.corpus, selection=selection, without=without))
    trees = recipe_trees(recipe, [str(tmp_path / "bank.mrg")])
    return [int(read_tree(tree).words()[1][1:]) for tree in trees]


def test_selections(tmp_path):
    """Sentences of at most 3 words: 0, 2, 3, 6 and 7; punctuation does not count."""
    assert chosen(tmp_path, Selection()) == list(range(8))
    assert chosen(tmp_path, Selection(3)) == [0, 2, 3, 6, 7]
    assert chosen(tmp_path, Selection(3, "first")) == [0, 2, 3]
    assert chosen(tmp_path, Selection(3, "second")) == [6, 7]
    assert chosen(tmp_path, Selection(4), Selection(3, "first")) == [5, 6, 7]
    with pytest.raises(DbpcfgError, match="no sentence of"):
        chosen(tmp_path, Selection(3), Selection(4))


def test_a_quick_sample_is_spread_over_the_corpus(tmp_path):
    recipe = quick_version(read_recipe(str(write_recipe(tmp_path))))
    whole = (tmp_path / "tiny.trees").read_text().splitlines()
    sample = recipe_trees(recipe, [str(tmp_path / "tiny.trees")])
    assert sample == [whole[n] for n in (0, 2, 4, 7, 9)]


def test_the_file_is_read_as_it_was_written(tmp_path):
    (tmp_path / "bank.mrg").write_text(
        "( (S (NP-SBJ-1 (DT The) (`` ``) (NN dog)) (VP (VBZ barks) (NP (-NONE- *-1))) (. .)) )\n"
        "( (FRAG (-LRB- -LRB-) (NP (CD 1\\/2)) (-RRB- -RRB-)) )\n"
    )
    recipe = read_recipe(str(write_recipe(tmp_path)))
    first = read(tmp_path / "bank.mrg", quiet=True)
    path = write_corpus(recipe_trees(recipe, [str(tmp_path / "bank.mrg")]), tmp_path / "out")
    again = read(path, quiet=True)
    assert [(s.words, s.tags, s.tree) for s in first] == [(s.words, s.tags, s.tree) for s in again]
    when = path.stat().st_mtime_ns
    write_corpus(recipe_trees(recipe, [str(tmp_path / "bank.mrg")]), tmp_path / "out")
    assert path.stat().st_mtime_ns == when


def test_there_must_be_a_treebank_with_trees(tmp_path):
    recipe = read_recipe(str(write_recipe(tmp_path)))
    with pytest.raises(DbpcfgError, match="mine needs a small treebank: dbpcfg reproduce mine"):
        recipe_trees(recipe)
    (tmp_path / "words.txt").write_text("a b c\n")
    with pytest.raises(DbpcfgError, match="has no tree"):
        recipe_trees(recipe, [str(tmp_path / "words.txt")])
    with pytest.raises(DbpcfgError, match="is made by the recipe"):
        recipe_trees(read_recipe("synthetic"), ["bank.mrg"])
    assert len(recipe_trees(read_recipe("synthetic"))) == 200
