"""What the page of ``dbpcfg explore`` shows: a grammar's answers to sentences that are typed.

Everything is computed from the grammar when it is asked for: trees with the posterior probability
of each bracket, under any memory bound and with brackets that are known, and surprisal. Only how
categories are used in the trees of the run is collected beforehand.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from dbpcfg.corpus.brackets import check_brackets
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.loading import load_text
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.stimuli import SentenceRows
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.files import finite
from dbpcfg.model.files import load
from dbpcfg.model.model import Model
from dbpcfg.model.profile import as_json
from dbpcfg.model.surprisal import IncrementalReader
from dbpcfg.numerics.kernels import Floats, Ints
from dbpcfg.parsing.derivations import END, log_probability, span_cell
from dbpcfg.parsing.mbr import mbr_trees
from dbpcfg.report.runs import MAX_ITEMS
from dbpcfg.trees.brackets import read_trees
from dbpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from dbpcfg.report.server import Server

MAX_WORDS = 50
"""The greatest number of words in a sentence: more would take too long to answer."""
MAX_LETTERS = 100
"""The greatest length of a word."""
BEST = 10
"""The number of most probable trees that are shown."""
AMBIGUOUS = 20_000
"""The most labelled spans with a posterior that is not negligible of which the best trees are
sought: a second or two of work. Learned grammars have fewer than half as many in 50 words."""
DEEPEST = 5
"""The greatest bound that can be chosen, besides the model's own."""
NEGLIGIBLE = 1e-4
"""Posterior probability below which a span is left out: the page shows whole percentages."""
MAX_TREES = 20_000
"""The number of trees of a run in which the use of categories is counted: the first ones."""
GENERATED = 1000
"""The number of generated sentences that stand for them if there is no run."""
EXAMPLES, LONGEST_EXAMPLE = 10, 8
"""The number of example phrases and contexts of a category, and the most words in a phrase."""
EDGE = "·"
"""In contexts, the beginning or the end of a sentence."""
SAID, LONGEST_SAID = 8, 20
"""The number of sentences that are generated at once, and the most words in one."""


@dataclass(frozen=True)
class Question:
    """What a page asks about a sentence."""

    text: str
    depth: int | None
    """The memory bound; None for no bound."""
    phrases: tuple[tuple[int, int], ...] = ()
    """Spans of words that are known to be phrases."""
    others: tuple[tuple[int, int], ...] = ()
    """Spans of words that are known to be none."""
    words: int = 0
    """The number of words that these spans are of, as another model may see others; 0 if any."""


class Explored:
    """A model, and how the trees of its run use its categories, ready to answer.

    ``trees``: those of the run that the model comes from, if there is one.
    """

    def __init__(self, model: Model, name: str, trees: Iterable[Tree] = ()) -> None:
        self.model, self.name = model, name
        self.trees = list(islice(trees, MAX_TREES))
        self._bounded: dict[int | None, _Bounded] = {}
        self._lock = Lock()

    @classmethod
    def of_path(cls, path: str) -> Explored:
        """The model of a run, a model file or a rule table."""
        model, file = load(path), Path(path) / "trees.txt"
        text = load_text(str(file), "utf-8") if file.is_file() else ""
        return cls(model, Path(path).resolve().name, read_trees(text, str(file)))

    @property
    def depths(self) -> list[int | None]:
        """The memory bounds that can be chosen; None is no bound."""
        return [*sorted({*range(1, DEEPEST + 1), self.model.depth or 1}), None]

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the page knows from the beginning."""
        model = self.model
        said = self.say(model.depth, 0)
        categories = as_json(model.profile(self.trees), MAX_ITEMS)["categories"]
        for one in categories:
            one |= self._seen.get(one["name"], {"contexts": [], "phrases": []})
        return {
            "name": self.name,
            "depth": model.depth,
            "depths": self.depths,
            "words": len(model.grammar.vocabulary),
            "trees": len(self.trees),
            "sentence": max(said[:4], key=len),
            "categories": categories,
        }

    def warm(self) -> None:
        """Compute what the page begins with, so that the first answer does not take longer."""
        question = Question(self.data["sentence"], self.model.depth)
        with suppress(DbpcfgError):  # such as a word that is too long
            self.answer(question)

    def answer(self, question: Question) -> dict[str, Any]:
        """The trees of a sentence, and its surprisal word by word."""
        sentence, ignored = self._sentence(question)
        others = [] if ignored else [(j, i) for i, j in question.others]
        return self._under(question.depth).answer(sentence, others) | {"ignored": ignored}

    def say(self, depth: int | None, seed: int) -> list[str]:
        """Some sentences that the grammar generates under a bound."""
        trees = self._generated(self._under(depth).model, SAID, seed)
        return [" ".join(tree.words()) for tree in trees]

    def _generated(self, model: Model, n: int, seed: int) -> list[Tree]:
        return model.generate(n, seed, max_length=LONGEST_SAID, quiet=True)

    def _under(self, depth: int | None) -> _Bounded:
        """The model under another bound; what it needs is made once."""
        if depth not in self.depths:
            raise DbpcfgError(f"The memory bound must be one of {self.depths}.")
        with self._lock:
            if depth not in self._bounded:
                self._bounded[depth] = _Bounded(replace(self.model, depth=depth, samples=()))
            return self._bounded[depth]

    def _sentence(self, question: Question) -> tuple[Sentence, bool]:
        """The sentence as the model sees it, and whether spans are ignored: they are of others."""
        given = question.text.split()
        if len(given) > MAX_WORDS:
            raise DbpcfgError(_too_long(len(given)))
        longest = max(given, key=len, default="")
        if len(longest) > MAX_LETTERS:
            raise DbpcfgError(
                f"This has a word of {len(longest):,} characters; at most {MAX_LETTERS} fit here."
            )
        seen = self.model.preprocessing.apply(Sentence(tuple(given)))
        words = len(seen.words)
        if not 1 <= words <= MAX_WORDS:
            raise DbpcfgError(_too_long(words) if words else "There is no word in this.")
        spans = question.phrases + question.others
        if spans and question.words not in (0, words):
            return seen, True
        if not all(0 <= i < j <= words for i, j in spans):
            raise DbpcfgError("A bracket goes beyond the sentence: take it back.")
        try:
            check_brackets(replace(seen, brackets=question.phrases))
        except DbpcfgError as error:
            reason = str(error).removeprefix(f"{seen.location}: ").partition(";")[0]
            raise DbpcfgError(f"{reason[0].upper()}{reason[1:]}: take one back.") from None
        punctuation = (one for one in seen.brackets if not any(_cross(one, x) for x in spans))
        return replace(seen, brackets=(*question.phrases, *punctuation)), False

    @cached_property
    def _seen(self) -> dict[str, dict[str, Any]]:
        """The contexts and the phrases of each category in trees, commonest first."""
        contexts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        phrases: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for tree in self.trees or self._generated(self.model, GENERATED, 0):
            words = [EDGE, *tree.words(), EDGE]
            for start, end, label in tree.spans(preterminals=True):
                contexts[label][f"{words[start]} … {words[end + 1]}"] += 1
                if 1 < end - start <= LONGEST_EXAMPLE:
                    phrases[label][" ".join(words[start + 1 : end + 1])] += 1
        return {
            label: {
                "contexts": contexts[label].most_common(EXAMPLES),
                "phrases": phrases[label].most_common(EXAMPLES),
            }
            for label in contexts
        }


def new_server(explored: Sequence[Explored], port: int = 0, framed: bool = False) -> Server:
    """A server of the page; see `dbpcfg.report.server.Server`."""
    try:
        from dbpcfg.report.server import Server
    except ImportError as error:
        if error.name is None or error.name.startswith("dbpcfg"):
            raise
        raise DbpcfgError(
            f"the page needs {error.name}, which is not installed: pip install 'dbpcfg[explore]'"
        ) from None
    return Server(explored, port, framed)


def _too_long(words: int) -> str:
    return (
        f"This has {words:,} words; at most {MAX_WORDS} fit here. `dbpcfg parse` takes longer "
        "sentences, and whole texts."
    )


def _cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether no tree has both spans, or they are the same."""
    (i, j), (k, l) = one, other
    return one == other or i < k < j < l or k < i < l < j


