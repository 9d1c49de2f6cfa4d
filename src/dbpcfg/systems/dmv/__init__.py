"""DMV: the dependency model with valence, trained by EM on tags.

Dan Klein and Christopher D. Manning: *Corpus-based induction of syntactic structure: models of
dependency and constituency*, Proceedings of ACL 2004.

A sentence of tags is generated from its root outwards.  The root has tag t with probability
root(t).  A head with tag h generates dependents on its left and, independently, on its right: at
each step it stops or continues, which depends on h, the direction d, and on the valence v, 0 if it
has no dependent on that side yet and 1 if it has; if it continues, the dependent has tag c with
probability child(c|h,d), and generates its own dependents in the same way.  All trees are
projective.

1. **Parameters** (`parameters`).  The three tables, their estimates from counts, and the smoothing
   of child(c|h,d) towards the tags of dependents of any head.
2. **Initialisation** (`initial`).  Dependents prefer near heads, on both sides alike; then EM finds
   what is regular.  Uniform parameters would be a saddle of the likelihood.
3. **Inside and outside** (`inside`, `outside`).  The two sides of a head are independent, so each
   is an item of its own, with two positions, and all expected counts of a sentence take O(n³).
4. **Decoding** (`viterbi`).  The most probable tree, by the same recurrences with a maximum.
5. **Training** (`model`).  EM; sentences with the same tags share one chart (`tags`).

As in the implementation that Jin et al. (2018) compare with (pr-toolkit), there are 20 iterations
of EM, and the smoothing is that of its option for child backoff as it works, not as it is
described; `DMV(backoff=0)` is plain EM.
"""

from dbpcfg.systems.dmv.model import DMV, number_tags

__all__ = ["DMV", "number_tags"]
