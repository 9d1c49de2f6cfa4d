"""The grid file: what it means, and what is wrong with it."""

import re
from pathlib import Path

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.grid import INDUCTION, PREPARATION, GridOptions, read_grid, short
from tests.experiments.small import cells_of, write_grid

GRID = """\
corpus = ["adam.trees", "wsj/"]
K = [15, 30]
D = [1, "none"]
beta = 0.2
seeds = "0-1"
systems = ["dbpcfg", "ccl", "random"]
out = "runs/grid"
"""


def test_systems_are_repeated_over_what_they_have(place):
    names = [cell.name for cell in cells_of(place, GRID)]
    own = [f"K{K}-D{D}-b0.2-s{s}" for K in (15, 30) for D in (1, "none") for s in (0, 1)]
    others = ["ccl", "random-s0", "random-s1"]
    assert names == [f"{corpus}-{cell}" for corpus in ("adam", "wsj") for cell in own + others]


def test_the_shortest_grid_has_the_defaults_of_induce(place):
    (cell,) = cells_of(place, 'corpus = "adam.trees"', short="")
    assert (cell.K, cell.D, cell.beta, cell.seed, cell.system.name) == (15, 2, 0.2, 0, "dbpcfg")
    assert cell.options == {}
    assert cell.directory == place / "grid" / "adam-K15-D2-b0.2-s0"


def test_a_corpus_may_have_keys_of_its_own(place):
    text = """\
max-length = 20
rare = 1
[[corpus]]
path = ["wsj/00", "wsj/01"]
name = "newswire"
[[corpus]]
path = "eve.trees"
max-length = 10
gold = "gold/eve.mrg"
skip-broken = true
speaker = "MOT"
"""
    newswire, eve = read_grid(write_grid(place, text)).corpora
    assert newswire.name == "newswire"
    assert newswire.paths == (str(place / "wsj/00"), str(place / "wsj/01"))
    assert newswire.preprocessing.max_length == 20
    assert (eve.preprocessing.max_length, eve.preprocessing.rare) == (10, 1)
    assert eve.gold == (str(place / "gold/eve.mrg"),)
    assert (eve.reading.skip_broken, eve.reading.speaker) == (True, ("MOT",))


def test_settings_that_are_the_defaults_make_no_difference(place):
    one, other = (
        cells_of(place, f'corpus = "adam.trees"\n{more}')[0]
        for more in ("", 'trees = "mbr"\nbeta = 0.20\nlowercase = true\nheld-out = 0')
    )
    assert one.settings() == other.settings()
    (longer,) = cells_of(place, 'corpus = "adam.trees"\nbatch = 2\nlearner = "vb"')
    assert one.settings() != longer.settings()


@pytest.mark.parametrize(
    ("number", "text"), [(0.2, "0.2"), (1.0, "1"), (1e-5, "1e-05"), (1 / 3, repr(1 / 3))]
)
def test_numbers_in_names(number, text):
    assert short(number) == text


