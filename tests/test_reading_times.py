"""The study of reading times: effects that were put in are found, and a shuffled column is not."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.model.model import Model
from tests.strategies import random_grammar

EXAMPLES = Path(__file__).parents[1] / "examples"
SLOPE, LATER = 0.02, 0.01
"""Effects on the log reading time, of a bit of surprisal at the word and at the next one."""
TOKENS = ["the", "dog", "saw", "old", "cats", ",", "."]


@pytest.fixture(scope="module")
def study() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reading_times", EXAMPLES / "reading_times.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made_up(stories: int = 4, sentences: int = 40, words: int = 9, seed: int = 0) -> pd.DataFrame:
    """A table like that of ``dbpcfg surprisal --word --spillover 2``, with known effects."""
    rng = np.random.default_rng(seed)
    size = stories * sentences * words
    table = pd.DataFrame(
        {
            "item": np.repeat(np.arange(stories), sentences * words),
            "zone": np.tile(np.arange(1, sentences * words + 1), stories),
            "position": np.tile(np.arange(1, words + 1), stories * sentences),
            "form": rng.choice(TOKENS, size),
            "length": rng.integers(1, 12, size),
            "log_frequency": rng.normal(3, 1, size),
            "surprisal": rng.gamma(5, 2, size),
            "depth": rng.gamma(2, 0.5, size),
            "fork": rng.uniform(size=size),
            "join": rng.uniform(size=size),
        }
    )
    table.loc[table.position == words, "form"] += " ."
    group = table.groupby(["item", (table.position == 1).cumsum()])
    for name in ["length", "log_frequency", "surprisal", "depth", "fork", "join"]:
        for lag in (1, 2):
            table[f"{name}_{lag}"] = group[name].shift(lag)
    effect = 0.01 * table.length - 0.03 * table.log_frequency
    effect += SLOPE * table.surprisal + LATER * table.surprisal_1.fillna(0)
    table["rt"] = np.exp(5.8 + effect + rng.normal(0, 0.1, size))
    return table.sample(frac=1, random_state=1)  # rows in any order


def training_text(seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"sentence": np.repeat(np.arange(60), 8), "form": rng.choice(TOKENS, 480)})


def run(table: Path, out: Path, *more: str) -> str:
    command = [sys.executable, str(EXAMPLES / "reading_times.py"), str(table), "--time", "rt"]
    done = subprocess.run(
        [*command, "--out", str(out), *more], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The study of a made-up table, with n-grams of a made-up text."""
    folder = tmp_path_factory.mktemp("study")
    made_up().to_csv(folder / "measured.tsv", sep="\t", index=False)
    training_text().to_csv(folder / "forms.tsv", sep="\t", index=False)
    text = run(folder / "measured.tsv", folder / "out", "--text", str(folder / "forms.tsv"))
    assert text.startswith("1120 words of 4 stories")  # of 9 words a sentence, 7 have two before
    return folder / "out"


@pytest.fixture(scope="module")
def results(folder) -> pd.DataFrame:
    return pd.read_csv(folder / "results.tsv", sep="\t").set_index("comparison")


def test_an_effect_that_is_there_is_found(results):
    found = results.loc["surprisal"]
    assert abs(found.slope - SLOPE) < 3 * found.slope_se
    assert found.p < 1e-20
    assert found.gain > 0.05
    assert found.stories_better == 4
    assert results.loc["surprisal over n-gram"].p < 1e-20


def test_the_effect_on_the_next_word_is_found(folder):
    slopes = pd.read_csv(folder / "slopes.tsv", sep="\t").set_index(["comparison", "predictor"])
    later, none = slopes.loc["surprisal", "surprisal_1"], slopes.loc["surprisal", "surprisal_2"]
    assert abs(later.slope - LATER) < 3 * later.se
    assert later.t > 5
    assert abs(none.t) < 3


@pytest.mark.parametrize("name", ["surprisal, shuffled", "depth", "fork and join"])
def test_an_effect_that_is_not_there_is_not_found(results, name):
    found = results.loc[name]
    assert found.p > 0.01
    assert found.gain < 0.002


