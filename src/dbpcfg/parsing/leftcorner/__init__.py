"""The left-corner parser: the paper's algorithm, word by word with a bounded store.

A store holds derivation fragments a¹/b¹ … aᵈ/bᵈ: top signs a, each lacking a bottom sign b. Each
word comes with a decision to fork or not, a preterminal p, a decision to join or not, and new top
and bottom signs; the models of all of these follow from the bounded grammar.

======================  ========================================================================
``models``              fork, preterminal, join, top and bottom models, each with its equation;
                        store sequences, and the trees that they build
``filtering``           the forward distribution over stores; a store sequence drawn from the
                        posterior, or the most probable one
``tracing``             measures before and after each word
``derivation_entropy``  the entropy of all derivations that begin with the words so far
``parser``              the parser of a corpus, on several threads
======================  ========================================================================
"""
