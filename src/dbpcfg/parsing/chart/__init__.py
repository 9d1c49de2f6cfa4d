"""The chart: inside and outside probabilities over (side, depth, category), samples.

Write u(s,d,c,i,j) = h(s,d,c) · inside(s,d,c,i,j): the inside probability under the *bounded*
grammar times its own containment likelihood. The h of the children in G(s,d) cancel against the h
hidden in the children's u, so only the unbounded G appears::

    u(s,d,c,i,i+1) = G[c → w_i]
    u(L,d,c,i,j)   = Σ_k Σ_ab G[c → a b] · u(L,d,  a,i,k) · u(R,d,b,k,j)
    u(R,d,c,i,j)   = Σ_k Σ_ab G[c → a b] · u(L,d+1,a,i,k) · u(R,d,b,k,j)
    P(sentence)    = Σ_c π_c u(L,1,c,0,n) / Σ_c π_c h(L,1,c)

A bounded grammar is the unbounded one conditioned on the tree fitting the bound. The cost is
polynomial in D, where the left-corner parser's states are K^(2D).

===============  ===============================================================================
``layout``       where u of a span is stored; scaling against underflow
``inside``       the recurrence above
``batches``      which sentences are parsed together, and their charts
``trees``        draw trees from the posterior, top down
``outside``      posteriors of labelled spans and expected counts of a batch
``scaled``       the same for one sentence, with exponents
``expectation``  posteriors and expected counts of a corpus, on several threads
``prefix``       prefix probabilities and other measures word by word
``parser``       the parser of a corpus, on several threads
===============  ===============================================================================
"""
