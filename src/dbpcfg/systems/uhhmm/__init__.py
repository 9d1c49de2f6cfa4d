"""UHHMM: an unsupervised hierarchical hidden Markov model of left-corner parsing.

Cory Shain, William Bryce, Lifeng Jin, Victoria Krakovna, Finale Doshi-Velez, Timothy Miller,
William Schuler and Lane Schwartz: *Memory-bounded left-corner unsupervised grammar induction on
child-directed input*, Proceedings of COLING 2016. The finite sampler, as Jin et al. (2018) ran it.

**State.** Before word t there is a store of at most D fragments. Each is an active category a that
awaits a category b on its right; d is the number of fragments. The word has a tag g, which depends
on the deepest b only, in the same way at all depths (``pos``); the tag emits the word (``lex``).
Then the word is integrated by two decisions:

=====  =====  ==================================================================================
f = 1  j = 1  the word begins the awaited b; a new b is awaited (``cont``)
f = 1  j = 0  the word begins a fragment one deeper: a (``root``), which awaits b (``exp``)
f = 0  j = 0  the word completes a, which begins a new a (``act``), which awaits b (``start``)
f = 0  j = 1  the word completes a, which begins the b above; a new b is awaited there (``next``)
=====  =====  ==================================================================================

f depends on b and g (``fork``); j on b and g (``trans``) if f = 1, and on a and the b above
(``reduce``) if f = 0. All distributions but ``pos`` and ``lex`` differ between depths. The store is
empty before the first word, which begins a fragment. There is one fragment before the last word,
which completes it. This end has no probability: the lengths of sentences are given.

**Sampling.** Gibbs: states of all sentences given the distributions, by forward filtering and
backward sampling (`filtering`, `system`), then distributions given counts of events (`model`).
A transition depends on the two deepest fragments only, so messages are contracted with one
sub-model after another, without a transition matrix.

**Exact or not.** Filtering and sampling are exact, also at the end of sentences: the original draws
last states until one has at most one fragment. Decisions that the store forces, j = 1 at depth D
with f = 1 and j = 0 at depth 1 with f = 0, have probability 1. So with D = 1 an iteration is a
proper Gibbs step, β of tags included, for the prior of `model` and states that end correctly. At
D > 1 the prior of a depth contains the *counts* of the depth above, as in the original, but states
are drawn as if it did not. This is a heuristic: it is not the Gibbs sampler of any joint
distribution.

**faithful=True** follows the original in four points:

1. ``root`` at depths above 1 is drawn from given the b *above* the awaited one, but counted and
   learned given the awaited one (`model.contract`). At depth 2 it so follows the counts of depth 1
   only.
2. Decisions that would exceed or empty the store are left out, and the others are not renormalised
   (`model.draw_models`).
3. Distributions over categories have one more outcome, a new category, whose probability is lost
   (`model.draw_models`, `model.draw_beta`).
4. The tag of the first word is uniform, not ``pos`` of an empty store (`model.contract`).

The original also deletes tags that no word has, and stops with an error if few are left; here tags
without words keep their prior.
"""

from dbpcfg.systems.uhhmm.system import UHHMM

__all__ = ["UHHMM"]
