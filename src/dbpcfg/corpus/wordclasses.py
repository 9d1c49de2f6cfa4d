"""Classes that stand for words too rare to learn anything about.

A word seen once is of no use to an inducer; its last letters, shape and digits may be. A class
is written in angle brackets, as few texts write words: ``<number>``, ``<*ed>``, ``<Cap*ed>``. A
word that is written like a class gets more brackets (`Preparation.own_form`).

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

import re
from typing import Literal, get_args

from dbpcfg.errors import DbpcfgError

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
