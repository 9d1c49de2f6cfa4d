"""The left-corner parser: the paper's own algorithm, word by word with a bounded store.

A store holds derivation fragments a¹/b¹ … aᵈ/bᵈ: top signs a, each lacking a bottom sign b still
to come. Each word is a decision to fork or not, a preterminal p, a decision to join or not, and new
top and bottom signs; every one of these models follows from the bounded grammar.

==============  ================================================================================
``models``      fork, preterminal, join, top and bottom models, each with its equation
``filtering``   the forward distribution over stores
``backward``    a store sequence drawn from the posterior, or the most probable one
``stores``      store sequences, and the trees that they build
``parser``      all of it for a corpus, on several threads
``products``    the step of the forward distribution by matrix products
``measures``    what is expected before each word, and known after it
``beam``        the same with the most probable stores only
``wordbyword``  either of them for many sentences, on several threads
==============  ================================================================================
"""
