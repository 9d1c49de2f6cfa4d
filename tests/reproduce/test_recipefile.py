"""Mistakes in recipes are errors that name the line, before anything runs."""

from __future__ import annotations

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.reproduce.recipefile import quick_version, read_recipe
from tests.reproduce.small import RECIPE, write_recipe


def line_of(text: str, start: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith(start))


def test_a_recipe_of_a_user(tmp_path):
    recipe = read_recipe(str(write_recipe(tmp_path)))
    assert recipe.name == "mine"
    assert recipe.seeds == (0, 1)
    assert [row.system for row in recipe.rows] == ["dbpcfg", "upparse-prlg", "right"]
    assert [one.row for one in recipe.published] == ["DB & PCFG", "Right", ""]
    quick = quick_version(recipe)
    assert (quick.seeds, quick.paper["iterations"], quick.paper["chains"]) == ((3,), 4, 2)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("seeds =", "sedes =", "sedes", "unknown key 'sedes'; a recipe has title, reference"),
        ('name = "tiny"', 'nam = "tiny"', "nam ", "unknown key 'nam'; corpus has name, path"),
        ("chains = 2", "chians = 2", "chians", "unknown key 'chians'; paper has budget, chains"),
        (
            "chains = 2",
            'chains = "2"',
            "chains",
            "must be a whole number from 1 up, got '2'",
        ),
        ("K = 2", "K = 0", "K = 0", "K must be a whole number from 1 up, got 0"),
        ("K = 2", "k = 2", "k = 2", "unknown key 'k'; [[row]] has name, system"),
        ('system = "right"', 'system = "wrong"', 'system = "wrong"', "there is no system 'wrong'"),
        ("smoothing = 0.2", "smooth = 1", "settings = { smooth", "has no setting 'smooth'"),
        ("smoothing = 0.2", "smoothing = true", "settings = { smooth", "is a number (0.1 if not"),
        ('"Table 9, row 2"', "2", "source = 2", "source must be a text, got 2"),
        ("f1 = 99.9", "f1 = 999", "f1 = 999", "f1 must be a percentage from 0 to 100, got 999"),
        ("f1 = 99.9", "f2 = 99.9", "f2", "unknown key 'f2'; [[published]] has name, source"),
        ("f1 = 99.9", "homogeneity = 9", "homogeneity", "homogeneity is not measured"),
        ('name = "Right"\nsys', 'name = "Chunks"\nsys', None, "two [[row]] have the name 'Chunks'"),
        ("seeds = [0, 1]", 'seeds = "9-0"', "seeds", "seeds as a text is a range like '0-9'"),
        ('"phrase-recall"', '"recal"', "measures", "measures must be a list of 'precision'"),
        ("[default]\nbudget = 100", "", None, None),
    ],
)
def test_mistakes(tmp_path, old, new, line, said):
    text = RECIPE.replace(old, new, 1)
    assert text != RECIPE
    path = write_recipe(tmp_path, text)
    if said is None:
        assert read_recipe(str(path)).default is None
        return
    with pytest.raises(DbpcfgError) as error:
        read_recipe(str(path))
    assert said in str(error.value)
    where = f"mine.toml:{line_of(text, line)}:" if line else "mine.toml:"
    assert where in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RECIPE.replace("source = ", "score = ", 1), "there is no [[score]]|[[published]] has no"),
        (RECIPE.replace('title = "Made up"', ""), "a recipe has no title"),
        (RECIPE.replace('system = "right"', ""), "row 'Right' needs a system or a file with trees"),
        (RECIPE.replace('name = "Oracle"', 'name = "O"\nrow = "X"'), "there is no [[row]] 'X'"),
        (RECIPE.replace('name = "tiny"', 'name = "a b"'), "a name has letters, digits"),
        (RECIPE.partition("[[row]]")[0], "there is no [[row]]"),
        ("title = ", "is not TOML"),
    ],
)
def test_what_is_missing(tmp_path, text, said):
    with pytest.raises(DbpcfgError) as error:
        read_recipe(str(write_recipe(tmp_path, text)))
    assert any(part in str(error.value) for part in said.split("|"))


def test_no_such_recipe(tmp_path):
    with pytest.raises(DbpcfgError, match="there is no recipe 'eden'; choose adam, depth"):
        read_recipe("eden")
    with pytest.raises(DbpcfgError, match="No such file"):
        read_recipe(str(tmp_path / "none.toml"))
