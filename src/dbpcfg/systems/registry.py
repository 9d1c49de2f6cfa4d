"""The interface of systems, and all systems by name.

A system is a class: its instances learn from sentences (``fit``) and return a tree for each of them
(``trees``). The parameters of its constructor with a plain default are its settings. A parameter
``seed`` means that it draws random numbers, a parameter ``threads`` that it can use several. The
class may have these attributes:

=============  ===================================================================================
``summary``    a line that describes the system; by default the first line of the docstring
``reference``  the publication
``learns``     False if it does not learn from the words
=============  ===================================================================================

A program adds a system by ``systems.add("name", Class)``, another package by an entry point of the
group ``dbpcfg.systems``. Then it can be named in ``dbpcfg baseline``, ``compare`` and ``sweep``.

Systems that learn get all words, punctuation included, in lower case if this is an option of the
corpus. Punctuation such as ``-LRB-`` keeps its capitals, because systems recognise its exact form.
Other systems get words without punctuation, unless a sentence has nothing else.
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
    """Learns from sentences, then returns a tree for each of them."""

    def fit(self, sentences: Sequence[Sequence[str]], progress: Progress | None = None) -> Self:
        """Learn from sentences.

        ``sentences``: the words of each sentence, punctuation included. Their order may matter.
        """

    def trees(self) -> list[Tree]:
        """The trees of these sentences, in order, possibly without some punctuation."""


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
"""The parts of BMMM+DMV, which are not compared: one returns tags, the other needs them."""

ALIASES = {"upparse": "upparse-prlg"}


def find(name: str, *among: Registry[Any]) -> SystemSpec:
    """Find a system by its name or alias.

    ``among``: the registries to search; by default `systems`.
    """
    plain = name.strip().lower()
    plain = ALIASES.get(plain, plain)
    for registry in among or (systems,):
        if plain in registry:
            return SystemSpec(plain, registry[plain])
    aliases = {full: f" (or {alias})" for alias, full in ALIASES.items()}
    names = [full_name for registry in among or (systems,) for full_name in registry.names()]
    choices = ", ".join(f"{full_name}{aliases.get(full_name, '')}" for full_name in names)
    raise DbpcfgError(f"there is no system {name!r}; choose from {choices}")


SystemSettings = Mapping[str, Any]
"""Settings of a system by name; values are JSON values."""


@dataclass(frozen=True)
class SystemSpec:
    """A system with its name, and what can be said about its class."""

    name: str
    factory: SystemFactory
    """The class, which other processes import by its name."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that the trees depend on, other than the seed, with their defaults."""
        return {
            name: parameter.default
            for name, parameter in _parameters(self.factory).items()
            if name not in ("seed", "threads") and type(parameter.default) in _KINDS
        }

    @property
    def stochastic(self) -> bool:
        """Whether trees depend on a seed."""
        return "seed" in _parameters(self.factory)

    @property
    def learns(self) -> bool:
        """Whether it learns from the words; if so, its input has punctuation."""
        return getattr(self.factory, "learns", True)

    @property
    def summary(self) -> str:
        """A line that describes the system."""
        described = (self.factory.__doc__ or "").strip().partition("\n")[0]
        return getattr(self.factory, "summary", described)

    @property
    def reference(self) -> str:
        """The publication of the system."""
        return getattr(self.factory, "reference", "")

    def make(self, seed: int = 0, threads: int | None = None, **settings: Any) -> System:
        """Make an instance of the system.

        ``threads``: processors to use, all if not given; ignored by systems that use only one.
        """
        runtime = {"seed": seed, "threads": threads}
        accepted = {
            name: value for name, value in runtime.items() if name in _parameters(self.factory)
        }
        return self.factory(**self.full_settings(settings), **accepted)

    def full_settings(self, settings: SystemSettings) -> dict[str, Any]:
        """The given settings, and the defaults of all others."""
        for name in settings:
            if name not in self.settings:
                has = ", ".join(self.settings) or "none"
                raise DbpcfgError(f"{self.name} has no setting {name!r}; it has: {has}")
        return {**self.settings, **settings}

    def check_settings(self, settings: SystemSettings) -> None:
        """Raise an error if a setting does not exist, or its value has the wrong type."""
        self.full_settings(settings)
        for name, value in settings.items():
            if type(value) not in _KINDS[type(self.settings[name])].types:
                raise self._of_another_type(name, value)

    def parse_setting(self, text: str) -> tuple[str, Any]:
        """Parse a setting ``NAME=VALUE``; the value gets the type of the default."""
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
        expected = f"{_KINDS[type(default)].name} ({default} if not given)"
        return DbpcfgError(f"{name} of {self.name} is {expected}, got {value!r:.80}")


@cache
def _parameters(factory: SystemFactory) -> Mapping[str, Parameter]:
    return signature(factory).parameters


class _Kind(NamedTuple):
    """Settings of a type: a description, how they are parsed, and their types in TOML files."""

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
    """The sentences of a corpus as the input of a system."""
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
    """Replace the words in a system's trees by the words as written.

    ``trees``: a tree for each sentence; words of the input may be missing.
    """
    restored = []
    for tree, sentence, marks in zip(trees, corpus.sentences, corpus.punctuation, strict=True):
        words = tree.words()
        positions = align(sentence.words, marks, words, sentence.location, "the system's tree")
        restored.append(
            tree.replace_words(
                word if position == MISSING else sentence.words[position]  # has no capitals
                for word, position in zip(words, positions)
            )
        )
    return restored


# Helpers for systems.

T = TypeVar("T")

LABEL = "X"
"""The label of all nodes, for systems without categories."""


def check_sentences(sentences: Sequence[Sequence[str]]) -> None:
    """Raise an error if a sentence is empty or a string."""
    for number, sentence in enumerate(sentences, start=1):
        if not sentence:
            raise DbpcfgError(f"sentence {number} has no words; leave empty sentences out")
        if isinstance(sentence, str):
            raise DbpcfgError(
                f"sentence {number} is one text; give its words, as with text.split()"
            )


def require_fit(name: str, fitted: T | None) -> T:
    """Return the result of ``fit``; raise an error if it is None, as ``fit`` was not called."""
    if fitted is None:
        raise DbpcfgError(f"{name} has not seen any sentences; call fit first")
    return fitted


def tree_from_spans(words: Sequence[str], spans: Iterable[Sequence[int]]) -> Tree:
    """Build the tree with a node for every span, and a root.

    ``spans``: nested half-open spans of two words or more in pre-order, with or without that of the
    whole sentence.
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
