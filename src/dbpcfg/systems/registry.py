"""The interface of every system.

The input of a system, and its trees with the words as written.

Systems that learn get every word, punctuation included, in lower case if the corpus is prepared so.
Punctuation such as ``-LRB-`` keeps its capitals, because systems recognise it by its exact form.
The others get words without punctuation, unless a sentence has nothing else.

Every system by name: what it is, who described it, its settings, and where its class is.

The class is imported when a system is made, perhaps in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol, Self, TypeVar, cast

from dbpcfg.corpus.preparation import Prepared
from dbpcfg.corpus.sentence import by_characters
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import MISSING, align
from dbpcfg.induction.search import BUDGET
from dbpcfg.io.progress import Progress
from dbpcfg.trees.tree import Tree


class System(Protocol):
    """Learns from sentences, then gives each of them a tree.

    A system is made with its settings (and a seed, if it draws random numbers). Its trees may be
    without some of the punctuation.
    """

    name: str
    """Its name in tables."""
    stochastic: bool
    """Whether another seed gives other trees."""

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``sentences``: the words of each sentence, punctuation included. Their order may matter.
        """

    def trees(self) -> list[Tree]:
        """The trees of these sentences, in order."""


T = TypeVar("T")


def check_sentences(sentences: Sequence[Sequence[str]]) -> None:
    """Raise an error if a sentence is empty, or a text instead of a list of words."""
    for number, sentence in enumerate(sentences, start=1):
        if not sentence:
            raise DbpcfgError(f"sentence {number} has no words; leave empty sentences out")
        if isinstance(sentence, str):
            raise DbpcfgError(
                f"sentence {number} is one text; give its words, as with text.split()"
            )


def require_fit(name: str, fitted: T | None) -> T:
    """Raise an error if a system has nothing yet because ``fit`` was not called.

    ``fitted``: what ``fit`` leaves behind; None before.
    """
    if fitted is None:
        raise DbpcfgError(f"{name} has not seen any sentences; call fit first")
    return fitted


LABEL = "X"
"""The label of all nodes, for systems without categories."""


def tree_from_spans(words: Sequence[str], spans: Iterable[Sequence[int]]) -> Tree:
    """Build the tree that has a node for every span, and one root.

    ``spans``: half-open spans of two words or more that nest, in pre-order. The whole sentence may
    be among them or not.
    """
    n = len(words)
    waiting = [(start, end) for start, end in spans if end - start < n]
    waiting.reverse()
    unclosed: list[tuple[int, list[Tree | str]]] = [(n, [])]
    for position, word in enumerate(words):
        while waiting and waiting[-1][0] == position:
            unclosed.append((waiting.pop()[1], []))
        unclosed[-1][1].append(word)
        while len(unclosed) > 1 and unclosed[-1][0] == position + 1:
            _, children = unclosed.pop()
            unclosed[-1][1].append(Tree(LABEL, children))
    return Tree(LABEL, unclosed[0][1])


Words = Sequence[str]


def sentences_for(
    spec: SystemSpec, corpus: Prepared, keep_punctuation: bool = False
) -> list[Words]:
    """The sentences of a corpus as a system gets them."""
    if spec.learns:
        return [
            _lower(sentence.words) if corpus.preparation.lowercase else sentence.words
            for sentence in corpus.sentences
        ]
    return [
        [word for word, mark in zip(sentence.words, marks) if not mark or keep_punctuation]
        or sentence.words
        for sentence, marks in zip(corpus.sentences, corpus.punctuation, strict=True)
    ]


def restore_words(trees: Sequence[Tree], corpus: Prepared) -> list[Tree]:
    """Give a system's trees the words as written.

    ``trees``: one for each sentence, over the words that the system got, or some of them.
    """
    restored = []
    for tree, sentence, marks in zip(trees, corpus.sentences, corpus.punctuation, strict=True):
        words = tree.words()
        where = align(sentence.words, marks, words, sentence.place, "the system's tree")
        restored.append(
            tree.replace_words(
                word if place == MISSING else sentence.words[place]  # has no capitals
                for word, place in zip(words, where)
            )
        )
    return restored


