"""Do surprisal and memory explain reading times? Regression, with a cross-validation over stories.

    python examples/reading_times.py measured0.tsv measured1.tsv --time meanItemRT --story item \
        --order zone --text forms.tsv --out study

Each table has a word in each row, its mean reading time, and the columns that ``dbpcfg surprisal
--word`` adds, with ``--spillover``; several tables are the same words measured by several grammars.
The response is the log of the reading time. The baseline has what is known to matter without any
grammar; each comparison adds measures to it, with their lags, and asks two questions:

likelihood ratio
    2 (log L(with) - log L(without)), compared with a chi-squared distribution: does a regression on
    all words fit better than chance would let it?
cross-validation
    the regressions are fitted to all stories but one; by how much is the log-likelihood per word of
    that story greater with the measures than without? Nothing is gained by chance here.

docs/reading-times.md has the study of Natural Stories, and what to write in its place for another.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm
from statsmodels.regression.linear_model import OLS
from threadpoolctl import threadpool_limits

BASELINE = ["length", "log_frequency", "tokens"]
"""Properties of a word that need no grammar, with their lags."""
PLACE = ["position", "story_position", "last"]
"""Where the word is: these have no lags."""
COMPARISONS = [
    # name, what both regressions have beside the baseline, what is added
    ("surprisal", [], ["surprisal"]),
    ("depth", [], ["depth"]),
    ("fork and join", [], ["fork", "join"]),
    ("surprisal, shuffled", [], ["shuffled"]),
    ("depth over surprisal", ["surprisal"], ["depth"]),
    ("fork and join over surprisal", ["surprisal"], ["fork", "join"]),
]
NGRAM_COMPARISONS = [
    ("n-gram surprisal", [], ["ngram"]),
    ("surprisal over n-gram", ["ngram"], ["surprisal"]),
    ("n-gram over surprisal", ["surprisal"], ["ngram"]),
]


# --- the table ------------------------------------------------------------------------------------


def read_words(path: str, time: str, story: str, order: str) -> pd.DataFrame:
    """The words of all stories in order, with the log of their reading times."""
    separator = "," if path.endswith(".csv") else "\t"
    words = pd.read_csv(path, sep=separator, keep_default_na=False, na_values=[""])
    needed = [time, story, order, "form", "position", "length", "log_frequency", "surprisal"]
    missing = [name for name in needed if name not in words]
    if missing:
        sys.exit(f"{path} has no column {missing[0]!r}; its columns are {', '.join(words)}")
    words = words.rename(columns={story: "story", order: "story_position"})
    words["log_time"] = np.log(words[time])
    return words.sort_values(["story", "story_position"], ignore_index=True)


def add_row_properties(words: pd.DataFrame) -> None:
    """Number of tokens in a row (a word with its comma has two), and if it ends the sentence."""
    words["sentence"] = (words.position == 1).cumsum()
    words["tokens"] = words.form.str.split().str.len()
    words["last"] = (words.sentence != words.sentence.shift(-1)).astype(int)


def lags_of(words: pd.DataFrame) -> int:
    """The number of words back that ``dbpcfg surprisal --spillover`` went."""
    return sum(bool(re.fullmatch(r"surprisal_\d+", name)) for name in words)


def add_lags(words: pd.DataFrame, name: str, lags: int) -> None:
    """The values of a column at the words before, within the sentence."""
    for lag in range(1, lags + 1):
        words[f"{name}_{lag}"] = words.groupby("sentence")[name].shift(lag)


def with_lags(names: list[str], words: pd.DataFrame) -> list[str]:
    """The names of columns and of their lags."""
    lags = range(1, lags_of(words) + 1)
    return [lagged for name in names for lagged in [name, *(f"{name}_{lag}" for lag in lags)]]


def add_shuffled(words: pd.DataFrame, seed: int = 1) -> None:
    """Surprisal and its lags, of another word: a control that must explain nothing."""
    order = np.random.default_rng(seed).permutation(len(words))
    for name in with_lags(["surprisal"], words):
        words[name.replace("surprisal", "shuffled")] = words[name].to_numpy()[order]


# --- an n-gram model to compare with --------------------------------------------------------------


def train_ngrams(forms: pd.DataFrame, order: int = 3):
    """An n-gram model of sentences, with Witten-Bell interpolation (nltk).

    All forms that the text does not have are one that it has once.
    """
    from nltk.lm import WittenBellInterpolated
    from nltk.lm.preprocessing import padded_everygram_pipeline

    sentences = [list(sentence) for _, sentence in forms.groupby("sentence").form] + [["<UNK>"]]
    ngrams, vocabulary = padded_everygram_pipeline(order, sentences)
    model = WittenBellInterpolated(order)
    model.fit(ngrams, vocabulary)
    return model


def sentence_surprisals(model, tokens: list[str]) -> list[float]:
    """The surprisal of each token of a sentence, in bits."""
    padded = ["<s>"] * (model.order - 1) + tokens
    return [
        -model.logscore(padded[end], padded[end - model.order + 1 : end])
        for end in range(model.order - 1, len(padded))
    ]


def add_ngram_surprisal(words: pd.DataFrame, model) -> None:
    """A column ``ngram``; the tokens of a row are summed, as for the grammar."""
    found = []
    for _, sentence in words.groupby("sentence").form:
        rows = [form.split() for form in sentence]
        values = iter(sentence_surprisals(model, [token for row in rows for token in row]))
        found += [sum(next(values) for _ in row) for row in rows]
    words["ngram"] = np.array(found)
    add_lags(words, "ngram", lags_of(words))


# --- regressions ----------------------------------------------------------------------------------


def fit(words: pd.DataFrame, predictors: list[str]):
    """Least squares of the log reading time."""
    with warnings.catch_warnings():
        # A predictor may be constant, as the number of tokens if all words have one: no harm done.
        warnings.filterwarnings("ignore", "The design matrix is rank-deficient")
        return OLS(words.log_time, words[predictors].assign(constant=1.0)).fit()


def likelihood_ratio(words: pd.DataFrame, base: list[str], added: list[str]) -> dict[str, float]:
    """The test of ``added`` over ``base``, and the slope of the first of them."""
    small, large = fit(words, base), fit(words, base + added)
    statistic = 2 * (large.llf - small.llf)
    degrees = int(large.df_model - small.df_model)
    return {
        "slope": large.params[added[0]],
        "slope_se": large.bse[added[0]],
        "chi2": statistic,
        "df": degrees,
        "p": chi2.sf(statistic, degrees),
    }


def log_likelihoods(fitted, words: pd.DataFrame) -> np.ndarray:
    """Log-likelihood of each of other words, under a fitted regression."""
    spread = np.sqrt(fitted.ssr / fitted.nobs)
    predictors = words.assign(constant=1.0)[fitted.params.index]
    return norm.logpdf(words.log_time, fitted.predict(predictors), spread)


def cross_validation(words: pd.DataFrame, base: list[str], added: list[str]) -> pd.Series:
    """For each story: what is gained per word by ``added``, fitted to the other stories."""
    gains = {}
    for story, rows in words.groupby("story"):
        others = words[words.story != story]
        large, small = fit(others, base + added), fit(others, base)
        gains[story] = np.mean(log_likelihoods(large, rows) - log_likelihoods(small, rows))
    return pd.Series(gains)


def comparisons(words: pd.DataFrame) -> list[tuple[str, list[str], list[str]]]:
    """The comparisons that the columns allow: name, predictors without, and those added."""
    baseline = with_lags(BASELINE, words) + PLACE
    return [
        (name, baseline + with_lags(both, words), with_lags(added, words))
        for name, both, added in COMPARISONS + NGRAM_COMPARISONS
        if {*both, *added} <= {*words}
    ]


def slopes(words: pd.DataFrame) -> pd.DataFrame:
    """The slope of every added predictor, its standard error, and their ratio."""
    found = {}
    for name, base, added in comparisons(words):
        fitted = fit(words, base + added)
        columns = {"slope": fitted.params, "se": fitted.bse, "t": fitted.tvalues}
        found[name] = pd.DataFrame(columns).loc[added]
    return pd.concat(found, names=["comparison", "predictor"])


def compare(words: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All comparisons: a row for each, and what each story gained."""
    rows, stories = [], {}
    for name, base, more in comparisons(words):
        stories[name] = cross_validation(words, base, more)
        rows.append({"comparison": name, **likelihood_ratio(words, base, more)})
    gains = pd.DataFrame(stories)
    found = pd.DataFrame(rows).set_index("comparison")
    found["gain"] = gains.mean()
    found["gain_sd"] = gains.std()
    found["stories_better"] = (gains > 0).sum()
    return found, gains


