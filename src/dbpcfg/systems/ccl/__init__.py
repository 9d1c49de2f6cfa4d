"""CCL: the incremental parser with common cover links.

Yoav Seginer. 2007. Fast unsupervised incremental parsing. In Proceedings of the 45th Annual Meeting
of the Association of Computational Linguistics, pages 384–391, Prague.

CCL reads a sentence word by word and never takes a link back.  It has no grammar and no categories,
only statistics of which words it has met next to which.

**Links** (`links`, `admission`).  Each new word may be linked to words before it, and they to it.
A link goes from a base to a head, always to the nearest word on that side that the base does not
reach yet.  At depth 0 it means that the two belong together; at depth 1, that the head, with all
that belongs to it, hangs on what the base has gathered at depth 0.  Rules about which links may be
added, and when they must be, keep the brackets that come out from crossing.

**Brackets** (`passes`, `trees`).  All that a word reaches through its links is a constituent, and
so is what it reaches if the first link must be of depth 0.  With the whole sentence they are a
tree.

**Learning** (`lexicon`, `tokens`, `learning`).  A word has adjacency points on each side, where it
meets its first neighbour, its second, and so on.  At each it remembers how often it was met with
nothing there (at the edge of a sentence, or at punctuation) and which labels its neighbours had.
Labels are made from what was met, too: a word is like itself; it stands *beside* z if it has met
things that are like z, and it is *like* z if it has met things that stand beside z.  So frequent
words come to stand for classes of words that nobody had to count.

**Parsing** (`scoring`, `step`).  Two words match if one has met a label that the other has.  The
label names a word z, and one of the two is in its place; what was learnt about z at that place
decides on the directions, strengths and depth of the links between them.

Learning from a sentence happens after parsing it with what is known so far; so the order of
sentences matters.  When all have been learnt from, they are parsed once more.  Nothing is random,
and numbers are in single precision, as in the program that published results come from; the tests
compare with its brackets, sentence by sentence.  One difference: that program takes lines that
begin with ``#`` for comments; here sentences are lists of words.
"""

from dbpcfg.systems.ccl.system import CCL

__all__ = ["CCL"]
