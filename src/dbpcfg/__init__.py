"""dbpcfg: learn a phrase-structure grammar from raw text, under a human memory bound.

The model is the depth-bounded PCFG of Jin, Doshi-Velez, Miller, Schuler and Schwartz (TACL 2018).
Where to find what:

======================  =======================================================================
``dbpcfg.trees``        the tree type, its spans, brackets in and out
``dbpcfg.corpus``       sentences as arrays, the paper's synthetic corpora
``dbpcfg.grammar``      the PCFG, its file format, and its bounding: h, G(s,d), E⁺
``dbpcfg.parsing``      the chart, the left-corner parser, minimum-Bayes-risk decoding
``dbpcfg.induction``    the Gibbs step
======================  =======================================================================
"""

__version__ = "0.1.0.dev0"