def test_figures_are_drawn(folder):
    for name in ("effects.png", "gains.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def log_likelihood(X: np.ndarray, y: np.ndarray) -> float:
    """Of least squares, without statsmodels."""
    X = np.column_stack([np.ones(len(y)), X])
    residuals = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return -len(y) / 2 * (np.log(2 * np.pi * residuals @ residuals / len(y)) + 1)


def lagged(*names: str) -> list[str]:
    return [name + lag for name in names for lag in ("", "_1", "_2")]


BASE = [*lagged("length", "log_frequency", "tokens"), "position", "story_position", "last"]


@pytest.mark.parametrize(
    ("name", "both", "added"),
    [
        ("surprisal", [], lagged("surprisal")),
        ("fork and join", [], lagged("fork", "join")),
        ("n-gram over surprisal", lagged("surprisal"), lagged("ngram")),
    ],
)
def test_the_likelihood_ratio_is_that_of_two_least_squares_fits(folder, results, name, both, added):
    words = pd.read_csv(folder / "words-measured.tsv", sep="\t")
    y, base = words.log_time.to_numpy(), BASE + both
    fits = [log_likelihood(words[x].to_numpy(), y) for x in (base, base + added)]
    statistic = 2 * (fits[1] - fits[0])
    assert results.loc[name, "chi2"] == pytest.approx(statistic, rel=1e-6)
    assert results.loc[name, "df"] == len(added)
    assert results.loc[name, "p"] == pytest.approx(chi2.sf(statistic, len(added)), rel=1e-4)


def test_the_gain_is_that_of_words_that_were_not_fitted(folder):
    words = pd.read_csv(folder / "words-measured.tsv", sep="\t")
    stories = pd.read_csv(folder / "stories.tsv", sep="\t").set_index("story")
    other, held = words[words.story != 2], words[words.story == 2]
    scores = []
    for names in (BASE, [*BASE, *lagged("surprisal")]):
        X, Z = (np.column_stack([np.ones(len(w)), w[names]]) for w in (other, held))
        b = np.linalg.lstsq(X, other.log_time, rcond=None)[0]
        variance = np.mean((other.log_time - X @ b) ** 2)
        errors = held.log_time - Z @ b
        scores.append(np.mean(-0.5 * np.log(2 * np.pi * variance) - errors**2 / (2 * variance)))
    assert stories.loc[2, "surprisal"] == pytest.approx(scores[1] - scores[0], rel=1e-6)


def test_ngram_surprisals_are_of_probabilities_and_summed_over_tokens(study):
    model = study.train_ngrams(training_text())
    outcomes = [*TOKENS, "never-seen", "<s>", "</s>"]  # nltk counts the padding too
    total = sum(2 ** -study.sentence_surprisals(model, ["the", "dog", x])[-1] for x in outcomes)
    assert total == pytest.approx(1)
    words = pd.DataFrame(
        {"sentence": [1, 1, 2], "form": ["the", "dog .", "never-seen"], "surprisal_1": 0.0}
    )
    study.add_ngram_surprisal(words, model)
    single = study.sentence_surprisals(model, ["the", "dog", "."])
    assert words.ngram.tolist()[:2] == pytest.approx([single[0], single[1] + single[2]])
    assert words.ngram[2] == study.sentence_surprisals(model, ["<UNK>"])[0]
    assert words.ngram_1.isna().tolist() == [True, False, True]


def test_words_can_be_chosen_and_a_missing_column_is_named(tmp_path):
    table = tmp_path / "measured.csv"
    made_up(stories=2).to_csv(table, index=False)
    assert run(table, tmp_path / "out", "--only", "length > 6").startswith("2")
    command = [sys.executable, str(EXAMPLES / "reading_times.py"), str(table)]
    done = subprocess.run(
        [*command, "--time", "time", "--out", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "has no column 'time'; its columns are item, zone" in done.stderr


def test_baseline_and_known_words_can_be_those_of_other_tables(tmp_path):
    table, other = tmp_path / "measured.csv", tmp_path / "other.csv"
    words = made_up(stories=2)
    words.to_csv(table, index=False)
    kinds = np.random.default_rng(5).choice(["word", "class"], len(words))
    theirs = words.assign(log_frequency=-words.log_frequency, surprisal=0.0, kind=kinds)
    theirs.sample(frac=1, random_state=2).to_csv(other, index=False)
    chosen = ["--baseline", str(other), "--known", str(other), "--only", "known"]
    run(table, tmp_path / "out", *chosen)
    found = pd.read_csv(tmp_path / "out" / "words-measured.tsv", sep="\t")
    expected = words[(kinds == "word") & (words.position > 2)].sort_values(["item", "zone"])
    assert found.surprisal.to_numpy() == pytest.approx(expected.surprisal.to_numpy())
    assert found.log_frequency.to_numpy() == pytest.approx(-expected.log_frequency.to_numpy())
    theirs[1:].to_csv(other, index=False)
    with pytest.raises(AssertionError, match="does not have the words of"):
        run(table, tmp_path / "out", *chosen)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_finds_the_same(folder, results):
    check = ["Rscript", "-e", "library(lme4)"]
    if subprocess.run(check, capture_output=True).returncode:
        pytest.skip("R has no lme4")
    done = subprocess.run(
        ["Rscript", str(EXAMPLES / "reading_times.R"), str(folder / "words-measured.tsv")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    row = re.search(r"^ *surprisal +3 +(\S+) +(\S+)", done.stdout, re.MULTILINE)
    assert row is not None, done.stdout
    assert float(row[1]) == pytest.approx(results.loc["surprisal", "slope"], rel=1e-3)
    assert float(row[2]) == pytest.approx(results.loc["surprisal", "chi2"], rel=1e-3)


@pytest.fixture(scope="module")
def trials(tmp_path_factory) -> Path:
    """Twelve subjects read ten items; times depend on surprisal, and are in ``measured.csv``."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("trials")
    grammar = random_grammar(3, 6, 0.5, 1)
    texts = [rng.choice(grammar.vocabulary.words, 8) for _ in range(10)]
    rows = [
        {"subject": f"s{subject}", "item": item, "position": position, "word": word}
        for subject in range(12)
        for item, words in enumerate(texts)
        for position, word in enumerate(words, 1)
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=0)
    layout = {"word": "word", "by": ["subject", "item"], "order": "position"}
    wanted = ["length", "surprisal"]
    found = Model(grammar, 2, Preprocessing()).surprisal(
        table, **layout, columns=wanted, spillover=1, quiet=True
    )
    found["length"] = rng.integers(1, 9, len(found))  # all words of this grammar are as long
    found["length_1"] = rng.integers(1, 9, len(found))
    subjects = dict(zip(found.subject.unique(), rng.normal(0, 0.1, 12), strict=True))
    slopes = dict(zip(subjects, rng.normal(SLOPE, SLOPE / 4, 12), strict=True))
    items = rng.normal(0, 0.05, 10)
    log = 5.8 + found.subject.map(subjects) + items[found["item"]]
    log += found.surprisal * found.subject.map(slopes)
    found["rt"] = np.exp(log + rng.normal(0, 0.1, len(found)))
    found.to_csv(folder / "measured.csv", index=False)
    return folder


def recipe(language: str) -> str:
    page = (EXAMPLES.parent / "docs" / "reading-times.md").read_text("utf-8")
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return str(block)


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.ConvergenceWarning")
def test_the_recipe_for_trials_finds_the_slope(trials, monkeypatch):
    monkeypatch.chdir(trials)
    names: dict[str, Any] = {}
    exec(compile(recipe("python"), "reading-times.md", "exec"), names)
    large, small = names["large"], names["small"]
    assert large.converged
    assert small.converged
    assert large.params["surprisal"] == pytest.approx(SLOPE, abs=3 * large.bse["surprisal"])
    assert large.bse["surprisal"] < SLOPE / 3
    assert abs(large.params["surprisal_1"]) < 3 * large.bse["surprisal_1"]
    assert 2 * (large.llf - small.llf) > chi2.isf(0.001, 1)


def test_the_recipe_in_r(trials):
    r = shutil.which("Rscript")
    if r is None or subprocess.run([r, "-e", "library(lme4)"], capture_output=True).returncode:
        pytest.skip("R or its package lme4 is not installed")
    subprocess.run([r, "-e", recipe("r")], cwd=trials, check=True)
