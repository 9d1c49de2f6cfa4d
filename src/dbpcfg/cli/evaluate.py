"""``dbpcfg evaluate``: trees scored against a treebank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dbpcfg.cli.inputs import read_corpus
from dbpcfg.cli.options import MaxLength, Punctuation, Quiet, Seed, TableFormat, takes_groups
from dbpcfg.cli.output import print_tables
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import FormatOptions, Group, option

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dbpcfg.corpus.sentence import Sentence
    from dbpcfg.trees.tree import Tree

Branching = Literal["right", "left", "balanced", "random"]


@dataclass(frozen=True)
class Scoring(Group):
    """Options of scores."""

    against: str | None = option(
        None, "Second system's trees or tagged text: score it too and test the difference."
    )
    baseline: Literal["right", "left", "balanced", "random"] | None = option(
        None, "Score a branching baseline, with or without PRED."
    )
    flatten: bool = option(False, "Score PRED flattened by estimated heads too, as NAME-F.")
    gold_length: int | None = option(
        None, "PRED has only those sentences of GOLD that have at most this many words.", minimum=1
    )
    labelled: bool = option(False, "Labels must match too.")
    average: Literal["corpus", "sentence"] = option(
        "corpus", "Pool the spans of all sentences, or average over sentences."
    )
    ignore_root: bool = option(False, "Do not count the span of the whole sentence.")
    category: str = option("NP", "Gold category for recall and aggregate F1.")
    mapping: int = option(
        4000,
        "Choose the induced categories to aggregate on this many initial sentences.",
        minimum=1,
    )
    intervals: bool = option(False, "Bootstrap confidence intervals of the scores.")
    permutations: int = option(10_000, "Permutations of the significance test.", minimum=1)
    direction: Literal["right", "left"] = option(
        "right", "Binarisation of trees for memory depths."
    )


@takes_groups
def evaluate(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="Treebank: file, directory, pattern.")
    ],
    predicted: Annotated[
        str | None,
        typer.Argument(metavar="PRED", help="Trees or tagged text to score, in the order of GOLD."),
    ] = None,
    *,
    options: Scoring,
    max_length: MaxLength = None,
    punctuation: Punctuation = "auto",
    seed: Seed = 0,
    reading: FormatOptions,
    format: TableFormat = "text",
    quiet: Quiet = False,
) -> None:
    """Score trees against a treebank: PARSEVAL, noun phrases, labels, memory depths.

    The default convention is the paper's. Every score is printed with its
    convention. Tagged text is scored by its tags: word/tag, CoNLL-U, or one
    word and tag per line, separated by a tab.
    """
    from dbpcfg.corpus.sentence import punctuation_mask, rule_name
    from dbpcfg.corpus.tagged import read_tagged, tagged_format
    from dbpcfg.evaluation.evaluate import Evaluation
    from dbpcfg.evaluation.evaluate import evaluate as score
    from dbpcfg.evaluation.flattening import flatten as flattened
    from dbpcfg.evaluation.labels import Contingency, compare_tags
    from dbpcfg.evaluation.parseval import Convention
    from dbpcfg.evaluation.tables import comparison_table, evaluation_tables, intervals_table
    from dbpcfg.io.progress import Progress

    against, baseline = options.against, options.baseline
    if predicted is None and baseline is None:
        raise DbpcfgError("nothing to score: give PRED, or --baseline right")
    if "-" in (gold, predicted) and (gold == predicted or against == "-"):
        raise DbpcfgError("only one of GOLD, PRED and --against can be standard input")
    corpus = read_corpus([gold], reading, quiet)
    paths = [path for path in (predicted, against) if path is not None]
    formats = {path: tagged_format(path) for path in paths}
    if options.flatten and (predicted is None or formats[predicted]):
        reason = "there is none" if predicted is None else f"{predicted} is tagged text"
        raise DbpcfgError(f"--flatten is for the trees of PRED, and {reason}")
    if baseline is not None or None in formats.values():
        corpus.trees()  # raises an error if a sentence has no tree
    marks = [punctuation_mask(sentence, punctuation) for sentence in corpus]
    most = options.gold_length
    kept = [n for n, mark in enumerate(marks) if mark.count(False) <= (most or len(mark))]
    sentences, marks = [corpus[n] for n in kept], [marks[n] for n in kept]
    convention = Convention(
        labelled=options.labelled,
        average=options.average,
        whole_sentence=not options.ignore_root,
        max_length=max_length,
        punctuation=rule_name(sentences, punctuation),
    )
    systems: dict[str, Sequence[Sentence | Tree]] = {}
    tagged: dict[str, Sequence[Sentence]] = {}
    for path in paths:
        # the package writes UTF-8, whatever the encoding of GOLD is
        if kind := formats[path]:
            text = read_tagged(path, kind)
            _check_number(path, len(text), gold, marks, "sentence")
            tagged[_name(path, {**systems, **tagged})] = text
            continue
        trees = read_corpus([path], replace(reading, input_format="penn", encoding="utf-8"), quiet)
        _check_number(path, len(trees), gold, marks)
        systems[_name(path, {**systems, **tagged})] = trees.sentences
        if options.flatten and path == predicted:
            systems[f"{_name(path, ())}-F"] = flattened(trees.trees())
    if baseline is not None:
        systems[f"{baseline}-branching"] = [
            _baseline_tree(baseline, sentence, mark, seed, number)
            for number, (sentence, mark) in enumerate(zip(sentences, marks, strict=True))
        ]
    results: dict[str, Evaluation] = {}
    for name, trees_of_system in systems.items():
        with Progress(f"scoring {name}", len(sentences), quiet) as progress:
            results[name] = score(
                sentences,
                trees_of_system,
                marks,
                convention,
                category=options.category,
                mapping_sentences=options.mapping,
                direction=options.direction,
                progress=progress.update,
            )
    words: dict[str, Contingency] = {}
    for name, tags in tagged.items():
        with Progress(f"scoring {name}", len(sentences), quiet) as progress:
            words[name] = compare_tags(sentences, tags, marks, convention, progress.update)
    tables = evaluation_tables(results, words)
    if options.intervals and results:
        tables.append(intervals_table(results, seed))
    if len(results) > 1:
        (first, one), *others = results.items()
        tests = {(first, n): one.compare(it, options.permutations, seed) for n, it in others}
        tables.append(comparison_table(tests))
    print_tables(tables, format)


def _baseline_tree(
    system: Branching, sentence: Sentence, marks: Sequence[bool], seed: int, number: int
) -> Tree:
    """A tree over the words that are not punctuation, or over all if all are."""
    from dbpcfg.numerics.philox import Purpose, stream
    from dbpcfg.systems.branching import branching_tree

    words = [word for word, mark in zip(sentence.words, marks, strict=True) if not mark]
    return branching_tree(
        system, words or sentence.words, stream(seed, purpose=Purpose.BASELINE), number
    )


def _name(path: str, taken: Collection[str]) -> str:
    """The name of a system in tables: its file's, or the path if another system has that name."""
    name = Path(path).name if path != "-" else "standard input"
    return path if name in taken else name


def _check_number(
    path: str, trees: int, gold: str, marks: Sequence[Sequence[bool]], noun: str = "tree"
) -> None:
    """Raise an error for a wrong number of trees, with the length limit that may explain it."""
    from dbpcfg.io.tables import plural

    if trees == len(marks):
        return
    lengths = sorted(mark.count(False) for mark in marks)
    limit = lengths[trees - 1] if 0 < trees < len(lengths) else None
    hint = "line i of PRED must be the tree of sentence i of GOLD"
    if limit is not None and lengths[trees] > limit:
        hint = (
            f"GOLD has {plural(trees, 'sentence')} of at most {plural(limit, 'word')}: "
            f"--gold-length {limit}?"
        )
    raise DbpcfgError(
        f"{path} has {plural(trees, noun)}, but {gold} has {plural(len(marks), 'sentence')}; {hint}"
    )