OK = 'corpus = "a.trees"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file has no corpus"),
        ("corpus = [", "is not TOML"),
        (f"{OK}Q = [15]\n", "has 'Q', which is not one of its options: corpus, K, D, beta, seeds"),
        (f"{OK}\n[model]\nK = 3\n", "has 'model', which is not one"),
        (f"{OK}K = []\n", "K is an empty list"),
        (f"{OK}K = 0\n", "K must be a whole number from 1 up, or a list of them, got 0"),
        (f"{OK}K = [3, true]\n", "K must be a whole number from 1 up, or a list of them, got [3"),
        (f"{OK}K = [3, 5, 3]\n", "K has 3 twice"),
        (f"{OK}D = [1, 'deep']\n", "D must be a whole number from 1 up or none, or a list"),
        (f"{OK}beta = nan\n", "beta must be a number above 0"),
        (f"{OK}beta = [1, 1.0]\n", "beta has 1.0 twice"),
        (f"{OK}seeds = '9-0'\n", "ranges such as 0-9, got '9-0'"),
        (f"{OK}seeds = '0-999999999'\n", "more than 100,000 numbers"),
        (f"{OK}seeds = ['0-3', 2]\n", "seeds has 2 twice"),
        (f"{OK}seeds = [-1]\n", "seeds must be a whole number from 0 up or a text, or a list"),
        (f"{OK}seeds = {10**30}\n", "seed must be"),
        (f"{OK}systems = ['dbpcfg', 'chance']\n", "there is no system 'chance'; choose from"),
        (f"{OK}systems = ['upparse', 'upparse-prlg']\n", "systems has 'upparse-prlg' twice"),
        (f"{OK}brackets = 'trees'\nsystems = ['dbpcfg', 'ccl']\n", "ccl cannot use known"),
        (f"{OK}budget = '30min'\n", "budget must be a whole number from 1 up or none, got '30min'"),
        (f"{OK}iterations = 5\nbudget = 9\n", "a race has a budget for all of them"),
        (f"{OK}parser = 'leftcorner'\nD = [1, 'none']\n", "needs a depth bound"),
        (f"{OK}select = 'heldout'\n", "held-out sentences"),
        (f"{OK}trees = 'worst'\n", "trees must be mbr, consensus, best or last"),
        ("corpus = []\n", "corpus is an empty list"),
        ("corpus = [3]\n", "corpus must be a text or a table, or a list of them, got [3]"),
        ("corpus = '-'\n", "corpus 1: a corpus of a grid is a file, not standard input"),
        ("corpus = ['a/x.mrg', 'b/X.mrg']\n", "would both be called 'X'"),
        ("corpus = '*.mrg'\n", "no name can be made from '*': give it a name"),
        ("[[corpus]]\npath = 'a'\n[[corpus]]\nname = 'b'\n", "corpus 2 has no path"),
        ("[[corpus]]\npath = 'a'\nname = 'a b'\n", "a name has letters, digits and . _ + -"),
        (
            "[[corpus]]\npath = 'a'\n[[corpus]]\npath = 'b'\nrare = -1\n",
            "corpus 2: rare must be a whole number from 0 up",
        ),
        (
            "K = 3\n[[corpus]]\npath = 'a'\nK = 15\n",
            "corpus 1 has 'K'; move K above the first [[corpus]]",
        ),
        (
            "corpus = [{path = 'a', depth = 3}]\n",
            "corpus 1 has 'depth', which is not one of its options: path, name, gold",
        ),
    ],
)
def test_mistakes_are_named_with_their_table(place, text, message):
    path = write_grid(place, text, short="")
    with pytest.raises(DbpcfgError) as caught:
        read_grid(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_seeds_may_be_numbers_and_ranges(place):
    cells = cells_of(place, 'corpus = "adam.trees"\nseeds = [7, "0-2", "4"]')
    assert [cell.seed for cell in cells] == [7, 0, 1, 2, 4]


def test_keys_are_those_of_induce():
    """A setting that `induce` gets is to be in grids too."""
    from typer.main import get_command

    from dbpcfg.cli.app import app

    options = {
        option.removeprefix("--")
        for parameter in get_command(app).commands["induce"].params
        for option in parameter.opts
        if option.startswith("--")
    }
    running = {"threads", "workers", "checkpoint", "overwrite", "format", "quiet", "json"}
    running |= {"cluster", "spread", "set", "details"}
    axes = {"categories", "depth", "beta", "seed", "out", "gold", "start"}
    assert options - running - axes == {
        name.replace("_", "-") for name in (*INDUCTION, *PREPARATION)
    }


GUIDE = Path(__file__).parents[2] / "docs" / "sweeping.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is in the repository only")
def test_the_guide_shows_grids_and_names_their_own_keys(place):
    text = GUIDE.read_text("utf-8")
    grids = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [len(cells_of(place, grid, short="")) for grid in grids] == [13, 38, 20, 2]
    named = set(re.findall(r"`([\w-]+)`", text))
    assert {*GridOptions.options(), "name", "gold"} <= named


def test_settings_of_other_systems(place):
    text = 'corpus = "adam.trees"\nsystems = ["upparse", "right"]\n'
    chunks, right = cells_of(place, f"{text}[settings.upparse]\nsmoothing = 1\n")
    assert chunks.options == {"smoothing": 1}
    assert chunks.settings()["smoothing"] == 1
    assert right.options == {}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[settings.none]\na = 1", "grid.toml: there is no system 'none'"),
        ("[settings.ccl]\na = 1", "ccl has no setting 'a'; it has: faithful"),
        ("[settings.uhhmm]\nA = 1.5", "A of uhhmm is a whole number (4 if not given), got 1.5"),
        ("[settings.dbpcfg]\nK = 3", "settings are of other systems; dbpcfg has keys of its own"),
        ("[settings]\nuhhmm = 3", "settings must be a table of tables"),
    ],
)
def test_settings_that_cannot_be(place, settings, said):
    with pytest.raises(DbpcfgError) as error:
        cells_of(place, f'corpus = "adam.trees"\nsystems = "ccl"\n{settings}\n')
    assert said in str(error.value)
