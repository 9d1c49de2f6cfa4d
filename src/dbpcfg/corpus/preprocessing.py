"""From the sentences of a file to the words that the model learns from.

Every step is an option, and the options are recorded with all that is computed from the result. The
model sees *forms*; the words as they stand in the file come back in every tree that is printed.

Words too rare to learn anything about can become classes: a word seen once is of no use to an
inducer; its last letters, shape and digits may be. A class is written in angle brackets, as few
texts write words: ``<number>``, ``<*ed>``, ``<Cap*ed>``. A word that is written like a class gets
more brackets (`Preprocessing.own_form`).

==========  ============================================  =====================================
scheme      depends on                                    *walked*, *Bonn*, *1987*, *A-3*
==========  ============================================  =====================================
suffix      the last two letters                          <*ed>, <*nn>, <number>, <*a>
shape       capitals, digits, hyphens                     <word>, <Cap>, <number>, <Cap-digit>
both        shape and suffix together                     <*ed>, <Cap*nn>, <number>, <Cap-digit*a>
one         nothing: all rare words are one               <rare> for each
==========  ============================================  =====================================

Numbers (digits with signs around and between them) are ``<number>`` in every scheme but ``one``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import numpy as np

from dbpcfg.corpus.brackets import (
    BracketError,
    add_brackets,
    add_punctuation_brackets,
    check_brackets,
)
from dbpcfg.corpus.encoded import Encoded
from dbpcfg.corpus.readers import SkippedPart
from dbpcfg.corpus.reading import Corpus
from dbpcfg.corpus.sentence import Sentence, punctuation_mask, remap_brackets, without_punctuation
from dbpcfg.corpus.tokens import describe_contractions, split_tokens
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural, shortened
from dbpcfg.options import PreprocessingOptions


class LogFrequencies:
    """Log frequencies of words in a corpus of the user's choice.

    With c occurrences of a word among the N tokens and V different words of the corpus, one more
    occurrence is counted of every word, so that one which does not occur has a frequency too
    (Laplace's rule; Brysbaert and Diependaele 2013)::

        log frequency = log10 (10⁶ (c + 1) / (N + V))

    the logarithm, to base 10, of occurrences per million tokens.
    """

    def __init__(self, sentences: Iterable[Sentence], lowercase: bool = True) -> None:
        self.lowercase = lowercase
        self.counts = Counter(self._form(word) for one in sentences for word in one.words)
        if not self.counts:
            raise DbpcfgError("there is no word in the corpus that frequencies are counted in")
        self.total = self.counts.total() + len(self.counts)

    def of(self, word: str) -> float:
        """The log frequency of a word."""
        return math.log10(1e6 * (self.counts[self._form(word)] + 1) / self.total)

    def _form(self, word: str) -> str:
        return word.lower() if self.lowercase else word


Scheme = Literal["suffix", "shape", "both", "one"]

NUMBER = "<number>"
_NUMBER = re.compile(r"[+\-#$€£]?\d[\d.,:/\\'%-]*(?:st|nd|rd|th|s)?", re.IGNORECASE)
_SUFFIX_LETTERS = 2
_CLASS = re.compile(r"<+(?:number|rare|word|(?:CAP|Cap)?-?(?:digit)?(?:\*\w{1,2})?)>+")


def is_number(word: str) -> bool:
    """Whether a word is digits, with signs such as , . : / % between or around them."""
    return _NUMBER.fullmatch(word) is not None


def looks_like_class(word: str) -> bool:
    """Whether a word has the name of a class, or one with more brackets around it."""
    return word.startswith("<") and _CLASS.fullmatch(word) is not None


def word_class(word: str, scheme: Scheme) -> str:
    """The class of a rare word."""
    if scheme not in get_args(Scheme):
        raise DbpcfgError(f"no scheme {scheme!r}; choose one of {', '.join(get_args(Scheme))}")
    if scheme == "one":
        return "<rare>"
    if is_number(word):
        return NUMBER
    shape = "" if scheme == "suffix" else _shape(word)
    suffix = "" if scheme == "shape" else _suffix(word)
    return f"<{shape}{suffix}>" if shape or suffix else "<word>"


def _shape(word: str) -> str:
    letters = [letter for letter in word if letter.isalpha()]
    if len(letters) > 1 and all(letter.isupper() for letter in letters):
        shape = "CAP"
    elif letters and letters[0].isupper():
        shape = "Cap"
    else:
        shape = ""
    if "-" in word.strip("-"):
        shape += "-"
    if any(letter.isdigit() for letter in word):
        shape += "digit"
    return shape


def _suffix(word: str) -> str:
    letters = "".join(letter for letter in word.lower() if letter.isalpha())
    return f"*{letters[-_SUFFIX_LETTERS:]}" if letters else ""


def _unless_given(name: str, default: Any) -> Any:
    return field(default=default, metadata=PreprocessingOptions.__dataclass_fields__[name].metadata)


@dataclass(frozen=True)
class Preprocessing(PreprocessingOptions):
    """How sentences are prepared; by default letters change to lower case and nothing else."""

    rare: int = _unless_given("rare", 0)
    no_punctuation: bool = _unless_given("no_punctuation", False)
    punctuation_brackets: bool = _unless_given("punctuation_brackets", False)

    def __post_init__(self) -> None:
        for name in ("rare", "no_punctuation", "punctuation_brackets"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.options()[name].default)
        super().__post_init__()

    def seen(self, sentence: Sentence) -> Sentence:
        """A sentence as it is learned from: split into tokens, and without punctuation if so.

        Only text is split; a sentence of a treebank has its tokens. Brackets stay around the words
        that they were around.
        """
        check_brackets(sentence)
        if self.tokens != "space" and sentence.tags is None and sentence.tree is None:
            words = split_tokens(" ".join(sentence.words), self.tokens)
            sizes = [len(split_tokens(w, self.tokens)) for w in sentence.words if sentence.brackets]
            known = remap_brackets(sentence.brackets, sizes)
            sentence = replace(sentence, words=tuple(words), brackets=known)
        if self.brackets is not None:
            sentence = add_brackets(sentence, self.brackets)
        if self.punctuation_brackets:
            marks = punctuation_mask(sentence, self.punctuation)
            sentence = add_punctuation_brackets(sentence, marks)
        return without_punctuation(sentence, self.punctuation) if self.no_punctuation else sentence

    def form(self, word: str) -> str:
        """The form of a word, before rare ones are replaced."""
        return NUMBER if self.numbers and is_number(word) else self.own_form(word)

    def own_form(self, word: str) -> str:
        """The form of a word that is in no class.

        Where there are classes, a word that has the name of one gets another pair of brackets:
        ``<<number>>`` is the word ``<number>``.
        """
        letters = self.letters(word)
        classes = self.numbers or self.rare
        return f"<{letters}>" if classes and looks_like_class(letters) else letters

    def letters(self, word: str) -> str:
        """A word in lower case, if letters are changed."""
        return word.lower() if self.lowercase else word


@dataclass(frozen=True, repr=False)
class PreprocessedCorpus:
    """Prepared sentences."""

    sentences: list[Sentence]
    """The sentences that were kept."""
    forms: list[tuple[str, ...]]
    """The form of each of their words."""
    punctuation: list[tuple[bool, ...]]
    """Whether each of their words is punctuation."""
    preprocessing: Preprocessing
    """The options."""
    removed: dict[str, int] = field(default_factory=dict)
    """How many sentences were left out, by reason."""
    classes: dict[str, int] = field(default_factory=dict)
    """How many different rare forms each class stands for."""
    origin: Corpus | None = None
    """The corpus as it was read, if it was read from files."""

    @cached_property
    def encoded(self) -> Encoded:
        """The forms as arrays of numbers."""
        encoded = Encoded.from_sentences(self.forms)
        return encoded.with_brackets([sentence.brackets for sentence in self.sentences])

    def __len__(self) -> int:
        return len(self.sentences)

    def __repr__(self) -> str:
        return shortened(f"<PreprocessedCorpus: {self.summary()}>")

    def summary(self) -> str:
        """The numbers of sentences kept and left out, and of rare forms replaced, in one line."""
        tokens = sum(len(forms) for forms in self.forms)
        parts = [
            f"{plural(len(self), 'sentence')}, {plural(tokens, 'token')}, "
            f"{plural(len(self.encoded.vocabulary), 'form')}"
        ]
        parts += [f"{number:,} left out ({reason})" for reason, number in self.removed.items()]
        if self.classes:
            rare = sum(self.classes.values())
            parts.append(
                f"{plural(rare, 'rare form')} in {plural(len(self.classes), 'class', 'classes')}"
            )
        if self.encoded.brackets is not None:
            of = len(np.unique(self.encoded.brackets[:, 0]))
            known = plural(len(self.encoded.brackets), "known bracket")
            parts.append(f"{known} in {plural(of, 'sentence')}")
        if contractions := describe_contractions(self.encoded.vocabulary.words):
            parts.append(contractions)
        return "; ".join(parts)


def drop_malformed(corpus: Corpus, preprocessing: Preprocessing) -> Corpus:
    """A corpus without sentences whose brackets are broken; these are listed as skipped."""
    kept, skipped = [], list(corpus.skipped)
    for one in corpus:
        try:
            preprocessing.seen(one)
        except BracketError as error:
            skipped.append(SkippedPart(one.source, one.line, one.line, error.reason))
        else:
            kept.append(one)
    more = len(corpus) - len(kept)
    removed = {**corpus.removed, **({"sentences with broken brackets": more} if more else {})}
    return replace(corpus, sentences=kept, skipped=tuple(skipped), removed=removed)


def preprocess(
    sentences: Iterable[Sentence], preprocessing: Preprocessing, known: Iterable[str] = ()
) -> PreprocessedCorpus:
    """Choose sentences and the forms of their words.

    ``known``: forms that are not replaced by classes, however rare.
    """
    kept: list[Sentence] = []
    masks: list[tuple[bool, ...]] = []
    different: dict[tuple[bool, ...], tuple[bool, ...]] = {}
    too_long = 0
    for sentence in map(preprocessing.seen, sentences):
        mask = punctuation_mask(sentence, preprocessing.punctuation)
        if preprocessing.max_length is not None and mask.count(False) > preprocessing.max_length:
            too_long += 1
        else:
            kept.append(sentence)
            masks.append(different.setdefault(mask, mask))
    most = plural(preprocessing.max_length or 0, "word")
    if not kept:
        limit = f" of at most {most}" if too_long else ""
        raise DbpcfgError(f"there is no sentence{limit} to work with")
    form = lru_cache(None)(preprocessing.form)
    forms = [tuple(map(form, sentence.words)) for sentence in kept]
    classes: dict[str, int] = {}
    if preprocessing.rare:
        forms, classes = _replace_rare(kept, forms, preprocessing, set(known))
    removed = {f"longer than {most}": too_long} if too_long else {}
    origin = sentences if isinstance(sentences, Corpus) else None
    return PreprocessedCorpus(kept, forms, masks, preprocessing, removed, classes, origin)


def _replace_rare(
    sentences: Sequence[Sentence],
    forms: list[tuple[str, ...]],
    preprocessing: Preprocessing,
    known: set[str],
) -> tuple[list[tuple[str, ...]], dict[str, int]]:
    """Put classes in place of rare forms; the class looks at the word as written, capitals too."""
    seen = Counter(form for sentence in forms for form in sentence)
    replaced: dict[str, set[str]] = {}
    result = []
    for sentence, its_forms in zip(sentences, forms, strict=True):
        new = []
        for word, form in zip(sentence.words, its_forms, strict=True):
            if seen[form] <= preprocessing.rare and form != NUMBER and form not in known:
                name = word_class(word, preprocessing.scheme)
                replaced.setdefault(name, set()).add(form)
                form = name
            new.append(form)
        result.append(tuple(new))
    return result, {name: len(forms) for name, forms in sorted(replaced.items())}


def corpus_lines(preprocessed: PreprocessedCorpus, kind: str) -> Iterator[str]:
    """Write a prepared corpus, one line a sentence, in its prepared forms."""
    for sentence, forms in zip(preprocessed.sentences, preprocessed.forms, strict=True):
        if kind == "text":
            yield " ".join(forms)
            continue
        if sentence.tree is None:
            raise DbpcfgError(f"{sentence.location}: the sentence has no tree; convert it to text")
        yield str(sentence.tree.replace_words(forms))
