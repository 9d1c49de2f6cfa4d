"""A learned grammar and everything that can be done with it: ``Model``, and ``load``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.errors import GrammarError
from dbpcfg.grammar.exchange.formats import read_grammar
from dbpcfg.model.decoding import Method, Parse, parse, parses
from dbpcfg.model.files import MODEL, SAMPLES, load_model, load_samples, save_model
from dbpcfg.model.generation import generate
from dbpcfg.model.grammar_profile import Profile, profile
from dbpcfg.model.learned import LearnedGrammar, Words
from dbpcfg.model.measures import WordMeasures, measure
from dbpcfg.model.probabilities import TextProbability, probabilities, totals
from dbpcfg.model.profile_formats import as_text
from dbpcfg.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Model(LearnedGrammar):
    """A grammar, the memory bound and the preparation that it was learned with."""

    @classmethod
    def of(cls, learned: LearnedGrammar) -> Model:
        """Give a learned grammar the methods of a model."""
        return cls(**{field.name: getattr(learned, field.name) for field in fields(learned)})

    def parse(
        self, sentences: Iterable[Words], method: Method = "mbr", *, seed: int = 0, threads: int = 1
    ) -> list[Tree]:
        """A tree for every sentence, a list of words or a text."""
        return parse(self, sentences, method, seed=seed, threads=threads)

    def parses(
        self,
        sentences: Iterable[Words],
        n: int = 1,
        method: Method = "viterbi",
        *,
        seed: int = 0,
        threads: int = 1,
    ) -> list[list[Parse]]:
        """The n best trees of every sentence, or n samples, with their probabilities."""
        return parses(self, sentences, n, method, seed=seed, threads=threads)

    def surprisal(
        self,
        sentences: Iterable[Words],
        *,
        depth: int | None = None,
        beam: int | None = None,
        end: bool = True,
        threads: int = 1,
    ) -> list[WordMeasures]:
        """A row for every word, and for the end of every sentence."""
        found = measure(self, sentences, depth, beam, end, threads)
        return [row for rows in found for row in rows]

    def probability(
        self, sentences: Iterable[Words], *, chain: bool = False, threads: int = 1
    ) -> TextProbability:
        """How probable a text is, under this grammar or over the chain's grammars."""
        return totals(probabilities(self, sentences, chain, threads))[0]

    def generate(self, n: int = 10, seed: int = 0, *, max_length: int | None = None) -> list[Tree]:
        """Trees of sentences drawn from the grammar."""
        return list(generate(self, n, seed, max_length=max_length))

    def profile(self, trees: Iterable[Tree] = ()) -> Profile:
        """How the grammar uses its categories, by itself and in some trees."""
        return profile(self, trees)

    def show(self, width: int = 80) -> None:
        """Print the categories with their words and rules."""
        print(as_text(self.profile(), width))

    def save(self, path: str | Path) -> None:
        """Write a model file, without the samples."""
        save_model(self, path)


def load(path: str | Path, samples: bool = False) -> Model:
    """The model of a run, of a model file, or of a rule table that someone wrote.

    ``samples``: with the other grammars of the run's chain.
    """
    path = Path(path)
    if path.suffix in (".tsv", ".json", ".pcfg", ".nltk"):
        if samples:
            raise GrammarError(f"{path} is one grammar: only a run has others of the same chain")
        return Model(read_grammar(path), None, Preparation(lowercase=False))
    if path.is_dir():
        if not (path / MODEL).exists():
            raise GrammarError(_no_model(path))
        path = path / MODEL
    model = Model.of(load_model(path))
    if not samples:
        return model
    grammars = load_samples(path.with_name(SAMPLES), model.grammar.vocabulary)
    return replace(model, samples=tuple(grammars))


def _no_model(path: Path) -> str:
    if (path / "config.toml").exists():
        return f"{path} is a run that is not finished: go on with it by `dbpcfg resume {path}`"
    return f"{path} is no run of dbpcfg: there is no {MODEL} in it"
