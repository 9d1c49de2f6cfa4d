"""All scores of predicted trees from one pass over them.

Gold and predicted trees come in the same order, one of each for every sentence.  Each pair is
aligned once and becomes brackets over the same words (`alignment`), and is counted:

====================  ==============================================  ==========================
``score``             PARSEVAL, from ``statistics``                   `parseval`
``recall``            recall of a gold category                       `nounphrases`
``aggregate``         induced labels for that category                `nounphrases`
``constituents``      labels of matched spans, induced × gold         `labels`
``tags``              tags of words, induced × gold                   `labels`
``gold_depths``, …    memory depths of the trees                      `depths`
====================  ==============================================  ==========================

Sentences longer than the convention's ``max_length`` are left out of all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbpcfg.corpus.arguments import TreesLike, load_trees
from dbpcfg.corpus.sentence import PunctuationRule, Sentence, punctuation_mask, rule_name
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import align_trees
from dbpcfg.evaluation.depths import DepthTable, Direction, depth_table, span_depth
from dbpcfg.evaluation.labels import Contingency, matched_labels, matched_tags
from dbpcfg.evaluation.nounphrases import (
    MAPPING_SENTENCES,
    Aggregate,
    Proposals,
    Recall,
    aggregate,
    count_matched,
    mapping_split,
    other_labels,
    phrase_labels,
    proposals,
)
from dbpcfg.evaluation.parseval import (
    Convention,
    Score,
    Skipped,
    Statistics,
    count,
    score,
    signature_of,
)
from dbpcfg.evaluation.significance import Intervals, PairedTest, bootstrap, permutation_test
from dbpcfg.io.progress import counted
from dbpcfg.io.tables import Column, Table, percent, plural, shortened


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """All scores of predicted trees."""

    convention: Convention
    """The convention of the scores."""
    statistics: Statistics
    """``(matched, predicted, gold)`` of each scored sentence."""
    rows: NDArray[np.int64]
    """The numbers of the scored sentences, from 0."""
    score: Score
    """PARSEVAL."""
    recall: Recall
    """Recall of a gold category."""
    aggregate: Aggregate
    """The induced labels for that category, and their score."""
    constituents: Contingency
    """Labels of matched spans."""
    tags: Contingency
    """Tags of words."""
    gold_depths: DepthTable
    """Memory depths of the gold trees."""
    predicted_depths: DepthTable
    """Memory depths of the predicted trees."""

    def __repr__(self) -> str:
        score, recall = self.score, self.recall
        return shortened(
            f"<Evaluation of {plural(score.sentences, 'sentence')}: P {percent(score.precision)}, "
            f"R {percent(score.recall)}, F1 {percent(score.f1)}, "
            f"{recall.category} recall {percent(recall.recall)}; {score.signature}>"
        )

    def __str__(self) -> str:
        return self.table().text()

    def table(self) -> Table:
        """The scores, one row for each."""
        score, recall, pool, tags = self.score, self.recall, self.aggregate, self.tags.score()
        category, labels = recall.category, self.constituents.score()
        rows: list[tuple[str, float, str]] = [
            ("precision", score.precision, score.signature),
            ("recall", score.recall, score.signature),
            ("F1", score.f1, score.signature),
            (f"{category} recall", recall.recall, recall.signature),
            (f"{category} aggregate F1", pool.f1, pool.signature),
            ("V-measure of constituents", labels.v_measure, labels.signature),
            ("V-measure of words", tags.v_measure, tags.signature),
        ]
        columns = [Column("score"), Column("%", "percent", "value"), Column("convention")]
        return Table("", columns, rows, [plural(score.sentences, "sentence")])

    def to_frame(self) -> Any:
        """The scores as a pandas data frame, as fractions.

        Raises
        ------
        DbpcfgError
            If pandas is not installed.
        """
        return self.table().to_frame()

    def _repr_html_(self) -> str:
        return self.table().html()

    def intervals(self, level: float = 0.95, resamples: int = 1_000, seed: int = 0) -> Intervals:
        """Bootstrap intervals of precision, recall and F1.

        Parameters
        ----------
        level
            The level of confidence.
        resamples
            The number of resamples.
        seed
            The seed of the random numbers.
        """
        return bootstrap(self.statistics, self.convention, level, resamples, seed)

    def compare(self, other: Evaluation, permutations: int = 10_000, seed: int = 0) -> PairedTest:
        """Test the difference in F1 from another system: a paired permutation test.

        Parameters
        ----------
        other
            The other system, evaluated on the same gold trees.
        permutations
            The number of permutations.
        seed
            The seed of the random numbers.

        Raises
        ------
        DbpcfgError
            If the conventions or gold trees differ.
        """
        if self.convention != other.convention:
            raise DbpcfgError(
                "scores of different conventions cannot be compared: "
                f"{self.convention.signature()} and {other.convention.signature()}"
            )
        return permutation_test(
            self.statistics, other.statistics, self.convention, permutations, seed
        )


def evaluate(
    gold: TreesLike,
    predicted: TreesLike,
    punctuation: Sequence[Sequence[bool]] | PunctuationRule = "auto",
    convention: Convention | None = None,
    *,
    category: str = "NP",
    mapping_sentences: int = MAPPING_SENTENCES,
    aggregate_min_words: int = 2,
    direction: Direction = "right",
    progress: Callable[[int], None] | None = None,
    quiet: bool | None = None,
) -> Evaluation:
    """Score predicted trees against gold trees.

    Trees must not have function tags or empty elements; `dbpcfg.read` removes them.

    Parameters
    ----------
    gold
        Sentences with gold trees, the trees, or a path to a treebank.
    predicted
        Sentences with predicted trees, the trees, or a path, in the same order.
    punctuation
        How punctuation is recognised (see `dbpcfg.corpus.sentence`), or marks for the words of
        each gold sentence. It is left out of both sides.
    convention
        The convention of PARSEVAL; the paper's if not given.
    category
        The gold category of recall and aggregate F1.
    mapping_sentences
        The number of sentences on which labels are chosen for that category.
    aggregate_min_words
        The length of the shortest span that counts for it.
    direction
        How trees are made binary for their memory depths.
    progress
        Called after each sentence with the number of sentences scored so far.
    quiet
        Whether no progress is shown; if not given, it is shown on a terminal or in a
        notebook, unless ``progress`` is given.

    Raises
    ------
    DbpcfgError
        If there are not as many predicted as gold trees, or they are not of the same sentences.
    """
    gold = load_trees("evaluate(gold, ...)", gold, "<gold>")
    predicted = load_trees("evaluate(..., predicted)", predicted, "<predicted>")
    if len(gold) != len(predicted):
        raise DbpcfgError(
            f"{plural(len(gold), 'gold tree')}{_source(gold)} but "
            f"{plural(len(predicted), 'predicted tree')}"
            f"{_source(predicted)}; line i of PRED must be the tree of line i of GOLD"
        )
    if isinstance(punctuation, str):
        convention = convention or Convention(punctuation=rule_name(gold, punctuation))
        punctuation = [punctuation_mask(sentence, punctuation) for sentence in gold]
    elif len(gold) != len(punctuation):
        raise DbpcfgError(
            f"{plural(len(gold), 'gold tree')} but marks of punctuation for {len(punctuation)}"
        )
    convention = convention or Convention()
    if aggregate_min_words < 1:
        raise DbpcfgError(f"aggregate_min_words must be at least 1, not {aggregate_min_words}")
    split, split_name = mapping_split(len(gold), mapping_sentences)
    statistics, rows = [], []
    left_out: Counter[str] = Counter()
    category_counts = np.zeros(2, dtype=np.int64)  # matched, gold
    gold_labels: Counter[str] = Counter()
    spans: tuple[Proposals, Proposals] = Counter(), Counter()
    constituents: Counter[tuple[str, str]] = Counter()
    tags: Counter[tuple[str, str]] = Counter()
    depths: list[tuple[int, int]] = []
    pairs = zip(gold, predicted, punctuation)
    sentence_pairs = counted(
        pairs, "sentences scored", len(gold), quiet if progress is None else True
    )
    for number, (gold_sentence, predicted_sentence, marks) in enumerate(sentence_pairs):
        trees = align_trees(gold_sentence, predicted_sentence, marks)
        if convention.too_long(trees.words):
            left_out["too_long"] += 1
        else:
            if trees.words >= convention.min_words:
                statistics.append(count(trees, convention))
                rows.append(number)
            else:
                left_out["too_short" if trees.words else "only_punctuation"] += 1
            category_counts += count_matched(trees, category)
            gold_labels.update(phrase_labels(trees))
            spans[number >= split].update(proposals(trees, category, aggregate_min_words))
            constituents.update(matched_labels(trees))
            tags.update(matched_tags(trees))
            depths.append(
                (
                    span_depth(trees.gold, trees.words, direction),
                    span_depth(trees.predicted, trees.words, direction),
                )
            )
        if progress:
            progress(number + 1)
    counts = np.array(statistics, dtype=np.int64).reshape(-1, 3)
    scope = convention.sentences()
    return Evaluation(
        convention,
        counts,
        np.array(rows, dtype=np.int64),
        score(counts, convention, Skipped(**left_out)),
        Recall(
            category,
            int(category_counts[0]),
            int(category_counts[1]),
            _phrases(category, 2, scope),
            other_labels(gold_labels, category),
        ),
        aggregate(*spans, category, _phrases(category, aggregate_min_words, split_name, scope)),
        Contingency.from_counts(
            constituents, signature_of("labels:topmost", "root:counted", "span:>=2", scope)
        ),
        Contingency.from_counts(tags, signature_of("labels:tags", scope)),
        depth_table((depth for depth, _ in depths), direction, scope),
        depth_table((depth for _, depth in depths), direction, scope),
    )


def _phrases(category: str, min_words: int, *parts: str) -> str:
    return signature_of(f"gold:{category}", "root:counted", f"span:>={min_words}", *parts)


def _source(sentences: Sequence[Sentence]) -> str:
    is_file = sentences and not sentences[0].source.startswith("<")
    return f" in {sentences[0].source}" if is_file else ""
