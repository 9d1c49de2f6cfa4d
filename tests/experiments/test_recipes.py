"""Recipes: their mistakes, the package's own, the sentences that they select, scores and depths."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.recipe import (
    Selection,
    quick_version,
    read_recipe,
    recipe_names,
)
from dbpcfg.experiments.recipe_cells import recipe_trees, row_grids, write_corpus
from dbpcfg.experiments.reproduce import quantile
from dbpcfg.experiments.reproduction import analyse_depths, depth_tables
from dbpcfg.report.reproduction import StripRow, strip_plot
from dbpcfg.trees.brackets import read_tree
from tests.evaluation.binarise import binarise
from tests.evaluation.helpers import gold_and_predicted, punctuated
from tests.experiments.small import GOLD, RECIPE, write_recipe
from tests.stores import memory_depth


def test_a_recipe_of_a_user(tmp_path):
    recipe = read_recipe(str(write_recipe(tmp_path)))
    assert recipe.name == "mine"
    assert recipe.seeds == (0, 1)
    assert [row.system for row in recipe.rows] == ["dbpcfg", "upparse-prlg", "right"]
    assert [one.row for one in recipe.published] == ["DB & PCFG", "Right", None]
    quick = quick_version(recipe)
    assert (quick.seeds, quick.paper["iterations"], quick.paper["chains"]) == ((3,), 4, 2)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seeds =", "sedes =", "the file has 'sedes', which is not one of its options: title"),
        ("chains = 2", "chians = 2", "paper has 'chians', which is not one of its options: inf"),
        ("chains = 2", 'chains = "2"', "paper: chains must be a whole number from 1 up"),
        ("K = 2", "K = 0", "rows 1: K must be a whole number from 1 up or none, got 0"),
        ('system = "right"', 'system = "wrong"', "rows 3: there is no system 'wrong'"),
        ("smoothing = 0.2", "smooth = 1", "rows 2: upparse-prlg has no setting 'smooth'"),
        ("f1 = 99.9", "f1 = 999", "published 3: f1 must be a number from 0 up, at most 100"),
        ("f1 = 99.9", "homogeneity = 9", "published 'Oracle': homogeneity is not measured"),
        ('name = "Right"\nsys', 'name = "Chunks"\nsys', "rows has 'Chunks' twice"),
        ("seeds = [0, 1]", 'seeds = "9-0"', "ranges such as 0-9, got '9-0'"),
        ("source = ", "score = ", "published 1 has no source"),
        ('title = "Made up"', "", "the file has no title"),
        ('system = "right"', "", "row 'Right' needs a system or a file with trees"),
        ('name = "Oracle"', 'name = "O"\nrow = "X"', "there is no [[rows]] 'X'"),
        ('name = "tiny"', 'name = "a b"', "corpus: a name has letters, digits"),
        ('name = "tiny"', 'name = "a"\nsentences = 3', "sentences is of a synthetic corpus only"),
        ('name = "tiny"', 'name = "a"\nwithout = {}', "corpus: without is empty"),
        ('system = "upparse"', 'system = "upparse"\nK = 2', "rows 2: K is of dbpcfg"),
        (RECIPE[RECIPE.index("[[rows]]") :], "", "there is no [[rows]]"),
    ],
)
def test_mistakes(tmp_path, old, new, said):
    text = RECIPE.replace(old, new, 1)
    assert text != RECIPE
    with pytest.raises(DbpcfgError) as error:
        read_recipe(str(write_recipe(tmp_path, text)))
    assert said in str(error.value)
    assert "mine.toml: " in str(error.value)


def test_a_search_may_be_left_out(tmp_path):
    text = RECIPE.replace("[default]\nbudget = 100", "")
    assert read_recipe(str(write_recipe(tmp_path, text))).default is None


def test_no_such_recipe(tmp_path):
    with pytest.raises(DbpcfgError, match="there is no recipe 'eden'; choose adam, depth"):
        read_recipe("eden")
    with pytest.raises(DbpcfgError, match="No such file"):
        read_recipe(str(tmp_path / "none.toml"))


NAMES = ["adam", "depth", "eve", "large-k", "np-discovery", "synthetic", "wsj20", "wsj40"]
PUBLISHED = {"adam": 4, "depth": 4, "eve": 8, "np-discovery": 9, "synthetic": 5, "wsj20": 12}
ROUNDING = 0.05


def test_all_recipes_are_there():
    assert recipe_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_figures_have_a_source_and_agree(name):
    recipe = read_recipe(name)
    assert len(recipe.published) == PUBLISHED.get(name, len(recipe.published))
    for one in recipe.published:
        assert one.source.startswith(recipe.where) or "section" in one.source
        P, R, F = (one.figures.get(key) for key in ("precision", "recall", "f1"))
        if None not in (P, R, F):
            low, high = (2 * (P + e) * (R + e) / (P + R + 2 * e) + e for e in (-ROUNDING, ROUNDING))
            assert low - 1e-9 <= F <= high + 1e-9, one
    names = [(one.name, one.score, one.depth) for one in recipe.published]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("depth", "large-k")])
def test_every_published_row_has_one_of_ours(name):
    recipe = read_recipe(name)
    assert all(one.row for one in recipe.published)
    assert len(recipe.seeds) >= 8
    assert recipe.paper == {"inference": "paper", "chains": 4, "trees": "best"}
    assert recipe.default == {}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "depth"])
@pytest.mark.parametrize("quick", [False, True])
def test_the_grids_of_all_rows_are_valid(name, quick, tmp_path):
    recipe = read_recipe(name)
    whole = row_grids(recipe, tmp_path)
    if quick:
        recipe = quick_version(recipe)
        assert recipe.is_quick
    write_corpus(GOLD, tmp_path)
    grids = row_grids(recipe, tmp_path)
    numbers = [cell.number for grid in grids for cell in grid.cells]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len({cell.directory for grid in grids for cell in grid.cells}) == len(numbers)
    if quick:
        assert len(numbers) < sum(len(grid.cells) for grid in whole)


LENGTHS = [1, 5, 2, 3, 5, 4, 1, 2]
BANK = [f"(S (. .) {' '.join(f'(N w{n})' for _ in range(k))})" for n, k in enumerate(LENGTHS)]


def chosen(tmp_path, selection, without=None):
    recipe = read_recipe(str(write_recipe(tmp_path)))
    (tmp_path / "bank.mrg").write_text("\n".join(BANK))
    recipe = replace(recipe, corpus=replace(recipe.corpus, **vars(selection), without=without))
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


@pytest.mark.parametrize(
    ("values", "published", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4], 25.0, 0.5),
        ([0.1, 0.2, 0.3, 0.4], 5.0, 0.0),
        ([0.1, 0.2, 0.3, 0.4], 40.0, 0.875),
        ([1.0, 0.9996], 100.0, 0.5),  # both are 100.0 as published
        ([0.70312], 70.31, 0.5),
        ([0.7032], 70.31, 0.0),
    ],
)
def test_quantiles(values, published, expected):
    assert quantile(values, published) == expected
    assert math.isnan(quantile([], published))


def test_plots():
    drawn = strip_plot([StripRow("a <b>", [40.0, 50.0], 45.5), StripRow("c", [])], "F1")
    assert drawn.count("<circle") == 2
    assert drawn.count('class="published"') == 1
    assert "a &lt;b&gt;" in drawn
    assert strip_plot([StripRow("a", [])], "F1") == ""
    assert strip_plot([StripRow("a", [100.0])], "F1").count("<circle") == 1


DEPTH = read_recipe("depth")


def preprocessed(trees):
    sentences = [Sentence.from_tree(tree) for tree in trees]
    return preprocess(sentences, Preprocessing(punctuation="characters"))


@settings(max_examples=60)
@given(st.lists(gold_and_predicted(), min_size=1, max_size=4), st.data())
def test_depths_by_brute_force(pairs, data):
    trees = [data.draw(punctuated(tree)) for tree, _ in pairs]
    corpus = preprocessed(trees)
    found = analyse_depths(DEPTH, corpus)
    for direction in ("right", "left"):
        for name, marks in (
            ("without punctuation", corpus.punctuation),
            ("with punctuation", [None] * len(trees)),
        ):
            binary = [binarise(t, direction, m) for t, m in zip(trees, marks)]
            depths = Counter(1 if len(tree) == 1 else memory_depth(tree) for tree in binary)
            counts = found.tables[f"binary to the {direction}, {name}"].counts
            assert {d: n for d, n in enumerate(counts, 1) if n} == dict(depths)


def test_published_shares_stand_beside_ours():
    trees = [read_tree(t) for t in ("(S (A a) (B b))", "(S (A a) (S (B (B b) (C c)) (D d)))")]
    analysis = analyse_depths(DEPTH, preprocessed(trees))
    (table,) = depth_tables(analysis)
    assert table.rows[0][:5] == ("full WSJ", "quoted", "2", None, pytest.approx(0.4738))
    assert table.rows[3][:5] == ("Eve", "quoted", "2 or more", 5000, None)
    ours = [row[2:5] for row in table.rows if row[0] == "binary to the right, without punctuation"]
    assert ours == [("1", 1, 0.5), ("2", 1, 0.5), ("2 or more", 1, 0.5)]
    quick = depth_tables(replace(analysis, recipe=replace(DEPTH, is_quick=True)))
    assert quick[0].notes[0].startswith("QUICK RUN")