def complete_rows(words: pd.DataFrame, only: str | None) -> pd.DataFrame:
    """The words that all regressions have: those with all predictors, and as ``--only`` says."""
    if only:
        words = words.query(only)
    names = [n for n in ["ngram", "depth", "fork", "join", "surprisal"] if n in words]
    needed = ["log_time", *PLACE, *with_lags(BASELINE + names, words)]
    return words.dropna(subset=needed).reset_index(drop=True)


def preprocess(path: str, options: argparse.Namespace, ngrams=None) -> pd.DataFrame:
    """The words of one table with all predictors."""
    words = read_words(path, options.time, options.story, options.order)

    def same_words(other: str) -> pd.DataFrame:
        found = read_words(other, options.time, options.story, options.order)
        if not found[["story", "story_position"]].equals(words[["story", "story_position"]]):
            sys.exit(f"{other} does not have the words of {path}")
        return found

    if options.baseline:
        shared = ["form", *with_lags(["length", "log_frequency"], words)]
        words[shared] = same_words(options.baseline)[shared]
    if options.known:
        kinds = [same_words(other).kind for other in options.known]
        words["known"] = np.all([kind == "word" for kind in kinds], axis=0)
    add_row_properties(words)
    add_lags(words, "tokens", lags_of(words))
    if ngrams is not None:
        add_ngram_surprisal(words, ngrams)
    words = complete_rows(words, options.only)
    add_shuffled(words)
    return words


