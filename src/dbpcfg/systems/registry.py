"""The interface of every system, and every system by name.

A system is a class: its instances learn from sentences (``fit``) and give each of them a tree
(``trees``). The parameters of its constructor that have a plain default are its settings; one with
a parameter ``seed`` draws random numbers, one with a parameter ``threads`` can use several. These
attributes of the class are optional:

=============  ===================================================================================
``summary``    a line that describes it; the first line of its docstring if it has none
``reference``  who described it
``learns``     False if it does not learn from the words
=============  ===================================================================================

A program adds a system by ``systems.add("name", Class)``, another package by an entry point of the
group ``dbpcfg.systems``. Then ``dbpcfg baseline``, ``compare`` and ``sweep`` know its name.

Systems that learn get every word, punctuation included, in lower case if the corpus is prepared so.
Punctuation such as ``-LRB-`` keeps its capitals, because systems recognise it by its exact form.
The others get words without punctuation, unless a sentence has nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from dbpcfg.corpus.preprocessing import PreprocessedCorpus
from dbpcfg.corpus.sentence import by_characters
from dbpcfg.errors import DbpcfgError
from dbpcfg.evaluation.alignment import MISSING, align
from dbpcfg.io.progress import Progress
from dbpcfg.registry import Registry
from dbpcfg.trees.tree import Tree


class System(Protocol):
    """Learns from sentences, then gives each of them a tree."""

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``sentences``: the words of each sentence, punctuation included. Their order may matter.
        """

    def trees(self) -> list[Tree]:
        """The trees of these sentences, in order; they may be without some of the punctuation."""


SystemFactory = Callable[..., System]

systems: Registry[SystemFactory] = Registry(
    "system",
    "systems",
    {
        "right": "systems.branching:Right",
        "left": "systems.branching:Left",
        "balanced": "systems.branching:Balanced",
        "random": "systems.branching:Random",
        "ccl": "systems.ccl:CCL",
        "upparse-prlg": "systems.upparse:UpparsePRLG",
        "upparse-hmm": "systems.upparse:UpparseHMM",
        "bmmm-dmv": "systems.dmv:BmmmDmv",
        "uhhmm": "systems.uhhmm:UHHMM",
        "dbpcfg": "experiments.dbpcfg_system:DbpcfgSystem",
    },
)
"""All systems, in the order of tables. ``dbpcfg`` runs as `dbpcfg.induce` does."""

parts: Registry[Callable[..., Any]] = Registry(
    "part of a system",
    "parts",
    {"bmmm": "systems.bmmm:BMMM", "dmv": "systems.dmv:DMV"},
)
"""The parts of BMMM+DMV. One gives tags and the other takes them, so they are not compared."""

ALIASES = {"upparse": "upparse-prlg"}


def find(name: str, *among: Registry[Any]) -> SystemSpec:
    """Find a system by its name or alias.

    ``among``: where it is looked for; among the systems if not given.
    """
    plain = name.strip().lower()
    plain = ALIASES.get(plain, plain)
    for registry in among or (systems,):
        if plain in registry:
            return SystemSpec(plain, registry[plain])
    also = {full: f" (or {alias})" for alias, full in ALIASES.items()}
    names = [one for registry in among or (systems,) for one in registry.names()]
    known = ", ".join(f"{one}{also.get(one, '')}" for one in names)
    raise DbpcfgError(f"there is no system {name!r}; choose from {known}")


SystemSettings = Mapping[str, Any]
"""Settings of a system by name; values are those of JSON."""


