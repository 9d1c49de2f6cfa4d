"""Preprocessing: from the sentences of a file to the forms that the model learns from.

Every step is an option, and the options are stored with all results. The model sees *forms*;
printed trees have the words as they are in the file.

Rare words can be replaced by classes: nothing can be learned about a word that occurs once, but its
last letters, shape and digits may be informative. Classes are in angle brackets, as few words are:
``<number>``, ``<*ed>``, ``<Cap*ed>``. A word that is written like a class gets
more brackets (`Preprocessing.word_form`).

==========  ============================================  =====================================
scheme      depends on                                    *walked*, *Bonn*, *1987*, *A-3*
==========  ============================================  =====================================
suffix      the last two letters                          <*ed>, <*nn>, <number>, <*a>
shape       capitals, digits, hyphens                     <word>, <Cap>, <number>, <Cap-digit>
both        shape and suffix together                     <*ed>, <Cap*nn>, <number>, <Cap-digit*a>
one         nothing: all rare words are one class         <rare> for each
==========  ============================================  =====================================

Numbers (digits, possibly with signs) are ``<number>`` in all schemes but ``one``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
from dbpcfg.corpus.sentencelist import SentenceList
from dbpcfg.corpus.tokens import describe_contractions, split_tokens
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural, shortened
from dbpcfg.options import PreprocessingOptions


class LogFrequencies:
    """Log frequencies of words in a corpus: log10 of occurrences per million tokens.

    With c occurrences of a word, N tokens and V distinct words in the corpus, 1 is added to each
    count, so that words that do not occur have a frequency too (Laplace's rule; Brysbaert and
    Diependaele 2013)::

        log frequency = log10 (10⁶ (c + 1) / (N + V))
    """

    def __init__(self, sentences: Iterable[Sentence], lowercase: bool = True) -> None:
        self.lowercase = lowercase
        self.counts = Counter(self._form(word) for sentence in sentences for word in sentence.words)
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
    """Whether a word is a number: digits, possibly with signs such as , . : / %."""
    return _NUMBER.fullmatch(word) is not None


def looks_like_class(word: str) -> bool:
    """Whether a word is written like a class, possibly with more brackets around it."""
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


def _with_default(name: str, default: Any) -> Any:
    return field(default=default, metadata=PreprocessingOptions.__dataclass_fields__[name].metadata)


@dataclass(frozen=True)
class Preprocessing(PreprocessingOptions):
    """How sentences are preprocessed; by default, words are only changed to lower case."""

    rare: int = _with_default("rare", 0)
    no_punctuation: bool = _with_default("no_punctuation", False)
    punctuation_brackets: bool = _with_default("punctuation_brackets", False)

    def __post_init__(self) -> None:
        for name in ("rare", "no_punctuation", "punctuation_brackets"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.options()[name].default)
        super().__post_init__()

    def apply(self, sentence: Sentence) -> Sentence:
        """Split a sentence into tokens, add brackets and remove punctuation, as the options say.

        Only plain text is split, as treebanks are tokenised. Brackets stay around the same words.
        """
        check_brackets(sentence)
        if self.tokens != "space" and sentence.tags is None and sentence.tree is None:
            words = split_tokens(" ".join(sentence.words), self.tokens)
            sizes = [len(split_tokens(w, self.tokens)) for w in sentence.words if sentence.brackets]
            brackets = remap_brackets(sentence.brackets, sizes)
            sentence = replace(sentence, words=tuple(words), brackets=brackets)
        if self.brackets is not None:
            sentence = add_brackets(sentence, self.brackets)
        if self.punctuation_brackets:
            marks = punctuation_mask(sentence, self.punctuation)
            sentence = add_punctuation_brackets(sentence, marks)
        return without_punctuation(sentence, self.punctuation) if self.no_punctuation else sentence

    def form(self, word: str) -> str:
        """The form of a word, before rare words are replaced by classes."""
        return NUMBER if self.numbers and is_number(word) else self.word_form(word)

    def word_form(self, word: str) -> str:
        """The form of a word that is not replaced by a class.

        If there are classes, a word that is written like one gets another pair of brackets:
        ``<<number>>`` is the word ``<number>``.
        """
        folded = self.fold_case(word)
        classes = self.numbers or self.rare
        return f"<{folded}>" if classes and looks_like_class(folded) else folded

    def fold_case(self, word: str) -> str:
        """A word in lower case, if that is an option."""
        return word.lower() if self.lowercase else word


@dataclass(frozen=True, repr=False)
class PreprocessedCorpus:
    """Preprocessed sentences."""

    sentences: Sequence[Sentence]
    """The sentences that were kept."""
    encoded: Encoded
    """The forms of their words, as arrays of numbers."""
    punctuation: Sequence[tuple[bool, ...]]
    """Whether each of their words is punctuation."""
    preprocessing: Preprocessing
    """The options."""
    removed: dict[str, int] = field(default_factory=dict)
    """The number of sentences left out, by reason."""
    classes: dict[str, int] = field(default_factory=dict)
    """The number of distinct rare forms in each class."""
    origin: Corpus | None = None
    """The corpus as it was read, if it was read from files."""

    def __len__(self) -> int:
        return len(self.sentences)

    def __repr__(self) -> str:
        return shortened(f"<PreprocessedCorpus: {self.summary()}>")

    def summary(self) -> str:
        """One line with the numbers of sentences kept and left out, and of rare forms replaced."""
        parts = [
            f"{plural(len(self), 'sentence')}, {plural(len(self.encoded.tokens), 'token')}, "
            f"{plural(len(self.encoded.vocabulary), 'form')}"
        ]
        parts += [f"{number:,} left out ({reason})" for reason, number in self.removed.items()]
        if self.classes:
            rare = sum(self.classes.values())
            parts.append(
                f"{plural(rare, 'rare form')} in {plural(len(self.classes), 'class', 'classes')}"
            )
        if self.encoded.brackets is not None:
            bracketed = len(np.unique(self.encoded.brackets[:, 0]))
            brackets = plural(len(self.encoded.brackets), "known bracket")
            parts.append(f"{brackets} in {plural(bracketed, 'sentence')}")
        if contractions := describe_contractions(self.encoded.vocabulary.words):
            parts.append(contractions)
        return "; ".join(parts)


def drop_malformed(corpus: Corpus, preprocessing: Preprocessing) -> Corpus:
    """Drop sentences with broken brackets from a corpus, and list them as skipped."""
    sentences, skipped = SentenceList(), list(corpus.skipped)
    for sentence in corpus:
        try:
            preprocessing.apply(sentence)
        except BracketError as error:
            skipped.append(SkippedPart(sentence.source, sentence.line, sentence.line, error.reason))
        else:
            sentences.append(sentence)
    dropped = len(corpus) - len(sentences)
    removed = {**corpus.removed, **({"sentences with broken brackets": dropped} if dropped else {})}
    return replace(corpus, sentences=sentences, skipped=tuple(skipped), removed=removed)


def preprocess(
    sentences: Iterable[Sentence], preprocessing: Preprocessing, known: Iterable[str] = ()
) -> PreprocessedCorpus:
    """Select sentences and choose the forms of their words.

    ``known``: forms that are never replaced by classes.
    """
    selected, masks = SentenceList(), list[tuple[bool, ...]]()
    different: dict[tuple[bool, ...], tuple[bool, ...]] = {}
    too_long = 0
    for sentence in map(preprocessing.apply, sentences):
        mask = punctuation_mask(sentence, preprocessing.punctuation)
        if preprocessing.max_length is not None and mask.count(False) > preprocessing.max_length:
            too_long += 1
        else:
            selected.append(sentence)
            masks.append(different.setdefault(mask, mask))
    max_words = plural(preprocessing.max_length or 0, "word")
    if not selected:
        limit = f" of at most {max_words}" if too_long else ""
        raise DbpcfgError(f"there is no sentence{limit} to work with")
    encoded, classes = _forms(selected.encoded, preprocessing, set(known))
    removed = {f"longer than {max_words}": too_long} if too_long else {}
    origin = sentences if isinstance(sentences, Corpus) else None
    return PreprocessedCorpus(
        selected,
        encoded.with_brackets(selected.brackets),
        masks,
        preprocessing,
        removed,
        classes,
        origin,
    )


def _forms(
    words: Encoded, preprocessing: Preprocessing, known: set[str]
) -> tuple[Encoded, dict[str, int]]:
    """The forms of words, and the number of rare forms in each class.

    A class depends on the word as written.
    """
    forms = list(map(preprocessing.form, words.vocabulary.words))
    replaced: dict[str, set[str]] = {}
    if preprocessing.rare:
        seen = Counter[str]()
        for form, frequency in zip(forms, words.frequencies.tolist(), strict=True):
            seen[form] += frequency
        for number, (word, form) in enumerate(zip(words.vocabulary.words, forms, strict=True)):
            if seen[form] <= preprocessing.rare and form != NUMBER and form not in known:
                forms[number] = word_class(word, preprocessing.scheme)
                replaced.setdefault(forms[number], set()).add(form)
    classes = {name: len(forms) for name, forms in sorted(replaced.items())}
    return words.with_words(forms), classes


def corpus_lines(preprocessed: PreprocessedCorpus, kind: str) -> Iterator[str]:
    """The lines of a preprocessed corpus, as text or as trees over the forms."""
    for sentence, forms in zip(preprocessed.sentences, preprocessed.encoded, strict=True):
        if kind == "text":
            yield " ".join(forms)
            continue
        if sentence.tree is None:
            raise DbpcfgError(f"{sentence.location}: the sentence has no tree; convert it to text")
        yield str(sentence.tree.replace_words(forms))