# --- figures --------------------------------------------------------------------------------------


def partial_effect(words: pd.DataFrame, name: str, others: list[str]) -> dict[str, np.ndarray]:
    """The effect of one predictor in ms, its 95 % band, and means of partial residuals."""
    fitted = fit(words, [*others, *with_lags([name], words)])
    slope, error, typical = fitted.params[name], fitted.bse[name], np.exp(words.log_time.mean())
    x = np.linspace(*words[name].quantile([0.01, 0.99]), 50)
    effect = slope * (x - words[name].mean())
    half = 1.96 * error * np.abs(x - words[name].mean())
    residuals = fitted.resid + slope * (words[name] - words[name].mean())
    groups = np.array_split(np.argsort(words[name].to_numpy()), 12)
    return {
        "x": x,
        "effect": typical * np.expm1(effect),
        "low": typical * np.expm1(effect - half),
        "high": typical * np.expm1(effect + half),
        "group_x": np.array([words[name].iloc[g].mean() for g in groups]),
        "group_effect": typical * np.expm1([residuals.iloc[g].mean() for g in groups]),
        "group_se": typical * np.array([residuals.iloc[g].sem() for g in groups]),
    }


def draw_effects(tables: list[pd.DataFrame], path: Path) -> None:
    """A panel for surprisal of each model: the line of each table, and means of the first."""
    import matplotlib.pyplot as plt

    names = {"surprisal": "surprisal of the grammar", "ngram": "surprisal of the n-gram model"}
    shown = [name for name in names if name in tables[0]]
    figure, panels = plt.subplots(
        1, len(shown), figsize=(4.2 * len(shown), 3.4), sharey=True, squeeze=False
    )
    for axes, name, colour in zip(panels[0], shown, ["#0b6e99", "#a8522a"]):
        baseline = with_lags(BASELINE, tables[0]) + PLACE
        for words in tables if name == "surprisal" else tables[:1]:
            found = partial_effect(words, name, baseline)
            axes.fill_between(
                found["x"], found["low"], found["high"], color=colour, alpha=0.18, lw=0
            )
            axes.plot(found["x"], found["effect"], color=colour, lw=1.5)
        found = partial_effect(tables[0], name, baseline)
        axes.errorbar(
            found["group_x"],
            found["group_effect"],
            found["group_se"],
            fmt="o",
            ms=4,
            color="0.25",
            lw=1,
        )
        axes.axhline(0, color="0.7", lw=0.8, zorder=0)
        axes.set_xlabel(f"{names[name]} (bits)")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("effect on reading time (ms)")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_gains(gains: list[pd.DataFrame], path: Path) -> None:
    """The gain of each comparison: a dot for each story, the mean, and one for each table."""
    import matplotlib.pyplot as plt

    gains = [1000 * table for table in gains]
    mean = sum(gains) / len(gains)
    names = list(mean)[::-1]
    figure, axes = plt.subplots(figsize=(7, 0.42 * len(names) + 0.9))
    for row, name in enumerate(names):
        axes.plot(mean[name], [row] * len(mean), "o", ms=4, color="0.65", mew=0, alpha=0.8)
        means = [table[name].mean() for table in gains]
        axes.plot([min(means), max(means)], [row, row], color="#0b6e99", lw=6, alpha=0.35)
        axes.plot(mean[name].mean(), row, "D", ms=6, color="#0b6e99")
    axes.axvline(0, color="0.3", lw=0.8, zorder=0)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("gain in log-likelihood per 1,000 words of a held-out story (nats)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


# --- the study ------------------------------------------------------------------------------------


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """The comparisons over all tables: means, and the least and greatest."""
    groups = results.groupby("comparison", sort=False)
    columns = {"slope": "mean", "chi2": ["min", "max"], "p": "max", "gain": ["mean", "min", "max"]}
    found = groups.agg({"df": "first", **columns, "gain_sd": "mean", "stories_better": "min"})
    found.columns = [" ".join(name).removesuffix(" first") for name in found.columns]
    return found


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="+", help="tables of words, from dbpcfg surprisal --word")
    parser.add_argument("--time", required=True, help="column of (mean) reading times in ms")
    parser.add_argument("--story", default="item", help="column of stories (default: item)")
    parser.add_argument(
        "--order", default="zone", help="column of places in stories (default: zone)"
    )
    parser.add_argument("--text", help="sentences and forms of the training text, for n-grams")
    parser.add_argument("--baseline", help="table whose forms and frequencies are used for all")
    parser.add_argument(
        "--known", nargs="+", help="tables; adds a column: if all their grammars know the word"
    )
    parser.add_argument("--only", help="words to use, such as \"kind == 'word'\"")
    parser.add_argument("--out", required=True, type=Path, help="folder for tables and figures")
    return parser.parse_args()