@dataclass(frozen=True)
class SystemSpec:
    """A system under its name, and what its class says about it."""

    name: str
    factory: SystemFactory
    """The class; another process imports it by its name."""

    @property
    def settings(self) -> dict[str, Any]:
        """All settings that the trees depend on, without the seed, and their defaults."""
        return {
            name: parameter.default
            for name, parameter in _parameters(self.factory).items()
            if name not in ("seed", "threads") and type(parameter.default) in _KINDS
        }

    @property
    def stochastic(self) -> bool:
        """Whether another seed gives other trees."""
        return "seed" in _parameters(self.factory)

    @property
    def learns(self) -> bool:
        """Whether it learns from the words. If so, punctuation stays in its input."""
        return getattr(self.factory, "learns", True)

    @property
    def summary(self) -> str:
        """A line that describes it."""
        described = (self.factory.__doc__ or "").strip().partition("\n")[0]
        return getattr(self.factory, "summary", described)

    @property
    def reference(self) -> str:
        """Who described it."""
        return getattr(self.factory, "reference", "")

    def make(self, seed: int = 0, threads: int | None = None, **settings: Any) -> System:
        """Make a system.

        ``threads``: processors to use, all if not given; ignored by systems that use one.
        """
        given = {"seed": seed, "threads": threads}
        known = {name: value for name, value in given.items() if name in _parameters(self.factory)}
        return self.factory(**self.full_settings(settings), **known)

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
            if type(value) not in _KINDS[type(self.settings[name])].types:
                raise self._of_another_type(name, value)

    def parse_setting(self, text: str) -> tuple[str, Any]:
        """The name and the value of a setting that is written ``NAME=VALUE``.

        ``text``: the setting; its value is read as the type of the default.
        """
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise DbpcfgError(f"a setting is written NAME=VALUE, got {text!r}")
        self.full_settings({name: value})  # raises an error if there is no such setting
        try:
            return name, _KINDS[type(self.settings[name])].read(value)
        except ValueError:
            raise self._of_another_type(name, value) from None

    def _of_another_type(self, name: str, value: object) -> DbpcfgError:
        default = self.settings[name]
        wanted = f"{_KINDS[type(default)].name} ({default} if not given)"
        return DbpcfgError(f"{name} of {self.name} is {wanted}, got {value!r:.80}")


@cache
def _parameters(factory: SystemFactory) -> Mapping[str, Parameter]:
    return signature(factory).parameters


class _Kind(NamedTuple):
    """Settings of a type: what they are called, how they are read, their types in a file."""

    name: str
    read: Callable[[str], Any]
    types: tuple[type, ...]


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


_KINDS: dict[type, _Kind] = {
    bool: _Kind("true or false", _truth, (bool,)),
    int: _Kind("a whole number", int, (int,)),
    float: _Kind("a number", float, (int, float)),
    str: _Kind("a word", str, (str,)),
    type(None): _Kind("a whole number", int, (int,)),
}
"""By the type of the default."""


def sentences_for(
    spec: SystemSpec, corpus: PreprocessedCorpus, keep_punctuation: bool = False
) -> list[Sequence[str]]:
    """The sentences of a corpus as a system gets them."""
    if spec.learns:
        return [
            _lower(sentence.words) if corpus.preprocessing.lowercase else sentence.words
            for sentence in corpus.sentences
        ]
    return [
        [word for word, mark in zip(sentence.words, marks) if not mark or keep_punctuation]
        or sentence.words
        for sentence, marks in zip(corpus.sentences, corpus.punctuation, strict=True)
    ]


def _lower(words: Sequence[str]) -> list[str]:
    return [word if silent else word.lower() for word, silent in zip(words, by_characters(words))]


def restore_words(trees: Sequence[Tree], corpus: PreprocessedCorpus) -> list[Tree]:
    """Give a system's trees the words as written.

    ``trees``: one for each sentence, over the words that the system got, or some of them.
    """
    restored = []
    for tree, sentence, marks in zip(trees, corpus.sentences, corpus.punctuation, strict=True):
        words = tree.words()
        where = align(sentence.words, marks, words, sentence.location, "the system's tree")
        restored.append(
            tree.replace_words(
                word if place == MISSING else sentence.words[place]  # has no capitals
                for word, place in zip(words, where)
            )
        )
    return restored


# What systems have in common.

T = TypeVar("T")

LABEL = "X"
"""The label of all nodes, for systems without categories."""


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
