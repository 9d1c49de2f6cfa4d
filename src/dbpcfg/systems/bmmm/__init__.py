"""BMMM: word classes by a Bayesian multinomial mixture over word types.

Christos Christodoulopoulos, Sharon Goldwater and Mark Steedman: *A Bayesian mixture model for
part-of-speech induction using multiple features*, Proceedings of EMNLP 2011; with dependencies as
features: *Turning the pipeline into a loop: iterated unsupervised dependency parsing and PoS
induction*, Proceedings of the NAACL workshop on the induction of linguistic structure, 2012.

Every word *type* i has one class z_i of K, so all its tokens have the same tag.  What the type
occurs with is counted in one or more sets of features f: n_ifv is how often feature v of set f
occurs with type i.

    θ ~ Dirichlet(α, …, α)         z_i ~ θ
    φ_cf ~ Dirichlet(β_f, …, β_f)      each feature token of a type of class c ~ φ_cf

1. **Features** (`features`).  The neighbours of a word among the 100 most frequent types; and,
   given heads and the classes of a previous generation, the classes of head and dependents.
2. **Sampler** (`sweep`, `sampler`).  θ and φ are integrated out.  Types are visited in order; each
   is taken out and drawn again given all others.
3. **Annealing** (`schedule`).  Probabilities are raised to a power τ that goes from ½ to 1 in the
   first half of the iterations and above 1 at the end.
4. **Hyperparameters** (`hyperparameters`).  Every five iterations α and each β_f make five
   Metropolis–Hastings steps.
5. **Answer** (`sampler`).  The classes of greatest probability among all samples (`likelihood`).

``faithful`` does what the published program does, which differs from this in five points
(`faithful`).
"""

from dbpcfg.systems.bmmm.system import BMMM

__all__ = ["BMMM"]
