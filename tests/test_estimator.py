"""The estimator for scikit-learn: its checks, and what it gives."""

import math
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted, validate_data

import dbpcfg
from dbpcfg.errors import DbpcfgError
from dbpcfg.estimator import FEATURES, GrammarInducer

TEXTS = ["the dog saw a cat", "a cat slept", "the old dog slept", "a dog saw the old cat"] * 6
NEW = ["the cat saw a dog", "an owl slept", "dog"]


def small(**parameters) -> GrammarInducer:
    return GrammarInducer(**{"n_categories": 3, "iterations": 12, "chains": 2, **parameters})


@pytest.fixture(scope="module")
def fitted() -> GrammarInducer:
    return small().fit(TEXTS)


class OfNumbers(GrammarInducer):
    """The estimator for tables of numbers, which is what scikit-learn's checks have.

    A row is a sentence, of words such as ``c0_1``; scikit-learn itself checks the numbers.
    """

    def _sentences(self, X, reset: bool = False) -> list[list[str]]:
        rows = np.round(validate_data(self, X, reset=reset))
        return [[f"c{c}_{int(v) % 3}" for c, v in enumerate(row)] for row in rows]

    def fit(self, X, y=None):
        return super().fit(self._sentences(X, reset=True))

    def transform(self, X):
        check_is_fitted(self)
        return super().transform(self._sentences(X))

    def score(self, X, y=None):
        check_is_fitted(self)
        return super().score(self._sentences(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        tags.input_tags.two_d_array = True
        tags.no_validation = False
        return tags


def checks(estimator) -> list:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [check for _, check in estimator_checks_generator(estimator)]


def test_scikit_learn_accepts_the_tags_of_an_estimator_of_texts():
    """It has no texts: after this it says that it cannot test the estimator."""
    (check,) = checks(small())
    check(small())
    assert check.func.__name__ == "check_estimator_cloneable"


OF_NUMBERS = OfNumbers(n_categories=2, depth=1, iterations=2, chains=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("check", checks(OF_NUMBERS), ids=lambda check: check.func.__name__)
def test_scikit_learns_checks(check):
    check(clone(OF_NUMBERS))


def test_parameters_are_set_and_cloned():
    estimator = small(depth=1, rare=1)
    assert estimator.get_params()["depth"] == 1
    copy = clone(estimator).set_params(n_categories=4)
    assert copy.get_params() == {**estimator.get_params(), "n_categories": 4}
    assert copy.fit(TEXTS).model_.grammar.categories == 4
    with pytest.raises(ValueError, match="Invalid parameter 'categories'"):
        estimator.set_params(categories=3)


def test_the_grammar_is_that_of_induce(fitted):
    run = dbpcfg.induce(TEXTS, 3, 2, iterations=12, chains=2, seed=0, quiet=True)
    assert fitted.parse(NEW) == run.model.parse(NEW)
    assert fitted.score(NEW) * 9 == pytest.approx(run.model.probability(NEW).log_probability)


def test_measures_are_those_of_the_words(fitted):
    names = list(fitted.get_feature_names_out())
    found = fitted.transform(NEW)
    assert names == list(FEATURES)
    assert found.shape == (len(NEW), len(names))
    for sentence, values in zip(NEW, found, strict=True):
        rows = fitted.model_.surprisal([sentence], quiet=True)
        *words, end = rows
        log_p = fitted.model_.probability([sentence], quiet=True).log_probability
        surprisals, depths = ([row[name] for row in words] for name in ("surprisal", "depth"))
        expected = {
            "words": len(words),
            "log_probability": log_p,
            "mean_surprisal": (-log_p / math.log(2) - end.surprisal) / len(words),
            "max_surprisal": max(surprisals),
            "mean_entropy": np.mean([row.next_word_entropy for row in words]),
            "mean_depth": np.mean(depths),
            "max_depth": max(depths),
            "forks": sum(row.fork for row in words),
            "joins": sum(row.join for row in words),
            "unknown": 2 if "owl" in sentence else 0,
        }
        assert dict(zip(names, values, strict=True)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "texts",
    [np.array(NEW), pd.Series(NEW, index=[5, 3, 9]), [text.split() for text in NEW], tuple(NEW)],
    ids=["array", "series", "words", "tuple"],
)
def test_texts_of_any_kind_give_the_same(fitted, texts):
    assert np.array_equal(fitted.transform(texts), fitted.transform(NEW))
    assert fitted.score(texts) == fitted.score(NEW)


def test_fits_repeat_and_depend_on_the_seed_only(fitted):
    again = small(n_jobs=2).fit(TEXTS)
    assert np.array_equal(again.transform(NEW), fitted.transform(NEW))
    assert again.fit(TEXTS).score(NEW) == fitted.score(NEW)
    assert small(random_state=1).fit(TEXTS).score(NEW) != fitted.score(NEW)
    drawn = [small(random_state=np.random.RandomState(7)).fit(TEXTS).score(NEW) for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_a_fitted_estimator_is_pickled(fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.transform(NEW), fitted.transform(NEW))
    assert copy.get_params() == fitted.get_params()


def test_it_works_in_a_pipeline_and_with_data_frames(fitted):
    lengths = [len(text.split()) for text in TEXTS]
    pipeline = make_pipeline(small(), LinearRegression()).fit(TEXTS, lengths)
    assert pipeline.predict(TEXTS) == pytest.approx(lengths, abs=1e-6)  # words are a measure
    frame = clone(fitted).set_output(transform="pandas").fit(TEXTS).transform(NEW)
    assert list(frame) == list(FEATURES)


def test_the_number_of_categories_is_searched_for():
    search = GridSearchCV(small(), {"n_categories": [1, 3]}, cv=2).fit(TEXTS)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_params_["n_categories"] == [1, 3][int(np.argmax(scores))]
    assert search.best_estimator_.transform(NEW).shape == (3, len(FEATURES))


def test_mistakes_are_errors(fitted):
    with pytest.raises(NotFittedError):
        small().transform(NEW)
    with pytest.raises(NotFittedError):
        small().score(NEW)
    with pytest.raises(DbpcfgError, match="as in frame"):
        fitted.transform(pd.DataFrame({"sentence": NEW}))
    with pytest.raises(DbpcfgError, match="there is no file 'dog'"):
        fitted.transform("dog")
    with pytest.raises(DbpcfgError):
        small().fit([])
    with pytest.raises(DbpcfgError):
        fitted.transform(["the dog", ""])
    unbounded = small(depth=None).fit(TEXTS)
    assert unbounded.score(NEW) < 0
    with pytest.raises(DbpcfgError, match="depth"):
        unbounded.transform(NEW)


def test_without_scikit_learn_the_error_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None; import dbpcfg.estimator"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'dbpcfg[sklearn]'" in done.stderr
