"""The settings of a chain and of a run, and the file that has all of them."""

import re
import tomllib

import numpy as np
import pytest

from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.learners.gibbs import Gibbs
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import (
    ChainSettings,
    Configuration,
    load_configuration,
    save_configuration,
    versions,
)
from tests.induction.small import settings

PLAIN = Configuration(ChainSettings(), Schedule(), Preprocessing())
FULL = Configuration(
    model=settings(categories=7, depth=None, seed=2**64 - 1, held_out=9, beta=1e-3, exact=True),
    schedule=Schedule(iterations=44, minimum=1, window=2, after=3, maximum=4),
    preprocessing=Preprocessing(False, 20, "both", True, 3, "shape"),
    chains=2,
    trees="best",
    select="heldout",
    corpus={"sources": ["a b.txt", "é\n"], "sentences": 9, "digest": "sha256:00"},
    gold=("gold.mrg",),
    versions=versions(),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config.toml"


@pytest.mark.parametrize("configuration", [PLAIN, FULL], ids=["plain", "full"])
def test_round_trip(path, configuration):
    save_configuration(configuration, path)
    assert load_configuration(path) == configuration
    assert tomllib.loads(path.read_text())["format"] == {"name": "dbpcfg run", "version": 2}


def test_chains_differ_by_their_number(path):
    save_configuration(FULL, path)
    chains = [load_configuration(path).chain(n) for n in range(2)]
    assert [one.chain for one in chains] == [0, 1]
    assert chains[0] == FULL.model
    assert "chain =" not in path.read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version = 2", "version = 1", "a run of version 1; this program reads version 2: use"),
        ("version = 2", "version = true", "a run of version True"),
        ("version = 2\n", "", "a run of version None"),
        ('name = "dbpcfg run"', 'name = "other"', "does not say that it is a 'dbpcfg run'"),
        (
            "categories = 15",
            "kategories = 15",
            "[model] has 'kategories', which is not",
        ),
        ("beta = 0.2", "rank = 3", "[model] has 'rank', which is not one of its options"),
        ("chains = 4", "chain = 4", "[run] has 'chain', which is not one of its options"),
        ("rare = 0", "rares = 0", "[preprocessing] has 'rares'"),
        ("window = 100", "windows = 100", "[schedule] has 'windows'"),
        ("categories = 15", 'categories = "15"', "[model] categories must be a whole number"),
        ("categories = 15", "categories = 15.5", "got 15.5"),
        ("categories = 15", "categories = true", "got True"),
        ("depth = 2", "depth = [2]", "got [2]"),
        (
            "depth = 2",
            "depth = 0",
            "[model] depth must be a whole number from 1 up or auto or none",
        ),
        ("exact = false", "exact = 0", "[model] exact must be true or false, got 0"),
        ('parser = "chart"', 'parser = "earley"', "parser must be chart or leftcorner"),
        ('learner = "gibbs"', 'learner = "adam"', "no learner 'adam'"),
        ('learner = "gibbs"', "learner = 3", "[model] learner must be a name, got 3"),
        ("minimum = 500", 'minimum = "many"', "[schedule] minimum must be"),
        ("lowercase = true", "lowercase = 1", "[preprocessing] lowercase must be true or false"),
        ("chains = 4", "chains = 0", "[run] chains must be a whole number from 1 up"),
        ("chains = 4\n", "", "[run] has no chains"),
        ("gold = []", 'budget = "2h"', "[run] budget must be a whole number"),
        ('trees = "mbr"', 'trees = "all"', "[run] trees must be mbr, consensus, best or last"),
        ('select = "likelihood"', 'select = "taste"', "no criterion 'taste'"),
        ('select = "likelihood"', 'select = "heldout"', "give held_out"),
        ("gold = []", "gold = [1]", "[run] gold must be a text, or a list of them, got [1]"),
        (
            "beta = 0.2",
            "beta = -1.0",
            "[model] beta must be a number from 1e-12 up, at most 1e+100, got -1.0",
        ),
        ("[run]", "[run", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(path, old, new, said):
    save_configuration(PLAIN, path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DbpcfgError, match=re.escape(said)) as error:
        load_configuration(path)
    assert str(error.value).startswith(str(path))


def test_files_that_are_no_configuration(path):
    with pytest.raises(DbpcfgError, match=r"cannot be read: No such file.*; is this a run"):
        load_configuration(path)
    for content, said in (
        (b"\xff\xfe\x00", f"{path} is not TOML"),
        (b"format = 3", r"\[format\] must be a table"),
        (b"", "does not say that it is a 'dbpcfg run'"),
    ):
        path.write_bytes(content)
        with pytest.raises(DbpcfgError, match=said):
            load_configuration(path)


def test_settings_hold_plain_numbers():
    given = ChainSettings(np.int64(3), np.int32(2), np.uint64(7), learner=Gibbs(np.float32(1)))
    found = (given.categories, given.depth, given.seed, given.learner.beta)
    assert [type(x) for x in found] == [int, int, int, float]
    assert given == ChainSettings(3, 2, 7, learner=Gibbs(beta=1.0))


@pytest.mark.parametrize(
    ("learner", "options"),
    [("neural", {"rate": 0}), ("em", {"decay": 0.5}), ("em", {"decay": 1.1})],
)
def test_limits_that_are_no_values(learner, options):
    with pytest.raises(DbpcfgError, match=f"{next(iter(options))} must be a number above"):
        settings(learner, **options)