class _Bounded:
    """A model under one memory bound, with its parsers."""

    def __init__(self, model: Model) -> None:
        self.model, self.names = model, model.grammar.names
        self.parser = model.parser()
        self.reader = IncrementalReader(model, ["entropies"])

    def answer(self, sentence: Sentence, others: Sequence[tuple[int, int]]) -> dict[str, Any]:
        """``others``: spans that no tree has, each with its end before its start."""
        forms = [self.model.look_up(word) for word in sentence.words]
        free = self.model.encode([sentence.words])
        corpus = free.with_brackets([(*sentence.brackets, *others)])
        weights, logs = self.parser.posteriors(corpus, NEGLIGIBLE)
        if not math.isfinite(logs[0]):
            possible = math.isfinite(self.parser.log_probabilities(free)[0])
            raise DbpcfgError(
                "No tree within the memory bound has these brackets: take one back."
                if corpus.brackets is not None and possible
                else "The grammar has no tree for this sentence within the memory bound."
            )
        clear = np.count_nonzero(weights > NEGLIGIBLE) <= AMBIGUOUS
        best = list(self.parser.n_best(corpus, BEST)[0]) if clear else []
        shares = [self._share(nodes, corpus, float(logs[0])) for nodes in best]
        (measured,) = self.reader.read([(1, SentenceRows.of_tokens(sentence))])
        certain = weights.sum(axis=1)
        return {
            "words": sentence.words,
            "kinds": [form.kind for form in forms],
            "forms": [form.form for form in forms],
            "trees": [
                {"posterior": share, "nodes": self._nodes(nodes, certain)}
                for nodes, share in zip(
                    [mbr_trees(corpus, weights)[0], *best], [None, *shares], strict=True
                )
            ],
            "surprisal": list(map(finite, measured.surprisal.tolist())),
            "entropy": list(map(finite, measured.entropies.tolist())),
        }

    def _share(self, nodes: Ints, corpus: Encoded, whole: float) -> float:
        """The posterior probability of a tree."""
        log = log_probability(nodes, corpus.tokens, self.parser.logs)
        return math.exp(min(0.0, log - self.parser.log_fitting_mass - whole))

    def _nodes(self, nodes: Ints, certain: Floats) -> list[tuple[str, int, int]]:
        """Label, number of children and posterior percentage of each node, in pre-order."""
        n = int(nodes[0, END])
        return [
            (self.names[c], 2 if j - i > 1 else 0, round(100 * float(certain[span_cell(n, i, j)])))
            for i, j, c in nodes.tolist()
        ]
