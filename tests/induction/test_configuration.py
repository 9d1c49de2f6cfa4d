"""The file that has everything needed to repeat a run."""

from __future__ import annotations

import re
import tomllib

import pytest

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.search import Schedule
from dbpcfg.induction.settings import (
    ChainSettings,
    Configuration,
    load_configuration,
    save_configuration,
    versions,
)

PLAIN = Configuration(ChainSettings(), Schedule(), Preparation())
FULL = Configuration(
    model=ChainSettings(
        *(7, None, 1e-3, 2**64 - 1),
        exact=True,
        sample_beta=True,
        initial="right",
        anneal=3,
        temperature=2.5,
        curriculum=4,
        restarts=2,
        restart_iterations=5,
    ),
    schedule=Schedule(iterations=44, least=1, window=2, after=3, most=4),
    preparation=Preparation(False, 20, "both", True, 3, "shape"),
    chains=2,
    trees="best",
    corpus={"sources": ["a b.txt", "é\n"], "sentences": 9, "digest": "sha256:00"},
    gold=["gold.mrg"],
    versions=versions(),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config.toml"


@pytest.mark.parametrize("configuration", [PLAIN, FULL], ids=["plain", "full"])
def test_round_trip(path, configuration):
    save_configuration(configuration, path)
    assert load_configuration(path) == configuration
    assert tomllib.loads(path.read_text())["format"] == {"name": "dbpcfg run", "version": 1}


def test_chains_differ_by_their_number(path):
    save_configuration(FULL, path)
    chains = [load_configuration(path).chain(n) for n in range(2)]
    assert [settings.chain for settings in chains] == [0, 1]
    assert chains[0] == FULL.model
    assert "chain =" not in path.read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version = 1", "version = 2", "a run of version 2; this program reads version 1: use"),
        ("version = 1", "version = true", "a run of version True"),
        ("version = 1\n", "", "a run of version None"),
        ('name = "dbpcfg run"', 'name = "other"', "does not say that it is a 'dbpcfg run'"),
        ("categories = 15", "kategories = 15", "[model] has 'kategories', which is no option"),
        ("chains = 4", "chain = 4", "[run] has 'chain', which is no option"),
        ("rare = 0", "rares = 0", "[preparation] has 'rares'"),
        ("window = 100", "windows = 100", "[schedule] has 'windows'"),
        ("categories = 15", 'categories = "15"', "[model] has categories = '15', which cannot be"),
        ("categories = 15", "categories = 15.5", "categories = 15.5"),
        ("categories = 15", "categories = true", "categories = True"),
        ("depth = 2", "depth = [2]", "depth = [2]"),
        ("exact = false", "exact = 0", "exact = 0"),
        ('parser = "chart"', 'parser = "earley"', "parser = 'earley'"),
        ("least = 500", 'least = "many"', "[schedule] has least = 'many'"),
        ("lowercase = true", "lowercase = 1", "[preparation] has lowercase = 1"),
        ("chains = 4", "chains = 0", "at least 1 chain, got 0"),
        ("chains = 4", 'chains = "4"', "[run] has chains = '4'"),
        ('trees = "mbr"', 'trees = "all"', "trees = 'all'"),
        ("gold = []", "gold = [1]", "[run] has gold = [1]"),
        ("beta = 0.2", "beta = -1.0", "beta must be a positive number"),
        ("depth = 2", "depth = 0", "depth bound must be at least 1"),
        ("anneal = 0", "anneal = 4751", "take 4751 iterations, but samples count from 4750 on"),
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


def test_whole_numbers_are_numbers(path):
    save_configuration(PLAIN, path)
    path.write_text(path.read_text().replace("beta = 0.2", "beta = 1"))
    assert load_configuration(path).model.beta == 1


def test_files_that_are_no_configuration(path):
    with pytest.raises(DbpcfgError, match=r"cannot be read: No such file.*; is this a run"):
        load_configuration(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DbpcfgError, match=f"{path} is not TOML"):
        load_configuration(path)
    path.write_text("format = 3")
    with pytest.raises(DbpcfgError, match=r"\[format\] must be a table"):
        load_configuration(path)
    path.write_text("")
    with pytest.raises(DbpcfgError, match="does not say that it is a 'dbpcfg run'"):
        load_configuration(path)


def test_runs_that_would_count_unsettled_samples():
    for options in ({"restarts": 3, "restart_iterations": 4}, {"anneal": 12}, {"curriculum": 12}):
        model = ChainSettings(**options)
        assert Configuration(model, Schedule(24), Preparation()).chains == 4
        with pytest.raises(DbpcfgError, match="take 12 iterations, but samples count from 11 on"):
            Configuration(model, Schedule(23), Preparation())
