"""``GrammarInducer``: a grammar of raw text as an estimator of scikit-learn.

``fit`` learns a grammar from texts, ``transform`` gives the measures of each sentence, ``score``
says how probable sentences are. It works in pipelines and in searches over parameters. Needs ``pip
install "dbpcfg[sklearn]"``.

Measures of a sentence w₁ … wₙ (docs/surprisal.md defines those of its words):

=======================  ==========================================================================
``words``                n
``log_probability``      log P(w₁ … wₙ), in nats
``mean_surprisal``       mean over words of surprisal, in bits
``max_surprisal``        the greatest surprisal of a word
``mean_entropy``         mean over words of the entropy of the next word, in bits
``mean_depth``           mean over words of the expected number of fragments in memory before it
``max_depth``            the greatest of them
``forks``, ``joins``     expected numbers of words that begin a left corner, and that join
``unknown``              number of words that the grammar does not know, or knows as classes
=======================  ==========================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dbpcfg.cluster.connection import induce
from dbpcfg.corpus.arguments import SentencesLike
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.machine import cores
from dbpcfg.model.surprisal import Row
from dbpcfg.trees.tree import Tree

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise DbpcfgError(
        "dbpcfg.estimator needs scikit-learn: install it with pip install 'dbpcfg[sklearn]'"
    ) from error


FEATURES = (
    *("words", "log_probability", "mean_surprisal", "max_surprisal", "mean_entropy"),
    *("mean_depth", "max_depth", "forks", "joins", "unknown"),
)


class GrammarInducer(TransformerMixin, BaseEstimator):  # in scikit-learn's order
    """Learn a grammar from texts; measure sentences with it.

    Texts are sentences, as texts that are split at white space or as lists of words, or a path.

    Parameters
    ----------
    n_categories
        The number of categories K; None for the learner's default.
    depth
        The memory bound D; None for none, ``"auto"`` for the learner's default.
    learner
        ``"gibbs"``, ``"em"``, ``"vb"``, ``"neural"``, or ``"auto"``, which chooses by the texts.
    beta
        The Dirichlet parameter of all rules; None for the learner's default.
    budget
        Iterations of all chains of a race together, or a time such as ``"30min"``; 1,500 if None.
    iterations
        The length of each chain, without a race; None for a race.
    chains
        The number of chains; None for as many as suit the budget.
    lowercase
        Whether letters are changed to lower case.
    rare
        Forms that occur at most this often become classes by their endings; 0 for none, None for
        what the learner ``"auto"`` chooses.
    random_state
        The seed, or a generator from which one is drawn; None for a random one.
    n_jobs
        The number of threads; None for one, -1 for all processors. The result does not depend on
        it.
    verbose
        Whether progress is shown.
    """

    def __init__(
        self,
        n_categories: int | None = None,
        depth: int | Literal["auto"] | None = "auto",
        *,
        learner: str = "auto",
        beta: float | None = None,
        budget: int | str | None = None,
        iterations: int | None = None,
        chains: int | None = None,
        lowercase: bool = True,
        rare: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_categories = n_categories
        self.depth = depth
        self.learner = learner
        self.beta = beta
        self.budget = budget
        self.iterations = iterations
        self.chains = chains
        self.lowercase = lowercase
        self.rare = rare
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: SentencesLike, y: Any = None) -> GrammarInducer:
        """Learn a grammar from the texts X; y is ignored.

        Afterwards ``model_`` is a `dbpcfg.Model`, and ``log_likelihood_`` that of the texts.
        """
        given: dict[str, Any] = {"beta": self.beta, "rare": self.rare}
        run = induce(
            _texts(X),
            self.n_categories,
            self.depth,
            learner=self.learner,
            budget=self.budget,
            iterations=self.iterations,
            chains=self.chains,
            lowercase=self.lowercase,
            seed=_seed(self.random_state),
            threads=self._threads(),
            quiet=not self.verbose,
            **{name: value for name, value in given.items() if value is not None},
        )
        self.model_ = run.model
        self.log_likelihood_ = run.best.best.log_likelihood if run.best.best else math.nan
        return self

    def transform(self, X: SentencesLike) -> NDArray[np.float64]:
        """``[sentence, measure]``: measures of the texts X, named by ``get_feature_names_out``."""
        check_is_fitted(self)
        rows = self.model_.surprisal(
            _texts(X), columns=_COLUMNS, threads=self._threads(), quiet=True
        )
        sentences = groupby(rows, key=lambda row: row.sentence)
        measures = [_measures(list(words)) for _, words in sentences]
        return np.array(measures, dtype=float).reshape(-1, len(FEATURES))

    def score(self, X: SentencesLike, y: Any = None) -> float:
        """How probable the texts X are: log P per word, in nats; −∞ if one is impossible."""
        check_is_fitted(self)
        result = self.model_.probability(_texts(X), threads=self._threads(), quiet=True)
        return result.log_probability / result.tokens

    def parse(self, X: SentencesLike) -> list[Tree]:
        """The MBR tree of each of the texts X."""
        check_is_fitted(self)
        return self.model_.parse(_texts(X), threads=self._threads(), quiet=True)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the measures."""
        return np.array(FEATURES, dtype=object)

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        return cores() if self.n_jobs < 0 else max(self.n_jobs, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _texts(X: SentencesLike) -> SentencesLike:
    """The texts, which must not be a table: its columns would be taken for sentences."""
    if hasattr(X, "columns"):
        raise DbpcfgError("expected texts, got a table: give its column, as in frame['sentence']")
    return X


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


_COLUMNS = ("sentence", "kind", "surprisal", "next_word_entropy", "depth", "fork", "join")


def _measures(rows: Sequence[Row]) -> list[float]:
    """Those of a sentence, from the rows of its words and its end; in the order of FEATURES."""
    words = rows[:-1]
    surprisal, entropy, depth, fork, join = (
        np.array([row[name] for row in words], dtype=float) for name in _COLUMNS[2:]
    )
    total = sum(float(row.surprisal) for row in rows)
    return [
        len(words),
        -total * math.log(2),
        surprisal.mean(),
        surprisal.max(),
        entropy.mean(),
        depth.mean(),
        depth.max(),
        fork.sum(),
        join.sum(),
        sum(row.kind in ("unknown", "class") for row in words),
    ]
