"""UPPARSE: a cascade of chunkers, each a finite-state model trained by EM on raw words.

Elias Ponvert, Jason Baldridge and Katrin Erk: *Simple unsupervised grammar induction from raw text
with cascaded finite state models*, Proceedings of ACL 2011.

The idea is that phrases at the bottom of a tree are short, keep to one side of every comma, and
look alike; so a model that can only cut a sentence into pieces finds them.  Each piece is then
replaced by a single pseudo-word, and the same kind of model, trained afresh, finds the phrases
made of those.

1. **Segments** (`segments`).  Stopping punctuation, ``. ? ! ; , --``, is taken out and leaves a
   boundary that no phrase crosses.  All sentences become one sequence of symbols, words with
   STOP between the segments of a sentence and EOS between sentences.
2. **Tags** (`tags`).  Every word begins a chunk (B), continues one (I) or is outside (O); both
   kinds of boundary have a tag of their own.  A chunk has at least two words: B is always
   followed by I.
3. **Model** (`models`).  A tag emits its word and is followed by the next tag, with probability
   P(k|j) · P(w|j) in the *HMM*, and P(k|j) · P(w|j,k) in the *PRLG*, a probabilistic
   right-linear grammar, whose words depend on the next tag too.  Words are smoothed, tags are not.
4. **Training** (`forwardbackward`, `training`).  EM from the uniform model, until the perplexity
   hardly falls.  Nothing is random.
5. **Decoding** (`viterbi`).  The most probable tags; each B with the I's after it is a chunk.
6. **Cascade** (`cascade`).  A chunk becomes the pseudo-word ``=t``, t being the symbol in it that
   is most frequent in the text of this level: a function word more often than not, which names
   the phrase well.  A chunk of the next level may give ``==t``.  Levels follow until one of them
   finds no chunk, or until nothing is left to chunk.
7. **Trees** (`trees`).  Every chunk of every level is a bracket, and so is the whole sentence.
   Segments are not: their chunks hang from the root, side by side.
"""

from dbpcfg.systems.upparse.system import Upparse

__all__ = ["Upparse"]