def _lower(words: Words) -> Words:
    return [word if silent else word.lower() for word, silent in zip(words, by_characters(words))]


SystemSettings = Mapping[str, Any]
"""Settings of a system by name; values are those of JSON."""


@dataclass(frozen=True)
class SystemSpec:
    """The description of a system, from which `make` makes one."""

    name: str
    entry_point: str
    """The module and the class in it: ``package.module:Class``."""
    summary: str
    reference: str
    settings: SystemSettings = field(default_factory=dict)
    """All settings that the trees depend on, without the seed, and their defaults."""
    aliases: tuple[str, ...] = ()
    learns: bool = True
    """Whether it learns from the words. If so, punctuation stays in its input."""
    stochastic: bool = False
    """Whether another seed gives other trees."""
    threaded: bool = False
    """Whether it can use several threads; its trees do not depend on their number."""

    def make(self, seed: int = 0, threads: int | None = None, **settings: Any) -> System:
        """Make a system.

        ``threads``: processors to use, all if not given; ignored by systems that use one.
        """
        options = self.full_settings(settings)
        if self.stochastic:
            options["seed"] = seed
        if self.threaded:
            options["threads"] = threads
        module, _, name = self.entry_point.partition(":")
        return cast(System, getattr(import_module(module), name)(**options))

    def full_settings(self, settings: SystemSettings) -> dict[str, Any]:
        """All settings: those given, and the defaults of the others."""
        for name in settings:
            if name not in self.settings:
                has = ", ".join(self.settings) or "none"
                raise DbpcfgError(f"{self.name} has no setting {name!r}; it has: {has}")
        return {**self.settings, **settings}

    def check_settings(self, settings: SystemSettings) -> None:
        """Raise an error if a setting does not exist, or its value is of another type.

        ``settings``: settings that differ from the defaults, as a file has them.
        """
        self.full_settings(settings)
        for name, value in settings.items():
            default = self.settings[name]
            kinds = _TYPES.get(type(default), (type(default),))
            if type(value) not in kinds:
                wanted = _KINDS[type(default)].name
                raise DbpcfgError(
                    f"{name} of {self.name} is {wanted} ({default} if not given), got {value!r:.80}"
                )

    def parse_setting(self, text: str) -> tuple[str, Any]:
        """The name and the value of a setting that is written ``NAME=VALUE``.

        ``text``: the setting; its value is read as the type of the default.
        """
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise DbpcfgError(f"a setting is written NAME=VALUE, got {text!r}")
        self.full_settings({name: value})  # raises an error if there is no such setting
        default = self.settings[name]
        kind = _KINDS[type(default)]
        try:
            return name, kind.read(value)
        except ValueError:
            raise DbpcfgError(
                f"{name} of {self.name} is {kind.name} ({default} if not given), got {value!r}"
            ) from None


class _Kind(NamedTuple):
    """How settings of a type are read, and what they are called."""

    name: str
    read: Callable[[str], Any]


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


_KINDS: dict[type, _Kind] = {
    bool: _Kind("true or false", _truth),
    int: _Kind("a whole number", int),
    float: _Kind("a number", float),
    str: _Kind("a word", str),
    type(None): _Kind("a whole number", int),
}


_TYPES: dict[type, tuple[type, ...]] = {float: (int, float), type(None): (int,)}
"""The types of values in a file, where there is another than that of the default."""


def _branching(shape: str, summary: str, stochastic: bool = False) -> SystemSpec:
    return SystemSpec(
        name=shape,
        entry_point="dbpcfg.systems.branching:BranchingSystem",
        summary=summary,
        reference="baseline",
        settings={"shape": shape},
        learns=False,
        stochastic=stochastic,
    )


