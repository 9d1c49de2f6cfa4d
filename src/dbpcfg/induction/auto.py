"""What to learn with, if nobody says: chosen by what can be counted in the text.

====================================================  ============================================
the text, without punctuation                         learner
====================================================  ============================================
at least 500 sentences of 12 words or fewer, on       neural, D = 3, without punctuation
average: speech, stories, short sentences
anything else                                         gibbs, D = 2, with punctuation
====================================================  ============================================

Where there are fewer than 10 tokens for each form, and at least 200 sentences, forms that occur
once become classes. The number of categories is the learner's usual one. What is asked for is kept;
an option of one learner chooses that learner. No gold tree is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dbpcfg.corpus.preparation import Preparation
from dbpcfg.corpus.sentence import Sentence, punctuation_mask
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import LEARNERS, Searching

AUTO = "auto"
CHOICES = ("gibbs", "neural")
LEAST_SENTENCES = 500
"""Sentences that the neural learner needs."""
MOST_WORDS = 12
"""The mean length of sentences up to which it is the better one."""
TOKENS_PER_FORM, LEAST_FOR_CLASSES = 10, 200
"""Where there are fewer tokens per form, but this many sentences, rare forms become classes."""


class Choice(NamedTuple):
    """What was chosen."""

    learner: str
    preparation: Preparation
    why: str
    """In one line."""


def possible(options: Mapping[str, Any], searching: Searching, scheduled: bool) -> list[str]:
    """The learners that have all options which were given; an error if there is none."""
    known = {name for one in LEARNERS.values() for name in one.options()}
    given = [name for name, value in options.items() if value is not None and name in known]
    found = [one for one in CHOICES if all(name in LEARNERS[one].options() for name in given)]
    if searching.inference == "paper" or scheduled:
        found = [one for one in found if one == "gibbs"]
    if not found:
        raise DbpcfgError(f"{', '.join(given)}: name the learner that this is for, with learner")
    return found


def choose(
    sentences: Iterable[Sentence], preparation: Preparation, given: Iterable[str], among: list[str]
) -> Choice:
    """Choose for a text.

    ``given``: names of options of the preparation, which are kept.
    ``among``: the learners to choose from.
    """
    number = words = 0
    forms: set[str] = set()
    for sentence in map(preparation.seen, sentences):
        mask = punctuation_mask(sentence, preparation.punctuation)
        own = [word for word, mark in zip(sentence.words, mask, strict=True) if not mark]
        if own and (preparation.max_length is None or len(own) <= preparation.max_length):
            number, words = number + 1, words + len(own)
            forms.update(map(preparation.letters, own))
    short = number >= LEAST_SENTENCES and words <= MOST_WORDS * number
    learner = ("neural" if short else "gibbs") if len(among) > 1 else among[0]
    rare = int(number >= LEAST_FOR_CLASSES and words < TOKENS_PER_FORM * len(forms))
    chosen: dict[str, Any] = {"no_punctuation": learner == "neural", "rare": rare}
    kept = {name: getattr(preparation, name) for name in Preparation.options()}
    kept |= {name: value for name, value in chosen.items() if name not in set(given)}
    found = Preparation(**kept)
    parts = [
        f"{number:,} sentences of {words / max(1, number):.1f} words, "
        f"{words / max(1, len(forms)):.1f} tokens per form: learner {learner}",
        *(["without punctuation"] if found.no_punctuation else []),
        *([f"classes for forms that occur {_times(found.rare)}"] if found.rare else []),
    ]
    return Choice(learner, found, ", ".join(parts))


def _times(number: int) -> str:
    return "once" if number == 1 else f"at most {number:,} times"
