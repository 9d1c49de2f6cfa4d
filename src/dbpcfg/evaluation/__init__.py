"""Scores of predicted trees against gold trees, each with a signature of its convention.

================  ================================================================================
``evaluate``      all of the below from one pass over gold and predicted trees
``alignment``     both trees as spans over the same words, without punctuation
``parseval``      precision, recall and F1, and the conventions of counting brackets
``nounphrases``   recall of a gold category, and which induced labels are it: aggregate F1
``labels``        induced against gold labels: many-to-one accuracy and V-measure
``flattening``    flat trees from binary ones
``depths``        the memory depth that trees need
``significance``  paired permutation tests and bootstrap intervals
``goldtrees``     the gold trees of the sentences of a run
``tables``        tables of all of it
================  ================================================================================
"""
