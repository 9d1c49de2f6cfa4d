"""The sentences of a recipe, written to a file that all systems get.

The treebank is read once; sentences that are too long, or not in the half that is wanted, are left
out. What is left is in ``corpus.trees``, one tree a line, cleaned of empty elements and function
tags. A system that is run again reads the same file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import PunctuationRule, Sentence, punctuation_mask
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import reading, writing, written_whole
from dbpcfg.reproduce.recipe import Recipe, RecipeCorpus, Selection

T = TypeVar("T")

CORPUS = "corpus.trees"


def recipe_trees(recipe: Recipe, treebank: Sequence[str] = ()) -> list[str]:
    """The gold trees of a recipe, in brackets.

    ``treebank``: the user's treebank: files, directories or patterns; those of the recipe if there
    are none.
    """
    corpus = recipe.corpus
    if corpus.synthetic is not None:
        if treebank:
            raise DbpcfgError(
                f"the corpus of {recipe.name} is made by the recipe; leave the treebank out"
            )
        made = synthetic_trees(corpus.synthetic, corpus.sentences, corpus.vocabulary, corpus.seed)
        return [str(tree) for tree in _sample(made, recipe)]
    paths = list(treebank) or list(corpus.paths)
    if not paths:
        raise DbpcfgError(
            f"{recipe.name} needs {corpus.needs}: dbpcfg reproduce {recipe.name} TREEBANK"
        )
    sentences = _read(corpus, paths)
    kept = _sample(_selected(sentences, corpus), recipe)
    if not kept:
        raise DbpcfgError(f"no sentence of {', '.join(paths)} is left by the recipe {recipe.name}")
    return [str(sentence.gold_tree()) for sentence in kept]


def write_corpus(trees: Sequence[str], out: Path) -> Path:
    """Write gold trees, unless the file has them already."""
    path = out / CORPUS
    content = "".join(f"{tree}\n" for tree in trees).encode("utf-8", "surrogatepass")
    with reading(path):
        same = path.is_file() and path.read_bytes() == content
    if not same:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(path) as file:
                file.write(content)
    return path


def _read(corpus: RecipeCorpus, paths: Sequence[str]) -> list[Sentence]:
    how = corpus.preparation

    def texts(key: str) -> list[str] | None:
        value = how.get(key)
        return [value] if isinstance(value, str) else value

    found = read(
        *paths,
        format=how.get("input-format"),
        speakers=texts("speaker"),
        exclude_speakers=texts("exclude-speaker"),
        broken="skip" if how.get("skip-broken") else "error",
        encoding=how.get("encoding"),
        quiet=True,
    )
    for sentence in found.sentences:
        sentence.gold_tree()
    return found.sentences


def _selected(sentences: Sequence[Sentence], corpus: RecipeCorpus) -> list[Sentence]:
    rule: PunctuationRule = corpus.preparation.get("punctuation", "auto")
    words = [punctuation_mask(sentence, rule).count(False) for sentence in sentences]
    kept = _numbers(words, corpus.selection)
    if corpus.without is not None:
        gone = set(_numbers(words, corpus.without))
        kept = [number for number in kept if number not in gone]
    return [sentences[number] for number in kept]


def _numbers(words: Sequence[int], selection: Selection) -> list[int]:
    """The sentences of a selection; of an odd number the first half has one more."""
    most = selection.max_length
    fitting = [number for number, length in enumerate(words) if most is None or length <= most]
    middle = (len(fitting) + 1) // 2
    if selection.half is None:
        return fitting
    return fitting[:middle] if selection.half == "first" else fitting[middle:]


def _sample(items: Sequence[T], recipe: Recipe) -> list[T]:
    """All items, or in a quick run some that are evenly spaced."""
    most = recipe.quick.sentences if recipe.is_quick else None
    if most is None or len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]
