"""What the chains of a run begin with, if they start from another run's answer: learning in stages.

All chains begin with the grammar of the old run's selected chain, which is also what a model file
has, so categories keep their numbers.
Rules keep their probabilities. What a category has for words it has for those of the new text: a
known word in proportion to its probability, a new one to the share that the prior gives to a word
never seen (``model``), with u = unknown(c)::

    G'[c → w] ∝ G[c → w] if w is known, u / (1 − u) if not        Σ_w G'[c → w] = Σ_w G[c → w]

Known words that the new text does not have are left out. Of a neural grammar all parameters are
kept, and those that belong to new words are initialised as usual; the optimiser starts afresh. A
model file has no network, so one is made that gives its grammar (``learners.network``).

How often words had each category is counted in the trees of a run. A model file tells it by its
probabilities of unknown words, as u = β / (n + β (rules + 1)) if c was expanded n times.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from dbpcfg.corpus.encoded import Vocabulary
from dbpcfg.errors import DbpcfgError
from dbpcfg.grammar.pcfg import Grammar
from dbpcfg.io.archive import ArchiveError, read_archive, text_list, write_archive
from dbpcfg.io.files import read_errors
from dbpcfg.io.tables import Cell, Column, Table, plural
from dbpcfg.model.model import Model
from dbpcfg.numerics.kernels import Floats, Longs
from dbpcfg.trees.tree import Tree

if TYPE_CHECKING:
    from dbpcfg.induction.learners import Learner
    from dbpcfg.induction.run import Run

FORMAT, VERSION = "dbpcfg start", 1
_PRETERMINAL = re.compile(r"\((\S+) [^()\s]+\)")
MAX_GAINED = 8
"""New words of a category that are shown, at most."""


@dataclass(frozen=True, repr=False)
class Start:
    """What a run has learned, for another one to start from."""

    run: str
    """Where it is from: a run, or a model."""
    words: tuple[str, ...] = field(compare=False)
    arrays: dict[str, Floats] = field(compare=False)
    """The learner's arrays: ``Learner.START``."""
    share: Floats = field(compare=False)
    """``[c]``: the share of words that had category c in the trees of the old run."""
    digest: str = ""

    def __post_init__(self) -> None:
        sha = hashlib.sha256("\n".join(self.words).encode("utf-8", "surrogatepass"))
        for name, array in (*self.arrays.items(), ("share", self.share)):
            sha.update(f"\n{name} {array.shape}\n".encode() + array.tobytes())
        object.__setattr__(self, "digest", f"sha256:{sha.hexdigest()}")

    @classmethod
    def of(cls, run: Run, name: str, trees: Path | None = None) -> Self:
        """What a finished run has learned.

        ``name``: its path.
        ``trees``: a file with its trees, if there is one.
        """
        settings, model = run.configuration.model, run.model
        if trees is None:
            words = run.answer.counts(settings.categories).lexical.sum(axis=1)
        else:
            words = np.zeros(settings.categories)
            numbers = {label: c for c, label in enumerate(model.grammar.names)}
            with open(trees, encoding="utf-8") as lines:
                for line in lines:
                    for label in _PRETERMINAL.findall(line):
                        words[numbers[label]] += 1
        arrays = settings.learner.warm_start(run.best.state, model)
        return cls(name, model.grammar.vocabulary.words, arrays, words / words.sum())

    @classmethod
    def of_model(cls, model: Model, name: str, learner: Learner) -> Self:
        """What a model has learned.

        ``name``: its file.
        ``learner``: of the kind that it was learned with.
        """
        assert model.unknown is not None
        seen = model.unknown > 0
        if not seen.any():
            raise DbpcfgError(
                f"{name} has no probabilities for unknown words, so nothing can be learned from it "
                "of words that it does not know: start from a run or a model file (.npz) of one"
            )
        grammar = model.grammar
        expansions = np.zeros(grammar.categories)
        expansions[seen] = 1 / model.unknown[seen] - (grammar.rules_per_category + 1)
        words = expansions.clip(0) * grammar.lexical_mass
        arrays = learner.warm_start(None, model)
        return cls(name, grammar.vocabulary.words, arrays, words / words.sum())

    def table(self) -> dict[str, str]:
        """The table ``[start]`` of ``config.toml``."""
        return {"run": self.run, "digest": self.digest}

    @property
    def categories(self) -> int:
        """K."""
        return len(self.share)

    def known_words(self, vocabulary: Vocabulary) -> tuple[Longs, Longs]:
        """The numbers of known words in the new vocabulary, and in the old one."""
        old = Vocabulary(self.words).index
        known = [(new, old[word]) for new, word in enumerate(vocabulary.words) if word in old]
        pairs = np.array(known, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def grammar(self, vocabulary: Vocabulary) -> Grammar:
        """The first grammar of a chain over a vocabulary, by the formula above."""
        lexical, unknown = self.arrays["lexical"], self.arrays["unknown"]
        new, old = self.known_words(vocabulary)
        weights = np.repeat((unknown / (1.0 - unknown))[:, np.newaxis], len(vocabulary), axis=1)
        weights[:, new] = lexical[:, old]
        total = weights.sum(axis=1, keepdims=True)
        weights = np.where(total > 0, weights, 1.0)
        shares = weights / weights.sum(axis=1, keepdims=True)
        words = shares * lexical.sum(axis=1, keepdims=True)
        return Grammar(self.arrays["root"], self.arrays["binary"], words, vocabulary)

    def check(self, names: Iterable[str], categories: int, learner: str) -> None:
        """Raise an error if a learner with these arrays and categories cannot start from it."""
        if set(self.arrays) != set(names):
            raise DbpcfgError(
                f"{self.run} has a grammar of another kind than the learner {learner}: start from "
                "a run of the same learner; gibbs, em and vb can start from each other's runs"
            )
        if self.categories != categories:
            raise DbpcfgError(
                f"{self.run} has K = {self.categories}, and K = {categories} was asked for: "
                "leave K out, or learn without start"
            )

    def known(self, vocabulary: Vocabulary) -> str:
        """How many forms of a text are known, in words."""
        new, _ = self.known_words(vocabulary)
        forms = plural(len(vocabulary), "form")
        return f"starts from {self.run}, which knows {len(new):,} of {forms}"


def save_start(start: Start, path: Path) -> None:
    """Write what chains begin with."""
    header = {"run": start.run, "words": list(start.words)}
    write_archive(path, FORMAT, VERSION, header, {**start.arrays, "share": start.share})


def load_start(path: Path, names: Iterable[str], digest: str) -> Start:
    """Read what chains begin with.

    ``names``: those of the learner's arrays.
    """
    with read_errors(path):
        layout = dict.fromkeys((*names, "share"), np.float64)
        header, arrays = read_archive(path, FORMAT, {VERSION: layout})
        share, run = arrays.pop("share"), header.get("run")
        start = Start(str(run), text_list(header, "words"), arrays, share)
        if start.digest != digest:
            raise ArchiveError("it is not what the run started from: its digest is another one")
    return start


def before_and_after(start: Start, model: Model, trees: Iterable[Tree]) -> Table:
    """How a run uses categories, and how the one it started from did."""
    old, names = set(start.words), model.grammar.names
    tokens: Counter[str] = Counter()
    gained: dict[str, Counter[str]] = {name: Counter() for name in names}
    for tree in trees:
        for word, label in tree.leaves():
            tokens[label] += 1
            form = model.look_up(word).form
            if form not in old:
                gained[label][form] += 1
    total = max(1, tokens.total())
    columns = [
        Column("category"),
        Column("before", "percent"),
        Column("after", "percent"),
        Column("new words", "count"),
        Column("most frequent of them", key="gained"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            *(name, float(start.share[c]), tokens[name] / total, len(gained[name])),
            ", ".join(word for word, _ in gained[name].most_common(MAX_GAINED)),
        )
        for c, name in enumerate(names)
    ]
    notes = [f"share of words in the trees of {start.run} and of this run"]
    return Table("Before and after", columns, rows, notes)