def _upparse(model: str, summary: str, *aliases: str) -> SystemSpec:
    return SystemSpec(
        name=f"upparse-{model}",
        entry_point="dbpcfg.systems.upparse:Upparse",
        summary=summary,
        reference="Ponvert, Baldridge and Erk (2011)",
        settings={"model": model, "smoothing": 0.1, "tolerance": 1e-4},
        aliases=aliases,
    )


SYSTEMS = (
    _branching("right", "(a (b (c d))), no learning: strong for English"),
    _branching("left", "(((a b) c) d), no learning"),
    _branching("balanced", "((a b) (c d)), no learning"),
    _branching("random", "any binary tree with equal probability, no learning", stochastic=True),
    SystemSpec(
        name="ccl",
        entry_point="dbpcfg.systems.ccl:CCL",
        summary="incremental parser with common cover links",
        reference="Seginer (2007)",
        settings={"faithful": True, "currency_is_punctuation": False},
    ),
    _upparse("prlg", "cascaded chunkers, probabilistic right-linear grammar", "upparse"),
    _upparse("hmm", "cascaded chunkers, hidden Markov model"),
    SystemSpec(
        name="bmmm-dmv",
        entry_point="dbpcfg.systems.bmmm_dmv:BmmmDmv",
        summary="word classes and dependencies, learned in a loop",
        reference="Christodoulopoulos, Goldwater and Steedman (2012)",
        settings={
            **{"classes": 45, "generations": 10, "iterations": 500, "em": 20, "backoff": 0.66},
            "faithful": False,
        },
        stochastic=True,
    ),
    SystemSpec(
        name="uhhmm",
        entry_point="dbpcfg.systems.uhhmm:UHHMM",
        summary="hierarchical hidden Markov model, left-corner parser, Gibbs sampling",
        reference="Shain, Bryce, Jin, Krakovna, Doshi-Velez, Miller, Schuler and Schwartz (2016)",
        settings={
            **{"A": 4, "B": 4, "G": 8, "D": 2, "iterations": 1000},
            **{"trees": "last", "faithful": False},
        },
        stochastic=True,
        threaded=True,
    ),
    SystemSpec(
        name="dbpcfg",
        entry_point="dbpcfg.systems.dbpcfg:DbpcfgSystem",
        summary="depth-bounded PCFG, Gibbs sampling: this package's own",
        reference="Jin, Doshi-Velez, Miller, Schuler and Schwartz (2018)",
        settings={
            **{"K": 15, "D": 2, "budget": BUDGET, "chains": None, "iterations": None},
            **{"beta": 0.2, "rare": 0, "trees": "mbr"},
        },
        stochastic=True,
        threaded=True,
    ),
)
"""In the order of tables. ``dbpcfg`` runs as `dbpcfg.induce` does: a race, by default."""


PARTS = (
    SystemSpec(
        name="bmmm",
        entry_point="dbpcfg.systems.bmmm:BMMM",
        summary="word classes, Bayesian multinomial mixture over word types",
        reference="Christodoulopoulos, Goldwater and Steedman (2011)",
        settings={"classes": 45, "iterations": 500, "faithful": False},
        stochastic=True,
    ),
    SystemSpec(
        name="dmv",
        entry_point="dbpcfg.systems.dmv:DMV",
        summary="dependencies between tags, dependency model with valence",
        reference="Klein and Manning (2004)",
        settings={"iterations": 20, "backoff": 0.66},
    ),
)
"""The parts of BMMM+DMV. One gives tags and the other takes them, so they are not compared."""


def find(name: str, among: Iterable[SystemSpec] = SYSTEMS) -> SystemSpec:
    """Find a system by its name or alias."""
    specs = tuple(among)
    for spec in specs:
        if name.strip().lower() in (spec.name, *spec.aliases):
            return spec
    known = ", ".join(_with_aliases(spec) for spec in specs)
    raise DbpcfgError(f"there is no system {name!r}; choose from {known}")


def _with_aliases(spec: SystemSpec) -> str:
    return spec.name + "".join(f" (or {alias})" for alias in spec.aliases)
