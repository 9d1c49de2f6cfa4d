"""Two parsers for one model, and the trees they give.

``chart`` is polynomial in the depth bound and is what induction runs; ``leftcorner`` is the paper's
own incremental algorithm. They compute the same distribution, and the tests hold them to it.
"""