def main() -> None:
    """Compare, print a summary, and write tables and figures."""
    options = arguments()
    threadpool_limits(1)  # the regressions are small: several threads would only wait
    options.out.mkdir(parents=True, exist_ok=True)
    ngrams = None
    if options.text:
        ngrams = train_ngrams(pd.read_csv(options.text, sep="\t", keep_default_na=False))
    names = [Path(path).stem for path in options.tables]
    tables = [preprocess(path, options, ngrams) for path in options.tables]
    found = [compare(words) for words in tables]
    results = pd.concat([one for one, _ in found], keys=names, names=["table"])
    gains = pd.concat([one for _, one in found], keys=names, names=["table", "story"])
    results.to_csv(options.out / "results.tsv", sep="\t")
    gains.to_csv(options.out / "stories.tsv", sep="\t")
    steep = pd.concat([slopes(words) for words in tables], keys=names, names=["table"])
    steep.to_csv(options.out / "slopes.tsv", sep="\t")
    for name, words in zip(names, tables):  # for R
        words = words.drop(columns=["word", "form"], errors="ignore")
        words.to_csv(options.out / f"words-{name}.tsv", sep="\t", index=False)
    draw_effects(tables, options.out / "effects.png")
    draw_gains([one for _, one in found], options.out / "gains.png")
    print(f"{len(tables[0])} words of {tables[0].story.nunique()} stories")
    print(summary(results).to_string(float_format=lambda x: f"{x:.3g}"))


if __name__ == "__main__":
    main()
