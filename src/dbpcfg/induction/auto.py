"""What suits a text: the learner if nobody names one, and how the learner is used.

Decided by what can be counted in the text, punctuation apart. No gold tree plays a part.

====================================================  ============================================
the text                                              what is done with it
====================================================  ============================================
fewer than 100 sentences                              gibbs, D = 2, with punctuation
speech: at most 8 words in a sentence on average,     neural, D = 3, without punctuation, learned
and few forms (at least 4 tokens for each, and at     from whole utterances; D = 2 and 8 chains
most 20 for the square root of the tokens)            instead of 4 if there are few tokens
anything else                                         neural, D = 3, without punctuation, learned
                                                      from stretches between marks, taught by CCL
                                                      if its brackets suit the language
====================================================  ============================================

Where there are fewer than 10 tokens for each form, and at least 200 sentences, forms that occur
once become classes. Whatever is given is kept, and an option of one learner chooses that learner. A
learner does the same with the same text whether it was named or chosen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.sentence import Sentence, punctuation_mask
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import plural
from dbpcfg.options import LEARNERS, SearchOptions

if TYPE_CHECKING:
    from dbpcfg.induction.settings import ChainSettings

AUTO = "auto"
CHOICES = ("gibbs", "neural")
MIN_SENTENCES = 100
"""Sentences that the neural learner needs."""
SPEECH_WORDS, SPEECH_TOKENS_PER_FORM, SPEECH_FORMS = 8, 4, 20
"""The mean length of utterances, and the tokens of a form, at which a text is taken for speech; and
its forms for the square root of its tokens, as vocabularies grow with it (Heaps' law): Adam had 9
to 11, in parts and as a whole, written text 24 to 32."""
TOKENS_PER_FORM, MIN_FOR_CLASSES = 10, 200
"""Where there are fewer tokens per form, but this many sentences, rare forms become classes."""


class TextFigures(NamedTuple):
    """What is counted in a text without its punctuation."""

    sentences: int
    tokens: int
    forms: int

    @classmethod
    def of(cls, sentences: Iterable[Sentence], preprocessing: Preprocessing) -> TextFigures:
        """Count, in the sentences that would be learned from."""
        number = tokens = 0
        forms: set[str] = set()
        for sentence in map(preprocessing.apply, sentences):
            mask = punctuation_mask(sentence, preprocessing.punctuation)
            own = [word for word, mark in zip(sentence.words, mask, strict=True) if not mark]
            if own and (preprocessing.max_length is None or len(own) <= preprocessing.max_length):
                number, tokens = number + 1, tokens + len(own)
                forms.update(map(preprocessing.fold_case, own))
        return cls(number, tokens, len(forms))

    @property
    def mean_length(self) -> float:
        """Tokens in a sentence."""
        return self.tokens / max(1, self.sentences)

    @property
    def tokens_per_form(self) -> float:
        """How often a form occurs."""
        return self.tokens / max(1, self.forms)

    @property
    def is_speech(self) -> bool:
        """Whether sentences are as short, and words as few, as in speech."""
        short = self.mean_length <= SPEECH_WORDS
        few = self.forms <= SPEECH_FORMS * math.sqrt(self.tokens)
        return short and few and self.tokens_per_form >= SPEECH_TOKENS_PER_FORM

    @property
    def rare(self) -> int:
        """How often a form may occur to become a class; 0 for none."""
        few = self.tokens_per_form < TOKENS_PER_FORM
        return int(few and self.sentences >= MIN_FOR_CLASSES)

    def __str__(self) -> str:
        return (
            f"{plural(self.sentences, 'sentence')} of {self.mean_length:.1f} words, "
            f"{self.tokens_per_form:.1f} tokens per form"
        )


def possible(
    options: Mapping[str, Any], search_options: SearchOptions, scheduled: bool
) -> list[str]:
    """The learners that have all options which were given; an error if there is none."""
    known = {name for one in LEARNERS.values() for name in one.options()}
    given = [name for name, value in options.items() if value is not None and name in known]
    able = [one for one in CHOICES if all(name in LEARNERS[one].options() for name in given)]
    if search_options.inference == "paper" or scheduled:
        able = [one for one in able if one == "gibbs"]
    if not able:
        raise DbpcfgError(f"{', '.join(given)}: name the learner that this is for, with learner")
    return able


def choose(text: TextFigures, among: list[str]) -> str:
    """The learner that suits a text."""
    if len(among) == 1:
        return among[0]
    return "neural" if text.sentences >= MIN_SENTENCES else "gibbs"


def reason(text: TextFigures, settings: ChainSettings, preprocessing: Preprocessing) -> str:
    """In one line, what is done with a text of such figures."""
    parts = [
        f"{text}: learner {settings.learner.name}",
        *settings.learner.choices(),
        *(["without punctuation"] if preprocessing.no_punctuation else []),
        *(
            [f"classes for forms that occur {_times(preprocessing.rare)}"]
            * bool(preprocessing.rare)
        ),
    ]
    return ", ".join(parts)


def _times(number: int) -> str:
    return "once" if number == 1 else f"at most {number:,} times"
